//! `builtin:perfect`: plays Quarto perfectly wherever the solver has a result in its time. Among turns of the same value it
//! chooses the one after which most answers of the other side are mistakes.

use std::time::{Duration, Instant};

use rand::Rng;
use rand::seq::SliceRandom as _;

use crate::game::quarto::{Position, Turn};
use crate::game::{Outcome, Position as _};
use crate::solver::{self, Goal, Limits, Solve as _, Solver, SolverOptions, Value};

/// Small: every process of a tournament has its own.
const TT_BYTES: usize = 32 << 20;

/// Free cells from which positions that are not in the book cannot be solved in time.
const OPENING_FROM: usize = 14;

/// In the opening, one part of so many of the time is used.
const OPENING_SHARE: u32 = 20;

/// Without a clock.
const NODES: u64 = 1 << 22;

/// A hundredth of what can be counted.
const UNLIMITED: u64 = u64::MAX / 100;

/// Nodes of a search that only has a result if the book or the table has the position.
const PROBE_NODES: u64 = 1 << 12;

/// Enough to decide nearly all turns with twelve free cells. Every further pass gives the undecided turns eight times
/// as many.
const FIRST_PASS_NODES: u64 = 1 << 20;

/// The largest number of turns of the same value that are compared.
const COMPARED: usize = 16;

/// Nodes to determine whether another turn is as good as the one that was found.
const OTHERS_NODES: u64 = 1 << 15;

/// The percentages of the time until which it searches for a turn that does not lose, for one that wins, for others
/// that are as good, and until which it compares those.
const UNTIL_SAFE: u32 = 70;
const UNTIL_WON: u32 = 90;
const UNTIL_OTHERS: u32 = 80;
const UNTIL_COMPARED: u32 = 95;

/// With more free cells after a turn, solving all answers of the other side takes too long.
const MISTAKES_UP_TO: usize = 10;

/// Free cells from which all answers are in the book.
const BOOK_FROM: usize = 13;

/// Nodes to solve all answers to one turn.
const MISTAKE_NODES: u64 = 1 << 18;

#[derive(Debug)]
pub struct Perfect {
    /// Made when it is first needed: allocating the table takes time.
    solver: Option<Solver>,
    /// Without it a search ends after [`NODES`]: the same on every machine.
    time: Option<Duration>,
}

type Choice = (Turn, Position);

/// Much of the time is left: on a machine with more programs than cores an answer comes late however early it was found.
pub(super) fn thinking(move_time: Duration) -> Duration {
    let time = (move_time * 6 / 10).saturating_sub(Duration::from_millis(20));
    time.max(Duration::from_millis(1))
}

impl Perfect {
    /// Answers within `move_time`. Without one, a search ends after a fixed number of nodes.
    pub fn new(move_time: Option<Duration>) -> Self {
        Self {
            solver: None,
            time: move_time.map(thinking),
        }
    }

    /// `None` when the game is over.
    pub fn choose(&mut self, position: &Position, rng: &mut impl Rng) -> Option<Turn> {
        let mut turns = position.turns();
        turns.shuffle(rng);
        let first = turns.first()?.0;
        let wins = |(_, after): &&Choice| matches!(after.outcome(), Some(Outcome::Win(_)));
        if let Some((turn, _)) = turns.iter().find(wins) {
            return Some(*turn);
        }
        turns.retain(|(_, after)| !after.can_win_at_once());
        if turns.len() < 2 {
            // Everything loses immediately, or there is no choice.
            return Some(turns.first().map_or(first, |(turn, _)| *turn));
        }
        let solver = self.solver.get_or_insert_with(|| {
            Solver::new(SolverOptions {
                tt_bytes: TT_BYTES,
                threads: 1,
            })
        });
        let opening = position.board().free_count() >= OPENING_FROM;
        let share = if opening { OPENING_SHARE } else { 1 };
        let search = TurnSearch {
            nodes_before: solver.nodes(),
            solver,
            started: Instant::now(),
            time: self.time.map(|time| time / share),
            most_nodes: self.time.map_or(NODES / u64::from(share), |_| UNLIMITED),
        };
        let chosen = search.best(position, turns);
        chosen.or(Some(first))
    }
}

enum Search {
    Found(Choice),
    None,
    /// These turns may have the value, the most likely one first: the time was over.
    Undecided(Vec<Choice>),
}

struct TurnSearch<'a> {
    solver: &'a Solver,
    started: Instant,
    nodes_before: u64,
    time: Option<Duration>,
    most_nodes: u64,
}

