//! The time for one answer.

use std::time::Duration;

/// What a player's clock measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockKind {
    /// Time as people measure it, without that in which a program could have run but waited for a
    /// processor.
    #[default]
    Wall,
    /// Processor time of a program and all processes below it. A limit on the wall time stands
    /// behind it: see [`Allowance::longest`].
    Cpu,
}

/// The time a player has for one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// For the move; [`Allowance::NO_LIMIT`] for as much as it likes.
    pub time: Duration,
    /// On top of it for the first answer of a fresh process.
    pub start: Duration,
    /// Whether `time` is what is left of a game clock.
    pub clock: bool,
    /// Whether the time of the answer is subtracted from a game clock.
    pub is_counted: bool,
    /// What is measured.
    pub kind: ClockKind,
}

impl Allowance {
    /// The time of a move without a limit.
    pub const NO_LIMIT: Duration = Duration::MAX;

    /// By how much more than the limit an answer may take, in wall time: as a factor.
    const LONGEST_FACTOR: u32 = 10;

    /// The same where the limit is short.
    const LONGEST_EXTRA: Duration = Duration::from_secs(5);

    /// All the time there is for an answer.
    pub fn total(&self, fresh: bool) -> Duration {
        if fresh {
            self.time.saturating_add(self.start)
        } else {
            self.time
        }
    }

    /// The wall time after which the question is given up, whatever is charged: ten times the limit,
    /// and 5 s more than the limit at least.
    pub fn longest(&self, fresh: bool) -> Duration {
        let total = self.total(fresh);
        total
            .saturating_mul(Self::LONGEST_FACTOR)
            .max(total.saturating_add(Self::LONGEST_EXTRA))
    }
}
