use std::future::Future;
use std::io;
use std::time::Duration;

use super::fault::Fault;
use super::info::Info;

/// An answer that has not been judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply<'a> {
    /// Without newline.
    pub line: &'a [u8],
    /// From just before the request was written until the line was read.
    pub elapsed: Duration,
    /// The time that counts; on a CPU clock, CPU time.
    pub charged: Duration,
    /// Whether it was the first answer of a fresh process.
    pub fresh: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherOutput {
    Nothing,
    /// The rejected line was a second line after this one, the answer to the question before.
    Before(Vec<u8>),
    After(Vec<u8>),
}

pub trait Player {
    /// Sends a request (a line with its newline) and waits for the answer.
    fn ask(
        &mut self,
        request: &str,
        allowance: Allowance,
    ) -> impl Future<Output = io::Result<Result<Reply<'_>, Fault>>>;

    fn is_told_answers(&self) -> bool {
        false
    }

    /// What it wrote of its thinking since the last call, as [`Stderr::take_info`](super::stderr::Stderr::take_info).
    fn take_info(&mut self) -> Info {
        Info::new()
    }

    fn drain(&mut self) -> impl Future<Output = Vec<u8>> {
        async { Vec::new() }
    }

    /// Finds out whether a rejected line was the only one for its question.
    fn other_output(&mut self) -> impl Future<Output = OtherOutput> {
        async { OtherOutput::Nothing }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ClockKind {
    /// Time, without that in which a runnable bot waited for a CPU
    #[default]
    Wall,
    /// CPU time of a bot's processes
    // [`Allowance::longest`] bounds the wall time. Other systems do not report that of another process.
    #[cfg_attr(not(all(target_os = "linux", not(portable))), value(skip))]
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
