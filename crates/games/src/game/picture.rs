//! A drawing of a position as data: the text of every cell, and the cells to highlight.
//!
//! A game says what is on the board; `report::terminal` decides about characters and colours.

/// What people should see of a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Text of every cell, row by row; an empty string is a free cell.
    pub cells: Vec<Vec<String>>,
    /// A name for each column, over the board.
    pub columns: Vec<String>,
    /// A name for each row, left of the board; empty when rows have none.
    pub rows: Vec<String>,
    /// The cell (row, column) that the last turn changed.
    pub last: Option<(usize, usize)>,
    /// Cells that are part of a winning line.
    pub winning: Vec<(usize, usize)>,
    /// The cells of each winning line, from one end to the other; of a square of Quarto row by row. Empty when the game
    /// names cells only.
    pub lines: Vec<Vec<(usize, usize)>>,
    /// Name of each free cell, row by row, shown faintly; empty when cells have none.
    pub cell_names: Vec<Vec<String>>,
    /// The piece that the side to move must place, in words.
    pub hand: Option<String>,
    /// The pieces that are left, in words.
    pub left: Vec<String>,
    /// Lines of text below the board.
    pub text: Vec<String>,
    /// The same picture as SVG, for a page, as a game's program made it; not to be trusted.
    pub svg: Option<String>,
}
