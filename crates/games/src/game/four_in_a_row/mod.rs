//! Four In A Row: seven columns, six rows, a piece falls to the lowest free cell of its column; four in a row, column
//! or diagonal win.

mod game;
mod position_error;

use crate::game::{IllegalReason, Outcome, Side};

pub(crate) use game::DISCS;
pub use game::FourInARow;
pub use position_error::PositionError;

pub const COLUMNS: u8 = 7;

pub const ROWS: u8 = 6;

const CELLS: u32 = COLUMNS as u32 * ROWS as u32;

/// Bits of a column: one a row, the lowest first, and one on top that stays empty, so that shifted boards do not run
/// from one column into the next.
const HEIGHT: u8 = ROWS + 1;

/// The directions of a line as shifts of a board: up, right, up-right, down-right.
const DIRECTIONS: [u8; 4] = [1, HEIGHT, HEIGHT + 1, HEIGHT - 1];

/// 0 to 6, shown as 1 to 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Column(u8);

impl Column {
    /// From 1 to 7.
    pub const fn from_number(number: u8) -> Option<Self> {
        if number >= 1 && number <= COLUMNS {
            Some(Self(number - 1))
        } else {
            None
        }
    }

    /// 1 to 7.
    pub const fn number(self) -> u8 {
        self.0 + 1
    }

    pub fn all() -> impl Iterator<Item = Self> {
        (0..COLUMNS).map(Self)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Position {
    /// Bit `HEIGHT * column + row`, row 0 at the bottom.
    pieces: [u64; 2],
}

impl Position {
    #[expect(clippy::cast_possible_truncation, reason = "there are six rows")]
    fn height(&self, column: Column) -> u8 {
        let occupied = (self.pieces[0] | self.pieces[1]) >> (HEIGHT * column.0);
        (occupied & 0b11_1111).count_ones() as u8
    }

    /// The discs of each side as bits: seven for a column, the lowest cell first, the seventh always 0.
    pub const fn discs(&self) -> [u64; 2] {
        self.pieces
    }

    fn count(&self) -> u32 {
        (self.pieces[0] | self.pieces[1]).count_ones()
    }

    /// Rows count from the bottom, from 0.
    fn get(&self, column: u8, row: u8) -> Option<Side> {
        let bit = 1u64 << (HEIGHT * column + row);
        Side::BOTH
            .into_iter()
            .find(|side| self.pieces[side.index()] & bit != 0)
    }

    /// Cells from which a line of four runs in each direction.
    fn fours(board: u64) -> [u64; 4] {
        DIRECTIONS.map(|shift| {
            let pairs = board & board >> shift;
            pairs & pairs >> (2 * shift)
        })
    }

    fn has_won(&self, side: Side) -> bool {
        Self::fours(self.pieces[side.index()])
            .iter()
            .any(|&from| from != 0)
    }
}

impl crate::game::Position for Position {
    type Move = Column;
    type Turn = Column;

    fn to_move(&self) -> Side {
        Side::BOTH[(self.count() % 2) as usize]
    }

    fn outcome(&self) -> Option<Outcome> {
        // Only the side that just moved can have completed a line.
        let moved = self.to_move().other();
        if self.has_won(moved) {
            Some(Outcome::Win(moved))
        } else if self.count() == CELLS {
            Some(Outcome::Draw)
        } else {
            None
        }
    }

    fn moves(&self) -> impl Iterator<Item = Column> {
        let going = self.outcome().is_none();
        let position = *self;
        Column::all().filter(move |&column| going && position.height(column) < ROWS)
    }

    fn play(&mut self, column: Column) -> Result<(), IllegalReason> {
        if self.outcome().is_some() {
            return Err(IllegalReason::GameOver);
        }
        let row = self.height(column);
        if row == ROWS {
            return Err(IllegalReason::Occupied);
        }
        self.pieces[self.to_move().index()] |= 1 << (HEIGHT * column.0 + row);
        Ok(())
    }

    fn turn_of(moves: &[Column]) -> Option<Column> {
        <[Column; 1]>::try_from(moves).ok().map(|[column]| column)
    }
}
