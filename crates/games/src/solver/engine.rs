//! The questions asked about the position to solve: searches with a null window, with all threads.

use std::sync::atomic::Ordering;
use std::thread;

use super::bitboard::{Bitboard, bits, has_squares};
use super::evaluation::Score;
use super::evaluation::{Evaluation, Goal, Value};
use super::limits::{Counters, LimitCheck, Limits};
use super::proof_book::ProofBook;
use super::search::CurrentlySearched;
use super::search::{self, Shared, Stopped, Worker};
use super::symmetry::Symmetries;
use super::threats::Threats;
use super::transposition_table::TranspositionTable;
use crate::game::Outcome;
use crate::game::Position as _;
use crate::game::quarto::{Position, Rules, Turn};

/// What all searches of a solver share.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) table: TranspositionTable,
    pub(super) book: ProofBook,
    pub(super) searched: CurrentlySearched,
    pub(super) counters: Counters,
    /// At least 1.
    pub(super) threads: usize,
    /// Usually [`search::TT_FROM`]; tests change it.
    pub(super) tt_from: u8,
}

/// The limits of one call, which may search several times.
#[derive(Clone, Copy)]
pub(super) struct Budget<'a> {
    limits: &'a Limits,
    /// Counted since the solver was made.
    last_node: u64,
}

/// The root of a search.
#[derive(Clone, Copy)]
struct Root {
    board: Bitboard,
    threats: Threats,
    hand: Option<u8>,
    rules: Rules,
    /// Free cells.
    n: u8,
}

impl Engine {
    pub(super) fn budget<'a>(&self, limits: &'a Limits) -> Budget<'a> {
        let so_far = self.counters.nodes.load(Ordering::Relaxed);
        let nodes = limits.nodes.unwrap_or(u64::MAX);
        Budget {
            limits,
            last_node: so_far.saturating_add(nodes),
        }
    }

    /// `None` when a limit was reached.
    pub(super) fn reaches(
        &self,
        position: &Position,
        value: Value,
        budget: Budget<'_>,
    ) -> Option<bool> {
        if let Some(outcome) = position.outcome() {
            return Some(finished(position, outcome).at_least() >= value);
        }
        let beta = match value {
            Value::Loss => return Some(true),
            Value::Draw => 0,
            Value::Win => 1,
        };
        let score = self.score(&Root::of(position), beta, budget).ok()?;
        Some(score >= beta)
    }

    /// For the side that made the turn that led to `after`.
    pub(super) fn evaluate_turn(
        &self,
        after: &Position,
        turn: Turn,
        goal: Goal,
        budget: Budget<'_>,
    ) -> Evaluation {
        let evaluation = self.evaluate(after, goal, budget);
        let (low, high) = evaluation.bounds();
        // Without a gift the side to move is still the side that placed: the game is over.
        let (low, high) = match turn.gift {
            Some(_) if after.outcome().is_none() => (-high, -low),
            _ => (low, high),
        };
        let placed = u8::from(turn.cell.is_some());
        Evaluation::new(low, high, evaluation.free() + placed)
    }

    /// For the side to move: what is proven when a limit is reached.
    pub(super) fn evaluate(
        &self,
        position: &Position,
        goal: Goal,
        budget: Budget<'_>,
    ) -> Evaluation {
        if let Some(outcome) = position.outcome() {
            return finished(position, outcome);
        }
        let root = Root::of(position);
        let s = root.n.cast_signed();
        let (mut low, mut high) = (-s, s);
        let ask = |low: &mut Score, high: &mut Score, beta: Score| {
            let score = self.score(&root, beta, budget)?;
            if score >= beta {
                *low = score;
            } else {
                *high = score;
            }
            Ok::<_, Stopped>(())
        };
        let mut narrow = || {
            // A turn that does not lose is usually found long before it is proven that none
            // wins.
            ask(&mut low, &mut high, 0)?;
            if low == 0 {
                ask(&mut low, &mut high, 1)?;
            }
            if goal == Goal::Distance {
                while low < high && low > 0 {
                    let soonest = high;
                    ask(&mut low, &mut high, soonest)?;
                }
                while low < high && high < 0 {
                    let later = low + 1;
                    ask(&mut low, &mut high, later)?;
                }
            }
            Ok::<_, Stopped>(())
        };
        // The bounds reached so far are the result, stopped or not.
        let _ = narrow();
        Evaluation::new(low, high, root.n)
    }

    /// In the sense of [`Worker::search`].
    fn score(&self, root: &Root, beta: Score, budget: Budget<'_>) -> Result<Score, Stopped> {
        let s = root.n.cast_signed();
        let Some(hand) = root.hand else {
            let mut best = -s;
            for piece in bits(root.board.left) {
                let after = Root {
                    board: root.board.give(piece),
                    hand: Some(piece),
                    ..*root
                };
                best = best.max(-self.score(&after, 1 - beta, budget)?);
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
            self.search::<true>(root, hand, beta, budget)
        } else {
            self.search::<false>(root, hand, beta, budget)
        }
    }

    /// The result is that of the first thread to finish.
    fn search<const SQUARES: bool>(
        &self,
        root: &Root,
        hand: u8,
        beta: Score,
        budget: Budget<'_>,
    ) -> Result<Score, Stopped> {
        let check = LimitCheck::new(budget.limits, &self.counters, budget.last_node);
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
            let mut worker = Worker::<SQUARES>::new(shared, root.n);
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
