//! The time that a virtual machine's host gave its CPUs to others. A program from which a CPU is taken so neither runs nor
//! waits by the kernel's clocks.
//!
//! The file that tells takes long on large machines, so a thread reads it now and then, and a turn begins with what that
//! thread has read last.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use referee_sandbox::procfs;

static KNOWN_MICROS: AtomicU64 = AtomicU64::new(0);

/// The least time between two readings, and as a multiple of what a reading takes.
const PAUSE: Duration = Duration::from_millis(100);
const SHARE: u32 = 200;

/// Reads it now and then, so that turns know it.
#[derive(Debug)]
pub struct StolenTimeReader {
    next: Instant,
}

impl StolenTimeReader {
    pub fn start() -> Self {
        read();
        Self {
            next: Instant::now(),
        }
    }

    /// Reads if it is time to.
    pub fn look(&mut self, now: Instant) {
        if now >= self.next {
            read();
            self.next = now + PAUSE.max(now.elapsed() * SHARE);
        }
    }
}

/// As last read, by any thread. Never more than it is.
pub(super) fn known() -> Duration {
    Duration::from_micros(KNOWN_MICROS.load(Ordering::Relaxed))
}

/// As it is. Zero where the system does not tell.
pub(super) fn read() -> Duration {
    let time = procfs::stolen_time().unwrap_or_default();
    let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    KNOWN_MICROS.fetch_max(micros, Ordering::Relaxed);
    time
}
