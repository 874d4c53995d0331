//! The exact value of any position of Quarto, for either rule set, and of Four In A Row ([`four_in_a_row`]).
//!
//! docs/internals/solver.md describes the method and what it costs.

#![expect(
    clippy::cast_possible_truncation,
    reason = "bits of words, and small indices"
)]

mod bitboard;
mod compact_book;
mod evaluation;
pub mod four_in_a_row;
mod limits;
mod pair;
pub mod proof;
mod proof_book;
mod search;
mod symmetry;
#[cfg(test)]
mod tests;
mod threats;
mod transposition_table;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

pub use evaluation::{Evaluation, Goal, Value};
pub use limits::Limits;
pub use proof::Solvers;
pub use proof_book::book_key;
pub use symmetry::class;

use crate::game::quarto::{Position, Rules};
use crate::game::{self, Outcome, Position as _};
use bitboard::{Bitboard, bits, has_squares};
use evaluation::{Bounds, Score};
use limits::LimitCheck;
use proof_book::ProofBook;
use search::{CurrentlySearched, Shared, Stopped, Worker};
use symmetry::Symmetries;
use threats::Threats;
use transposition_table::TranspositionTable;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SolverOptions {
    /// In bytes. A larger one is faster in positions with many free cells; every size gives the same results.
    pub tt_bytes: usize,
    /// 0 counts as 1.
    pub threads: usize,
}

