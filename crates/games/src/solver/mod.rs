//! The exact value of any position of Quarto, for either rule set, and of Four In A Row ([`four_in_a_row`]).
//!
//! For Quarto, [`Solver::solve`] gives the value of a position for the side to move and the number of
//! placements until the end, [`Solver::solve_turns`] those of every turn, and
//! [`Solver::principal_variation`] a game played perfectly from there on. docs/solver.md describes
//! the method and what it costs.
//!
//! ```
//! use referee_games::game::Game as _;
//! use referee_games::game::quarto::Edition;
//! use referee_games::solver::{Goal, Limits, Options, Solver, Value};
//!
//! let edition = Edition::default();
//! let position = edition.read_request("KH.FN.CMDA.JP.O. B")?;
//! let solver = Solver::new(Options { tt_bytes: 1 << 20, threads: 1 });
//!
//! let evaluation = solver.solve(&position, Goal::Distance, &Limits::NONE);
//! assert_eq!((evaluation.value(), evaluation.plies()), (Some(Value::Win), Some(1)));
//!
//! // A bot plays one of the best turns.
//! let turns = solver.solve_turns(&position, Goal::Distance, &Limits::NONE);
//! let (turn, _) = turns.iter().max_by_key(|(_, evaluation)| evaluation.rank()).unwrap();
//! let mut text = String::new();
//! edition.write_turn(*turn, &mut text);
//! assert_eq!(text, "16 -");
//! # Ok::<(), String>(())
//! ```

mod bitboard;
mod compact_book;
mod engine;
mod evaluation;
pub mod four_in_a_row;
mod limits;
mod proof_book;
mod search;
mod symmetry;
#[cfg(test)]
mod tests;
mod threats;
mod transposition_table;

use std::thread;

pub use engine::safe_turns;
pub use evaluation::{Evaluation, Goal, Value};
pub use limits::{Limits, Progress};
pub use proof_book::early_positions;
pub use symmetry::class;

use crate::game::Position as _;
use crate::game::quarto::{Position, Turn};
use engine::Engine;
use limits::Counters;
use proof_book::ProofBook;
use search::CurrentlySearched;
use transposition_table::TranspositionTable;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// In bytes. A larger one is faster in positions with many free cells; every size gives the same results.
    pub tt_bytes: usize,
    /// 0 counts as 1.
    pub threads: usize,
}

