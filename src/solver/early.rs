//! The beginnings of all games, one for all that are the same under symmetry.

use std::collections::HashMap;

use super::board::{Alive, Board, Threats, has_squares};
use super::symmetry::{Hash, Key, Symmetries};
use crate::game::Position as _;
use crate::game::quarto::{Cell, Move, Piece, Position, Rules};

/// Positions with a piece in hand after `placed` placements, one of each kind, those that come
/// about in most ways first. Left out are those where the piece in hand wins at once.
///
/// A few of a kind may come twice. Four placements take a second, every further one takes and
/// makes about twenty times as much.
pub fn early_positions(rules: Rules, placed: usize) -> Vec<Position> {
    let mut level = vec![(first(rules), 1)];
    for _ in 0..placed {
        level = next_level(&level);
    }
    level.into_iter().map(|(position, _)| position).collect()
}

/// The first gift: all sixteen are the same under symmetry.
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
        for cell in Cell::all() {
            let mut after = *position;
            if after.play(Move::Place(cell)).is_err() || after.outcome().is_some() {
                continue;
            }
            for piece in after.left() {
                let mut after = after;
                if after.play(Move::Give(piece)).is_err() {
                    continue;
                }
                let Some(key) = key(&after) else { continue };
                let index = *seen.entry(key).or_insert_with(|| {
                    next.push((after, 0));
                    next.len() - 1
                });
                next[index].1 += ways;
            }
        }
    }
    next.sort_by_key(|(_, ways)| std::cmp::Reverse(*ways));
    next
}

/// What stands for a position in notes; `None` when the piece in hand wins at once.
pub(super) fn hash(position: &Position) -> Option<Hash> {
    Some(Symmetries::of(position.rules()).hash(&key(position)?))
}

/// The form of a position; `None` when the piece in hand wins at once.
fn key(position: &Position) -> Option<Key> {
    if has_squares(position.rules()) {
        key_of::<true>(position)
    } else {
        key_of::<false>(position)
    }
}

fn key_of<const SQUARES: bool>(position: &Position) -> Option<Key> {
    let (board, hand) = Board::of(position);
    let hand = hand?;
    if Threats::of::<SQUARES>(&board).wins(hand) {
        return None;
    }
    let symmetries = Symmetries::of(position.rules());
    let alive = Alive::of::<SQUARES>(&board);
    Some(symmetries.key::<SQUARES>(&board, &alive, hand, true))
}
