//! `builtin:search?depth=N`: looks a fixed number of turns ahead, for every game.
//!
//! Without a clock, a table or an evaluation it answers alike on every machine, and a beginner's bot that looks one
//! turn further beats it.

use rand::Rng;
use rand::seq::IndexedRandom as _;

use crate::game::{Outcome, Position};

/// Beyond the last one an answer can take seconds.
pub const DEPTHS: std::ops::RangeInclusive<u32> = 1..=4;

pub const USUAL_DEPTH: u32 = 3;

/// Takes the turn that wins soonest within `depth` turns beyond its own, and avoids those after which the opponent does,
/// whatever is answered; among equals it draws lots.
#[derive(Clone, Debug)]
pub struct Search {
    depth: u32,
    nodes: u64,
}

impl Search {
    pub const fn new(depth: u32) -> Self {
        Self { depth, nodes: 0 }
    }

    pub const fn nodes(&self) -> u64 {
        self.nodes
    }

    /// `None` when the game is over.
    pub fn choose<P: Position>(&mut self, position: &P, rng: &mut impl Rng) -> Option<P::Turn> {
        self.candidates(position).choose(rng).copied()
    }

    /// The turns among which it draws lots: none when the game is over.
    pub fn candidates<P: Position>(&mut self, position: &P) -> Vec<P::Turn> {
        let won = Some(Outcome::Win(position.to_move()));
        let mut turns = position.turns();
        if turns.iter().any(|(_, after)| after.outcome() == won) {
            turns.retain(|(_, after)| after.outcome() == won);
            return only_turns(turns);
        }
        for depth in 1..=self.depth {
            // After an odd number of turns the opponent has won, after an even one this side.
            let wanted = depth % 2 == 0;
            let mut decide = |after: &P| {
                if wanted {
                    self.loses(after, depth)
                } else {
                    self.wins(after, depth)
                }
            };
            let is_decided: Vec<bool> = turns.iter().map(|(_, after)| decide(after)).collect();
            if !is_decided.contains(&wanted) {
                if wanted {
                    continue;
                }
                break;
            }
            let mut decided = is_decided.into_iter();
            turns.retain(|_| decided.next() == Some(wanted));
            if wanted {
                break;
            }
        }
        only_turns(turns)
    }

    /// Within this odd number of turns, whatever is answered.
    fn wins<P: Position>(&mut self, position: &P, turns: u32) -> bool {
        self.nodes += 1;
        if position.can_win_at_once() {
            return true;
        }
        turns > 2 && self.is_decided(position, turns - 1, true)
    }

    /// Within this even number of turns, whatever it does.
    fn loses<P: Position>(&mut self, position: &P, turns: u32) -> bool {
        self.nodes += 1;
        position.outcome().is_none()
            && !position.can_win_at_once()
            && self.is_decided(position, turns - 1, false)
    }

    /// Whether the side to move has a turn after which the other one loses within `turns`; or whether that one wins within
    /// `turns` after every turn.
    fn is_decided<P: Position>(&mut self, position: &P, turns: u32, wins: bool) -> bool {
        let is_decided = |mv| {
            let Some(after) = played(position, mv) else {
                return false;
            };
            if after.to_move() == position.to_move() {
                // Half a turn: what was placed is followed by a gift.
                self.is_decided(&after, turns, wins)
            } else if wins {
                self.loses(&after, turns)
            } else {
                self.wins(&after, turns)
            }
        };
        let mut moves = position.moves();
        if wins {
            moves.any(is_decided)
        } else {
            moves.all(is_decided)
        }
    }
}

fn only_turns<T, P>(turns: Vec<(T, P)>) -> Vec<T> {
    turns.into_iter().map(|(turn, _)| turn).collect()
}

/// `None` when the move ends the game.
fn played<P: Position>(position: &P, mv: P::Move) -> Option<P> {
    let mut after = position.clone();
    after.play(mv).ok()?;
    after.outcome().is_none().then_some(after)
}
