//! The lines that can still be completed: all that the rest of a game depends on.

use super::bitboard::{Bitboard, Lanes, lanes};
use crate::game::quarto::cell::CELLS_OF;

/// For each property, the lines that can still be completed with it: all their pieces have it, and
/// at least one cell is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LiveLines {
    /// Bits 0–3 the rows, 4–7 the columns, 8 and 9 the diagonals.
    pub(super) lines: [Lanes; 2],
    /// One bit a square, where its top left cell is.
    pub(super) squares: [Lanes; 2],
}

impl LiveLines {
    #[inline]
    pub(super) fn of<const SQUARES: bool>(board: &Bitboard) -> Self {
        let free = lanes(board.free);
        let open = pack(fold(free, |a, b| a | b));
        let mut live = Self {
            lines: [0; 2],
            squares: [0; 2],
        };
        for value in 0..2 {
            let can = board.with[value] | free;
            live.lines[value] = pack(fold(can, |a, b| a & b)) & open;
            if SQUARES {
                let open = free | free >> 1 | free >> 4 | free >> 5;
                let whole = can & can >> 1 & can >> 4 & can >> 5;
                live.squares[value] = whole & open & lanes(0x0777);
            }
        }
        live
    }

    /// The free cells on lines that can still be completed.
    #[inline]
    pub(super) fn cells(&self, free: u16) -> u16 {
        let lines = lowest_lane(self.lines[0] | self.lines[1]);
        let squares = lowest_lane(self.squares[0] | self.squares[1]);
        let cells = LINE_CELLS[usize::from(lines & 1023)];
        free & (cells | squares | squares << 1 | squares << 4 | squares << 5)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "only the lowest lane is wanted"
)]
const fn lowest_lane(v: Lanes) -> u16 {
    let v = v | v >> 32;
    (v | v >> 16) as u16
}

/// Rows, columns, diagonal and anti-diagonal, the cells of each folded into the lowest one.
#[inline]
fn fold(v: Lanes, op: impl Fn(Lanes, Lanes) -> Lanes) -> [Lanes; 4] {
    let both = |step: u32| {
        let pairs = op(v, v >> step);
        op(pairs, pairs >> (2 * step))
    };
    [both(1), both(4), both(5), both(3)]
}

#[inline]
const fn pack([rows, columns, diagonal, anti]: [Lanes; 4]) -> Lanes {
    let rows = rows & lanes(0x1111);
    let rows = (rows | rows >> 3 | rows >> 6 | rows >> 9) & lanes(0x000f);
    rows | (columns & lanes(0x000f)) << 4 | (diagonal & lanes(1)) << 8 | (anti & lanes(0x0008)) << 6
}

/// The cells of every set of the ten lines.
static LINE_CELLS: [u16; 1024] = {
    let mut cells = [0u16; 1024];
    let mut set = 1usize;
    while set < 1024 {
        let [a, b, c, d] = CELLS_OF[set.trailing_zeros() as usize];
        let own = 1 << a | 1 << b | 1 << c | 1 << d;
        cells[set] = cells[set & (set - 1)] | own;
        set += 1;
    }
    cells
};
