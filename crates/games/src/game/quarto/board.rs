//! The board: which piece stands on which cell, with the running AND and OR of every line.

use super::cell::{CELLS, Cell, LINES, Line, Rules};
use super::piece::{FEATURES, PIECES, Piece};

const EMPTY: u8 = 0xff;

/// A line of four pieces that share a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quarto {
    /// The four cells.
    pub line: Line,
    /// The feature whose value they share, 0 to 3.
    pub feature: usize,
    /// The value that they share, 0 or 1.
    pub value: usize,
}

/// The pieces of one line, folded: enough to detect a quarto without reading the cells again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Fold {
    /// Bits that all pieces have; 1111 for no piece.
    and: u8,
    /// Bits that some piece has; 0000 for no piece.
    or: u8,
    /// Number of pieces.
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

    /// Four pieces that share a 1 (AND) or a 0 (OR).
    const fn is_quarto(self) -> bool {
        self.count == 4 && (self.and != 0 || self.or != 0b1111)
    }
}

/// Sixteen cells, each empty or with a piece. A board has no turn and no piece in hand, and a piece
/// may stand on it twice: [`Position`](super::Position) holds the rules of play.
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
        // EMPTY is above 15, so it is no piece.
        Piece::new(self.cells[cell.index()])
    }

    /// Puts a piece on a free cell. `false`, and nothing changed, when it is occupied.
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

    /// Free cells, row by row.
    pub fn free(&self) -> impl Iterator<Item = Cell> + use<> {
        let cells = self.cells;
        Cell::all().filter(move |cell| cells[cell.index()] == EMPTY)
    }

    /// Occupied cells with their pieces, row by row.
    pub fn pieces(&self) -> impl Iterator<Item = (Cell, Piece)> + '_ {
        Cell::all().filter_map(|cell| Some((cell, self.get(cell)?)))
    }

    /// Number of pieces on the board.
    pub fn count(&self) -> usize {
        self.cells.iter().filter(|&&cell| cell != EMPTY).count()
    }

    /// Number of free cells.
    pub fn free_count(&self) -> usize {
        CELLS - self.count()
    }

    /// Pieces that stand on more than one cell, with the first cell and each later one, row by
    /// row: possible in a drawing, not in a game.
    pub fn duplicates(&self) -> impl Iterator<Item = (Piece, Cell, Cell)> + '_ {
        let mut first = [None; PIECES];
        self.pieces().filter_map(move |(cell, piece)| {
            let earlier = *first[piece.index()].get_or_insert(cell);
            (earlier != cell).then_some((piece, earlier, cell))
        })
    }

    /// Whether a line through this cell is a quarto under `rules`.
    pub fn has_quarto_through(&self, cell: Cell, rules: Rules) -> bool {
        cell.lines(rules)
            .any(|line| self.folds[line.index()].is_quarto())
    }

    /// Whether any line is a quarto under `rules`.
    pub fn has_quarto(&self, rules: Rules) -> bool {
        self.folds[..rules.line_count()]
            .iter()
            .any(|fold| fold.is_quarto())
    }

    /// Whether `piece` on the free cell `cell` would make a quarto under `rules`.
    pub fn would_win(&self, cell: Cell, piece: Piece, rules: Rules) -> bool {
        cell.lines(rules).any(|line| {
            let mut fold = self.folds[line.index()];
            fold.add(piece);
            fold.is_quarto()
        })
    }

    /// Every quarto, lines in the order H, V, D, S and features in theirs.
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
