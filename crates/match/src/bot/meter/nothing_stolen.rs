//! Where the system does not report it.

use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct StolenTimeReader;

impl StolenTimeReader {
    pub const fn start() -> Self {
        Self
    }

    pub const fn look(&mut self, _: Instant) {}
}

pub(super) const fn known() -> Duration {
    Duration::ZERO
}

pub(super) const fn read() -> Duration {
    Duration::ZERO
}
