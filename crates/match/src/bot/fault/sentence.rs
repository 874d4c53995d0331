//! The sentence of each fault, as people read it after the bot's name.

use std::fmt;
use std::time::Duration;

use super::advice;
use super::{Exit, Fault, ProcessState, Stream, Timeout, TimeoutEvidence};
use crate::bot::meter::TurnUsage;
use crate::bot::player::{Allowance, ClockKind};
use crate::protocol::MAX_LINE_BYTES;
use referee_games::game::RejectionCause;
use referee_text::{format_duration, quote, size};

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
            Self::ShortOfMemory(exit, limit) => write!(
                f,
                "{exit}, after an error that speaks of memory, of which its sandbox gives it {}",
                size(*limit)
            ),
            Self::Limit(limit) => write!(f, "it {limit}"),
            Self::OutOfMemory { used, limit } => write!(
                f,
                "the kernel killed a process of it for want of memory, although it was within its own limit ({} of {})",
                size(*used),
                size(*limit)
            ),
            Self::Left => f.write_str(LEFT),
        }
    }
}

/// Waits for a CPU are mentioned from this fraction of the limit on.
const MENTIONED: u32 = 10;

fn format_allowance(allowance: &Allowance, fresh: bool) -> String {
    let unit = match allowance.kind {
        ClockKind::Wall => "",
        ClockKind::Cpu => " of CPU time",
    };
    let left = if allowance.clock {
        " left on its clock"
    } else {
        ""
    };
    let time = format_duration(allowance.time);
    if fresh && !allowance.start.is_zero() {
        let start = format_duration(allowance.start);
        let total = format_duration(allowance.total(fresh));
        return format!("{total}{unit} ({time}{left}, and {start} to start)");
    }
    format!("{time}{unit}{left}")
}

