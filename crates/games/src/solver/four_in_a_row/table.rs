//! The transposition table: bounds of positions, shared by threads without locks.
//!
//! An entry is one `u64`, read and written whole: the whole key of the position (49 bits) and the bounds of its score, seven bits each.
//! So no position is ever taken for another one.

use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Zeroable;

use crate::solver::score::Score;

/// The later entry of a pair was there before the other.
#[derive(Debug, Zeroable)]
#[repr(C, align(16))]
struct Pair([AtomicU64; 2]);

/// Added to a bound, so that it is not negative.
const SHIFT: i8 = 64;

/// Bits of a bound.
const BITS: u32 = 7;

/// A transposition table of a fixed size.
#[derive(Debug)]
pub(super) struct Table {
    pairs: Box<[Pair]>,
}

impl Table {
    /// A table of at most `bytes`, and of at least one pair of entries. It is smaller when the machine does not have that
    /// much memory.
    pub(super) fn new(bytes: usize) -> Self {
        let mut count = (bytes / size_of::<Pair>()).max(1);
        loop {
            if let Ok(pairs) = bytemuck::allocation::try_zeroed_slice_box(count) {
                return Self { pairs };
            }
            count = (count / 2).max(1);
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "below the number of pairs")]
    fn pair(&self, key: u64) -> &[AtomicU64; 2] {
        let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let index = (u128::from(mixed) * self.pairs.len() as u128) >> 64;
        &self.pairs[index as usize].0
    }

    /// The lower and the upper bound of a position, when they are in the table.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<(Score, Score)> {
        let entries = self.pair(key).iter();
        let mut entries = entries.map(|entry| entry.load(Ordering::Relaxed));
        let found = entries.find(|entry| entry >> (2 * BITS) == key)?;
        Some((bound(found >> BITS), bound(found)))
    }

    /// Adds the bounds of a position.
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

/// The bound in the lowest bits.
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
