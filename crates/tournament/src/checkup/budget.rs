//! How long a bot may think in a check-up: only its answers count. One that answers within some milliseconds is asked
//! everything, on a slow or busy machine, too: waits for a CPU do not count.

use std::time::Duration;

/// Of a check-up, for all its questions together.
pub const THINKING: Duration = Duration::from_secs(10);

/// How much a bot is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thoroughness {
    /// As much as it answers within [`THINKING`].
    #[default]
    Budget,
    /// Everything, however long it thinks.
    All,
}

/// How much of a check was made when the budget was spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Questions, or games.
    pub asked: usize,
    pub of: usize,
}

impl Coverage {
    pub(super) const fn none_of(of: usize) -> Self {
        Self { asked: 0, of }
    }
}

#[derive(Debug)]
pub(super) struct Budget {
    spent: Duration,
    limit: Duration,
    /// But for the first answer of a process, which takes its start.
    longest: Duration,
    answers: u32,
}

/// The part of a budget that a check gets: the time that may be spent when it is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share(Duration);

impl Budget {
    pub(super) const fn new(thoroughness: Thoroughness) -> Self {
        Self {
            spent: Duration::ZERO,
            longest: Duration::ZERO,
            answers: 0,
            limit: match thoroughness {
                Thoroughness::Budget => THINKING,
                Thoroughness::All => Duration::MAX,
            },
        }
    }

    pub(super) fn spend(&mut self, time: Duration, fresh: bool) {
        self.spent = self.spent.saturating_add(time);
        self.answers += 1;
        if !fresh {
            self.longest = self.longest.max(time);
        }
    }

    pub(super) const fn left(&self) -> Duration {
        self.limit.saturating_sub(self.spent)
    }

    /// Whether half of what is left is likely to be enough for so many questions.
    pub(super) fn is_enough_for(&self, questions: usize) -> bool {
        let questions = u32::try_from(questions).unwrap_or(u32::MAX);
        let each = self.spent / self.answers.max(1);
        each.saturating_mul(questions) <= self.left() / 2
    }

    /// One of so many parts of what is left.
    pub(super) fn share(&self, parts: u32) -> Share {
        Share(self.spent.saturating_add(self.left() / parts))
    }

    /// Also where the next answer is likely to take twice what is left.
    pub(super) fn is_spent(&self) -> bool {
        self.left().is_zero() || self.left() < self.longest / 2
    }

    /// Whether a check asks nothing more. Its `first` question is asked as long as there is any time.
    pub(super) fn is_over(&self, share: Share, first: bool) -> bool {
        self.is_spent() || !first && self.spent >= share.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_part_of_what_is_left_and_the_first_question_needs_none() {
        let mut budget = Budget::new(Thoroughness::Budget);
        budget.spend(THINKING / 2, true);
        let share = budget.share(5);
        assert!(!budget.is_over(share, false));
        budget.spend(THINKING / 10, true);
        assert!(budget.is_over(share, false) && !budget.is_over(share, true));
        budget.spend(THINKING, true);
        assert!(budget.is_spent() && budget.is_over(share, true));
    }

    /// As long as its first one of a process is not its start.
    #[test]
    fn no_question_is_asked_whose_answer_goes_far_beyond_the_budget() {
        let mut budget = Budget::new(Thoroughness::Budget);
        budget.spend(THINKING * 8 / 10, true);
        assert!(!budget.is_spent());
        budget.spend(THINKING / 20, false);
        assert!(!budget.is_spent());
        budget.spend(THINKING / 8, false);
        assert!(budget.is_spent());
    }

    #[test]
    fn a_thorough_check_is_never_over() {
        let mut budget = Budget::new(Thoroughness::All);
        budget.spend(Duration::from_hours(24), false);
        assert!(!budget.is_over(budget.share(10), false));
        assert!(!budget.is_over(budget.share(1), false));
    }
}
