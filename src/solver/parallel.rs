//! Several threads on one question.
//!
//! All threads search the whole tree and meet in the table: what one has found out, the others
//! look up. So that they do not do the same work at the same time, each says which positions it
//! is at; another thread that comes to one of them does its other turns first. When it comes
//! back, the answer is usually there. (This is Kerrigan's simplified form of ABDADA.)

use std::sync::atomic::{AtomicU64, Ordering};

/// Positions that threads are searching now.
#[derive(Debug)]
pub(super) struct Busy([AtomicU64; Self::PLACES]);

impl Busy {
    const PLACES: usize = 1 << 10;

    /// Nobody searches.
    pub(super) fn new() -> Self {
        Self([const { AtomicU64::new(0) }; Self::PLACES])
    }

    #[expect(clippy::cast_possible_truncation, reason = "any bits will do")]
    const fn place(&self, hash: u64) -> &AtomicU64 {
        &self.0[hash as usize % Self::PLACES]
    }

    /// Whether some thread is at this position. A wrong answer costs time, nothing else.
    pub(super) fn has(&self, hash: u64) -> bool {
        self.place(hash).load(Ordering::Relaxed) == hash
    }

    /// This thread is at the position, until [`Busy::leave`].
    pub(super) fn enter(&self, hash: u64) {
        self.place(hash).store(hash, Ordering::Relaxed);
    }

    /// This thread has left the position.
    pub(super) fn leave(&self, hash: u64) {
        let _ = self
            .place(hash)
            .compare_exchange(hash, 0, Ordering::Relaxed, Ordering::Relaxed);
    }
}
