//! Every way to break the protocol, each with a sentence that a student understands.

use std::fmt;
use std::time::Duration;

use super::Allowance;
use super::interpreter::Language;
pub use crate::protocol::ForfeitReason as Reason;
use crate::text::{escape, format_duration, quote};

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
    /// So, after it had tried to do something that its sandbox forbids: `open a network
    /// connection`.
    Refused(Box<Self>, &'static str),
    /// A person left the game.
    Left,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(0) => f.write_str("it ended (exit status 0)"),
            Self::Code(code) => write!(f, "it ended with exit status {code}"),
            Self::Signal(name) => write!(f, "it was ended by the signal {name}"),
            Self::Refused(exit, what) => {
                write!(
                    f,
                    "{exit} (it had tried to {what}, which its sandbox forbids)"
                )
            }
            Self::Limit(what) => write!(f, "it {what}, and was ended"),
            Self::Left => f.write_str("left the game"),
        }
    }
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
pub enum Doing {
    /// Computing: it may just be slow.
    Computing,
    /// Not even the question had been read.
    NotReading,
    /// Stopped, as by SIGSTOP.
    Stopped,
    /// Waiting for something, such as more input; or this system does not tell.
    Waiting,
}

/// What there was to see when the time was up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// Nothing at all.
    Nothing(Doing),
    /// The beginning of a line.
    Partial(Vec<u8>),
    /// A whole line, this long after the question.
    Late(Vec<u8>, Duration),
    /// A legal answer, once its input was closed: it had sat in its output buffer.
    Buffered(Vec<u8>),
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
    /// What came.
    pub came: Came,
    /// What came when its input was closed, after the time was up.
    pub afterwards: Vec<u8>,
    /// How long after the time was up the referee found a whole line that had come without its
    /// noticing, because it was itself not running; zero when it looked in time. Up to this
    /// long the fault may be the referee's own.
    pub unwatched: Duration,
    /// Its language, for advice.
    pub language: Option<Language>,
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
        /// What came beyond it.
        second: Vec<u8>,
        /// It came before the next question, not with the answer.
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
    pub const fn reason(&self) -> Reason {
        match self {
            Self::IllegalMove { .. } => Reason::IllegalMove,
            Self::Malformed { .. } => Reason::Malformed,
            Self::ExtraOutput { .. } => Reason::ExtraOutput,
            Self::Timeout(_) => Reason::Timeout,
            Self::Exited { .. } => Reason::Exited,
            Self::Closed { .. } => Reason::Closed,
            Self::LineTooLong { .. } => Reason::LineTooLong,
            Self::NotUtf8 { .. } => Reason::NotUtf8,
        }
    }

    /// Whether it answered well, but the answer sat in its output buffer.
    pub fn was_buffered(&self) -> bool {
        matches!(self, Self::Timeout(timeout) if matches!(timeout.came, Came::Buffered(_)))
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
            Self::Timeout(timeout) => match &timeout.came {
                Came::Nothing(_) => String::new(),
                Came::Partial(bytes) | Came::Late(bytes, _) | Came::Buffered(bytes) => {
                    escape(bytes)
                }
            },
            Self::Exited { partial, .. } | Self::Closed { partial, .. } => escape(partial),
            Self::LineTooLong { start } => escape(start),
        }
    }
}

fn allowance_text(allowance: &Allowance, fresh: bool) -> String {
    let time = format_duration(allowance.time);
    let time = if allowance.clock {
        format!("{time} left on its clock")
    } else {
        time
    };
    if fresh && !allowance.start.is_zero() {
        format!("{time} and {} to start", format_duration(allowance.start))
    } else {
        time
    }
}

/// A line as a sentence quotes it.
fn quoted_line(line: &[u8]) -> String {
    if line.is_empty() {
        "an empty line".to_owned()
    } else {
        quote(line)
    }
}

/// `, after writing ...` for the beginning of an answer.
fn after_partial(partial: &[u8]) -> String {
    if partial.is_empty() {
        String::new()
    } else {
        format!(
            ", after writing {} without the end of the line",
            quote(partial)
        )
    }
}

impl fmt::Display for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "it was asked {} and given {}; ",
            quote(self.asked.as_bytes()),
            allowance_text(&self.allowance, self.fresh)
        )?;
        match &self.came {
            Came::Nothing(Doing::Stopped) => f.write_str(
                "nothing came: the program was stopped (as by SIGSTOP or Ctrl-Z)",
            ),
            Came::Nothing(Doing::NotReading) => f.write_str(
                "nothing came, and it had not even read the question: it is busy with something else, or does not read its standard input",
            ),
            Came::Nothing(Doing::Computing) => {
                f.write_str("nothing came: it was still computing")
            }
            Came::Nothing(Doing::Waiting) => f.write_str("nothing came"),
            Came::Partial(bytes) => write!(
                f,
                "only {} came, without the end of the line: end every answer with a newline",
                quote(bytes)
            ),
            Came::Late(line, elapsed) => {
                write!(
                f,
                "{} came too late, after about {}",
                quote(line),
                format_duration(*elapsed)
            )
            }
            Came::Buffered(line) => {
                write!(
                    f,
                    "it answered {}, but the answer sat in its output buffer: flush after every line",
                    quote(line)
                )?;
                match self.language.and_then(|language| language.flush) {
                    Some(how) => write!(f, " (in {}: {how})", self.language.map_or("", |l| l.name)),
                    None => Ok(()),
                }
            }
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
                let second = second.strip_suffix(b"\n").unwrap_or(second);
                match (early, first.is_empty()) {
                    (false, _) => write!(
                        f,
                        "more than one line: it answered {} and then {}",
                        quoted_line(first),
                        quoted_line(second)
                    )?,
                    (true, false) => write!(
                        f,
                        "more than one line: after its answer {} it wrote {} before it was asked again",
                        quoted_line(first),
                        quoted_line(second)
                    )?,
                    (true, true) => write!(
                        f,
                        "more than one line: it wrote {} before it was asked",
                        quoted_line(second)
                    )?,
                }
                f.write_str("; one line answers one question, debugging text belongs on stderr")
            }
            Self::Timeout(timeout) => timeout.fmt(f),
            Self::Exited {
                exit: Exit::Left, ..
            } => Exit::Left.fmt(f),
            Self::Exited { exit, partial } => {
                write!(f, "{exit} instead of answering{}", after_partial(partial))
            }
            Self::Closed { stream, partial } => {
                let stream = match stream {
                    Stream::Input => "input",
                    Stream::Output => "output",
                };
                write!(
                    f,
                    "it closed its standard {stream} instead of answering, and lived on{}",
                    after_partial(partial)
                )
            }
            Self::LineTooLong { start } => write!(
                f,
                "it wrote a line of more than {} bytes, which begins with {}",
                crate::protocol::MAX_LINE_BYTES,
                quote(&start[..start.len().min(40)])
            ),
            Self::NotUtf8 { answer } => {
                write!(f, "it answered {}, which is not UTF-8 text", quote(answer))
            }
        }
    }
}
