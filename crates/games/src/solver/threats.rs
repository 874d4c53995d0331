//! The threats on a board: which pieces complete a line, and which gifts are safe.

use super::bitboard::{ALL, Bitboard, Lanes, lanes, opposite};
use super::pair::Pair;

/// The contents of the other three cells of each cell's line, shifted onto the cell, by direction. Empty for a cell
/// that is in no line of a direction.
type Around = [[Pair; 3]; 4];

#[inline]
fn shift(v: Pair, left: i32, cells: u16) -> Pair {
    let moved = if left >= 0 { v << left } else { v >> -left };
    moved & Pair::splat(lanes(cells))
}

/// Rows, columns, diagonals, anti-diagonals.
#[inline]
fn straight(v: Pair) -> Around {
    let d = v & Pair::splat(lanes(0x8421));
    let a = v & Pair::splat(lanes(0x1248));
    [
        [
            shift(v, 1, 0xeeee) | shift(v, -3, 0x1111),
            shift(v, 2, 0xcccc) | shift(v, -2, 0x3333),
            shift(v, 3, 0x8888) | shift(v, -1, 0x7777),
        ],
        [
            shift(v, 4, 0xfff0) | shift(v, -12, 0x000f),
            shift(v, 8, 0xff00) | shift(v, -8, 0x00ff),
            shift(v, 12, 0xf000) | shift(v, -4, 0x0fff),
        ],
        [
            shift(d, 5, 0x8420) | shift(d, -15, 0x0001),
            shift(d, 10, 0x8400) | shift(d, -10, 0x0021),
            shift(d, 15, 0x8000) | shift(d, -5, 0x0421),
        ],
        [
            shift(a, 3, 0x1240) | shift(a, -9, 0x0008),
            shift(a, 6, 0x1200) | shift(a, -6, 0x0048),
            shift(a, 9, 0x1000) | shift(a, -3, 0x0248),
        ],
    ]
}

/// The squares in which a cell is the top left, top right, bottom left and bottom right corner.
#[inline]
fn square(v: Pair) -> Around {
    let (right, left) = (shift(v, -1, 0x7777), shift(v, 1, 0xeeee));
    let (below, above) = (shift(v, -4, 0x0fff), shift(v, 4, 0xfff0));
    [
        [right, below, shift(v, -5, 0x0777)],
        [left, below, shift(v, -3, 0x0eee)],
        [right, above, shift(v, 3, 0x7770)],
        [left, above, shift(v, 5, 0xeee0)],
    ]
}

/// Enough to find, without placing anything, the gifts that are safe after a placement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threats {
    /// For each property, the cells where a placement leaves a line of three with one free cell elsewhere: empty when
    /// there is no such line, all cells but one when the same free cell completes all such lines.
    kept: [Lanes; 2],
    /// For each property, the cells where one more piece with it makes a line of three.
    made: [Lanes; 2],
}

impl Threats {
    #[inline]
    pub(super) fn of<const SQUARES: bool>(board: &Bitboard) -> Self {
        let free = Pair::splat(lanes(board.free));
        let v = Pair::new(board.with);
        let (mut three, mut two) = lines(straight(v), straight(free));
        if SQUARES {
            let more = lines(square(v), square(free));
            three |= more.0;
            two |= more.1;
        }
        Self {
            kept: elsewhere(three & free).to_array(),
            made: (two & free).to_array(),
        }
    }

    #[inline]
    pub(super) const fn wins(&self, piece: u8) -> bool {
        self.kept[1] & ALL[piece as usize] != 0 || self.kept[0] & ALL[opposite(piece)] != 0
    }

    /// For each property, the cells where placing `piece` leaves a line that a piece with this property completes.
    #[inline]
    pub(super) const fn after(&self, piece: u8) -> [Lanes; 2] {
        [
            self.kept[0] | self.made[0] & ALL[opposite(piece)],
            self.kept[1] | self.made[1] & ALL[piece as usize],
        ]
    }
}

/// The cells in a line with three others that have the property, and those in a line with two that have it and a free
/// cell.
#[inline]
fn lines(v: Around, free: Around) -> (Pair, Pair) {
    let mut three = Pair::splat(0);
    let mut two = Pair::splat(0);
    for ([a, b, c], [fa, fb, fc]) in v.into_iter().zip(free) {
        let (ab, either) = (a & b, (a & fb) | (b & fa));
        three |= ab & c;
        two |= (ab & fc) | (c & either);
    }
    (three, two)
}

/// For each lane, the cells that leave another cell of the lane: none when it is empty, all but one when it has one
/// cell, all when it has several.
#[inline]
fn elsewhere(v: Pair) -> Pair {
    let some = non_empty(v);
    // This removes the lowest bit of each lane; no lane borrows from the next.
    let rest = v & (v - (some >> 15));
    fill(some) & (!v | fill(non_empty(rest)))
}

/// The highest bit of every lane that is not empty.
#[inline]
fn non_empty(v: Pair) -> Pair {
    let low = Pair::splat(lanes(0x7fff));
    (((v & low) + low) | v) & Pair::splat(lanes(0x8000))
}

/// All bits of the lanes whose highest bit is set (and no other).
#[inline]
fn fill(highest: Pair) -> Pair {
    (highest << 1) - (highest >> 15)
}

/// The free cells where the placement described by `after` (see [`Threats::after`]) makes `gift` safe.
#[inline]
pub(super) const fn safe_cells(after: [Lanes; 2], gift: u8, free: u16) -> u16 {
    let waits = after[1] & ALL[gift as usize] | after[0] & ALL[opposite(gift)];
    let waits = waits | waits >> 32;
    let waits = waits | waits >> 16;
    let waits = waits as u16;
    free & !waits
}
