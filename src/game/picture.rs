//! A drawing of a position as data: what stands where, and what deserves attention.
//!
//! The games say what there is to see; `report::terminal` decides how it looks.

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
    /// Name of each free cell, row by row, shown faintly; empty when cells have none.
    pub cell_names: Vec<Vec<String>>,
    /// What the next player holds, in words.
    pub hand: Option<String>,
    /// What is left to play with, in words.
    pub left: Vec<String>,
}
