//! Alpha–beta with a null window: whether the side to move reaches a score.
//!
//! Scores are those of Quarto: `+k` if the side to move completes a line when k cells are free, `-k` if the other does, 0 for a draw.

use super::board::{Board, column, decided};
use super::book::{self, BOOK_FREE};
use super::table::Table;
use crate::game::four_in_a_row::COLUMNS;
use crate::solver::compact_book::CompactBook;
use crate::solver::evaluation::Goal;
use crate::solver::limits::LimitCheck;
use crate::solver::score::Score;

/// Free cells from which positions are looked up in the table.
pub(super) const TABLE_FROM: u8 = 4;

/// Free cells from which the positions after all turns are looked up before any is searched: with fewer, the search is
/// as quick.
const LOOK_AHEAD_FROM: u8 = 16;

/// Nodes between two looks at the limits.
const CHECK_EVERY: u64 = 1 << 10;

/// From the middle outwards: a disc there is on more lines.
const ORDER: [u32; COLUMNS as usize] = [3, 2, 4, 1, 5, 0, 6];

/// A limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stopped;

/// One thread that searches.
pub(super) struct Search<'a> {
    table: &'a Table,
    /// The book, if a game can come to the position that is solved.
    book: Option<CompactBook>,
    check: &'a LimitCheck<'a>,
    table_from: u8,
    /// Nodes that have not been added to the count.
    nodes: u64,
}

impl<'a> Search<'a> {
    pub(super) const fn new(
        table: &'a Table,
        book: Option<CompactBook>,
        check: &'a LimitCheck<'a>,
        table_from: u8,
    ) -> Self {
        Self {
            table,
            book,
            check,
            table_from,
            nodes: 0,
        }
    }

    /// Adds the last nodes to the count.
    pub(super) fn finish(self) {
        self.check.may_continue(self.nodes);
    }

    /// Brings the bounds of a position together, in which nobody wins at once, as far as the goal asks for.
    pub(super) fn narrow(
        &mut self,
        board: &Board,
        goal: Goal,
        low: &mut Score,
        high: &mut Score,
    ) -> Result<(), Stopped> {
        // First whether it is a win, a draw or a loss: narrow windows near a draw are the cheapest.
        let mut ask = |low: &mut Score, high: &mut Score, beta: Score| {
            let score = self.reaches(board, beta)?;
            if score >= beta {
                *low = (*low).max(score);
            } else {
                *high = (*high).min(score);
            }
            Ok(())
        };
        if *low < 1 && *high >= 1 {
            ask(low, high, 1)?;
        }
        if *low < 0 && *high >= 0 {
            ask(low, high, 0)?;
        }
        if goal == Goal::Value {
            return Ok(());
        }
        while low < high {
            // Nearer to a draw than to the middle.
            let middle = (i16::from(*low) + i16::from(*high) + 1) / 2;
            #[expect(clippy::cast_possible_truncation, reason = "between two scores")]
            let middle = middle as Score;
            let beta = middle.clamp(*low + 1, *high);
            ask(low, high, beta)?;
        }
        Ok(())
    }

    /// A bound of the score: a lower one if it is at least `beta`, an upper one if it is below.
    fn reaches(&mut self, board: &Board, beta: Score) -> Result<Score, Stopped> {
        self.node(board, board.free(), beta)
    }

    /// The same of a position with n free cells, in which the side to move does not win at once.
    fn node(&mut self, board: &Board, n: u8, beta: Score) -> Result<Score, Stopped> {
        self.nodes += 1;
        if self.nodes >= CHECK_EVERY && !self.check.may_continue(std::mem::take(&mut self.nodes)) {
            return Err(Stopped);
        }
        let cells = board.safe();
        let most = decided(n);
        if cells == 0 {
            return Ok(1 - most);
        }
        if n == BOOK_FREE
            && let Some(book) = &self.book
            && let Some(score) = book::score(book, board)
        {
            return Ok(score);
        }
        // After one safe disc there is at most one cell left, which wins for nobody.
        if n <= 2 {
            return Ok(0);
        }
        let (mut low, mut high) = (3 - most, board.bound(most - 2));
        if high < beta {
            return Ok(high);
        }
        let key = if n >= self.table_from {
            let key = board.canonical_key();
            if let Some((least, best)) = self.table.get(key) {
                low = low.max(least);
                high = high.min(best);
            }
            Some(key)
        } else {
            None
        };
        if low >= beta {
            return Ok(low);
        }
        if high < beta {
            return Ok(high);
        }
        let (turns, count) = ordered(board, cells, n);
        if n >= self.table_from.max(LOOK_AHEAD_FROM)
            && let Some(score) = self.known(board, &turns[..count], beta)
        {
            if let Some(key) = key {
                self.table.put(key, score.max(low), high);
            }
            return Ok(score);
        }
        // The best upper bound of a turn.
        let mut best = low;
        for &(cell, _) in &turns[..count] {
            let score = -self.node(&board.after(cell), n - 1, 1 - beta)?;
            if score >= beta {
                if let Some(key) = key {
                    self.table.put(key, score.max(low), high);
                }
                return Ok(score);
            }
            best = best.max(score);
        }
        let best = best.min(high);
        if let Some(key) = key {
            self.table.put(key, low, best);
        }
        Ok(best)
    }

    /// A score of at least `beta` that one of these turns is known to have.
    fn known(&self, board: &Board, turns: &[(u64, u32)], beta: Score) -> Option<Score> {
        let mut scores = turns.iter().filter_map(|&(cell, _)| {
            let (_, theirs) = self.table.get(board.after(cell).canonical_key())?;
            Some(-theirs)
        });
        scores.find(|&score| score >= beta)
    }
}

/// The cells with the largest [`Board::promise_of`] first, with it.
#[inline]
fn ordered(board: &Board, cells: u64, n: u8) -> ([(u64, u32); COLUMNS as usize], usize) {
    let mut turns = [(0, 0); COLUMNS as usize];
    let mut count = 0;
    for index in ORDER {
        let cell = cells & column(index);
        if cell == 0 {
            continue;
        }
        let promise = board.promise_of(cell, n);
        let mut at = count;
        while at > 0 && turns[at - 1].1 < promise {
            turns[at] = turns[at - 1];
            at -= 1;
        }
        turns[at] = (cell, promise);
        count += 1;
    }
    (turns, count)
}
