//! The board as bits: a column has seven of them, the lowest cell first, and the topmost stays empty.

use crate::game::Position as _;
use crate::game::four_in_a_row::{COLUMNS, Position, ROWS};
use crate::solver::evaluation::Score;

const HEIGHT: u32 = ROWS as u32 + 1;

const fn repeated(column: u64) -> u64 {
    let mut all = 0;
    let mut index = 0;
    while index < COLUMNS as u32 {
        all |= column << (HEIGHT * index);
        index += 1;
    }
    all
}

const BOTTOM: u64 = repeated(1);

const CELLS: u64 = repeated((1 << ROWS) - 1);

/// The lower cell of every pair of cells one above the other: rows 6, 4 and 2 as people count them.
const LOWER: u64 = repeated(0b01_0101);

pub(super) const fn column(index: u32) -> u64 {
    ((1 << HEIGHT) - 1) << (HEIGHT * index)
}

/// Without four in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Board {
    /// Discs of the side to move.
    own: u64,
    all: u64,
}

impl Board {
    pub(super) fn of(position: &Position) -> Self {
        let sides = position.discs();
        Self {
            own: sides[position.to_move().index()],
            all: sides[0] | sides[1],
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.all == 0
    }

    /// The positions from which one disc leads to this one.
    pub(super) fn before(self) -> impl Iterator<Item = Self> {
        let theirs = self.own ^ self.all;
        (0..u32::from(COLUMNS)).filter_map(move |index| {
            let discs = self.all & column(index);
            let top = discs & !(discs >> 1);
            (theirs & top != 0).then_some(Self {
                own: theirs ^ top,
                all: self.all ^ top,
            })
        })
    }

    #[expect(clippy::cast_possible_truncation, reason = "at most 42")]
    pub(super) const fn free(&self) -> u8 {
        (CELLS & !self.all).count_ones() as u8
    }

    /// Unique, below 2^49.
    pub(super) const fn key(&self) -> u64 {
        // The carry puts a bit on top of every column, so that its height can be told.
        self.own + self.all + BOTTOM
    }

    /// The smaller key of this position and of its mirror image.
    #[inline]
    pub(super) fn canonical_key(&self) -> u64 {
        let key = self.key();
        key.min(mirrored(key))
    }

    /// The cells that discs can fall to.
    #[inline]
    const fn reachable(&self) -> u64 {
        (self.all + BOTTOM) & CELLS
    }

    pub(super) const fn can_win(&self) -> bool {
        completing(self.own, self.all) & self.reachable() != 0
    }

    /// The cells after which the opponent does not win immediately.
    #[inline]
    pub(super) const fn safe(&self) -> u64 {
        let theirs = completing(self.own ^ self.all, self.all);
        let mut cells = self.reachable();
        let forced = cells & theirs;
        if forced != 0 {
            if forced & (forced - 1) != 0 {
                return 0;
            }
            cells = forced;
        }
        cells & !(theirs >> 1)
    }

    /// The larger, the sooner a disc on this cell is searched. `n` cells are free.
    ///
    /// It counts the cells that would complete a line then. Those of the side's own rows count more: at the end of
    /// the game the first player gets to the lower cell of every pair. Those that can be reached now count less: the
    /// opponent will fill them.
    #[inline]
    pub(super) const fn promise_of(&self, cell: u64, n: u8) -> u32 {
        let own_rows = if n.is_multiple_of(2) {
            LOWER
        } else {
            CELLS & !LOWER
        };
        let all = self.all | cell;
        let threats = completing(self.own | cell, all);
        let reachable = threats & (all + BOTTOM);
        2 * threats.count_ones() + (threats & own_rows).count_ones() - reachable.count_ones()
    }

    /// No score of the side to move is better; needs no search. `most` when nothing is known.
    ///
    /// When every column has an even number of free cells, the opponent can answer every disc in its column. Then the
    /// side to move gets the lower cell of every pair, and the opponent the upper one.
    #[inline]
    pub(super) const fn bound(&self, most: Score) -> Score {
        let free = CELLS & !self.all;
        if self.reachable() & !LOWER == 0 {
            let theirs = self.own ^ self.all;
            if !has_line(self.own | (free & LOWER)) {
                return if has_line(theirs | (free & !LOWER)) {
                    -1
                } else {
                    0
                };
            }
        } else if !has_line(self.own | free) {
            return 0;
        }
        most
    }

    /// The disc is on this cell.
    #[inline]
    pub(super) const fn after(&self, cell: u64) -> Self {
        Self {
            own: self.own ^ self.all,
            all: self.all | cell,
        }
    }
}

#[inline]
const fn mirrored(key: u64) -> u64 {
    let mut image = key & column(3);
    let mut index = 0;
    while index < 3 {
        let shift = HEIGHT * (COLUMNS as u32 - 1 - 2 * index);
        image |= (key & column(index)) << shift;
        image |= (key >> shift) & column(index);
        index += 1;
    }
    image
}

/// The free cells that would complete a line of `own`, reachable or not.
#[inline]
const fn completing(own: u64, all: u64) -> u64 {
    // Upwards.
    let mut cells = (own << 1) & (own << 2) & (own << 3);
    // Rows, and the two diagonals.
    let mut index = 0;
    while index < 3 {
        let step = HEIGHT - 1 + index;
        let right = (own << step) & (own << (2 * step));
        cells |= right & (own << (3 * step));
        cells |= right & (own >> step);
        let left = (own >> step) & (own >> (2 * step));
        cells |= left & (own << step);
        cells |= left & (own >> (3 * step));
        index += 1;
    }
    cells & CELLS & !all
}

#[inline]
const fn has_line(cells: u64) -> bool {
    let upwards = cells & (cells << 1);
    let mut found = upwards & (upwards << 2);
    let mut index = 0;
    while index < 3 {
        let step = HEIGHT - 1 + index;
        let pairs = cells & (cells << step);
        found |= pairs & (pairs << (2 * step));
        index += 1;
    }
    found != 0
}
