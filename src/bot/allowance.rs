use std::time::Duration;

/// What a clock measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockKind {
    /// Wall time, without that in which a runnable program waited for a CPU.
    #[default]
    Wall,
    /// CPU time of a program and its descendants; [`Allowance::longest`] bounds the wall time.
    Cpu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// For the answer; [`Allowance::NO_LIMIT`] for none.
    pub time: Duration,
    /// Added for the first answer of a fresh process.
    pub start: Duration,
    /// Whether `time` is the rest of a game clock.
    pub clock: bool,
    /// Whether the answer's time is subtracted from a game clock.
    pub is_counted: bool,
    pub kind: ClockKind,
}

impl Allowance {
    pub const NO_LIMIT: Duration = Duration::MAX;

    /// Wall time allowed, as a multiple of the limit.
    const LONGEST_FACTOR: u32 = 10;

    /// The least wall time beyond the limit.
    const LONGEST_EXTRA: Duration = Duration::from_secs(5);

    /// The time for an answer.
    pub fn total(&self, fresh: bool) -> Duration {
        if fresh {
            self.time.saturating_add(self.start)
        } else {
            self.time
        }
    }

    /// Wall time after which the question is given up: ten times the limit, and at least 5 s more
    /// than it.
    pub fn longest(&self, fresh: bool) -> Duration {
        let total = self.total(fresh);
        total
            .saturating_mul(Self::LONGEST_FACTOR)
            .max(total.saturating_add(Self::LONGEST_EXTRA))
    }
}
