//! How often a game that does not count is tried again, or a turn outside of a game.

use std::time::Duration;

/// The most times because the referee may be to blame.
const MOST_STALLS: u32 = 2;

/// The most times because the machine has no process left.
const MOST_EXHAUSTED: u32 = 4;

/// How long the first of those waits for processes to end; each further one waits twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// The attempts so far that did not count.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    stalls: u32,
    exhausted: u32,
}

impl Attempts {
    /// The last one failed because the referee may be to blame: whether there is another.
    pub(super) const fn after_stall(&mut self) -> bool {
        let again = self.stalls < MOST_STALLS;
        if again {
            self.stalls += 1;
        }
        again
    }

    /// The last one failed because the machine has no process left: how long to wait for processes to
    /// end before the next; `None` when there is no other.
    pub(super) fn after_exhaustion(&mut self) -> Option<Duration> {
        let again = self.exhausted < MOST_EXHAUSTED;
        let wait = again.then(|| FIRST_WAIT * (1 << self.exhausted))?;
        self.exhausted += 1;
        Some(wait)
    }

    /// Whether one failed because the machine has no process left.
    pub(super) const fn was_exhausted(&self) -> bool {
        self.exhausted > 0
    }

    /// Their number.
    pub(super) const fn voids(&self) -> u32 {
        self.stalls + self.exhausted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_attempts_of_its_own() {
        let mut attempts = Attempts::default();
        assert!(!attempts.was_exhausted());
        for ms in [100, 200, 400, 800] {
            let wait = Some(Duration::from_millis(ms));
            assert_eq!(attempts.after_exhaustion(), wait);
            assert!(attempts.was_exhausted());
        }
        assert_eq!(attempts.after_exhaustion(), None);
        assert_eq!(attempts.voids(), 4);
        assert_eq!(
            [(); 3].map(|()| attempts.after_stall()),
            [true, true, false]
        );
        // The attempt after which there is no other counts.
        assert_eq!(attempts.voids(), 6);
    }

    #[test]
    fn a_stall_is_no_exhaustion() {
        let mut attempts = Attempts::default();
        assert!(attempts.after_stall());
        assert_eq!((attempts.voids(), attempts.was_exhausted()), (1, false));
    }
}
