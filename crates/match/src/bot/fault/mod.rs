//! Every way to break the protocol, as a value.

pub mod advice;
pub mod crash;
pub mod printed_error;
pub mod sentence;

use std::time::Duration;

use self::printed_error::PrintedError;
use super::meter::TurnUsage;
use super::player::{Allowance, ClockKind};
use crate::protocol::ForfeitReason;
use referee_games::game::{Rejection, RejectionCause};
use referee_host::executable::interpreter::Language;
use referee_sandbox::MetLimit;
use referee_text::escape;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(String),
    /// Killed for a limit of its sandbox.
    Limit(MetLimit),
    /// Killed by the kernel because other programs used the memory: the most that it had itself of its
    /// limit, in bytes.
    OutOfMemory {
        used: u64,
        limit: u64,
    },
    /// After it had tried something forbidden: `open a network connection`.
    Refused(Box<Self>, &'static str),
    /// After an error message that speaks of memory; so much, in bytes, its sandbox gives it.
    ShortOfMemory(Box<Self>, u64),
    Left,
}

impl Exit {
    /// Without what the program had tried, where that is not why it exited.
    pub fn forgive_refusal(&mut self) {
        if let Self::Refused(exit, _) = self {
            *self = std::mem::replace(exit, Self::Left);
        }
    }

    /// Says that it had told of memory, of which its sandbox gives it so much, unless the kernel is known to have ended it.
    pub fn blame_memory(&mut self, limit: u64) {
        if matches!(self, Self::Code(1..) | Self::Signal(_)) {
            let exit = std::mem::replace(self, Self::Left);
            *self = Self::ShortOfMemory(Box::new(exit), limit);
        }
    }

    /// Whether it ended in the same way; numbers may differ.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Code(one), Self::Code(other)) => (*one == 0) == (*other == 0),
            (Self::Limit(one), Self::Limit(other)) => one.exceeded == other.exceeded,
            (Self::Refused(one, what), Self::Refused(other, other_what)) => {
                what == other_what && one.is_like(other)
            }
            (Self::ShortOfMemory(one, _), Self::ShortOfMemory(other, _)) => one.is_like(other),
            (Self::OutOfMemory { .. }, Self::OutOfMemory { .. }) => true,
            (one, other) => one == other,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Input,
    Output,
}

/// What a silent program was doing when its time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    Computing,
    NotReading,
    /// A signal such as SIGSTOP stopped it.
    Stopped,
    /// Read the question and waits for something, such as more input.
    Waiting,
    /// It has written so many bytes to stderr since it was asked.
    WritingToStderr(u64),
    Unknown,
}

/// What there was of an answer when the time was up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeoutEvidence {
    Nothing(ProcessState),
    Partial(Vec<u8>),
    /// A whole line, after the limit.
    Late(Vec<u8>),
    /// A legal answer that came once its input was closed: it sat in an output buffer, or the bot
    /// waited for more input.
    HeldBack(Vec<u8>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeout {
    pub asked: String,
    pub allowance: Allowance,
    pub fresh: bool,
    pub evidence: TimeoutEvidence,
    pub afterwards: Vec<u8>,
    /// Wall time until it was given up or answered.
    pub elapsed: Duration,
    /// Resources used by then, if asked.
    pub usage: Option<TurnUsage>,
    /// The part of `elapsed` not charged: waits for a CPU and for the disk, and CPU time in doubt.
    pub excused: Duration,
    /// How long after the limit the referee found a whole line, because it was itself not running;
    /// zero when it noticed in time. The fault may be the referee's up to this long.
    pub unwatched: Duration,
    pub answered: u32,
    pub slowest: Duration,
    pub language: Option<Language>,
}

impl TimeoutEvidence {
    /// Whether the same was seen; what there was of an answer may differ.
    fn is_like(&self, other: &Self) -> bool {
        use ProcessState::{Unknown, Waiting, WritingToStderr};
        match (self, other) {
            // Whether it waits is not always seen.
            (Self::Nothing(Waiting | Unknown), Self::Nothing(Waiting | Unknown))
            | (Self::Nothing(WritingToStderr(_)), Self::Nothing(WritingToStderr(_)))
            | (Self::Partial(_), Self::Partial(_))
            | (Self::Late(_), Self::Late(_))
            | (Self::HeldBack(_), Self::HeldBack(_)) => true,
            (Self::Nothing(one), Self::Nothing(other)) => one == other,
            _ => false,
        }
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Nothing(_) => &[],
            Self::Partial(bytes) | Self::Late(bytes) | Self::HeldBack(bytes) => bytes,
        }
    }
}

