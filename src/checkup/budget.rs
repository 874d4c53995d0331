//! How long a check-up may take. Quick bots are asked everything; of slow ones every check asks fewer
//! questions, so that as many checks as possible are made.

use std::time::{Duration, Instant};

/// A part of the time that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share(u32);

impl Share {
    pub(super) const ALL: Self = Self(1);

    /// One of this many parts.
    pub(super) const fn one_of(parts: u32) -> Self {
        Self(parts)
    }
}

/// The time of a check-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    end: Instant,
}

impl Budget {
    pub(super) fn new(time: Duration) -> Self {
        Self::from(Instant::now(), time)
    }

    fn from(now: Instant, time: Duration) -> Self {
        // A time too large for the clock has no end in practice.
        let forever = Duration::from_hours(24 * 365);
        Self {
            end: now + time.min(forever),
        }
    }

    /// When this share of what is left is over.
    pub(super) fn end(&self, share: Share) -> Instant {
        self.end_from(Instant::now(), share)
    }

    fn end_from(&self, now: Instant, Share(parts): Share) -> Instant {
        now + self.end.saturating_duration_since(now) / parts
    }

    /// Whether no further question is asked in a check whose share ends then. The `first` question of a
    /// check is asked as long as there is any time.
    pub(super) fn is_over(&self, share: Instant, first: bool) -> bool {
        self.is_over_at(Instant::now(), share, first)
    }

    fn is_over_at(&self, now: Instant, share: Instant, first: bool) -> bool {
        now >= if first { self.end } else { share }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_share_and_one_question() {
        let second = Duration::from_secs(1);
        let begun = Instant::now();
        let budget = Budget::from(begun, 10 * second);
        let half = budget.end_from(begun, Share::one_of(2));
        assert!(!budget.is_over_at(begun, half, false));
        let later = begun + 6 * second;
        assert!(budget.is_over_at(later, half, false) && !budget.is_over_at(later, half, true));
        // What the first left is divided anew.
        assert_eq!(budget.end_from(later, Share::one_of(2)), later + 2 * second);
        assert!(budget.is_over_at(begun + 10 * second, half, true));
    }
}