impl Default for SolverOptions {
    /// 256 MiB, and as many threads as the machine runs at the same time.
    fn default() -> Self {
        Self {
            tt_bytes: 256 << 20,
            threads: thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// A solver of one game. It keeps what it has proven; several threads can call it at the same time.
pub trait Solve<P: game::Position>: fmt::Debug + Send + Sync {
    /// For the side to move; in a finished game for the side that moved last.
    fn solve(&self, position: &P, goal: Goal, limits: &Limits) -> Evaluation;

    /// Cells.
    fn free(&self, position: &P) -> u8;

    /// Searched since it was made; other threads may ask while it searches.
    fn nodes(&self) -> u64;

    /// Whether the turn that led to `after` is worth at least `value` to the side that made it; `None` when the
    /// search reached a limit.
    fn keeps(&self, after: &P, value: Value, limits: &Limits) -> Option<bool> {
        let found = self.solve(after, Goal::Value, limits).value()?;
        Some(of_mover(after, found, Value::opposite) >= value)
    }

    /// In the order of [`game::Position::turns`], for the side that moves. Empty when the game is over.
    fn solve_turns(&self, position: &P, goal: Goal, limits: &Limits) -> Vec<(P::Turn, Evaluation)> {
        let begun = self.nodes();
        let turns = position.turns().into_iter();
        turns
            .map(|(turn, after)| {
                let left = limits.after(self.nodes() - begun);
                let found = self.solve(&after, goal, &left);
                let found = of_mover(&after, found, Evaluation::opposite);
                (turn, found.with_free(self.free(position)))
            })
            .collect()
    }

    /// A game played perfectly from here on: the winner wins as soon as it can, the loser loses as late as it can.
    /// Only the proven turns when the search reaches a limit.
    fn principal_variation(&self, position: &P, limits: &Limits) -> Vec<P::Turn> {
        let begun = self.nodes();
        let left = || limits.after(self.nodes() - begun);
        let mut variation = Vec::new();
        let mut position = position.clone();
        while position.outcome().is_none() {
            let (low, high) = self.solve(&position, Goal::Distance, &left()).rank();
            if low != high {
                break;
            }
            // A turn that keeps the score is proven when its lower bound reaches it.
            let keeps = position.turns().into_iter().find(|(_, after)| {
                let found = self.solve(after, Goal::Distance, &left());
                of_mover(after, found, Evaluation::opposite).rank().0 >= low
            });
            let Some((turn, after)) = keeps else { break };
            variation.push(turn);
            position = after;
        }
        variation
    }
}

/// What is found for the side to move after a turn, for the side that made it: in a finished game they are the same.
fn of_mover<T>(after: &impl game::Position, found: T, opposite: impl Fn(T) -> T) -> T {
    match after.outcome() {
        Some(_) => found,
        None => opposite(found),
    }
}

/// The solver of Quarto.
///
/// ```
/// use referee_games::game::BuiltinGame as _;
/// use referee_games::game::quarto::Edition;
/// use referee_games::solver::{Goal, Limits, SolverOptions, Solve as _, Solver, Value};
///
/// let edition = Edition::default();
/// let solver = Solver::new(SolverOptions { tt_bytes: 1 << 20, threads: 1 });
///
/// // The book knows the empty board: a draw.
/// let evaluation = solver.solve(&edition.start(), Goal::Value, &Limits::NONE);
/// assert_eq!(evaluation.value(), Some(Value::Draw));
///
/// // A search that reaches a limit still returns what it has proven.
/// let solver = Solver::without_book(SolverOptions { tt_bytes: 1 << 20, threads: 1 });
/// let evaluation = solver.solve(&edition.start(), Goal::Value, &Limits::nodes(1000));
/// assert_eq!(evaluation.value(), None);
/// ```
#[derive(Debug)]
pub struct Solver {
    table: TranspositionTable,
    book: ProofBook,
    searched: CurrentlySearched,
    nodes: AtomicU64,
    /// At least 1.
    threads: usize,
    /// Usually [`search::TT_FROM`]; tests change it.
    tt_from: u8,
}

#[derive(Clone, Copy)]
struct Root {
    board: Bitboard,
    threats: Threats,
    hand: Option<u8>,
    rules: Rules,
    /// Free cells.
    n: u8,
}

impl Solver {
    /// With the shipped book of early positions.
    pub fn new(options: SolverOptions) -> Self {
        Self::with_book(options, ProofBook::shipped())
    }

    /// It proves everything itself.
    pub fn without_book(options: SolverOptions) -> Self {
        Self::with_book(options, ProofBook::default())
    }

    fn with_book(options: SolverOptions, book: ProofBook) -> Self {
        Self {
            table: TranspositionTable::new(options.tt_bytes),
            book,
            searched: CurrentlySearched::new(),
            nodes: AtomicU64::new(0),
            threads: options.threads.max(1),
            tt_from: search::TT_FROM,
        }
    }

    pub fn tt_bytes(&self) -> usize {
        self.table.bytes()
    }

    /// The [`book_key`] of an early position, and its value in a book: what the book of this solver has, and what has been
    /// proven since.
    pub fn book_value(&self, position: &Position) -> Option<(u64, u8)> {
        let hash = proof_book::hash_of(position)?;
        let shipped = self.book.get(hash.signature, position.rules());
        let known = shipped.into_iter().chain(self.table.get(hash));
        let bounds = known.reduce(Bounds::and).unwrap_or(Bounds::UNKNOWN);
        Some((hash.signature, bounds.to_byte()))
    }

    /// `None` when the search reached a limit. One search, where [`Solve::solve`] needs two or more.
    pub fn reaches(&self, position: &Position, value: Value, limits: &Limits) -> Option<bool> {
        if let Some(outcome) = position.outcome() {
            return Some(finished(position, outcome).at_least() >= value);
        }
        let beta = match value {
            Value::Loss => return Some(true),
            Value::Draw => 0,
            Value::Win => 1,
        };
        let score = self.score(&Root::of(position), beta, limits, self.last_node(limits));
        Some(score.ok()? >= beta)
    }

    fn last_node(&self, limits: &Limits) -> u64 {
        self.nodes()
            .saturating_add(limits.nodes.unwrap_or(u64::MAX))
    }

    /// In the sense of [`Worker::search`].
    fn score(
        &self,
        root: &Root,
        beta: Score,
        limits: &Limits,
        last_node: u64,
    ) -> Result<Score, Stopped> {
        let s = root.n.cast_signed();
        let Some(hand) = root.hand else {
            let mut best = -s;
            for piece in bits(root.board.left) {
                let after = Root {
                    board: root.board.give(piece),
                    hand: Some(piece),
                    ..*root
                };
                best = best.max(-self.score(&after, 1 - beta, limits, last_node)?);
                if best >= beta {
                    break;
                }
            }
            return Ok(best);
        };
        if root.threats.wins(hand) {
            return Ok(s);
        }
        if has_squares(root.rules) {
            self.search::<true>(root, hand, beta, limits, last_node)
        } else {
            self.search::<false>(root, hand, beta, limits, last_node)
        }
    }

    /// The result is that of the first thread to finish.
    fn search<const SQUARES: bool>(
        &self,
        root: &Root,
        hand: u8,
        beta: Score,
        limits: &Limits,
        last_node: u64,
    ) -> Result<Score, Stopped> {
        let check = LimitCheck::new(limits, &self.nodes, last_node);
        let parallel = self.threads > 1 && root.n >= search::PARALLEL_FROM;
        let shared = Shared {
            table: &self.table,
            book: &self.book,
            symmetries: Symmetries::of(root.rules),
            searched: parallel.then_some(&self.searched),
            check: &check,
            tt_from: self.tt_from,
        };
        // A search too short to check its limits must not start after the deadline.
        if !check.may_continue(0) {
            return Err(Stopped);
        }
        let search = || {
            let mut worker = Worker::<SQUARES>::new(shared);
            let score = worker.search(&root.board, &root.threats, hand, root.n, beta);
            if score.is_ok() {
                check.over.store(true, Ordering::Relaxed);
            }
            let _ = worker.check_limits();
            score
        };
        if !parallel {
            return search();
        }
        thread::scope(|scope| {
            let start = |_| thread::Builder::new().spawn_scoped(scope, search).ok();
            // With fewer when no more can be started.
            let others: Vec<_> = (1..self.threads).map_while(start).collect();
            let own = search();
            others
                .into_iter()
                .filter_map(|other| other.join().ok())
                .fold(own, Result::or)
        })
    }
}

impl Solve<Position> for Solver {
    fn solve(&self, position: &Position, goal: Goal, limits: &Limits) -> Evaluation {
        if let Some(outcome) = position.outcome() {
            return finished(position, outcome);
        }
        let last_node = self.last_node(limits);
        let root = Root::of(position);
        // A turn that does not lose is usually found long before it is proven that none wins.
        let next = |low: Score, high: Score| match goal {
            _ if low < 0 && high >= 0 => Some(0),
            _ if low == 0 && high > 0 => Some(1),
            Goal::Distance if low < high && low > 0 => Some(high),
            Goal::Distance if low < high => Some(low + 1),
            _ => None,
        };
        let score = |beta| self.score(&root, beta, limits, last_node).ok();
        Evaluation::narrowed(root.n, next, score)
    }

    fn free(&self, position: &Position) -> u8 {
        free(position)
    }

    fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }

    /// One search.
    fn keeps(&self, after: &Position, value: Value, limits: &Limits) -> Option<bool> {
        if after.outcome().is_some() {
            return self.reaches(after, value, limits);
        }
        let too_much = match value {
            Value::Loss => return Some(true),
            Value::Draw => Value::Win,
            Value::Win => Value::Draw,
        };
        Some(!self.reaches(after, too_much, limits)?)
    }
}

impl Root {
    fn of(position: &Position) -> Self {
        let (board, hand) = Bitboard::of(position);
        let rules = position.rules();
        let threats = if has_squares(rules) {
            Threats::of::<true>(&board)
        } else {
            Threats::of::<false>(&board)
        };
        Self {
            board,
            threats,
            hand,
            rules,
            n: free(position),
        }
    }
}

/// For the side that placed last, which is the side to move.
fn finished(position: &Position, outcome: Outcome) -> Evaluation {
    let n = free(position);
    let score = match outcome {
        Outcome::Draw => 0,
        // The line was completed when one cell more was free.
        Outcome::Win(side) if side == position.to_move() => n.cast_signed() + 1,
        Outcome::Win(_) => -n.cast_signed() - 1,
    };
    Evaluation::new(score, score, n)
}

#[expect(clippy::cast_possible_truncation, reason = "at most 16")]
fn free(position: &Position) -> u8 {
    position.board().free_count() as u8
}

/// The number of turns after which the other side does not win immediately; 0 when nothing is in hand. Turns are best
/// tried by the safe turns that they leave the other side, fewest first.
pub fn safe_turns(position: &Position) -> u32 {
    let root = Root::of(position);
    root.hand.map_or(0, |hand| {
        search::count_safe_turns(&root.board, &root.threats, hand)
    })
}
