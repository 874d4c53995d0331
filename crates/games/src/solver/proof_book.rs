//! The proof book: bounds of early positions.

use std::sync::LazyLock;

use super::bitboard::{Bitboard, has_squares};
use super::compact_book::CompactBook;
use super::evaluation::Bounds;
use super::symmetry::{Hash, LiveLines, Symmetries};
use super::threats::Threats;
use crate::game::quarto::{Position, Rules};

/// Free cells from which positions are in the book: at most four pieces on the board.
pub(super) const BOOK_FROM: u8 = 12;

/// Made by `examples/make_books.rs`.
static STANDARD: LazyLock<Option<CompactBook<'static>>> =
    LazyLock::new(|| CompactBook::from_bytes(include_bytes!("book/standard.bin")));
static SQUARES: LazyLock<Option<CompactBook<'static>>> =
    LazyLock::new(|| CompactBook::from_bytes(include_bytes!("book/squares.bin")));

#[derive(Debug, Default)]
pub(super) struct ProofBook {
    /// Indexed by rules.
    shipped: [Option<CompactBook<'static>>; 2],
}

impl ProofBook {
    pub(super) fn shipped() -> Self {
        Self {
            shipped: [*STANDARD, *SQUARES],
        }
    }

    /// For at most four pieces on the board and a piece in hand that completes no line.
    pub(super) fn get(&self, key: u64, rules: Rules) -> Option<Bounds> {
        let shipped = self.shipped[rules as usize].and_then(|book| book.get(key));
        shipped.map(Bounds::from_byte)
    }
}

/// The same for all positions that are equal by symmetry, though a few have several; `None` when nothing is in hand or
/// the piece in hand wins.
pub fn book_key(position: &Position) -> Option<u64> {
    hash_of(position).map(|hash| hash.signature)
}

/// That of the search; `None` without a [`book_key`].
pub(super) fn hash_of(position: &Position) -> Option<Hash> {
    if has_squares(position.rules()) {
        hash_by::<true>(position)
    } else {
        hash_by::<false>(position)
    }
}

fn hash_by<const SQUARES: bool>(position: &Position) -> Option<Hash> {
    let (board, hand) = Bitboard::of(position);
    let hand = hand?;
    if Threats::of::<SQUARES>(&board).wins(hand) {
        return None;
    }
    let symmetries = Symmetries::of(position.rules());
    let live = LiveLines::of::<SQUARES>(&board);
    let key = symmetries.key::<SQUARES>(&board, &live, hand, true);
    Some(symmetries.hash(&key))
}
