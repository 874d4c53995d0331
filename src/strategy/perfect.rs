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
use crate::solver::{self, Goal, Limits, Options, Solver, Value};

/// Bytes that the solver remembers with. Small: every process of a tournament has its own.
const HASH: usize = 32 << 20;

/// With at least this many free cells, what the book does not know is not found out in time.
const OPENING_FROM: usize = 14;

/// In the opening, the share of the time that is used: one of so many parts.
const OPENING_SHARE: u32 = 20;

/// Nodes for what costs next to nothing, because the book or the table knows it.
const GLANCE: u64 = 1 << 12;

/// Nodes spent on a turn before the next one is looked at: enough for nearly all of them with
/// twelve free cells. Those that it was not enough for get eight times as many the next time.
const FIRST_LOOK: u64 = 1 << 20;

/// Turns of the same value that are compared.
const COMPARED: usize = 16;

/// Nodes to find out whether another turn is as good as the one that was found.
const ANOTHER: u64 = 1 << 15;

/// The percentages of the time up to which it looks for a turn that does not lose, for one that
/// wins, for others that are as good; and compares them. What must not fail comes first.
const UNTIL_SAFE: u32 = 70;
const UNTIL_WON: u32 = 90;
const UNTIL_OTHERS: u32 = 80;
const UNTIL_COMPARED: u32 = 95;

/// With more free cells after a turn, the other side's answers cannot all be solved in no time.
const TRAPS_UP_TO: usize = 10;

/// From here on the book knows them all.
const BOOK_FROM: usize = 13;

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

/// What became of looking for a turn.
enum Search {
    Found(Choice),
    /// None of them is worth so much.
    NoneIs,
    /// These may be, the most likely one first: there was no time to find out.
    Open(Vec<Choice>),
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
    ///
    /// In a drawn position a turn that draws is found in a hundredth of the time that it takes to
    /// prove that none wins. So that comes first: it is what keeps from losing.
    fn best(&self, position: &Position, mut turns: Vec<Choice>) -> Option<Turn> {
        turns.sort_by_cached_key(|(_, after)| solver::safe_turns(after));
        let glance = Limits::nodes(GLANCE);
        let known = self.solver.solve(position, Goal::Value, &glance);
        if known.at_most() == Value::Loss {
            // What is left is to make it hard.
            return self.hardest(&turns);
        }
        let safe = match self.first(&turns, Value::Draw, UNTIL_SAFE) {
            Search::Found(safe) => safe,
            Search::NoneIs => return self.hardest(&turns),
            Search::Open(open) => return open.first().map(|(turn, _)| *turn),
        };
        if known.at_most() == Value::Win
            && (known.at_least() == Value::Win || self.is_won(position))
            && let Search::Found((turn, _)) = self.first(&turns, Value::Win, UNTIL_WON)
        {
            return Some(turn);
        }
        if trap_nodes(&safe.1).is_none() {
            return Some(safe.0);
        }
        self.hardest(&self.others(&turns, safe))
    }

    /// Whether somebody who plays on perfectly wins, as far as it can be found out in time.
    fn is_won(&self, position: &Position) -> bool {
        let limits = self.until(UNTIL_WON);
        self.solver.reaches(position, Value::Win, &limits) == Some(true)
    }

    /// The first of the turns that is worth at least `value`.
    fn first(&self, turns: &[Choice], value: Value, percent: u32) -> Search {
        let mut open = turns.to_vec();
        let mut nodes = FIRST_LOOK;
        while !open.is_empty() {
            let mut unknown = Vec::new();
            for choice in open {
                let limits = Limits {
                    nodes: Some(nodes),
                    ..self.until(percent)
                };
                match self.solver.keeps(&choice.1, value, &limits) {
                    Some(true) => return Search::Found(choice),
                    Some(false) => {}
                    None => unknown.push(choice),
                }
            }
            if self.is_over(percent) && !unknown.is_empty() {
                return Search::Open(unknown);
            }
            open = unknown;
            nodes = nodes.saturating_mul(8);
        }
        Search::NoneIs
    }

    /// This turn, and more of those that draw.
    fn others(&self, turns: &[Choice], safe: Choice) -> Vec<Choice> {
        let mut good = vec![safe];
        for choice in turns.iter().filter(|choice| choice.0 != safe.0) {
            if good.len() >= COMPARED || self.is_over(UNTIL_OTHERS) {
                break;
            }
            let limits = Limits {
                nodes: Some(ANOTHER),
                ..self.until(UNTIL_OTHERS)
            };
            if self.solver.keeps(&choice.1, Value::Draw, &limits) == Some(true) {
                good.push(*choice);
            }
        }
        good
    }

    /// The turn after which most answers are mistakes, as far as time allows to compare.
    fn hardest(&self, turns: &[Choice]) -> Option<Turn> {
        let (first, rest) = turns.split_first()?;
        let Some(nodes) = trap_nodes(&first.1).filter(|_| !rest.is_empty()) else {
            return Some(first.0);
        };
        let mut best = (f64::NEG_INFINITY, first.0);
        for (turn, after) in turns {
            if self.is_over(UNTIL_COMPARED) {
                break;
            }
            let hope = self.hope(after, nodes);
            if hope > best.0 {
                best = (hope, *turn);
            }
        }
        Some(best.1)
    }

    /// What to expect, from -1 (a loss) to 1 (a win), of a player who gives no piece that loses
    /// at once and is blind otherwise.
    fn hope(&self, after: &Position, nodes: u64) -> f64 {
        let limits = Limits {
            nodes: Some(nodes),
            ..self.until(UNTIL_COMPARED)
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

/// Nodes to find out how many answers are mistakes; `None` where that takes too long.
fn trap_nodes(after: &Position) -> Option<u64> {
    match free(after) {
        BOOK_FROM.. => Some(GLANCE),
        0..=TRAPS_UP_TO => Some(TRAP_NODES),
        _ => None,
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
