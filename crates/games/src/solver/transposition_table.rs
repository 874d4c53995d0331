//! The transposition table: bounds of positions, shared by all threads without locks.
//!
//! An entry is one `u64`, read and written whole: 52 bits of the position's hash, the two bounds of its score, and
//! the nodes that they cost. The bucket follows from a second, independent hash. One look-up in 2^49 accepts a wrong entry.

use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Zeroable;

use super::evaluation::Bounds;
use super::symmetry::Hash;

/// Entries that share a cache line.
const WAYS: usize = 8;

/// The lowest twelve bits make room for bounds and work.
const SIGNATURE: u64 = !0xfff;

/// At most `bytes`, and at least one entry; fewer when the machine does not have that much memory.
pub(super) fn zeroed<T: Zeroable>(bytes: usize) -> Box<[T]> {
    let mut count = (bytes / size_of::<T>()).max(1);
    loop {
        // Memory that is zeroed by the system is not touched before it is used.
        if let Ok(entries) = bytemuck::allocation::try_zeroed_slice_box(count) {
            return entries;
        }
        count = (count / 2).max(1);
    }
}

#[derive(Debug)]
pub(super) struct TranspositionTable {
    /// The buckets begin at `first`, where a cache line does. A type that is aligned so would be filled with zeros by
    /// this process, all of it: a quarter of a second for 256 MiB that a short search never reads.
    entries: Box<[AtomicU64]>,
    first: usize,
}

impl TranspositionTable {
    pub(super) fn new(bytes: usize) -> Self {
        let line = WAYS * size_of::<AtomicU64>();
        // Room for one bucket, wherever the first line begins.
        let entries: Box<[AtomicU64]> = zeroed(bytes.max(2 * line));
        let first = entries.as_ptr().align_offset(line).min(WAYS);
        Self { entries, first }
    }

    #[inline]
    fn buckets(&self) -> &[[AtomicU64; WAYS]] {
        self.entries[self.first..].as_chunks().0
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.entries)
    }

    #[inline]
    fn bucket(&self, hash: Hash) -> &[AtomicU64; WAYS] {
        let buckets = self.buckets();
        let slot = (u128::from(hash.slot) * buckets.len() as u128) >> 64;
        &buckets[slot as usize]
    }

    #[inline]
    pub(super) fn get(&self, hash: Hash) -> Option<Bounds> {
        let found = self
            .bucket(hash)
            .iter()
            .map(|entry| entry.load(Ordering::Relaxed))
            .find(|entry| (entry ^ hash.signature) & SIGNATURE == 0)?;
        // An empty entry belongs to no position, but a hash can begin with zeros.
        (found & 0xf != 0).then(|| Bounds::from_byte((found >> 4) as u8))
    }

    /// `work` is the number of nodes that proved the bounds. Replaces the entry of the same position, or the one in
    /// the bucket with the least work.
    #[inline]
    pub(super) fn put(&self, hash: Hash, mut bounds: Bounds, work: u64) {
        let bucket = self.bucket(hash);
        // Half of the logarithm: it fills the four bits at 2^28 nodes.
        let mut weight = (u64::from(64 - work.leading_zeros()) / 2 + 1).min(15);
        let mut least = (u64::MAX, &bucket[0]);
        for entry in bucket {
            let old = entry.load(Ordering::Relaxed);
            if old & 0xf != 0 && (old ^ hash.signature) & SIGNATURE == 0 {
                bounds = bounds.and(Bounds::from_byte((old >> 4) as u8));
                weight = weight.max(old & 0xf);
                least.1 = entry;
                break;
            }
            if old & 0xf < least.0 {
                least = (old & 0xf, entry);
            }
        }
        let new = hash.signature & SIGNATURE | u64::from(bounds.to_byte()) << 4 | weight;
        least.1.store(new, Ordering::Relaxed);
    }
}
