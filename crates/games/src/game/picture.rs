/// A drawing of a position as data: what is on the board, without colours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Row by row; an empty string is a free cell.
    pub cells: Vec<Vec<String>>,
    /// Shown over the board.
    pub columns: Vec<String>,
    /// Left of the board; empty when rows have no names.
    pub rows: Vec<String>,
    /// The cell (row, column) that the last turn changed.
    pub last: Option<(usize, usize)>,
    pub winning: Vec<(usize, usize)>,
    /// The cells of each winning line; empty when the game names cells only.
    pub lines: Vec<Vec<(usize, usize)>>,
    /// Of free cells, row by row; empty when cells have none.
    pub cell_names: Vec<Vec<String>>,
    /// The piece that must be placed, in words.
    pub hand: Option<String>,
    pub left: Vec<String>,
    /// Below the board.
    pub text: Vec<String>,
    /// Of every piece as it is written in `cells`, and first in `hand` and `left`; empty when pieces have none.
    pub glyphs: Vec<(String, Glyph)>,
    /// The same picture as a game's program made it; not to be trusted.
    pub svg: Option<String>,
}

/// What a terminal shows beside a piece's characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyph {
    pub shape: char,
    /// `red`, `blue`, `light`, `dark`, `green` or `yellow`.
    pub colour: &'static str,
}
