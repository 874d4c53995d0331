//! Several threads in one search: Kerrigan's simplified ABDADA.
//!
//! All threads search the whole tree and share the transposition table: what one has proven, the
//! others look up. So that they do not do the same work at the same time, each publishes the
//! positions that it is searching; another thread that reaches one of them defers it and searches
//! its other turns first. When it returns to it, the result is usually in the table.

use std::sync::atomic::{AtomicU64, Ordering};

/// The positions that threads are searching now: a small table of hashes. A collision costs time,
/// nothing else.
#[derive(Debug)]
pub(super) struct CurrentlySearched([AtomicU64; Self::SLOTS]);

impl CurrentlySearched {
    const SLOTS: usize = 1 << 10;

    /// No position is being searched.
    pub(super) fn new() -> Self {
        Self([const { AtomicU64::new(0) }; Self::SLOTS])
    }

    #[expect(clippy::cast_possible_truncation, reason = "any bits will do")]
    const fn slot(&self, hash: u64) -> &AtomicU64 {
        &self.0[hash as usize % Self::SLOTS]
    }

    /// Whether some thread is searching this position.
    pub(super) fn contains(&self, hash: u64) -> bool {
        self.slot(hash).load(Ordering::Relaxed) == hash
    }

    /// This thread searches the position, until [`CurrentlySearched::finish`].
    pub(super) fn start(&self, hash: u64) {
        self.slot(hash).store(hash, Ordering::Relaxed);
    }

    /// This thread has finished the position.
    pub(super) fn finish(&self, hash: u64) {
        let _ = self
            .slot(hash)
            .compare_exchange(hash, 0, Ordering::Relaxed, Ordering::Relaxed);
    }
}
