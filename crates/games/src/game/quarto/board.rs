use super::piece_set::{FEATURES, PIECES, Piece};

const EMPTY: u8 = 0xff;

/// A line of four pieces that share a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quarto {
    pub line: Line,
    /// 0 to 3.
    pub feature: usize,
    /// 0 or 1.
    pub value: usize,
}

/// The pieces of one line, folded: enough to detect a quarto without reading the cells again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Fold {
    /// Bits that all pieces have; 1111 for no piece.
    and: u8,
    /// Bits that some piece has; 0000 for no piece.
    or: u8,
    count: u8,
}

impl Fold {
    const NONE: Self = Self {
        and: 0b1111,
        or: 0,
        count: 0,
    };

    fn add(&mut self, piece: Piece) {
        self.and &= piece.bits();
        self.or |= piece.bits();
        self.count += 1;
    }

    const fn is_quarto(self) -> bool {
        self.count == 4 && (self.and != 0 || self.or != 0b1111)
    }
}

/// Sixteen cells, each empty or with a piece; one may stand on it twice.
///
/// ```
/// use referee_games::game::quarto::{Board, Cell, Piece, Rules};
///
/// let mut board = Board::default();
/// // Four pieces with bit 0 set, in the top row.
/// for (number, bits) in [(1, 1), (2, 3), (3, 5), (4, 9)] {
///     let cell = Cell::from_number(number).unwrap();
///     assert!(board.place(cell, Piece::new(bits).unwrap()));
/// }
/// assert_eq!(board.free_count(), 12);
/// let quartos: Vec<_> = board.quartos(Rules::Standard).collect();
/// assert_eq!(quartos.len(), 1);
/// assert_eq!(quartos[0].line.name(), "H1");
/// assert_eq!((quartos[0].feature, quartos[0].value), (0, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Board {
    cells: [u8; CELLS],
    folds: [Fold; LINES],
}

impl Default for Board {
    fn default() -> Self {
        Self {
            cells: [EMPTY; CELLS],
            folds: [Fold::NONE; LINES],
        }
    }
}

impl Board {
    pub const fn get(&self, cell: Cell) -> Option<Piece> {
        Piece::new(self.cells[cell.index()])
    }

    /// `false`, and nothing changed, when the cell is occupied.
    #[must_use]
    pub fn place(&mut self, cell: Cell, piece: Piece) -> bool {
        if self.cells[cell.index()] != EMPTY {
            return false;
        }
        self.cells[cell.index()] = piece.bits();
        for line in cell.lines(Rules::Squares) {
            self.folds[line.index()].add(piece);
        }
        true
    }

    pub fn free(&self) -> impl Iterator<Item = Cell> + use<> {
        let cells = self.cells;
        Cell::all().filter(move |cell| cells[cell.index()] == EMPTY)
    }

    pub fn pieces(&self) -> impl Iterator<Item = (Cell, Piece)> + '_ {
        Cell::all().filter_map(|cell| Some((cell, self.get(cell)?)))
    }

    pub fn count(&self) -> usize {
        self.cells.iter().filter(|&&cell| cell != EMPTY).count()
    }

    pub fn free_count(&self) -> usize {
        CELLS - self.count()
    }

    /// With the first cell and each later one.
    pub fn duplicates(&self) -> impl Iterator<Item = (Piece, Cell, Cell)> + '_ {
        let mut first = [None; PIECES];
        self.pieces().filter_map(move |(cell, piece)| {
            let earlier = *first[piece.index()].get_or_insert(cell);
            (earlier != cell).then_some((piece, earlier, cell))
        })
    }

    pub fn has_quarto_through(&self, cell: Cell, rules: Rules) -> bool {
        cell.lines(rules)
            .any(|line| self.folds[line.index()].is_quarto())
    }

    pub fn has_quarto(&self, rules: Rules) -> bool {
        self.quartos(rules).next().is_some()
    }

    /// Whether `piece` on the free cell `cell` would make a quarto under `rules`.
    pub fn would_win(&self, cell: Cell, piece: Piece, rules: Rules) -> bool {
        // Plain loops here and in callers: the checks of bots ask millions of times, also in builds that optimise little.
        for &line in THROUGH[cell.index()] {
            if usize::from(line) >= rules.line_count() {
                break;
            }
            let mut fold = self.folds[usize::from(line)];
            if fold.count == 3 {
                fold.add(piece);
                if fold.is_quarto() {
                    return true;
                }
            }
        }
        false
    }

    /// Lines in the order H, V, D, S and features in theirs.
    pub fn quartos(&self, rules: Rules) -> impl Iterator<Item = Quarto> + '_ {
        rules.lines().flat_map(move |line| {
            let fold = self.folds[line.index()];
            (0..FEATURES).filter_map(move |feature| {
                let value = match (fold.count, fold.and >> feature & 1, fold.or >> feature & 1) {
                    (4, 1, _) => 1,
                    (4, _, 0) => 0,
                    _ => return None,
                };
                Some(Quarto {
                    line,
                    feature,
                    value,
                })
            })
        })
    }
}

pub const CELLS: usize = 16;

/// 10 rows, columns and diagonals, 9 squares.
pub const LINES: usize = 19;

/// People count from 1, row by row from the top left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell(u8);

impl Cell {
    /// From 1 to 16.
    pub const fn from_number(number: u8) -> Option<Self> {
        if number >= 1 && number <= 16 {
            Some(Self(number - 1))
        } else {
            None
        }
    }

    /// From 0 to 15.
    pub const fn from_index(index: u8) -> Option<Self> {
        if index < 16 { Some(Self(index)) } else { None }
    }

    /// 1 to 16.
    pub const fn number(self) -> u8 {
        self.0 + 1
    }

    /// 0 to 15.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// 0 (top) to 3.
    pub const fn row(self) -> usize {
        self.0 as usize / 4
    }

    /// 0 (left) to 3.
    pub const fn column(self) -> usize {
        self.0 as usize % 4
    }

    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        (0..16).map(Self)
    }

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
    #[default]
    Standard,
    /// Also the nine 2×2 squares.
    Squares,
}

impl Rules {
    /// On the command line and in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Squares => "squares",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = [Self::Standard, Self::Squares].into_iter();
        all.find(|rules| rules.name() == name)
    }

    /// How many of the lines, in their order, count.
    pub const fn line_count(self) -> usize {
        match self {
            Self::Standard => 10,
            Self::Squares => LINES,
        }
    }

    /// In the order H, V, D, S.
    pub fn lines(self) -> impl Iterator<Item = Line> {
        (0..19).map(Line).take(self.line_count())
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

    /// In reading order.
    pub fn cells(self) -> [Cell; 4] {
        CELLS_OF[self.index()].map(Cell)
    }
}

const NAMES: [&str; LINES] = [
    "H1", "H2", "H3", "H4", "V1", "V2", "V3", "V4", "D1", "D2", "S1", "S2", "S3", "S4", "S5", "S6",
    "S7", "S8", "S9",
];

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
