//! The sentence of each fault, as people read it after the bot's name.

use std::fmt;

use super::advice;
use super::{Exit, Fault, ProcessState, Stream, Timeout, TimeoutEvidence};
use crate::bot::player::{Allowance, ClockKind};
use crate::protocol::MAX_LINE_BYTES;
use crate::text::{format_duration, quote};

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(0) => f.write_str("it ended (exit status 0)"),
            Self::Code(code) => write!(f, "it ended with exit status {code}"),
            Self::Signal(name) => write!(f, "it was killed by the signal {name}"),
            Self::Refused(exit, what) => {
                write!(
                    f,
                    "{exit} (it had tried to {what}, which its sandbox forbids)"
                )
            }
            Self::Limit(what) => write!(f, "it {what}, and was killed"),
            Self::OutOfMemory => f.write_str(
                "the kernel killed a process of it for want of memory, although it was within its own limit",
            ),
            Self::Left => f.write_str(LEFT),
        }
    }
}

/// Waits for a CPU are mentioned from this fraction of the limit on.
const MENTIONED: u32 = 10;

fn format_allowance(allowance: &Allowance, fresh: bool) -> String {
    let mut time = format_duration(allowance.time);
    if allowance.kind == ClockKind::Cpu {
        time.push_str(" of CPU time");
    }
    if allowance.clock {
        time.push_str(" left on its clock");
    }
    if fresh && !allowance.start.is_zero() {
        let start = format_duration(allowance.start);
        return format!("{time} and {start} to start");
    }
    time
}

/// For a bot that may hold its answer back; left out in the alternate form, which is the check's.
fn ask_check(f: &fmt::Formatter<'_>, which: &str) -> String {
    if f.alternate() {
        return String::new();
    }
    format!("; `referee check` finds out{which}")
}

pub const WAITING: &str = "it had read the question and was waiting, not computing";

/// How a person who quits has ended the game.
pub const LEFT: &str = "left the game";

/// Why a bot is charged for all time.
const LOST: &str = "processes of it ended that it did not wait for, so what they used is not known, and all time was charged";

fn quoted_line(line: &[u8]) -> String {
    if line.is_empty() {
        "an empty line".to_owned()
    } else {
        quote(line)
    }
}

/// `, after writing ...` for the start of an answer.
fn after_partial(partial: &[u8]) -> String {
    if partial.is_empty() {
        return String::new();
    }
    let partial = quote(partial);
    format!(", after writing {partial} without the end of the line")
}

impl fmt::Display for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "it was asked {} and given {}; ",
            quote(self.asked.as_bytes()),
            format_allowance(&self.allowance, self.fresh)
        )?;
        match &self.evidence {
            TimeoutEvidence::Nothing(ProcessState::Stopped) => f.write_str(
                "nothing came: the program was stopped (as by SIGSTOP or Ctrl-Z)",
            ),
            TimeoutEvidence::Nothing(ProcessState::NotReading) => f.write_str(
                "nothing came, and it had not even read the question: it is busy with something else, or does not read its standard input",
            ),
            TimeoutEvidence::Nothing(ProcessState::Computing) => {
                f.write_str("nothing came: it was still computing")
            }
            TimeoutEvidence::Nothing(ProcessState::Waiting) if self.answered == 0 => write!(
                f,
                "nothing came; {WAITING}: likely its answer is held back in an output buffer, or it waits for more input{}", ask_check(f, "")
            ),
            TimeoutEvidence::Nothing(ProcessState::Waiting) => write!(f, "nothing came; {WAITING}"),
            TimeoutEvidence::Nothing(ProcessState::Unknown) => f.write_str("nothing came"),
            TimeoutEvidence::Partial(bytes) => write!(
                f,
                "only {} came, without the end of the line: end every answer with a newline",
                quote(bytes)
            ),
            TimeoutEvidence::Late(line, elapsed) => {
                let elapsed = format_duration(*elapsed);
                write!(f, "{} came too late, after about {elapsed}", quote(line))
            }
            TimeoutEvidence::HeldBack(line) => write!(
                f,
                "it answered {}, but only when its input was closed: it holds back its output ({}) or its input ({}){}",
                quote(line),
                advice::flush(self.language),
                advice::read_lines(self.language),
                ask_check(f, " which"),
            ),
        }?;
        self.fmt_usage(f)?;
        let slowest = format_duration(self.slowest);
        match self.answered {
            0 => Ok(()),
            1 => write!(f, "; it had answered one question before, in {slowest}"),
            more => {
                write!(
                    f,
                    "; it had answered {more} questions before, the slowest in {slowest}"
                )
            }
        }
    }
}