impl Default for Options {
    /// 256 MiB, and as many threads as the machine runs at the same time.
    fn default() -> Self {
        Self {
            tt_bytes: 256 << 20,
            threads: thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Solves positions and keeps what it has proven. Several threads can call it at the same time.
///
/// ```
/// use referee_games::game::Game as _;
/// use referee_games::game::quarto::Edition;
/// use referee_games::solver::{Goal, Limits, Options, Solver, Value};
///
/// let edition = Edition::default();
/// let solver = Solver::new(Options { tt_bytes: 1 << 20, threads: 1 });
///
/// // The book knows the empty board: a draw.
/// let evaluation = solver.solve(&edition.start(), Goal::Value, &Limits::NONE);
/// assert_eq!(evaluation.value(), Some(Value::Draw));
///
/// // A search that reaches a limit still returns what it has proven.
/// let solver = Solver::without_book(Options { tt_bytes: 1 << 20, threads: 1 });
/// let evaluation = solver.solve(&edition.start(), Goal::Value, &Limits::nodes(1000));
/// assert_eq!(evaluation.value(), None);
/// ```
#[derive(Debug)]
pub struct Solver {
    engine: Engine,
}

impl Solver {
    /// With the shipped book of early positions.
    pub fn new(options: Options) -> Self {
        Self::with_book(options, ProofBook::shipped())
    }

    /// It proves everything itself.
    pub fn without_book(options: Options) -> Self {
        Self::with_book(options, ProofBook::empty())
    }

    /// It proves everything anew, position by position: to hold the others against. Slow from ten free cells on.
    pub fn without_table(threads: usize) -> Self {
        let mut solver = Self::without_book(Options {
            tt_bytes: 0,
            threads,
        });
        solver.engine.tt_from = search::TT_NEVER;
        solver
    }

    fn with_book(options: Options, book: ProofBook) -> Self {
        let engine = Engine {
            table: TranspositionTable::new(options.tt_bytes),
            book,
            searched: CurrentlySearched::new(),
            counters: Counters::default(),
            threads: options.threads.max(1),
            tt_from: search::TT_FROM,
        };
        Self { engine }
    }

    /// For the side to move: the side that places the piece in hand, or that only gives when there is none. In a
    /// finished game that is the side that placed last.
    pub fn solve(&self, position: &Position, goal: Goal, limits: &Limits) -> Evaluation {
        let budget = self.engine.budget(limits);
        self.engine.evaluate(position, goal, budget)
    }

    /// `None` when the search reached a limit. One search, where [`Solver::solve`] needs two or more.
    pub fn reaches(&self, position: &Position, value: Value, limits: &Limits) -> Option<bool> {
        let budget = self.engine.budget(limits);
        self.engine.reaches(position, value, budget)
    }

    /// Whether the turn that led to `after` is worth at least `value` to the side that made it; `None` when the
    /// search reached a limit.
    pub fn keeps(&self, after: &Position, value: Value, limits: &Limits) -> Option<bool> {
        if after.outcome().is_some() {
            // Nothing was given: the side to move is still the side that made the turn.
            return self.reaches(after, value, limits);
        }
        let too_much = match value {
            Value::Loss => return Some(true),
            Value::Draw => Value::Win,
            Value::Win => Value::Draw,
        };
        let reached = self.reaches(after, too_much, limits)?;
        Some(!reached)
    }

    /// In the order of [`Position::turns`], for the side that moves. Empty when the game is over.
    pub fn solve_turns(
        &self,
        position: &Position,
        goal: Goal,
        limits: &Limits,
    ) -> Vec<(Turn, Evaluation)> {
        let budget = self.engine.budget(limits);
        position
            .turns()
            .into_iter()
            .map(|(turn, after)| (turn, self.engine.evaluate_turn(&after, turn, goal, budget)))
            .collect()
    }

    /// A game played perfectly from here on: the winner wins as soon as it can, the loser loses as late as it can.
    /// Only the proven turns when the search reaches a limit.
    pub fn principal_variation(&self, position: &Position, limits: &Limits) -> Vec<Turn> {
        let budget = self.engine.budget(limits);
        let mut variation = Vec::new();
        let mut position = *position;
        while position.outcome().is_none() {
            let best = self.engine.evaluate(&position, Goal::Distance, budget);
            let (low, high) = best.bounds();
            if low != high {
                break;
            }
            // A turn that keeps the score is proven when its lower bound reaches it.
            let keeps = position.turns().into_iter().find(|(turn, after)| {
                let evaluation = self
                    .engine
                    .evaluate_turn(after, *turn, Goal::Distance, budget);
                evaluation.bounds().0 >= low
            });
            let Some((turn, after)) = keeps else { break };
            variation.push(turn);
            position = after;
        }
        variation
    }

    /// Other threads may ask while it searches.
    pub fn progress(&self) -> Progress {
        self.engine.counters.read()
    }

    /// Less than was asked for when the machine does not have that much memory.
    pub fn tt_bytes(&self) -> usize {
        self.engine.table.bytes()
    }

    /// A book to be shipped. It answers for no other positions, so these must be all of [`early_positions`] of one
    /// rule set. `None` without positions, or when two are the same.
    pub fn pack_book(&self, positions: &[Position]) -> Option<Vec<u8>> {
        let rules = positions.first()?.rules();
        let hashes = positions.iter().filter_map(proof_book::hash);
        self.engine.book.pack(hashes, rules)
    }
}
