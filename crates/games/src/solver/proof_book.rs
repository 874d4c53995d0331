//! The proof book: bounds of early positions that are kept for good, from the shipped book and from what a solver has
//! proven since.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use super::bitboard::{Bitboard, has_squares};
use super::compact_book;
use super::compact_book::CompactBook;
use super::evaluation::Bounds;
use super::symmetry::{Hash, Key, LiveLines, Symmetries};
use super::threats::Threats;
use crate::game::Position as _;
use crate::game::quarto::{Move, Piece, Position, Rules};

/// Free cells from which positions are in the book: at most four pieces on the board.
pub(super) const BOOK_FROM: u8 = 12;

/// Made by `crates/games/examples/make_books.rs`.
static STANDARD: LazyLock<Option<CompactBook>> =
    LazyLock::new(|| CompactBook::from_bytes(include_bytes!("book/standard.bin")));
static SQUARES: LazyLock<Option<CompactBook>> =
    LazyLock::new(|| CompactBook::from_bytes(include_bytes!("book/squares.bin")));

#[derive(Debug, Default)]
pub(super) struct ProofBook {
    /// By [`book_of`].
    shipped: [Option<CompactBook>; 2],
    /// By the signature of the hash.
    added: RwLock<HashMap<u64, Bounds>>,
}

impl ProofBook {
    pub(super) fn empty() -> Self {
        Self::default()
    }

    pub(super) fn shipped() -> Self {
        Self {
            shipped: [*STANDARD, *SQUARES],
            ..Self::default()
        }
    }

    /// For at most four pieces on the board and a piece in hand that completes no line.
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

    pub(super) fn add(&self, hash: Hash, bounds: Bounds) {
        let mut added = self.added.write().unwrap_or_else(PoisonError::into_inner);
        added
            .entry(hash.signature)
            .and_modify(|old| *old = old.and(bounds))
            .or_insert(bounds);
    }

    /// As a book to be shipped; `None` when two have the same hash.
    pub(super) fn pack(&self, hashes: impl Iterator<Item = Hash>, rules: Rules) -> Option<Vec<u8>> {
        let entries = hashes.map(|hash| {
            let bounds = self.get(hash, rules).unwrap_or(Bounds::UNKNOWN);
            (hash.signature, bounds.to_byte())
        });
        compact_book::to_bytes(&entries.collect::<Vec<_>>())
    }
}

const fn book_of(rules: Rules) -> usize {
    match rules {
        Rules::Standard => 0,
        Rules::Squares => 1,
    }
}

/// Positions with a piece in hand after `placed` placements, one of each class under symmetry, those that arise in
/// most ways first. Every board with so many pieces has the key of one of them; positions where the piece in hand
/// wins are left out.
///
/// A few classes may occur twice. Four placements take a second; every further placement takes about twenty times as
/// long and gives about twenty times as many positions.
pub fn early_positions(rules: Rules, placed: usize) -> Vec<Position> {
    let mut level = vec![(first(rules), 1)];
    for _ in 0..placed {
        level = next_level(&level);
    }
    level.into_iter().map(|(position, _)| position).collect()
}

/// All sixteen gifts are the same under symmetry.
fn first(rules: Rules) -> Position {
    let mut position = Position::new(rules);
    if let Some(piece) = Piece::new(0) {
        let _ = position.play(Move::Give(piece));
    }
    position
}

fn next_level(level: &[(Position, u64)]) -> Vec<(Position, u64)> {
    let mut seen: HashMap<Key, usize> = HashMap::new();
    let mut next: Vec<(Position, u64)> = Vec::new();
    for (position, ways) in level {
        for (_, after) in position.turns() {
            // A finished game has no key: nothing is in hand.
            let Some(key) = key(&after) else { continue };
            let index = *seen.entry(key).or_insert_with(|| {
                next.push((after, 0));
                next.len() - 1
            });
            next[index].1 += ways;
        }
    }
    next.sort_by_key(|(_, ways)| std::cmp::Reverse(*ways));
    next
}

/// `None` when nothing is in hand or the piece in hand wins.
pub(super) fn hash(position: &Position) -> Option<Hash> {
    Some(Symmetries::of(position.rules()).hash(&key(position)?))
}

/// `None` when nothing is in hand or the piece in hand wins.
fn key(position: &Position) -> Option<Key> {
    if has_squares(position.rules()) {
        key_of::<true>(position)
    } else {
        key_of::<false>(position)
    }
}

fn key_of<const SQUARES: bool>(position: &Position) -> Option<Key> {
    let (board, hand) = Bitboard::of(position);
    let hand = hand?;
    if Threats::of::<SQUARES>(&board).wins(hand) {
        return None;
    }
    let symmetries = Symmetries::of(position.rules());
    let live = LiveLines::of::<SQUARES>(&board);
    Some(symmetries.key::<SQUARES>(&board, &live, hand, true))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::game::quarto::{Board, Cell};

    /// With the first piece in hand.
    fn keys_of_all_boards(rules: Rules, placed: usize) -> HashSet<Key> {
        let mut boards = vec![(Board::default(), 0)];
        for _ in 1..placed {
            boards = boards
                .iter()
                .flat_map(|(board, from)| with_one_more(board, *from))
                .collect();
        }
        let last = boards.iter().flat_map(|(board, from)| match placed {
            0 => vec![(*board, 0)],
            _ => with_one_more(board, *from),
        });
        let keys = last.filter_map(|(board, _)| {
            let mut position = Position::from_board(board, rules).ok()?;
            position.play(Move::Give(Piece::new(0)?)).ok()?;
            key(&position)
        });
        keys.collect()
    }

    /// With another piece on a later cell, and the first cell after it.
    fn with_one_more(board: &Board, from: usize) -> Vec<(Board, usize)> {
        let mut boards = Vec::new();
        for cell in Cell::all().skip(from) {
            for piece in Piece::all().skip(1) {
                let mut next = *board;
                if next.place(cell, piece) {
                    boards.push((next, cell.index() + 1));
                }
            }
        }
        boards
    }

    fn keys(rules: Rules, placed: usize) -> HashSet<Key> {
        early_positions(rules, placed)
            .iter()
            .filter_map(key)
            .collect()
    }

    /// The shipped book answers for every position, so it must have been made of all of them.
    #[test]
    fn every_early_board_has_the_key_of_an_early_position() {
        for rules in [Rules::Standard, Rules::Squares] {
            for placed in 0..=2 {
                assert!(
                    keys(rules, placed) == keys_of_all_boards(rules, placed),
                    "{placed}"
                );
            }
        }
    }

    /// Four minutes.
    #[test]
    #[ignore = "60 million boards under both rule sets: cargo test --release --lib early_positions -- --ignored"]
    fn every_early_board_has_the_key_of_an_early_position_to_the_end() {
        for rules in [Rules::Standard, Rules::Squares] {
            for placed in 3..=4 {
                assert!(
                    keys(rules, placed) == keys_of_all_boards(rules, placed),
                    "{placed}"
                );
            }
        }
    }
}
