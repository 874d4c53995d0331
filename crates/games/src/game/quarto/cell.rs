//! Cells, lines and rule sets: the 16 cells, the ten lines and the nine squares.

use std::fmt;

/// Number of cells.
pub const CELLS: usize = 16;

/// Number of lines of either rule set together: 10 rows, columns and diagonals, 9 squares.
pub const LINES: usize = 19;

/// A cell of the board. People count from 1, row by row from the top left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell(u8);

impl Cell {
    /// The cell with this number as people count (1 to 16).
    pub const fn from_number(number: u8) -> Option<Self> {
        if number >= 1 && number <= 16 {
            Some(Self(number - 1))
        } else {
            None
        }
    }

    /// The cell at `index` (0 to 15).
    pub const fn from_index(index: u8) -> Option<Self> {
        if index < 16 { Some(Self(index)) } else { None }
    }

    /// Its number as people count, 1 to 16.
    pub const fn number(self) -> u8 {
        self.0 + 1
    }

    /// 0 to 15.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Row, 0 (top) to 3.
    pub const fn row(self) -> usize {
        self.0 as usize / 4
    }

    /// Column, 0 (left) to 3.
    pub const fn column(self) -> usize {
        self.0 as usize % 4
    }

    /// All sixteen, row by row.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        (0..16).map(Self)
    }

    /// The lines through this cell under `rules`.
    pub fn lines(self, rules: Rules) -> impl Iterator<Item = Line> {
        THROUGH[self.index()]
            .iter()
            .map(|&index| Line(index))
            .take_while(move |line| line.index() < rules.line_count())
    }
}

/// Which groups of four cells make a quarto.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rules {
    /// Rows, columns and diagonals.
    #[default]
    Standard,
    /// Also the nine 2×2 squares.
    Squares,
}

impl Rules {
    /// The name on the command line and in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Squares => "squares",
        }
    }

    /// The rules of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "standard" => Some(Self::Standard),
            "squares" => Some(Self::Squares),
            _ => None,
        }
    }

    /// How many of the lines, in their order, count.
    pub const fn line_count(self) -> usize {
        match self {
            Self::Standard => 10,
            Self::Squares => LINES,
        }
    }

    /// The lines that count, in the order H, V, D, S.
    pub fn lines(self) -> impl Iterator<Item = Line> {
        LINE_IDS[..self.line_count()].iter().copied()
    }
}

/// Four cells that make a quarto when they share a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Line(u8);

impl Line {
    /// Position in the order H1–H4, V1–V4, D1, D2, S1–S9.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// `H1` to `H4`, `V1` to `V4`, `D1`, `D2`, `S1` to `S9`.
    pub const fn name(self) -> &'static str {
        NAMES[self.index()]
    }

    /// Its four cells, in reading order.
    pub fn cells(self) -> [Cell; 4] {
        CELLS_OF[self.index()].map(Cell)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

const NAMES: [&str; LINES] = [
    "H1", "H2", "H3", "H4", "V1", "V2", "V3", "V4", "D1", "D2", "S1", "S2", "S3", "S4", "S5", "S6",
    "S7", "S8", "S9",
];

static LINE_IDS: [Line; LINES] = {
    let mut ids = [Line(0); LINES];
    let mut i = 0u8;
    while (i as usize) < LINES {
        ids[i as usize] = Line(i);
        i += 1;
    }
    ids
};

/// Cell indices of every line.
pub(crate) const CELLS_OF: [[u8; 4]; LINES] = {
    let mut lines = [[0; 4]; LINES];
    let mut n = 0;
    while n < 4 {
        lines[n as usize] = [4 * n, 4 * n + 1, 4 * n + 2, 4 * n + 3];
        lines[4 + n as usize] = [n, n + 4, n + 8, n + 12];
        n += 1;
    }
    lines[8] = [0, 5, 10, 15];
    lines[9] = [3, 6, 9, 12];
    let mut square = 0;
    while square < 9 {
        let top_left = square / 3 * 4 + square % 3;
        lines[10 + square as usize] = [top_left, top_left + 1, top_left + 4, top_left + 5];
        square += 1;
    }
    lines
};

/// Line indices through every cell, ascending.
static THROUGH: [&[u8]; CELLS] = [
    &[0, 4, 8, 10],
    &[0, 5, 10, 11],
    &[0, 6, 11, 12],
    &[0, 7, 9, 12],
    &[1, 4, 10, 13],
    &[1, 5, 8, 10, 11, 13, 14],
    &[1, 6, 9, 11, 12, 14, 15],
    &[1, 7, 12, 15],
    &[2, 4, 13, 16],
    &[2, 5, 9, 13, 14, 16, 17],
    &[2, 6, 8, 14, 15, 17, 18],
    &[2, 7, 15, 18],
    &[3, 4, 9, 16],
    &[3, 5, 16, 17],
    &[3, 6, 17, 18],
    &[3, 7, 8, 18],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_through_a_cell_are_those_that_hold_it() {
        for cell in Cell::all() {
            for rules in [Rules::Standard, Rules::Squares] {
                let held: Vec<_> = rules
                    .lines()
                    .filter(|line| line.cells().contains(&cell))
                    .collect();
                assert_eq!(cell.lines(rules).collect::<Vec<_>>(), held, "{cell:?}");
            }
        }
    }
}
