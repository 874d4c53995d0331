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
//!
//! Inside, from the bottom up:
//! - `score`: who wins and how soon, as a number; bounds of a score
//! - `evaluation`: the result of a search
//! - `limits`: when a search stops, and how far it has come
//! - `bitboard`, `threats`, `live_lines`: the board as bits, the gifts that lose at once, and the
//!   lines that can still be completed
//! - `symmetry`: one canonical key for all positions that are the same game
//! - `class`: one name for all positions that are equal by symmetry, and for no others
//! - `transposition_table`: bounds of positions, shared by all threads
//! - `proof_book`: bounds of early positions that are kept for good; the book that is shipped
//! - `compact_book`, `retrieval`: the format of the books that are shipped
//! - `early_positions`: the positions of the book
//! - `parallel`: several threads on one question
//! - `search`: alpha–beta with a null window
//! - `engine`: the questions asked about the position to solve

mod bitboard;
mod class;
mod compact_book;
mod early_positions;
mod engine;
mod evaluation;
pub mod four_in_a_row;
mod limits;
mod live_lines;
mod parallel;
mod proof_book;
mod retrieval;
mod score;
mod search;
mod symmetry;
#[cfg(test)]
mod tests;
mod threats;
mod transposition_table;

use std::thread;

pub use class::class;
pub use early_positions::early_positions;
pub use engine::safe_turns;
pub use evaluation::{Evaluation, Goal, Value};
pub use limits::{Limits, Progress};

use crate::game::Position as _;
use crate::game::quarto::{Position, Turn};
use engine::Engine;
use limits::Counters;
use parallel::CurrentlySearched;
use proof_book::ProofBook;
use transposition_table::TranspositionTable;

/// What a solver may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Size of the transposition table in bytes. A larger table is faster in positions with many
    /// free cells; every size gives the same results.
    pub tt_bytes: usize,
    /// Threads that search; 0 counts as 1.
    pub threads: usize,
}

impl Default for Options {
    /// 256 MiB, and as many threads as the machine runs at once.
    fn default() -> Self {
        Self {
            tt_bytes: 256 << 20,
            threads: thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Solves positions and keeps what it has proven: a solver that is used again answers related
/// questions faster. Several threads can call it at once.
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
    /// A solver with the shipped book of early positions.
    pub fn new(options: Options) -> Self {
        Self::with_book(options, ProofBook::shipped())
    }

    /// A solver without the shipped book: it proves everything itself.
    pub fn without_book(options: Options) -> Self {
        Self::with_book(options, ProofBook::empty())
    }

    /// A solver that proves everything anew, position by position: to hold the others against. It is slow from ten free
    /// cells on.
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

    /// The value of a position for the side to move: the side that places the piece in hand, or
    /// that only gives when there is none. In a finished game that is the side that placed last.
    pub fn solve(&self, position: &Position, goal: Goal, limits: &Limits) -> Evaluation {
        let budget = self.engine.budget(limits);
        self.engine.evaluate(position, goal, budget)
    }

    /// Whether the side to move can reach at least `value`; `None` when the search reached a
    /// limit. That is one search, where [`Solver::solve`] needs two or more.
    pub fn reaches(&self, position: &Position, value: Value, limits: &Limits) -> Option<bool> {
        let budget = self.engine.budget(limits);
        self.engine.reaches(position, value, budget)
    }

    /// Whether the turn that led to `after` is worth at least `value` to the side that made it;
    /// `None` when the search reached a limit.
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

    /// Every turn, in the order of [`Position::turns`], with its value for the side that makes
    /// it. Empty when the game is over.
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

    /// A game played perfectly from here on: the winner wins as soon as it can, the loser loses
    /// as late as it can. When the search reaches a limit, the turns that are proven so far.
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

    /// How far the solver has come. Other threads may ask while it searches.
    pub fn progress(&self) -> Progress {
        self.engine.counters.read()
    }

    /// Size of the transposition table in bytes: less than was asked for when the machine does
    /// not have that much memory.
    pub fn tt_bytes(&self) -> usize {
        self.engine.table.bytes()
    }

    /// What was proven of these positions, as a book to be shipped. It answers for no others, so they must be all of
    /// [`early_positions`] of one rule set. `None` without positions, or when two are the same.
    pub fn pack_book(&self, positions: &[Position]) -> Option<Vec<u8>> {
        let rules = positions.first()?.rules();
        let hashes = positions.iter().filter_map(early_positions::hash);
        self.engine.book.pack(hashes, rules)
    }
}