impl Timeout {
    pub fn new(request: &str, allowance: Allowance, fresh: bool, elapsed: Duration) -> Self {
        Self {
            asked: request.trim_end_matches('\n').to_owned(),
            allowance,
            fresh,
            evidence: TimeoutEvidence::Nothing(ProcessState::Unknown),
            afterwards: Vec::new(),
            elapsed,
            usage: None,
            excused: Duration::ZERO,
            unwatched: Duration::ZERO,
            answered: 0,
            slowest: Duration::ZERO,
            language: None,
        }
    }

    /// By how much the time that counts was over its limit. On a clock of CPU time, by its CPU time.
    pub fn overdue(&self) -> Duration {
        let counted = match (self.allowance.kind, &self.usage) {
            (ClockKind::Cpu, Some(usage)) => usage.charged_cpu(self.elapsed),
            _ => self.elapsed.saturating_sub(self.excused),
        };
        counted.saturating_sub(self.allowance.total(self.fresh))
    }

    /// How long it waited for a CPU and for the disk, at most.
    pub fn waited_at_most(&self) -> Duration {
        let in_doubt = self
            .usage
            .map_or(Duration::ZERO, |usage| usage.cpu_in_doubt);
        self.excused.saturating_sub(in_doubt)
    }

    /// The CPU time that it has used of its limit, at least.
    pub fn computed_at_least(&self) -> Duration {
        let usage = self.usage.unwrap_or_default();
        let charged = usage.charged_cpu(self.elapsed);
        match self.allowance.kind {
            ClockKind::Wall => charged.saturating_sub(usage.cpu_in_doubt),
            ClockKind::Cpu => charged,
        }
    }

    /// Whether it was given up before its time was over, having waited too long for a CPU.
    pub fn was_starved(&self) -> bool {
        let total = self.allowance.total(self.fresh);
        self.allowance.kind == ClockKind::Wall && total.saturating_add(self.excused) > self.elapsed
    }
}

/// A bot's misbehaviour. Match without `_`: a new one must be handled everywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not a line of the protocol, or against the rules.
    Rejected {
        answer: Vec<u8>,
        rejection: Rejection,
    },
    ExtraOutput {
        /// Empty when nothing had been asked yet.
        first: Vec<u8>,
        second: Vec<u8>,
        /// Whether the line came before the question, not with the answer.
        early: bool,
    },
    Timeout(Box<Timeout>),
    Exited {
        exit: Exit,
        partial: Vec<u8>,
        answered: u32,
    },
    Closed {
        stream: Stream,
        partial: Vec<u8>,
    },
    LineTooLong {
        start: Vec<u8>,
    },
    NotUtf8 {
        answer: Vec<u8>,
    },
    /// One of these, of which the output looks like an error message.
    PrintedError {
        fault: Box<Self>,
        error: PrintedError,
    },
}

impl Fault {
    pub const fn reason(&self) -> ForfeitReason {
        match self {
            Self::Rejected { rejection, .. } => match rejection.cause {
                RejectionCause::Illegal(_) => ForfeitReason::IllegalMove,
                RejectionCause::Malformed(_) => ForfeitReason::Malformed,
            },
            Self::ExtraOutput { .. } => ForfeitReason::ExtraOutput,
            Self::Timeout(_) => ForfeitReason::Timeout,
            Self::Exited { .. } => ForfeitReason::Exited,
            Self::Closed { .. } => ForfeitReason::Closed,
            Self::LineTooLong { .. } => ForfeitReason::LineTooLong,
            Self::NotUtf8 { .. } => ForfeitReason::NotUtf8,
            Self::PrintedError { fault, .. } => fault.reason(),
        }
    }

