//! The positions early in a game, one of each class under symmetry: those of the shipped book.

use std::collections::HashMap;

use super::bitboard::{Bitboard, has_squares};
use super::live_lines::LiveLines;
use super::symmetry::{Hash, Key, Symmetries};
use super::threats::Threats;
use crate::game::Position as _;
use crate::game::quarto::{Move, Piece, Position, Rules};

/// Positions with a piece in hand after `placed` placements, one of each class under symmetry,
/// those that arise in most ways first. Positions where the piece in hand wins at once are left
/// out.
///
/// A few classes may occur twice. Four placements take a second; every further placement takes
/// about twenty times as long and gives about twenty times as many positions.
pub fn early_positions(rules: Rules, placed: usize) -> Vec<Position> {
    let mut level = vec![(first(rules), 1)];
    for _ in 0..placed {
        level = next_level(&level);
    }
    level.into_iter().map(|(position, _)| position).collect()
}

/// The position after the first gift: all sixteen gifts are the same under symmetry.
fn first(rules: Rules) -> Position {
    let mut position = Position::new(rules);
    if let Some(piece) = Piece::new(0) {
        // Nothing is in hand, so the move is legal.
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

/// The hash of a position in the proof book; `None` when nothing is in hand or the piece in hand
/// wins at once.
pub(super) fn hash(position: &Position) -> Option<Hash> {
    Some(Symmetries::of(position.rules()).hash(&key(position)?))
}

/// The canonical key of a position; `None` when nothing is in hand or the piece in hand wins at
/// once.
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
