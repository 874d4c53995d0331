//! The time for one answer.

use std::time::Duration;

/// The time a player has for one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// For the move.
    pub time: Duration,
    /// On top of it for the first answer of a fresh process.
    pub start: Duration,
    /// Whether `time` is what is left of a game clock.
    pub clock: bool,
}

impl Allowance {
    /// All the time there is for an answer.
    pub fn total(&self, fresh: bool) -> Duration {
        if fresh {
            self.time.saturating_add(self.start)
        } else {
            self.time
        }
    }
}