    /// Whether it is the same mistake: questions, answers and numbers may differ.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Rejected { rejection: one, .. },
                Self::Rejected {
                    rejection: other, ..
                },
            ) => (one.cause, &one.hint) == (other.cause, &other.hint),
            (Self::ExtraOutput { early: one, .. }, Self::ExtraOutput { early: other, .. }) => {
                one == other
            }
            (
                Self::Exited {
                    exit: one,
                    answered,
                    ..
                },
                Self::Exited {
                    exit: other,
                    answered: other_answered,
                    ..
                },
            ) => {
                // Without an error: it stops reading after an answer, or may never have begun.
                let same_stage = (*answered == 0) == (*other_answered == 0);
                one.is_like(other) && (same_stage || *one != Exit::Code(0))
            }
            (Self::Closed { stream: one, .. }, Self::Closed { stream: other, .. }) => one == other,
            (Self::PrintedError { error: one, .. }, Self::PrintedError { error: other, .. }) => {
                one.is_like(other)
            }
            (Self::Timeout(one), Self::Timeout(other)) => one.evidence.is_like(&other.evidence),
            (Self::LineTooLong { .. }, Self::LineTooLong { .. })
            | (Self::NotUtf8 { .. }, Self::NotUtf8 { .. }) => true,
            _ => false,
        }
    }

    /// Whether it may hold its answer back until its input ends: it was waiting, and none of its answers had come
    /// before. A command whose input ends shows its answer.
    pub fn may_be_held_back(&self) -> bool {
        use ProcessState::{Unknown, Waiting};
        use TimeoutEvidence::{HeldBack, Nothing};
        let Self::Timeout(timeout) = self else {
            return false;
        };
        match timeout.evidence {
            HeldBack(_) => true,
            Nothing(Waiting | Unknown) => timeout.answered == 0,
            _ => false,
        }
    }

    /// The line that is not an answer by the rules, without its newline.
    pub fn rejected(&self) -> Option<&[u8]> {
        match self {
            Self::Rejected { answer, .. } | Self::NotUtf8 { answer } => Some(answer),
            Self::PrintedError { fault, .. } => fault.rejected(),
            _ => None,
        }
    }

    /// What the bot wrote in place of an answer, as far as it was read.
    fn output(&self) -> Option<Vec<u8>> {
        match self {
            Self::Rejected { answer, .. } | Self::NotUtf8 { answer } => {
                Some([answer, &b"\n"[..]].concat())
            }
            // The first was its last answer.
            Self::ExtraOutput {
                second,
                early: true,
                ..
            } => Some(second.clone()),
            Self::ExtraOutput { first, second, .. } => {
                Some([&**first, &b"\n"[..], second].concat())
            }
            Self::LineTooLong { start } => Some(start.clone()),
            Self::Timeout(_)
            | Self::Exited { .. }
            | Self::Closed { .. }
            | Self::PrintedError { .. } => None,
        }
    }

    /// Whether it is likely to be the beginning of an error message.
    pub fn may_be_printed_error(&self) -> bool {
        self.output()
            .is_some_and(|output| PrintedError::find(&output).is_some())
    }

    /// As an error message where its output, with what came after it, looks like one.
    #[must_use]
    pub fn as_printed_error(self, rest: &[u8]) -> Self {
        let output = self.output().map(|output| [&*output, rest].concat());
        match output.and_then(|output| PrintedError::find(&output)) {
            Some(error) => Self::PrintedError {
                fault: Box::new(self),
                error,
            },
            None => self,
        }
    }

    /// What the bot sent, escaped; empty for nothing.
    pub fn answer(&self) -> String {
        match self {
            Self::Rejected { answer, .. } | Self::NotUtf8 { answer } => escape(answer),
            Self::ExtraOutput { first, second, .. } => {
                let mut both = first.clone();
                both.push(b'\n');
                both.extend_from_slice(second);
                escape(&both)
            }
            Self::Timeout(timeout) => escape(timeout.evidence.bytes()),
            Self::Exited { partial, .. } | Self::Closed { partial, .. } => escape(partial),
            Self::LineTooLong { start } => escape(start),
            Self::PrintedError { fault, .. } => fault.answer(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_of_a_late_answer_tells_mistakes_apart() {
        use ProcessState::{Computing, NotReading, Unknown, Waiting, WritingToStderr};
        use TimeoutEvidence::{HeldBack, Late, Nothing, Partial};
        let kinds = [
            [Nothing(Computing), Nothing(Computing)],
            [Nothing(NotReading), Nothing(NotReading)],
            [Nothing(Waiting), Nothing(Unknown)],
            [Nothing(WritingToStderr(1)), Nothing(WritingToStderr(2))],
            [Partial(b"1".to_vec()), Partial(b"2".to_vec())],
            [Late(b"1 A".to_vec()), Late(b"2 B".to_vec())],
            [HeldBack(b"1 A".to_vec()), HeldBack(b"2 B".to_vec())],
        ];
        for (index, [one, _]) in kinds.iter().enumerate() {
            for (other_index, [_, other]) in kinds.iter().enumerate() {
                let is_same = index == other_index;
                assert_eq!(one.is_like(other), is_same, "{one:?} and {other:?}");
            }
        }
    }

    #[test]
    fn a_program_that_never_begins_is_told_from_one_that_stops() {
        let exited = |code, answered| Fault::Exited {
            exit: Exit::Code(code),
            partial: Vec::new(),
            answered,
        };
        assert!(exited(0, 1).is_like(&exited(0, 2)));
        assert!(!exited(0, 0).is_like(&exited(0, 1)));
        assert!(exited(1, 0).is_like(&exited(2, 1)));
        assert!(!exited(1, 1).is_like(&exited(0, 1)));
    }
}
