//! Every way to break the protocol, as a value; `sentence` has the words that a student reads, `advice` what
//! to do about it.

pub mod advice;
mod sentence;

pub use self::sentence::ASK_CHECK;

use std::time::Duration;

use super::allowance::{Allowance, ClockKind};
use super::meter::TurnUsage;
use crate::executable::interpreter::Language;
use crate::protocol::ForfeitReason;
use crate::text::escape;

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this status.
    Code(i32),
    /// By this signal, such as `SIGSEGV`.
    Signal(String),
    /// By the sandbox, because it went beyond a limit: the end of a sentence that begins with
    /// "it", such as `used more than 256 MiB of memory`.
    Limit(String),
    /// By the kernel, because other programs had all memory.
    OutOfMemory,
    /// So, after it had tried to do something that its sandbox forbids: `open a network
    /// connection`.
    Refused(Box<Self>, &'static str),
    /// A person left the game.
    Left,
}

/// One of the two pipes of a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// What it reads requests from.
    Input,
    /// What it writes answers to.
    Output,
}

/// What a silent program was doing when its time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    /// Computing: it may just be slow.
    Computing,
    /// Not even the question had been read.
    NotReading,
    /// Stopped, as by SIGSTOP.
    Stopped,
    /// It had read the question and was waiting for something, such as more input.
    Waiting,
    /// This system does not report it.
    Unknown,
}

/// What there was of an answer when the time was up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeoutEvidence {
    /// Nothing at all.
    Nothing(ProcessState),
    /// The beginning of a line.
    Partial(Vec<u8>),
    /// A whole line, this long after the question.
    Late(Vec<u8>, Duration),
    /// A legal answer, once its input was closed: it had sat in its output buffer, or it had waited for
    /// more input than one line.
    HeldBack(Vec<u8>),
}

/// A time that ran out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// The line it was asked.
    pub asked: String,
    /// The time it had.
    pub allowance: Allowance,
    /// Whether that included the time to start.
    pub fresh: bool,
    /// What there was of an answer.
    pub evidence: TimeoutEvidence,
    /// What it wrote when its input was closed, after the time was up.
    pub afterwards: Vec<u8>,
    /// The wall time from the question until it was given up, or the answer was found.
    pub elapsed: Duration,
    /// What the bot had used by then, if that was asked.
    pub usage: Option<TurnUsage>,
    /// How much of `elapsed` was not charged, since the bot waited for a processor.
    pub excused: Duration,
    /// How long after the time was up the referee found a whole line that had arrived
    /// unnoticed, because the referee was itself not running; zero when it noticed in time. Up to this
    /// long the fault may be the referee's own.
    pub unwatched: Duration,
    /// Its language, for advice.
    pub language: Option<Language>,
}

impl Timeout {
    /// Whether the bot was given up although its time was not over: it had waited for a processor for
    /// so long.
    pub fn was_starved(&self) -> bool {
        let total = self.allowance.total(self.fresh);
        self.allowance.kind == ClockKind::Wall && total.saturating_add(self.excused) > self.elapsed
    }
}

/// A bot's misbehaviour. Match it without `_`, so that a new one is dealt with everywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A well-formed answer that the rules forbid.
    IllegalMove {
        /// The line.
        answer: Vec<u8>,
        /// What is wrong, and what was legal.
        problem: String,
    },
    /// A line that is no answer.
    Malformed {
        /// The line.
        answer: Vec<u8>,
        /// What is wrong, and what was expected.
        problem: String,
    },
    /// More than one line.
    ExtraOutput {
        /// The first line; empty when it had not been asked anything yet.
        first: Vec<u8>,
        /// What it wrote beyond it.
        second: Vec<u8>,
        /// It was written before the next question, not with the answer.
        early: bool,
    },
    /// No answer in time.
    Timeout(Box<Timeout>),
    /// It ended before it answered.
    Exited {
        /// How.
        exit: Exit,
        /// The beginning of an answer.
        partial: Vec<u8>,
        /// The questions that its process had answered.
        answered: u32,
    },
    /// It lives but closed a stream.
    Closed {
        /// Which.
        stream: Stream,
        /// The beginning of an answer.
        partial: Vec<u8>,
    },
    /// A line beyond the cap.
    LineTooLong {
        /// Its beginning.
        start: Vec<u8>,
    },
    /// Not text.
    NotUtf8 {
        /// The line.
        answer: Vec<u8>,
    },
}

impl Fault {
    /// The word for it.
    pub const fn reason(&self) -> ForfeitReason {
        match self {
            Self::IllegalMove { .. } => ForfeitReason::IllegalMove,
            Self::Malformed { .. } => ForfeitReason::Malformed,
            Self::ExtraOutput { .. } => ForfeitReason::ExtraOutput,
            Self::Timeout(_) => ForfeitReason::Timeout,
            Self::Exited { .. } => ForfeitReason::Exited,
            Self::Closed { .. } => ForfeitReason::Closed,
            Self::LineTooLong { .. } => ForfeitReason::LineTooLong,
            Self::NotUtf8 { .. } => ForfeitReason::NotUtf8,
        }
    }

    /// Whether it may have held its answer back until its input ends: it was neither computing nor busy
    /// with anything else. Asked by a command whose input ends, it answers.
    pub fn may_be_held_back(&self) -> bool {
        use ProcessState::{Unknown, Waiting};
        use TimeoutEvidence::{HeldBack, Nothing};
        let Self::Timeout(timeout) = self else {
            return false;
        };
        matches!(timeout.evidence, HeldBack(_) | Nothing(Waiting | Unknown))
    }

    /// Whether its process ended after it had answered other questions: asked only the last one, it may
    /// well answer.
    pub const fn ended_later(&self) -> bool {
        matches!(self, Self::Exited { answered, .. } if *answered > 0)
    }

    /// What the bot sent, escaped; empty when it sent nothing.
    pub fn answer(&self) -> String {
        match self {
            Self::IllegalMove { answer, .. }
            | Self::Malformed { answer, .. }
            | Self::NotUtf8 { answer } => escape(answer),
            Self::ExtraOutput { first, second, .. } => {
                let mut both = first.clone();
                both.push(b'\n');
                both.extend_from_slice(second);
                escape(&both)
            }
            Self::Timeout(timeout) => match &timeout.evidence {
                TimeoutEvidence::Nothing(_) => String::new(),
                TimeoutEvidence::Partial(bytes)
                | TimeoutEvidence::Late(bytes, _)
                | TimeoutEvidence::HeldBack(bytes) => escape(bytes),
            },
            Self::Exited { partial, .. } | Self::Closed { partial, .. } => escape(partial),
            Self::LineTooLong { start } => escape(start),
        }
    }
}
