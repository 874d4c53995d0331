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
        let Some((turns, count)) = ordered(board, cells, n - 1) else {
            return Ok(most - 2);
        };
        // The best upper bound of a turn.
        let mut best = low;
        for turn in &turns[..count] {
            let after = board.after(1 << (turn & 63));
            let score = -self.node(&after, n - 1, 1 - beta)?;
            if score >= beta {
                self.table.put(hash, n, score.max(low), high);
                return Ok(score);
            }
            best = best.max(score);
        }
        let best = best.min(high);
        self.table.put(hash, n, low, best);
        Ok(best)
    }
}

/// The numbers of these cells, in the lowest six bits, with the largest [`Board::promise`] after a disc there first;
/// `None` if one of them wins, since the opponent has no safe cell then. `n` cells are free after it.
#[inline]
fn ordered(board: &Board, cells: u64, n: u8) -> Option<([u32; COLUMNS as usize], usize)> {
    let mut turns = [0; COLUMNS as usize];
    let mut count = 0;
    for index in ORDER {
        let cell = cells & column(index);
        if cell == 0 {
            continue;
        }
        let after = board.after(cell);
        if after.safe() == 0 {
            return None;
        }
        let turn = after.promise(n) << 6 | cell.trailing_zeros();
        let mut at = count;
        while at > 0 && turns[at - 1] >> 6 < turn >> 6 {
            turns[at] = turns[at - 1];
            at -= 1;
        }
        turns[at] = turn;
        count += 1;
    }
    Some((turns, count))
}

/// The first entry is replaced by none of a later stage of the game, which takes less to prove again.
#[derive(Debug)]
#[repr(C, align(16))]
struct Pair([AtomicU64; 2]);

#[expect(unsafe_code, reason = "a derive would build its crate for this line")]
// SAFETY: all-zero bytes are valid numbers, and there is nothing else.
unsafe impl Zeroable for Pair {}

/// Added to a bound, so that it is not negative.
const SHIFT: i8 = 64;

const BITS: u32 = 7;

/// Above two bounds, three bits.
const STAGE: u32 = 2 * BITS;

/// An entry's other bits: one look-up in 2^46 accepts a wrong entry.
const SIGNATURE: u64 = !0 << (STAGE + 3);

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
    fn pair(&self, hash: Hash) -> &[AtomicU64; 2] {
        let index = (u128::from(hash.slot) * self.pairs.len() as u128) >> 64;
        &self.pairs[index as usize].0
    }

    #[inline]
    pub(super) fn get(&self, hash: Hash) -> Option<(Score, Score)> {
        let entries = self.pair(hash).iter();
        let mut entries = entries.map(|entry| entry.load(Ordering::Relaxed));
        let found = entries.find(|entry| (entry ^ hash.signature) & SIGNATURE == 0)?;
        Some((bound(found >> BITS), bound(found)))
    }

    /// With n free cells.
    #[inline]
    pub(super) fn put(&self, hash: Hash, n: u8, low: Score, high: Score) {
        let stage = u64::from(n / 8) << STAGE;
        let new = hash.signature & SIGNATURE | stage | bits(low) << BITS | bits(high);
        let [early, last] = self.pair(hash);
        let before = early.load(Ordering::Relaxed);
        if before & (7 << STAGE) > stage {
            last.store(new, Ordering::Relaxed);
            return;
        }
        if (before ^ new) & SIGNATURE != 0 {
            last.store(before, Ordering::Relaxed);
        }
        early.store(new, Ordering::Relaxed);
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
        table.put(one, 30, -42, 0);
        table.put(other, 3, -3, 42);
        assert_eq!(table.get(one), Some((-42, 0)));
        assert_eq!(table.get(other), Some((-3, 42)));
        let third = hash(1 << 21);
        assert_eq!(table.get(third), None);
        // It takes the place of the one of the end of the game.
        table.put(third, 20, 0, 0);
        assert_eq!(table.get(third), Some((0, 0)));
        assert_eq!(table.get(one), Some((-42, 0)));
        assert_eq!(table.get(other), None);
    }
}