impl Timeout {
    /// Resources, where they explain the verdict.
    fn fmt_usage(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(usage) = &self.usage else {
            return Ok(());
        };
        let cpu = format_duration(usage.cpu);
        let elapsed = format_duration(self.elapsed);
        match self.allowance.kind {
            ClockKind::Wall if self.excused * MENTIONED >= self.allowance.total(self.fresh) => {
                let waited = format_duration(self.excused);
                write!(
                    f,
                    " (of {elapsed} it waited {waited} for a CPU, which was not charged; it ran for {cpu})"
                )
            }
            ClockKind::Wall if usage.has_lost => write!(f, " ({LOST})"),
            ClockKind::Wall => Ok(()),
            ClockKind::Cpu if usage.has_lost => {
                write!(
                    f,
                    " (in {elapsed} it used more than {cpu} of CPU time: {LOST})"
                )
            }
            ClockKind::Cpu => write!(f, " (in {elapsed} it used {cpu} of CPU time)"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IllegalMove { answer, problem } => {
                write!(f, "it answered {}: {problem}", quote(answer))
            }
            Self::Malformed { answer, problem } => write!(
                f,
                "it answered {}: {problem} (debugging text belongs on stderr)",
                quote(answer)
            ),
            Self::ExtraOutput {
                first,
                second,
                early,
            } => {
                let is_start = first.is_empty();
                let first = quoted_line(first);
                let second = quoted_line(second.strip_suffix(b"\n").unwrap_or(second));
                f.write_str("more than one line: ")?;
                match (early, is_start) {
                    (false, _) => write!(f, "it answered {first} and then {second}")?,
                    (true, false) => {
                        write!(
                            f,
                            "after its answer {first} it wrote {second} before it was asked again"
                        )?;
                    }
                    (true, true) => write!(f, "it wrote {second} before it was asked")?,
                }
                f.write_str("; one line answers one question, debugging text belongs on stderr")
            }
            Self::Timeout(timeout) => timeout.fmt(f),
            Self::Exited {
                exit: Exit::Left, ..
            } => Exit::Left.fmt(f),
            Self::Exited {
                exit: exit @ Exit::Code(0),
                partial,
                answered,
            } if *answered > 0 => write!(
                f,
                "it answered {}, then {}{}: keep reading until the input ends",
                match answered {
                    1 => "one question".to_owned(),
                    more => format!("{more} questions"),
                },
                exit.to_string().trim_start_matches("it "),
                after_partial(partial)
            ),
            Self::Exited { exit, partial, .. } => {
                write!(f, "{exit} instead of answering{}", after_partial(partial))
            }
            Self::Closed { stream, partial } => {
                let stream = match stream {
                    Stream::Input => "input",
                    Stream::Output => "output",
                };
                let after = after_partial(partial);
                write!(
                    f,
                    "it closed its standard {stream} instead of answering, and lived on{after}"
                )
            }
            Self::LineTooLong { start } => write!(
                f,
                "it wrote a line of more than {} bytes, which begins with {}",
                MAX_LINE_BYTES,
                quote(&start[..start.len().min(40)])
            ),
            Self::NotUtf8 { answer } => {
                write!(f, "it answered {}, which is not UTF-8 text", quote(answer))
            }
        }
    }
}
