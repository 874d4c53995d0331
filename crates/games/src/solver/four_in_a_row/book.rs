//! The book of Four In A Row: the score of every position with eleven discs. Earlier positions follow from it in
//! milliseconds, later ones are solved quickly without it.
//!
//! The shipped scores follow from those of all positions with twelve discs in Markus Thill's database
//! (bitbully-databases 0.0.2, MIT licence); docs/solver.md says how they were checked. [`BookProofs`] makes the file,
//! from those or from proofs of this solver.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use super::board::{Board, decided};
use crate::game::Game as _;
use crate::game::Position as _;
use crate::game::four_in_a_row::{FourInARow, Position};
use crate::solver::compact_book::{self, CompactBook};
use crate::solver::evaluation::Evaluation;
use crate::solver::evaluation::Score;

pub const BOOK_DISCS: usize = 11;

pub(super) const BOOK_FREE: u8 = 31;

static SHIPPED: LazyLock<Option<CompactBook>> =
    LazyLock::new(|| CompactBook::from_bytes(include_bytes!("../book/four_in_a_row.bin")));

pub(super) fn shipped() -> Option<CompactBook> {
    *SHIPPED
}

/// The position is of the book; neither side wins immediately.
#[inline]
pub(super) fn score(book: &CompactBook, board: &Board) -> Option<Score> {
    book.get(board.canonical_key()).map(u8::cast_signed)
}

/// Whether a game can come to this position; the book has no others.
pub(super) fn is_reachable(board: &Board) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![*board];
    while let Some(board) = open.pop() {
        if board.is_empty() {
            return true;
        }
        open.extend(board.before().filter(|before| seen.insert(before.key())));
    }
    false
}

/// Neither side wins immediately; one of each position and its mirror image, by key. With eleven discs it takes a few
/// seconds.
fn positions(discs: usize) -> BTreeMap<u64, Position> {
    let start = Position::default();
    let mut level = BTreeMap::from([(Board::of(&start).canonical_key(), start)]);
    for _ in 0..discs {
        let after = level
            .values()
            .flat_map(|position| FourInARow.turns(position));
        let running = after.filter(|(_, after)| after.outcome().is_none());
        level = running
            .map(|(_, after)| (Board::of(&after).canonical_key(), after))
            .collect();
    }
    level.retain(|_, position| !Board::of(position).can_win());
    level
}

/// What is proven of the book's positions.
#[derive(Debug)]
pub struct BookProofs {
    positions: BTreeMap<u64, Position>,
    scores: HashMap<u64, Score>,
}

/// The first line of a file of proofs.
const HEADER: &[u8; 16] = b"four in a row 1\n";

/// The key, and the score.
const RECORD: usize = 9;

/// The error for a file that has no proofs of the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "these are no proofs of positions with {BOOK_DISCS} discs, as scripts/books/four_in_a_row.py writes them"
)]
pub struct NoProofs;

impl Default for BookProofs {
    fn default() -> Self {
        Self::with_discs(BOOK_DISCS)
    }
}

impl BookProofs {
    pub(super) fn with_discs(discs: usize) -> Self {
        Self {
            positions: positions(discs),
            scores: HashMap::new(),
        }
    }

    /// Not proven; those after the same discs are near each other.
    pub fn missing(&self) -> Vec<Position> {
        let missing = |(key, position): (&u64, &Position)| {
            (!self.scores.contains_key(key)).then_some(*position)
        };
        self.positions.iter().filter_map(missing).collect()
    }

    /// Nothing is added when it is not of the book, or its score is not exact; returns whether it was.
    pub fn add(&mut self, position: &Position, evaluation: Evaluation) -> bool {
        let key = Board::of(position).canonical_key();
        let (low, high) = evaluation.bounds();
        let is_exact = low == high && self.positions.contains_key(&key);
        if is_exact {
            self.scores.insert(key, low);
        }
        is_exact
    }

    /// Adds the proofs of a file: a line, then nine bytes for each position, its key (the number of the board `own +
    /// all + bottom` of the side to move, or of its mirror image if that is smaller, with seven bits a column) and
    /// its score, both with the lowest byte first.
    ///
    /// # Errors
    ///
    /// When the bytes are not such a file. Nothing was added then.
    pub fn read(&mut self, bytes: &[u8]) -> Result<(), NoProofs> {
        let body = bytes.strip_prefix(HEADER).ok_or(NoProofs)?;
        let (records, []) = body.as_chunks::<RECORD>() else {
            return Err(NoProofs);
        };
        let mut read = HashMap::with_capacity(records.len());
        for record in records {
            let [key @ .., score] = record;
            let (key, score) = (u64::from_le_bytes(*key), score.cast_signed());
            // Nobody wins at once.
            let is_possible = |position| score.abs() < decided(Board::of(position).free());
            if !self.positions.get(&key).is_some_and(is_possible) {
                return Err(NoProofs);
            }
            read.insert(key, score);
        }
        self.scores.extend(read);
        Ok(())
    }

    /// `None` while positions are missing.
    pub fn book(&self) -> Option<Vec<u8>> {
        let entries = self.positions.keys().map(|key| {
            let score = self.scores.get(key)?;
            Some((*key, score.cast_unsigned()))
        });
        compact_book::to_bytes(&entries.collect::<Option<Vec<_>>>()?)
    }
}
