//! The proof book: bounds of early positions that are kept for good. It consists of the book that
//! is shipped with the program, with the bounds of every such position (`compact_book`), and of what a solver has proven
//! since.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use super::compact_book::{self, CompactBook};
use super::score::Bounds;
use super::symmetry::Hash;
use crate::game::quarto::Rules;

/// Free cells from which positions are in the book: at most four pieces on the board.
pub(super) const BOOK_FROM: u8 = 12;

/// The shipped books, made by `crates/games/examples/make_books.rs`.
static STANDARD: LazyLock<Option<CompactBook>> =
    LazyLock::new(|| CompactBook::from_bytes(include_bytes!("book/standard.bin")));
static SQUARES: LazyLock<Option<CompactBook>> =
    LazyLock::new(|| CompactBook::from_bytes(include_bytes!("book/squares.bin")));

/// The proof book of one solver.
#[derive(Debug, Default)]
pub(super) struct ProofBook {
    /// The shipped books, by [`book_of`].
    shipped: [Option<CompactBook>; 2],
    /// What was proven since, by the signature of the hash.
    added: RwLock<HashMap<u64, Bounds>>,
}

impl ProofBook {
    /// A book without any positions.
    pub(super) fn empty() -> Self {
        Self::default()
    }

    /// The shipped book.
    pub(super) fn shipped() -> Self {
        Self {
            shipped: [*STANDARD, *SQUARES],
            ..Self::default()
        }
    }

    /// The bounds of an early position: one with at most four pieces on the board and a piece in hand that completes no
    /// line.
    pub(super) fn get(&self, hash: Hash, rules: Rules) -> Option<Bounds> {
        let shipped = self.shipped[book_of(rules)].and_then(|book| book.get(hash.signature));
        let shipped = shipped.map(Bounds::from_byte);
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
        let added = added.get(&hash.signature).copied();
        match (added, shipped) {
            (Some(added), Some(shipped)) => Some(added.and(shipped)),
            (added, shipped) => added.or(shipped),
        }
    }

    /// Adds the bounds of a position.
    pub(super) fn add(&self, hash: Hash, bounds: Bounds) {
        let mut added = self.added.write().unwrap_or_else(PoisonError::into_inner);
        added
            .entry(hash.signature)
            .and_modify(|old| *old = old.and(bounds))
            .or_insert(bounds);
    }

    /// The bounds of these positions, all different, as a book to be shipped; `None` when two have the same hash.
    pub(super) fn pack(&self, hashes: impl Iterator<Item = Hash>, rules: Rules) -> Option<Vec<u8>> {
        let entries = hashes.map(|hash| {
            let bounds = self.get(hash, rules).unwrap_or(Bounds::UNKNOWN);
            (hash.signature, bounds.to_byte())
        });
        compact_book::to_bytes(&entries.collect::<Vec<_>>())
    }
}

/// Which of the shipped books is for these rules.
const fn book_of(rules: Rules) -> usize {
    match rules {
        Rules::Standard => 0,
        Rules::Squares => 1,
    }
}
