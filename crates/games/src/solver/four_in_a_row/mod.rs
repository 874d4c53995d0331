//! The exact value of positions of Four In A Row.
//!
//! ```
//! use referee_games::game::BuiltinGame as _;
//! use referee_games::game::four_in_a_row::FourInARow;
//! use referee_games::solver::four_in_a_row::Solver;
//! use referee_games::solver::{Goal, Limits, Solve as _, Value};
//!
//! let position = FourInARow.read_request("@ ...................................OOO@@@.")?;
//! let solver = Solver::new(1 << 20);
//! let evaluation = solver.solve(&position, Goal::Distance, &Limits::NONE);
//! assert_eq!((evaluation.value(), evaluation.plies()), (Some(Value::Win), Some(1)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod board;
mod book;
mod search;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};

use super::Solve;
use super::compact_book::CompactBook;
use super::evaluation::{Evaluation, Goal, Score};
use super::limits::{LimitCheck, Limits};
use crate::game::four_in_a_row::Position;
use crate::game::{Outcome, Position as _};
use board::Board;
use book::BOOK_FREE;
use search::{Search, Table};

pub use book::{BOOK_DISCS, SHIPPED_BYTES, book_key, give};

/// Most of it stays in the cache of a core: of 8 MiB, each node takes nearly twice as long, for a tenth fewer nodes.
pub const TABLE_BYTES: usize = 2 << 20;

#[derive(Debug)]
pub struct Solver {
    table: Table,
    book: Option<CompactBook<'static>>,
    nodes: AtomicU64,
}

impl Solver {
    /// With the shipped book and a transposition table of at most so many bytes. Every size gives the same results.
    pub fn new(table_bytes: usize) -> Self {
        Self {
            book: book::shipped(),
            ..Self::without_book(table_bytes)
        }
    }

    /// It proves everything itself.
    pub fn without_book(table_bytes: usize) -> Self {
        Self {
            table: Table::new(table_bytes),
            book: None,
            nodes: AtomicU64::new(0),
        }
    }

    fn bounds(&self, board: &Board, goal: Goal, limits: &Limits) -> Evaluation {
        let n = board.free();
        if board.can_win() {
            return Evaluation::new(n.cast_signed(), n.cast_signed(), n);
        }
        let nodes = limits.nodes.unwrap_or(u64::MAX);
        let last = self.nodes().saturating_add(nodes);
        let check = LimitCheck::new(limits, &self.nodes, last);
        let has_book = n >= BOOK_FREE && book::is_reachable(board);
        let book = self.book.filter(|_| has_book);
        let mut search = Search::new(&self.table, book, &check);
        // First whether it is a win, a draw or a loss: narrow windows near a draw are the cheapest. Then away from the
        // draw.
        let next = |low: Score, high: Score| match goal {
            _ if low < 1 && high >= 1 => Some(1),
            _ if low < 0 && high >= 0 => Some(0),
            Goal::Distance if low < high && low > 0 => Some(low + 1),
            Goal::Distance if low < high => Some(high),
            _ => None,
        };
        let found = Evaluation::narrowed(n, next, |beta| search.node(board, n, beta).ok());
        search.finish();
        found
    }
}

impl Solve<Position> for Solver {
    fn solve(&self, position: &Position, goal: Goal, limits: &Limits) -> Evaluation {
        let board = Board::of(position);
        let n = board.free();
        let score = match position.outcome() {
            Some(Outcome::Win(_)) => n.cast_signed() + 1,
            Some(Outcome::Draw) => 0,
            None => return self.bounds(&board, goal, limits),
        };
        Evaluation::new(score, score, n)
    }

    fn free(&self, position: &Position) -> u8 {
        Board::of(position).free()
    }

    fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }
}
