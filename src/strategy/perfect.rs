//! `builtin:perfect`: plays Quarto perfectly wherever the solver reaches in its time, and keeps
//! away from what it can prove to be lost before that.
//!
//! Among turns that are worth the same it takes the one after which most answers of the other
//! side are mistakes: a draw against a perfect player is often won against another one.

use std::time::{Duration, Instant};

use rand::Rng;
use rand::seq::SliceRandom as _;

use crate::game::quarto::{Edition, Move, Position, Turn};
use crate::game::{Game as _, Outcome, Position as _};
use crate::solver::{Goal, Limits, Options, Solver, Value};

/// Bytes that the solver remembers with. Small: every process of a tournament has its own.
const HASH: usize = 32 << 20;

/// With at least this many free cells nothing can be lost yet that would be found in time.
const OPENING_FROM: usize = 14;

/// In the opening, the share of the time that is used: one of so many parts.
const OPENING_SHARE: u32 = 20;

/// Nodes spent on a turn before the others have had as many; four times as many the next time.
const FIRST_LOOK: u64 = 1 << 13;

/// Turns of the same value that are compared.
const COMPARED: usize = 16;

/// With more free cells after a turn, the other side's answers cannot all be solved in no time.
const TRAPS_UP_TO: usize = 10;

/// Nodes that go into all answers to one turn.
const TRAP_NODES: u64 = 1 << 18;

/// See the [module](self).
#[derive(Debug)]
pub struct Perfect {
    /// Made when it is needed: memory takes time to prepare.
    solver: Option<Solver>,
    /// For an answer.
    time: Duration,
}

/// A turn, and the position after it.
type Choice = (Turn, Position);

impl Perfect {
    /// A player who answers within `move_time`, with much of it to spare: on a machine with more
    /// programs than cores an answer comes late however early it was found.
    pub fn new(move_time: Duration) -> Self {
        let time = (move_time * 6 / 10).saturating_sub(Duration::from_millis(20));
        Self {
            solver: None,
            time: time.max(Duration::from_millis(1)),
        }
    }

    /// Chooses a turn; `None` when the game is over.
    pub fn choose(
        &mut self,
        edition: &Edition,
        position: &Position,
        rng: &mut impl Rng,
    ) -> Option<Turn> {
        let mut turns = edition.turns(position);
        turns.shuffle(rng);
        let first = turns.first()?.0;
        let wins = |(_, after): &&Choice| matches!(after.outcome(), Some(Outcome::Win(_)));
        if let Some((turn, _)) = turns.iter().find(wins) {
            return Some(*turn);
        }
        turns.retain(|(_, after)| !after.can_win_at_once());
        if turns.len() < 2 {
            // Everything loses at once, or there is no choice.
            return Some(turns.first().map_or(first, |(turn, _)| *turn));
        }
        let solver = self.solver.get_or_insert_with(|| {
            Solver::new(Options {
                hash: HASH,
                threads: 1,
            })
        });
        let opening = free(position) >= OPENING_FROM;
        let time = if opening {
            self.time / OPENING_SHARE
        } else {
            self.time
        };
        let thought = Thought {
            solver,
            started: Instant::now(),
            time,
        };
        let chosen = thought.best(position, turns);
        chosen.or(Some(first))
    }
}

/// One answer being thought about.
struct Thought<'a> {
    solver: &'a Solver,
    started: Instant,
    time: Duration,
}

impl Thought<'_> {
    /// Until so many percent of the time are over.
    fn until(&self, percent: u32) -> Limits {
        Limits {
            deadline: self.started.checked_add(self.time * percent / 100),
            ..Limits::NONE
        }
    }

    fn is_over(&self, percent: u32) -> bool {
        self.started.elapsed() >= self.time * percent / 100
    }

    /// One of the best of the turns, none of which wins or loses at once.
    fn best(&self, position: &Position, turns: Vec<Choice>) -> Option<Turn> {
        let answer = self.solver.solve(position, Goal::Value, &self.until(50));
        let candidates = match answer.value() {
            // Everything loses: what is left is to make it hard.
            Some(Value::Loss) => turns,
            Some(Value::Win) => self.proven(turns, Value::Win, 1),
            Some(Value::Draw) => self.proven(turns, Value::Draw, COMPARED),
            None => self.proven(turns, Value::Draw, 1),
        };
        self.hardest(&candidates)
    }

    /// Up to `enough` turns that are worth at least `value`; if none can be proven in time,
    /// those that are not known to be worth less. All turns, should all be known to be.
    fn proven(&self, turns: Vec<Choice>, value: Value, enough: usize) -> Vec<Choice> {
        let mut good = Vec::new();
        let mut open = turns;
        let mut nodes = FIRST_LOOK;
        while good.is_empty() && !self.is_over(80) && open.len() > 1 {
            let limits = Limits {
                nodes: Some(nodes),
                ..self.until(80)
            };
            let mut unknown = Vec::new();
            let mut worse = Vec::new();
            for choice in open {
                if good.len() >= enough {
                    break;
                }
                match keeps(self.solver, &choice.1, value, &limits) {
                    Some(true) => good.push(choice),
                    Some(false) => worse.push(choice),
                    None => unknown.push(choice),
                }
            }
            open = if unknown.is_empty() { worse } else { unknown };
            nodes = nodes.saturating_mul(4);
        }
        if good.is_empty() { open } else { good }
    }

    /// The turn after which most answers are mistakes, as far as time allows to compare.
    fn hardest(&self, turns: &[Choice]) -> Option<Turn> {
        let (first, rest) = turns.split_first()?;
        if rest.is_empty() || free(&first.1) > TRAPS_UP_TO {
            return Some(first.0);
        }
        let mut best = (f64::NEG_INFINITY, first.0);
        for (turn, after) in turns {
            if self.is_over(95) {
                break;
            }
            let hope = self.hope(after);
            if hope > best.0 {
                best = (hope, *turn);
            }
        }
        Some(best.1)
    }

    /// What to expect, from -1 (a loss) to 1 (a win), of a player who gives no piece that loses
    /// at once and is blind otherwise.
    fn hope(&self, after: &Position) -> f64 {
        let limits = Limits {
            nodes: Some(TRAP_NODES),
            ..self.until(95)
        };
        let answers = self.solver.moves(after, Goal::Value, &limits);
        let (mut sum, mut count) = (0.0, 0.0);
        for (turn, answer) in answers {
            if made(after, turn).can_win_at_once() {
                continue;
            }
            count += 1.0;
            sum += match answer.value() {
                Some(Value::Loss) => 1.0,
                Some(Value::Win) => -1.0,
                Some(Value::Draw) | None => 0.0,
            };
        }
        if count > 0.0 { sum / count } else { 1.0 }
    }
}

/// Whether the turn that led to `after` is worth at least `value` to who made it.
fn keeps(solver: &Solver, after: &Position, value: Value, limits: &Limits) -> Option<bool> {
    if after.outcome().is_some() {
        // It has not won, so it is a draw.
        return Some(value <= Value::Draw);
    }
    let answer = solver.solve(after, Goal::Value, limits);
    if answer.at_most().opposite() >= value {
        Some(true)
    } else if answer.at_least().opposite() < value {
        Some(false)
    } else {
        None
    }
}

/// The position after a turn.
fn made(position: &Position, turn: Turn) -> Position {
    let mut after = *position;
    let moves = [turn.cell.map(Move::Place), turn.gift.map(Move::Give)];
    for mv in moves.into_iter().flatten() {
        // Turns are legal where they come from.
        let _ = after.play(mv);
    }
    after
}

fn free(position: &Position) -> usize {
    position.board().free().count()
}