/// For a bot that may hold its answer back; left out in the alternate form, which is the check's.
fn ask_check(f: &fmt::Formatter<'_>, which: &str) -> String {
    if f.alternate() {
        return String::new();
    }
    format!("; `referee check BOT` finds out{which}")
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

impl Timeout {
    /// What it was asked, and how long it had.
    pub fn question(&self) -> String {
        format!(
            "it was asked {} and given {}",
            quote(self.asked.as_bytes()),
            format_allowance(&self.allowance, self.fresh)
        )
    }
}

impl fmt::Display for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; ", self.question())?;
        self.fmt_evidence(f)?;
        match &self.evidence {
            TimeoutEvidence::Late(_) => self.fmt_lateness(f)?,
            _ => self.fmt_usage(f)?,
        }
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
    /// What there was of an answer.
    fn fmt_evidence(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.evidence {
            TimeoutEvidence::Nothing(ProcessState::Stopped) => {
                f.write_str("nothing came: the program was stopped (as by SIGSTOP or Ctrl-Z)")
            }
            TimeoutEvidence::Nothing(ProcessState::NotReading) => write!(
                f,
                "nothing came, and it had not read the question: it was {} its standard input",
                if self.fresh {
                    "still starting, or does not read"
                } else {
                    "busy with something else, or no longer reads"
                }
            ),
            TimeoutEvidence::Nothing(ProcessState::Computing) => {
                f.write_str("nothing came: it was still computing")
            }
            TimeoutEvidence::Nothing(ProcessState::Waiting) if self.answered == 0 => write!(
                f,
                "nothing came; {WAITING}: likely its answer is held back in an output buffer, or it waits for more input{}",
                ask_check(f, "")
            ),
            TimeoutEvidence::Nothing(ProcessState::Waiting) => write!(f, "nothing came; {WAITING}"),
            TimeoutEvidence::Nothing(ProcessState::WritingToStderr(bytes)) => write!(
                f,
                "nothing came on standard output, and more than {} on stderr",
                size(if *bytes < 1 << 20 {
                    bytes >> 10 << 10
                } else {
                    bytes >> 20 << 20
                })
            ),
            TimeoutEvidence::Nothing(ProcessState::Unknown) => f.write_str("nothing came"),
            TimeoutEvidence::Partial(bytes) => write!(
                f,
                "only {} came, without the end of the line: end every answer with a newline",
                quote(bytes)
            ),
            TimeoutEvidence::Late(line) => write!(f, "it answered {}", quote(line)),
            TimeoutEvidence::HeldBack(line) => write!(
                f,
                "it answered {}, but only when its input was closed: it holds back its output ({}) or its input ({}){}",
                quote(line),
                advice::flush(self.language),
                advice::read_lines(self.language),
                ask_check(f, " which"),
            ),
        }
    }

    /// When an answer came and by how much it was late, on the clock that counts.
    fn fmt_lateness(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usage = self.usage.unwrap_or_default();
        let elapsed = format_duration(self.elapsed);
        match self.allowance.kind {
            ClockKind::Wall => {
                write!(f, " after {elapsed}")?;
                // Without it the sum would not add up.
                if self.waited_at_most() >= Duration::from_millis(1) {
                    let waited = format_duration(self.waited_at_most());
                    let for_what = usage.waited_for();
                    write!(f, ", of which it waited {waited} for {for_what}")?;
                }
            }
            ClockKind::Cpu => {
                let used = format_duration(usage.cpu);
                write!(f, " after {used} of CPU time (in {elapsed})")?;
            }
        }
        match self.overdue() {
            // What it waited for is known at most.
            Duration::ZERO => f.write_str("; whether that was late is not certain")?,
            late => write!(f, ", {} late", format_duration(late))?,
        }
        if usage.has_lost {
            write!(f, " ({LOST})")?;
        }
        Ok(())
    }

    /// What it certainly waited, where that is enough to explain something.
    fn mentioned_excuse(&self, usage: &TurnUsage) -> Option<Duration> {
        let certain = usage.excused(self.elapsed);
        (certain * MENTIONED >= self.allowance.total(self.fresh)).then_some(certain)
    }

    /// Resources, where they explain the verdict.
    fn fmt_usage(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(usage) = &self.usage else {
            return Ok(());
        };
        let cpu = format_duration(usage.cpu);
        let elapsed = format_duration(self.elapsed);
        let excuse = self.mentioned_excuse(usage);
        match self.allowance.kind {
            ClockKind::Wall if let Some(waited) = excuse => {
                let waited = format_duration(waited);
                let for_what = usage.waited_for();
                write!(
                    f,
                    " (of {elapsed} it waited {waited} for {for_what}, which was not charged; it ran for {cpu})"
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
            Self::Rejected { answer, rejection } => {
                write!(f, "it answered {}: ", quote(answer))?;
                // In a check the hint is the fix.
                if f.alternate() {
                    f.write_str(&rejection.problem)?;
                } else {
                    rejection.fmt(f)?;
                }
                match rejection.cause {
                    RejectionCause::Malformed(_) => {
                        f.write_str(" (debugging text belongs on stderr)")
                    }
                    RejectionCause::Illegal(_) => Ok(()),
                }
            }
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
            Self::PrintedError { error, .. } => {
                write!(
                    f,
                    "instead of an answer it wrote what looks like an error message of {}: {}",
                    error.runtime,
                    quote(error.line.as_bytes())
                )?;
                match &error.place {
                    Some(place) => write!(f, " ({place})"),
                    None => Ok(()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    /// An answer after this time to a question with 4 s, and 4 s to start.
    fn late(elapsed: Duration, kind: ClockKind, usage: TurnUsage) -> Timeout {
        let allowance = Allowance {
            time: ms(4000),
            start: ms(4000),
            clock: false,
            is_counted: false,
            kind,
            benefit_of_doubt: false,
        };
        Timeout {
            evidence: TimeoutEvidence::Late(b"- L".to_vec()),
            usage: Some(usage),
            excused: usage.excused_at_most(elapsed),
            ..Timeout::new("................ -\n", allowance, true, elapsed)
        }
    }

    #[test]
    fn a_late_answer_is_told_by_one_clock() {
        let asked = "it was asked `................ -` and given 8 s (4 s, and 4 s to start); ";
        let wall = |elapsed, usage| {
            let sentence = late(ms(elapsed), ClockKind::Wall, usage).to_string();
            sentence.strip_prefix(asked).unwrap_or(&sentence).to_owned()
        };
        let none = TurnUsage::default();
        assert_eq!(
            wall(8181, none),
            "it answered `- L` after 8.181 s, 181 ms late"
        );
        let waited = TurnUsage {
            cpu: ms(1500),
            waited: Some(ms(2000)),
            ..none
        };
        assert_eq!(
            wall(10_181, waited),
            "it answered `- L` after 10.181 s, of which it waited 2 s for a CPU, 181 ms late"
        );
        let paged = TurnUsage {
            disk: ms(1000),
            ..none
        };
        assert_eq!(
            wall(9500, paged),
            "it answered `- L` after 9.5 s, of which it waited 1 s for the disk, 500 ms late"
        );
        let uncertain = TurnUsage {
            uncertain: ms(3000),
            ..waited
        };
        assert_eq!(
            wall(10_181, uncertain),
            "it answered `- L` after 10.181 s, of which it waited 5 s for a CPU; whether that was late is not certain"
        );
    }

    #[test]
    fn what_it_wrote_to_stderr_in_place_of_an_answer_is_told() {
        for (bytes, told) in [(70_000, "68 KiB"), (5_000_000, "4 MiB")] {
            let timeout = Timeout {
                evidence: TimeoutEvidence::Nothing(ProcessState::WritingToStderr(bytes)),
                ..late(ms(9000), ClockKind::Wall, TurnUsage::default())
            };
            let sentence = timeout.to_string();
            let end = format!("nothing came on standard output, and more than {told} on stderr");
            assert!(sentence.ends_with(&end), "{sentence}");
        }
    }

    #[test]
    fn a_late_answer_by_cpu_time() {
        let usage = TurnUsage {
            cpu: ms(8250),
            ..TurnUsage::default()
        };
        let sentence = late(ms(20_000), ClockKind::Cpu, usage).to_string();
        assert_eq!(
            sentence,
            "it was asked `................ -` and given 8 s of CPU time (4 s, and 4 s to start); \
             it answered `- L` after 8.25 s of CPU time (in 20 s), 250 ms late"
        );
    }
}
