//! The built-in bots. `referee bot NAME` serves them over the same pipes as any other program.

pub mod builtin;
pub mod perfect;
pub mod perfect_four;
pub mod search;

use rand::Rng;
use rand::seq::IndexedRandom as _;

use crate::game::{Outcome, Position, Side};

/// As in `builtin:NAME`.
pub const NAMES: [&str; 4] = [RANDOM, "greedy", PERFECT, SEARCH];

pub const RANDOM: &str = "random";

pub const SEARCH: &str = "search";

pub const PERFECT: &str = "perfect";

/// One random move after the other: every free cell is equally likely, whatever the number of gifts after it.
/// `None` when the game is over.
pub fn random<P: Position>(position: &P, rng: &mut impl Rng) -> Option<P::Turn> {
    let me = position.to_move();
    let mut position = position.clone();
    let mut moves = Vec::new();
    while position.outcome().is_none() && position.to_move() == me {
        let legal: Vec<_> = position.moves().collect();
        let mv = *legal.choose(rng)?;
        position.play(mv).ok()?;
        moves.push(mv);
    }
    P::turn_of(&moves)
}

/// Wins when it can, and lets the opponent win only when it must. `None` when the game is over.
pub fn greedy<P: Position>(position: &P, rng: &mut impl Rng) -> Option<P::Turn> {
    let me = position.to_move();
    let mut turns = position.turns();
    let ranks: Vec<u8> = turns.iter().map(|(_, after)| rank(after, me)).collect();
    let best = ranks.iter().max().copied()?;
    let mut rank = ranks.iter();
    turns.retain(|_| rank.next() == Some(&best));
    turns.choose(rng).map(|(turn, _)| *turn)
}

/// The larger, the better for the side that moved.
fn rank(after: &impl Position, me: Side) -> u8 {
    match after.outcome() {
        Some(Outcome::Win(side)) if side == me => 2,
        None if after.can_win_at_once() => 0,
        _ => 1,
    }
}
