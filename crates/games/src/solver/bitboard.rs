//! The board of the search: for each of the eight properties, the set of cells whose piece has it.
//!
//! The four properties with value 0 share one `u64`, sixteen bits a feature, and so do the four with value 1. Every
//! question about lines ("where are three of four?") is answered for four properties with a few shifts.

use crate::game::quarto::{Piece, Position, Rules};

/// Bit `16 f + c` is cell `c` of feature `f`.
pub(super) type Lanes = u64;

/// The same 16 cells in all four features.
pub(super) const fn lanes(cells: u16) -> Lanes {
    cells as u64 * 0x0001_0001_0001_0001
}

const fn spread(factor: u64) -> [u64; 16] {
    let mut table = [0; 16];
    let mut piece = 0;
    while piece < 16 {
        let mut feature = 0;
        while feature < 4 {
            if piece >> feature & 1 == 1 {
                table[piece] |= factor << (16 * feature);
            }
            feature += 1;
        }
        piece += 1;
    }
    table
}

/// Cell 0 of every feature whose bit the piece has.
const ONE: [Lanes; 16] = spread(1);

/// All cells of every feature whose bit the piece has.
pub(super) const ALL: [Lanes; 16] = spread(0xffff);

/// The index, in [`ALL`], of the features whose bit `piece` does not have.
pub(super) const fn opposite(piece: u8) -> usize {
    (piece ^ 15) as usize
}

/// Ascending.
#[inline]
pub(super) fn bits(mut set: u16) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (lowest < 16).then_some(lowest as u8)
    })
}

/// A board without a quarto, and the pieces that are neither on it nor in hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bitboard {
    /// The cells whose piece has value 0, and those with value 1, for each feature.
    pub(super) with: [Lanes; 2],
    pub(super) free: u16,
    /// Bit `p` is the piece with bits `p`.
    pub(super) left: u16,
}

impl Bitboard {
    /// And the piece in hand.
    pub(super) fn of(position: &Position) -> (Self, Option<u8>) {
        let mut board = Self {
            with: [0; 2],
            free: 0xffff,
            left: 0,
        };
        for (cell, piece) in position.board().pieces() {
            board.put(cell.number() - 1, piece.bits());
        }
        for piece in position.left() {
            board.left |= piece.mask();
        }
        (board, position.hand().map(Piece::bits))
    }

    fn put(&mut self, cell: u8, piece: u8) {
        self.with[1] |= ONE[piece as usize] << cell;
        self.with[0] |= ONE[opposite(piece)] << cell;
        self.free &= !(1 << cell);
    }

    /// `piece` was in hand.
    #[inline]
    pub(super) fn place(mut self, cell: u8, piece: u8) -> Self {
        self.put(cell, piece);
        self
    }

    #[inline]
    pub(super) const fn give(mut self, piece: u8) -> Self {
        self.left &= !(1 << piece);
        self
    }
}

pub(super) const fn has_squares(rules: Rules) -> bool {
    matches!(rules, Rules::Squares)
}
