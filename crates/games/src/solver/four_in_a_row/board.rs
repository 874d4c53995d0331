//! The board as bits: a column has seven of them, the lowest cell first, and the topmost stays empty.

use crate::game::Position as _;
use crate::game::four_in_a_row::{COLUMNS, Position, ROWS};
use crate::solver::symmetry::Hash;

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

/// Free cells from which a position and its mirror image are looked up as one; later few games come to both.
const MIRRORED_FROM: u8 = 24;

pub(super) const fn column(index: u32) -> u64 {
    ((1 << HEIGHT) - 1) << (HEIGHT * index)
}

/// Without four in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Board {
    /// Discs of the side to move.
    own: u64,
    all: u64,
    /// The free cells that would complete a line of the side to move, reachable or not.
    wins: u64,
    /// Those of the opponent.
    threats: u64,
}

/// What the rest of a game depends on.
pub(super) struct Future {
    /// The same for positions with the same future, and for some of their mirror images.
    pub(super) hash: Hash,
    /// Whether the side to move has a line left.
    pub(super) can_win: bool,
    /// Whether the opponent has one.
    pub(super) can_lose: bool,
}

impl Board {
    pub(super) fn of(position: &Position) -> Self {
        let sides = position.discs();
        Self::new(sides[position.to_move().index()], sides[0] | sides[1])
    }

    const fn new(own: u64, all: u64) -> Self {
        Self {
            own,
            all,
            wins: completing(own, all),
            threats: completing(own ^ all, all),
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
            (theirs & top != 0).then(|| Self::new(theirs ^ top, self.all ^ top))
        })
    }

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
        self.wins & self.reachable() != 0
    }

    /// The cells after which the opponent does not win immediately.
    #[inline]
    pub(super) const fn safe(&self) -> u64 {
        let mut cells = self.reachable();
        let forced = cells & self.threats;
        if forced != 0 {
            if forced & (forced - 1) != 0 {
                return 0;
            }
            cells = forced;
        }
        cells & !(self.threats >> 1)
    }

    /// The larger, the sooner the disc after which `n` cells are free is searched.
    ///
    /// It counts the cells that complete a line of the side that played it. Those of the side's own rows count more: at
    /// the end of the game the first player gets to the lower cell of every pair. Those that can be reached now count
    /// less: the opponent will fill them.
    #[inline]
    pub(super) const fn promise(&self, n: u8) -> u32 {
        let own_rows = if n.is_multiple_of(2) {
            CELLS & !LOWER
        } else {
            LOWER
        };
        let reachable = self.threats & self.reachable();
        2 * self.threats.count_ones() + (self.threats & own_rows).count_ones()
            - reachable.count_ones()
    }

    /// Of a disc it matters whose it is only if it is on a line that its side can still complete; not counted are lines
    /// through a cell that completes another one, which would be played only to win.
    #[inline]
    pub(super) fn future(&self) -> Future {
        let (own, theirs) = (self.own, self.own ^ self.all);
        // Of two winning cells of a side, one above the other, one ends the game: none goes on above the upper one.
        let own_pairs = self.wins & self.wins << 1;
        let their_pairs = self.threats & self.threats << 1;
        // Nor above a cell that wins for both.
        let last = self.wins & self.threats | own_pairs | their_pairs;
        let mut dead = last << 1 & CELLS & !BOTTOM;
        for _ in 1..ROWS {
            dead |= dead << 1 & CELLS & !BOTTOM;
        }
        let free = CELLS & !self.all & !dead;
        let (own_wins, own_live) = live(own, free & !their_pairs, self.wins);
        let (their_wins, their_live) = live(theirs, free & !own_pairs, self.threats);
        let key = [
            own_live & own | own_wins,
            their_live & theirs | their_wins,
            self.all + BOTTOM,
        ];
        let mut hash = hashed(key);
        if self.free() >= MIRRORED_FROM {
            let image = hashed(key.map(mirrored));
            if image.slot < hash.slot {
                hash = image;
            }
        }
        Future {
            hash,
            can_win: own_live | own_wins != 0,
            can_lose: their_live | their_wins != 0,
        }
    }

    /// The disc is on this cell.
    #[inline]
    pub(super) const fn after(&self, cell: u64) -> Self {
        let all = self.all | cell;
        Self {
            own: self.own ^ self.all,
            all,
            wins: self.threats & !cell,
            threats: completing(self.own | cell, all),
        }
    }
}

/// Without products of 128 bits, which are slow in WebAssembly.
#[inline]
const fn hashed([own, theirs, heights]: [u64; 3]) -> Hash {
    let own = own.wrapping_add(heights.wrapping_mul(0x8ebc_6af0_9c88_c6e3));
    let theirs = theirs.wrapping_add(heights.wrapping_mul(0x9c6e_6877_736c_46e3));
    Hash {
        slot: mixed(
            own.wrapping_mul(0xa076_1d64_78bd_642f),
            theirs.wrapping_mul(0xe703_7ed1_a0b4_28db),
        ),
        signature: mixed(
            own.wrapping_mul(0x1d8e_4e27_c47d_124f),
            theirs.wrapping_mul(0xeb44_acca_b455_d165),
        ),
    }
}

/// The upper bits depend on all.
#[inline]
const fn mixed(a: u64, b: u64) -> u64 {
    let both = a ^ b.rotate_left(32);
    (both ^ both >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
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

/// Those of a side's winning cells that are `free`, and all cells of its lines on `free` cells that do not win yet.
#[inline]
const fn live(own: u64, free: u64, wins: u64) -> (u64, u64) {
    let cells = own | free & !wins;
    let upwards = cells & cells << 1;
    let first = upwards & upwards << 2;
    let mut live = first | first >> 1 | first >> 2 | first >> 3;
    let mut index = 0;
    while index < 3 {
        let step = HEIGHT - 1 + index;
        let pairs = cells & cells << step;
        let first = pairs & pairs << (2 * step);
        live |= first | first >> step | first >> (2 * step) | first >> (3 * step);
        index += 1;
    }
    (wins & free, live)
}