impl TurnSearch<'_> {
    /// Limits that stop a search after this percentage of the budget, or after `nodes`.
    fn until(&self, percent: u32, nodes: u64) -> Limits {
        let part = self.time.map(|time| time * percent / 100);
        let most = self.most_nodes * u64::from(percent) / 100;
        let left = most.saturating_sub(self.solver.nodes() - self.nodes_before);
        Limits {
            deadline: part.and_then(|part| self.started.checked_add(part)),
            nodes: Some(nodes.min(left)),
            stop: None,
        }
    }

    fn is_over(&self, percent: u32) -> bool {
        let limits = self.until(percent, UNLIMITED);
        limits.nodes == Some(0) || limits.is_late()
    }

    /// None of the turns wins or loses immediately. A turn that draws is found in a hundredth of the time that it takes to
    /// prove that none wins: it is searched for first.
    fn best(&self, position: &Position, mut turns: Vec<Choice>) -> Option<Turn> {
        turns.sort_by_cached_key(|(_, after)| solver::safe_turns(after));
        let probe = Limits::nodes(PROBE_NODES);
        let known = self.solver.solve(position, Goal::Value, &probe);
        if known.at_most() == Value::Loss {
            // Every turn loses: choose the one after which most answers are mistakes.
            return self.hardest(&turns);
        }
        let safe = match self.first(&turns, Value::Draw, UNTIL_SAFE) {
            Search::Found(safe) => safe,
            Search::None => return self.hardest(&turns),
            Search::Undecided(turns) => return turns.first().map(|(turn, _)| *turn),
        };
        if known.at_most() == Value::Win
            && (known.at_least() == Value::Win || self.is_won(position))
            && let Search::Found((turn, _)) = self.first(&turns, Value::Win, UNTIL_WON)
        {
            return Some(turn);
        }
        if mistake_nodes(&safe.1).is_none() {
            return Some(safe.0);
        }
        self.hardest(&self.others(&turns, safe))
    }

    /// Proven in time.
    fn is_won(&self, position: &Position) -> bool {
        let limits = self.until(UNTIL_WON, u64::MAX);
        self.solver.reaches(position, Value::Win, &limits) == Some(true)
    }

    /// Searches with a growing node limit.
    fn first(&self, turns: &[Choice], value: Value, percent: u32) -> Search {
        let mut undecided = turns.to_vec();
        let mut nodes = FIRST_PASS_NODES;
        while !undecided.is_empty() {
            let mut unknown = Vec::new();
            for choice in undecided {
                let limits = self.until(percent, nodes);
                match self.solver.keeps(&choice.1, value, &limits) {
                    Some(true) => return Search::Found(choice),
                    Some(false) => {}
                    None => unknown.push(choice),
                }
            }
            if self.is_over(percent) && !unknown.is_empty() {
                return Search::Undecided(unknown);
            }
            undecided = unknown;
            nodes = nodes.saturating_mul(8);
        }
        Search::None
    }

    /// This turn, and more of those that draw.
    fn others(&self, turns: &[Choice], safe: Choice) -> Vec<Choice> {
        let mut good = vec![safe];
        for choice in turns.iter().filter(|choice| choice.0 != safe.0) {
            if good.len() >= COMPARED || self.is_over(UNTIL_OTHERS) {
                break;
            }
            let limits = self.until(UNTIL_OTHERS, OTHERS_NODES);
            if self.solver.keeps(&choice.1, Value::Draw, &limits) == Some(true) {
                good.push(*choice);
            }
        }
        good
    }

    /// The turn after which most answers are mistakes, of those that are compared in time.
    fn hardest(&self, turns: &[Choice]) -> Option<Turn> {
        let (first, rest) = turns.split_first()?;
        let Some(nodes) = mistake_nodes(&first.1).filter(|_| !rest.is_empty()) else {
            return Some(first.0);
        };
        let mut best = (f64::NEG_INFINITY, first.0);
        for (turn, after) in turns {
            if self.is_over(UNTIL_COMPARED) {
                break;
            }
            let expected = self.expected_result(after, nodes);
            if expected > best.0 {
                best = (expected, *turn);
            }
        }
        Some(best.1)
    }

    /// From -1 (a loss) to 1 (a win), against a player who gives no piece that loses immediately and otherwise
    /// answers at random.
    fn expected_result(&self, after: &Position, nodes: u64) -> f64 {
        let limits = self.until(UNTIL_COMPARED, nodes);
        let answers = self.solver.solve_turns(after, Goal::Value, &limits);
        let (mut sum, mut count) = (0.0, 0.0);
        for (turn, evaluation) in answers {
            if after.after(turn).is_ok_and(|made| made.can_win_at_once()) {
                continue;
            }
            count += 1.0;
            sum += match evaluation.value() {
                Some(Value::Loss) => 1.0,
                Some(Value::Win) => -1.0,
                Some(Value::Draw) | None => 0.0,
            };
        }
        if count > 0.0 { sum / count } else { 1.0 }
    }
}

/// `None` where counting the answers that are mistakes takes too long.
fn mistake_nodes(after: &Position) -> Option<u64> {
    match after.board().free_count() {
        BOOK_FROM.. => Some(PROBE_NODES),
        0..=MISTAKES_UP_TO => Some(MISTAKE_NODES),
        _ => None,
    }
}
