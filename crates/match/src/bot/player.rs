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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ClockKind {
    /// Time, without that in which a bot waited for a CPU or for the disk
    #[default]
    Wall,
    /// CPU time of a bot's processes
    // [`Allowance::longest`] bounds the wall time. Other systems do not report that of another process.
    #[cfg_attr(
        all(feature = "clap", not(all(target_os = "linux", not(portable)))),
        value(skip)
    )]
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
    /// Whether an answer counts of which the referee cannot tell whether it was late. Else the game is void and played
    /// again; that has an end, and then no bot loses by what the machine did.
    pub benefit_of_doubt: bool,
}

impl Allowance {
    pub const NO_LIMIT: Duration = Duration::MAX;

    /// Wall time allowed, as a multiple of the limit.
    const LONGEST_FACTOR: u32 = 10;

    /// The least wall time beyond the limit.
    const LONGEST_EXTRA: Duration = Duration::from_secs(5);

    /// The same where it is not tried again: what waits for the machine loses by it then.
    const LAST_EXTRA: Duration = Duration::from_mins(2);

    pub fn total(&self, fresh: bool) -> Duration {
        if fresh {
            self.time.saturating_add(self.start)
        } else {
            self.time
        }
    }

    /// Wall time after which the question is given up: ten times the limit, and at least 5 s more than it, or two minutes
    /// more the last time that it is tried. One that sleeps is given up at the limit, but on a clock of CPU time.
    pub fn longest(&self, fresh: bool) -> Duration {
        let total = self.total(fresh);
        let is_last = self.benefit_of_doubt && self.kind == ClockKind::Wall;
        let extra = if is_last {
            Self::LAST_EXTRA
        } else {
            Self::LONGEST_EXTRA
        };
        total
            .saturating_mul(Self::LONGEST_FACTOR)
            .max(total.saturating_add(extra))
    }
}
