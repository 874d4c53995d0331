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
use crate::solver::symmetry::Hash;
use crate::solver::transposition_table::zeroed;

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
        let (mut low, mut high) = (3 - most, most - 2);
        if high < beta {
            return Ok(high);
        }
        let future = board.future();
        if !future.can_win {
            high = 0;
        }
        if !future.can_lose {
            low = 0;
        }
        let hash = future.hash;
        if let Some((least, best)) = self.table.get(hash) {
            low = low.max(least);
            high = high.min(best);
        }
        if low >= beta {
            return Ok(low);
        }
        if high < beta {
            return Ok(high);
        }
        let (turns, count) = ordered(board, cells, n - 1);
        let turns = &turns[..count];
        if n >= LOOK_AHEAD_FROM
            && let Some(score) = self.known(turns, beta)
        {
            self.table.put(hash, score.max(low), high);
            return Ok(score);
        }
        // The best upper bound of a turn.
        let mut best = low;
        for (after, _) in turns {
            let score = -self.node(after, n - 1, 1 - beta)?;
            if score >= beta {
                self.table.put(hash, score.max(low), high);
                return Ok(score);
            }
            best = best.max(score);
        }
        let best = best.min(high);
        self.table.put(hash, low, best);
        Ok(best)
    }

    /// A score of at least `beta` that one of these turns is known to have.
    fn known(&self, turns: &[(Board, u32)], beta: Score) -> Option<Score> {
        let mut scores = turns.iter().filter_map(|(after, _)| {
            let (_, theirs) = self.table.get(after.future().hash)?;
            Some(-theirs)
        });
        scores.find(|&score| score >= beta)
    }
}

/// The boards after discs on these cells, with the largest [`Board::promise`] first, with it. `n` cells are free then.
#[inline]
fn ordered(board: &Board, cells: u64, n: u8) -> ([(Board, u32); COLUMNS as usize], usize) {
    let mut turns = [(*board, 0); COLUMNS as usize];
    let mut count = 0;
    for index in ORDER {
        let cell = cells & column(index);
        if cell == 0 {
            continue;
        }
        let after = board.after(cell);
        let promise = after.promise(n);
        let mut at = count;
        while at > 0 && turns[at - 1].1 < promise {
            turns[at] = turns[at - 1];
            at -= 1;
        }
        turns[at] = (after, promise);
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
    fn pair(&self, hash: Hash) -> &[AtomicU64; 2] {
        let index = (u128::from(hash.slot) * self.pairs.len() as u128) >> 64;
        &self.pairs[index as usize].0
    }

    #[inline]
    pub(super) fn get(&self, hash: Hash) -> Option<(Score, Score)> {
        let entries = self.pair(hash).iter();
        let mut entries = entries.map(|entry| entry.load(Ordering::Relaxed));
        let found = entries.find(|entry| (entry ^ hash.signature) >> (2 * BITS) == 0)?;
        Some((bound(found >> BITS), bound(found)))
    }

    #[inline]
    pub(super) fn put(&self, hash: Hash, low: Score, high: Score) {
        let signature = hash.signature >> (2 * BITS) << (2 * BITS);
        let new = signature | bits(low) << BITS | bits(high);
        let [newer, older] = self.pair(hash);
        let before = newer.load(Ordering::Relaxed);
        if (before ^ new) >> (2 * BITS) != 0 {
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
        let hash = |signature: u64| Hash {
            slot: 77,
            signature,
        };
        let (one, other) = (hash(u64::MAX), hash(1 << 20));
        assert_eq!(table.get(one), None);
        table.put(one, -42, 0);
        table.put(other, -3, 42);
        assert_eq!(table.get(one), Some((-42, 0)));
        assert_eq!(table.get(other), Some((-3, 42)));
        assert_eq!(table.get(hash(1 << 21)), None);
    }
}
