//! Alpha–beta with a null window: whether the side to move reaches a score.
//!
//! Scores are those of Quarto: `+k` if the side to move completes a line when k cells are free, `-k` if the other
//! does, 0 for a draw.

use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Zeroable;

use super::board::{Board, column};
use super::book;
use super::book::BOOK_FREE;
use crate::game::four_in_a_row::COLUMNS;
use crate::solver::compact_book::CompactBook;
use crate::solver::evaluation::Score;
use crate::solver::limits::LimitCheck;
use crate::solver::search::Stopped;
use crate::solver::transposition_table::zeroed;

/// Free cells from which positions are looked up in the table.
const TABLE_FROM: u8 = 4;

/// Free cells from which the positions after all turns are looked up before any is searched.
const LOOK_AHEAD_FROM: u8 = 16;

/// Nodes between two looks at the limits.
const CHECK_EVERY: u64 = 1 << 10;

/// From the middle outwards: a disc there is on more lines.
const ORDER: [u32; COLUMNS as usize] = [3, 2, 4, 1, 5, 0, 6];

pub(super) struct Search<'a> {
    table: &'a Table,
    /// If a game can come to the position that is solved.
    book: Option<CompactBook<'static>>,
    check: &'a LimitCheck<'a>,
    /// Nodes not yet added to the shared count.
    nodes: u64,
}

impl<'a> Search<'a> {
    pub(super) const fn new(
        table: &'a Table,
        book: Option<CompactBook<'static>>,
        check: &'a LimitCheck<'a>,
    ) -> Self {
        Self {
            table,
            book,
            check,
            nodes: 0,
        }
    }

    pub(super) fn finish(self) {
        self.check.may_continue(self.nodes);
    }

    /// A bound of the score: a lower one if it is at least `beta`, an upper one if it is below. With n free cells; the
    /// side to move does not win immediately.
    pub(super) fn node(&mut self, board: &Board, n: u8, beta: Score) -> Result<Score, Stopped> {
        self.nodes += 1;
        if self.nodes >= CHECK_EVERY && !self.check.may_continue(std::mem::take(&mut self.nodes)) {
            return Err(Stopped);
        }
        let cells = board.safe();
        let most = n.cast_signed();
        if cells == 0 {
            return Ok(1 - most);
        }
        if n == BOOK_FREE
            && let Some(book) = &self.book
            && let Some(score) = book::score(book, board)
        {
            return Ok(score);
        }
        // After one safe disc there is at most one cell left, which wins for no side.
        if n <= 2 {
            return Ok(0);
        }
        let (mut low, mut high) = (3 - most, board.bound(most - 2));
        if high < beta {
            return Ok(high);
        }
        let key = (n >= TABLE_FROM).then(|| board.canonical_key());
        if let Some((least, best)) = key.and_then(|key| self.table.get(key)) {
            low = low.max(least);
            high = high.min(best);
        }
        if low >= beta {
            return Ok(low);
        }
        if high < beta {
            return Ok(high);
        }
        let (turns, count) = ordered(board, cells, n);
        if n >= LOOK_AHEAD_FROM
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

/// The later entry of a pair was there before the other.
#[derive(Debug, Zeroable)]
#[repr(C, align(16))]
struct Pair([AtomicU64; 2]);

/// Added to a bound, so that it is not negative.
const SHIFT: i8 = 64;

const BITS: u32 = 7;

#[derive(Debug)]
pub(super) struct Table {
    pairs: Box<[Pair]>,
}

impl Table {
    pub(super) fn new(bytes: usize) -> Self {
        let pairs = zeroed(bytes);
        Self { pairs }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "below the number of pairs")]
    fn pair(&self, key: u64) -> &[AtomicU64; 2] {
        let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let index = (u128::from(mixed) * self.pairs.len() as u128) >> 64;
        &self.pairs[index as usize].0
    }

    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<(Score, Score)> {
        let entries = self.pair(key).iter();
        let mut entries = entries.map(|entry| entry.load(Ordering::Relaxed));
        let found = entries.find(|entry| entry >> (2 * BITS) == key)?;
        Some((bound(found >> BITS), bound(found)))
    }

    #[inline]
    pub(super) fn put(&self, key: u64, low: Score, high: Score) {
        let new = key << (2 * BITS) | bits(low) << BITS | bits(high);
        let [newer, older] = self.pair(key);
        let before = newer.load(Ordering::Relaxed);
        if before >> (2 * BITS) != key {
            older.store(before, Ordering::Relaxed);
        }
        newer.store(new, Ordering::Relaxed);
    }
}

/// In the lowest bits.
#[inline]
const fn bound(entry: u64) -> Score {
    let bits = (entry & ((1 << BITS) - 1)) as i8;
    bits - SHIFT
}

#[inline]
const fn bits(bound: Score) -> u64 {
    (bound + SHIFT).cast_unsigned() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_found() {
        let table = Table::new(1 << 10);
        assert_eq!(table.get(77), None);
        table.put(77, -42, 0);
        table.put((1 << 49) - 1, -3, 42);
        assert_eq!(table.get(77), Some((-42, 0)));
        assert_eq!(table.get((1 << 49) - 1), Some((-3, 42)));
        assert_eq!(table.get(78), None);
    }
}
