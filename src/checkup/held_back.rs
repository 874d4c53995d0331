//! Why a bot answered only when its input was closed: it holds back its output, or its input.
//!
//! From outside both look the same: the program has read the question and waits for more. So a fresh process is sent
//! many questions. An answer to some kilobytes of them means that input is read in blocks; answers in blocks mean
//! that output is not flushed; no answer to any number of them means that all input is read first.

use std::time::{Duration, Instant};

use super::{Checkup, Problem};
use crate::bot::fault::advice;
use crate::bot::process::GracePeriods;
use crate::executable::interpreter::Language;
use crate::play::game_runner::GameError;

/// A block of input of the usual size, 4096 bytes, and a line more; the answers to so many questions are fewer bytes
/// than any buffer of output.
const BLOCK: usize = 4096 + 64;

/// More questions than any buffer of output has room for the answers to, in bytes.
const MANY: usize = 1 << 20;

/// For answers to a block, and then to many questions.
const PATIENCE: Duration = Duration::from_secs(4);

/// How long nothing may come once all has been read.
const QUIET: Duration = Duration::from_millis(500);

/// For more of the same block of output.
const REST: Duration = Duration::from_millis(50);

/// Between two looks whether all has been read.
const TICK: Duration = Duration::from_millis(50);

/// What buffers hold is a multiple of this, but for a line at most.
const UNIT: usize = 1024;

/// The longest answer and its newline, roughly.
const LINE: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeldBack {
    Output,
    /// Questions, until a block is full.
    Input,
    /// Questions, until the input ends.
    AllInput,
    Unknown,
    /// It writes nothing at all.
    Nothing,
}

enum Fed {
    Wrote(Vec<u8>),
    /// It read everything, and wrote nothing.
    Read,
    /// It did not read everything in time, or exited.
    Nothing,
}

impl Checkup<'_> {
    /// By fresh processes that are sent this request: one whose input then ends, and one that is sent it many times.
    pub(super) async fn find_held_back(&mut self, request: &str) -> Result<HeldBack, GameError> {
        let question = format!("{request}\n");
        let questions = |bytes: usize| question.repeat(bytes.div_ceil(question.len()));
        self.examiner.start().await?;
        self.examiner.seat.feed(question.as_bytes(), TICK).await;
        if self.examiner.seat.end_of_input(PATIENCE).await.is_empty() {
            return Ok(HeldBack::Nothing);
        }
        self.examiner.start().await?;
        let found = match self.feed(questions(BLOCK).as_bytes()).await {
            Fed::Wrote(_) => HeldBack::Input,
            Fed::Nothing => HeldBack::Unknown,
            Fed::Read => match self.feed(questions(MANY).as_bytes()).await {
                Fed::Wrote(mut output) => {
                    output.extend(self.examiner.seat.feed(&[], REST).await.2);
                    of_block(&output)
                }
                Fed::Read => HeldBack::AllInput,
                Fed::Nothing => HeldBack::Unknown,
            },
        };
        self.examiner.seat.stop(GracePeriods::FAULT).await?;
        Ok(found)
    }

    /// Unless an answer comes before.
    async fn feed(&mut self, bytes: &[u8]) -> Fed {
        let begun = Instant::now();
        let (mut sent, mut read) = (0, None);
        loop {
            let now = Instant::now();
            let (more, all_read, output) = self.examiner.seat.feed(&bytes[sent..], TICK).await;
            sent += more;
            if !output.is_empty() {
                return Fed::Wrote(output);
            }
            if sent == bytes.len() && all_read {
                let since: &mut Instant = read.get_or_insert(now);
                if since.elapsed() >= QUIET {
                    return Fed::Read;
                }
            }
            let has_ended = now.elapsed() < TICK;
            if has_ended || begun.elapsed() >= PATIENCE {
                return Fed::Nothing;
            }
        }
    }
}

/// By its first output.
fn of_block(output: &[u8]) -> HeldBack {
    let beyond = output.len() % UNIT;
    if output.last() != Some(&b'\n') || beyond <= LINE || UNIT - beyond <= LINE {
        HeldBack::Output
    } else {
        HeldBack::Input
    }
}

impl HeldBack {
    pub(super) const fn may_be_output(self) -> bool {
        matches!(self, Self::Output | Self::Unknown)
    }

    /// The problem once the cause is known.
    pub(super) fn explain(self, language: Option<Language>, problem: Problem) -> Problem {
        let asked = problem.what.split("; ").next().unwrap_or_default();
        let (what, fix) = match self {
            Self::Nothing => {
                return Problem {
                    what: format!("{asked}; nothing came, not even when its input ended"),
                    fix:
                        "print an answer to every line, to standard output, before the time is over"
                            .to_owned(),
                    ..problem
                };
            }
            Self::Unknown => (
                "it holds back its output or its input",
                format!(
                    "{}; or {}",
                    advice::flush(language),
                    advice::read_lines(language)
                ),
            ),
            Self::Output => (
                "it writes its answers in blocks, as it does not flush its output",
                advice::flush(language),
            ),
            Self::Input => (
                "it reads its input in blocks of some kilobytes, and answers none of them before",
                advice::read_lines(language),
            ),
            Self::AllInput => (
                "it reads all of it before its first answer, however many questions it is sent",
                advice::read_lines(language),
            ),
        };
        Problem {
            what: format!("{asked}; it answered only when its input ended: {what}"),
            fix,
            ..problem
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_told_from_answers() {
        let answers = |bytes: usize| "- K\n".repeat(bytes / 4).into_bytes();
        assert_eq!(of_block(&answers(8192)), HeldBack::Output);
        assert_eq!(of_block(&answers(4096)[..4095]), HeldBack::Output);
        assert_eq!(
            of_block(&"16 A\n".repeat(819).into_bytes()),
            HeldBack::Output
        );
        for block in [8192, 16384, 32768, 65536] {
            assert_eq!(of_block(&answers(block / 19 * 4)), HeldBack::Input);
        }
    }
}
