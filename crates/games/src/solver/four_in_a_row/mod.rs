//! The exact value of positions of Four In A Row.
//!
//! Alpha–beta with a null window over boards of bits, and a transposition table that holds whole keys, so that no entry is
//! taken for another one. Turns after which the opponent wins at once are never searched, and those that make most
//! threats come first. A book has the scores of all positions with eleven discs, so the search of an earlier one ends there.
//!
//! ```
//! use referee_games::game::Game as _;
//! use referee_games::game::four_in_a_row::FourInARow;
//! use referee_games::solver::four_in_a_row::Solver;
//! use referee_games::solver::{Goal, Limits, Value};
//!
//! let position = FourInARow.read_request("@ ...................................OOO@@@.")?;
//! let solver = Solver::new(1 << 20);
//! let evaluation = solver.solve(&position, Goal::Distance, &Limits::NONE);
//! assert_eq!((evaluation.value(), evaluation.plies()), (Some(Value::Win), Some(1)));
//! # Ok::<(), String>(())
//! ```
//!
//! - `board`: the board as bits, and where lines can be completed
//! - `book`: the scores of the positions with eleven discs, and how the file with them is made
//! - `table`: bounds of positions
//! - `search`: whether a score is reached

mod board;
mod book;
mod search;
#[cfg(test)]
mod tests;

use std::sync::atomic::Ordering;

use super::compact_book::CompactBook;
use super::evaluation::{Evaluation, Goal};
use super::limits::{Counters, LimitCheck, Limits, Progress};
use crate::game::four_in_a_row::{Column, FourInARow, Position};
use crate::game::{Game as _, Outcome, Position as _};
use board::{Board, decided};
use book::BOOK_FREE;
use search::Table;
use search::{Search, Stopped};

pub use book::{BOOK_DISCS, BookProofs, NoProofs};

/// Much of it stays in the CPU's cache, and a larger one saves few nodes.
pub const TABLE_BYTES: usize = 16 << 20;

/// Solves positions and keeps what it has proven. Several threads can call it at the same time.
#[derive(Debug)]
pub struct Solver {
    table: Table,
    book: Option<CompactBook>,
    counters: Counters,
    /// Free cells from which positions are looked up in the table; tests change it.
    table_from: u8,
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
            counters: Counters::default(),
            table_from: search::TABLE_FROM,
        }
    }

    /// It keeps nothing: for tests of the others.
    pub fn without_table() -> Self {
        Self {
            table_from: u8::MAX,
            ..Self::without_book(0)
        }
    }

    /// Searched since it was made.
    pub fn nodes(&self) -> u64 {
        self.counters.nodes.load(Ordering::Relaxed)
    }

    /// Other threads may ask while it searches.
    pub fn progress(&self) -> Progress {
        self.counters.read()
    }

    /// For the side to move; in a finished game for the side that moved last. Its plies are discs.
    pub fn solve(&self, position: &Position, goal: Goal, limits: &Limits) -> Evaluation {
        let board = Board::of(position);
        let n = board.free();
        match position.outcome() {
            Some(Outcome::Win(_)) => Evaluation::new(decided(n + 1), decided(n + 1), n),
            Some(Outcome::Draw) => Evaluation::new(0, 0, n),
            None => self.bounds(&board, goal, limits),
        }
    }

    /// In the order of the columns, for the side that moves. Empty when the game is over.
    pub fn solve_turns(
        &self,
        position: &Position,
        goal: Goal,
        limits: &Limits,
    ) -> Vec<(Column, Evaluation)> {
        // All turns share the nodes.
        let begun = self.nodes();
        let turns = FourInARow.turns(position);
        let evaluate = |(column, after): (Column, Position)| {
            let mut left = limits.clone();
            let used = self.nodes() - begun;
            left.nodes = limits.nodes.map(|nodes| nodes.saturating_sub(used));
            (column, self.after(&after, goal, &left))
        };
        turns.into_iter().map(evaluate).collect()
    }

    /// A game played perfectly from here on: the winner wins as soon as it can, the loser loses as late as it can.
    /// Only the proven turns when the search reaches a limit.
    pub fn principal_variation(&self, position: &Position, limits: &Limits) -> Vec<Column> {
        let begun = self.nodes();
        let mut variation = Vec::new();
        let mut position = *position;
        while position.outcome().is_none() {
            let mut left = limits.clone();
            let used = self.nodes() - begun;
            left.nodes = limits.nodes.map(|nodes| nodes.saturating_sub(used));
            let (low, high) = self.solve(&position, Goal::Distance, &left).bounds();
            if low != high {
                break;
            }
            let mut turns = FourInARow.turns(&position).into_iter();
            let keeps = turns.find(|(_, after)| {
                let turn = self.after(after, Goal::Distance, &left);
                turn.bounds().0 >= low
            });
            let Some((column, after)) = keeps else { break };
            variation.push(column);
            position = after;
        }
        variation
    }

    /// For the side that made the turn that led to `after`.
    fn after(&self, after: &Position, goal: Goal, limits: &Limits) -> Evaluation {
        let found = self.solve(after, goal, limits);
        let (low, high) = found.bounds();
        let n = found.free() + 1;
        if after.outcome().is_some() {
            return Evaluation::new(low, high, n);
        }
        Evaluation::new(-high, -low, n)
    }

    fn bounds(&self, board: &Board, goal: Goal, limits: &Limits) -> Evaluation {
        let n = board.free();
        if board.can_win() {
            return Evaluation::new(decided(n), decided(n), n);
        }
        let nodes = limits.nodes.unwrap_or(u64::MAX);
        let last = self.nodes().saturating_add(nodes);
        let check = LimitCheck::new(limits, &self.counters, last);
        let has_book = n >= BOOK_FREE && book::is_reachable(board);
        let book = self.book.filter(|_| has_book);
        let mut search = Search::new(&self.table, book, &check, self.table_from);
        let (mut low, mut high) = (-decided(n), decided(n));
        let found = search.narrow(board, goal, &mut low, &mut high);
        search.finish();
        match found {
            Ok(()) | Err(Stopped) => Evaluation::new(low, high, n),
        }
    }
}
