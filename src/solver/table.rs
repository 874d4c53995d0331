//! The transposition table: what is known of positions, shared by all threads without locks.
//!
//! An entry is one `u64`, read and written whole, so no thread ever sees half of one: 52 bits of
//! the position's hash, the two bounds of its score, and the work it cost. The place in the
//! table comes from a second hash that has nothing to do with the first.
//!
//! How sure is that? A wrong position is taken for the right one when 52 bits agree by chance.
//! A look-up compares with eight entries, so one in 2^49 look-ups goes wrong; a search with a
//! thousand million look-ups meets a wrong entry with a probability of two in a million.

#![expect(
    clippy::cast_possible_truncation,
    reason = "what is cut off of a hash or an entry is not asked for"
)]

use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Zeroable;

use super::score::Span;
use super::symmetry::Hash;

/// Entries that share a cache line.
const WAYS: usize = 8;

/// The lowest bits of the hash make room for bounds and work.
const CHECK: u64 = !0xfff;

#[derive(Debug, Zeroable)]
#[repr(C, align(64))]
struct Bucket([AtomicU64; WAYS]);

/// A table of a fixed size.
#[derive(Debug)]
pub(super) struct Table {
    buckets: Box<[Bucket]>,
}

impl Table {
    /// A table of at most `bytes`, and of at least one bucket of 64. It is smaller when the
    /// machine does not give so much.
    pub(super) fn new(bytes: usize) -> Self {
        let mut count = (bytes / size_of::<Bucket>()).max(1);
        loop {
            // Memory that is zero already is not touched before it is used.
            if let Ok(buckets) = bytemuck::allocation::try_zeroed_slice_box(count) {
                return Self { buckets };
            }
            count = (count / 2).max(1);
        }
    }

    /// Its size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.buckets.len() * size_of::<Bucket>()
    }

    /// The share of entries in use, 0 to 1, from a sample.
    pub(super) fn fullness(&self) -> f64 {
        let sample = &self.buckets[..self.buckets.len().min(1 << 12)];
        let used: usize = sample
            .iter()
            .map(|bucket| {
                bucket
                    .0
                    .iter()
                    .filter(|e| e.load(Ordering::Relaxed) != 0)
                    .count()
            })
            .sum();
        let share = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        share(used) / share(sample.len() * WAYS)
    }

    #[inline]
    fn bucket(&self, hash: Hash) -> &[AtomicU64; WAYS] {
        let place = (u128::from(hash.place) * self.buckets.len() as u128) >> 64;
        &self.buckets[place as usize].0
    }

    /// What is known of a position.
    #[inline]
    pub(super) fn get(&self, hash: Hash) -> Option<Span> {
        let found = self
            .bucket(hash)
            .iter()
            .map(|entry| entry.load(Ordering::Relaxed))
            .find(|entry| (entry ^ hash.check) & CHECK == 0)?;
        // An empty entry stands for no hash, but a hash can begin with zeros.
        (found & 0xf != 0).then(|| Span::from_byte((found >> 4) as u8))
    }

    /// Adds what was found out about a position with so much `work` (in nodes).
    #[inline]
    pub(super) fn put(&self, hash: Hash, mut known: Span, work: u64) {
        let bucket = self.bucket(hash);
        // A quarter of the logarithm would do; half of it fills four bits at 2^28 nodes.
        let mut weight = (u64::from(64 - work.leading_zeros()) / 2 + 1).min(15);
        let mut least = (u64::MAX, &bucket[0]);
        for entry in bucket {
            let old = entry.load(Ordering::Relaxed);
            if old & 0xf != 0 && (old ^ hash.check) & CHECK == 0 {
                known = known.and(Span::from_byte((old >> 4) as u8));
                weight = weight.max(old & 0xf);
                least.1 = entry;
                break;
            }
            if old & 0xf < least.0 {
                least = (old & 0xf, entry);
            }
        }
        let new = hash.check & CHECK | u64::from(known.to_byte()) << 4 | weight;
        least.1.store(new, Ordering::Relaxed);
    }
}
