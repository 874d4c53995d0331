//! Why a bot answered only when its input was closed: it holds back its output, or its input.
//!
//! From outside both look the same: the program has read the question and waits for more. So a fresh process is sent
//! many questions. An answer to some kilobytes of them means that input is read in blocks; answers in blocks mean
//! that output is not flushed; no answer to any number of them means that all input is read first.

use std::time::{Duration, Instant};

use super::{Checkup, Problem};
use crate::bot::fault::advice;
use crate::bot::fault::sentence::WAITING;
use crate::bot::process::GracePeriods;
use crate::play::game_runner::GameError;

/// A block of input of the usual size, 4096 bytes, and a line more; the answers to so many questions are fewer bytes
/// than most buffers of output.
const BLOCK: usize = 4096 + 64;

/// More questions than any buffer of output has room for the answers to, in bytes.
const MANY: usize = 1 << 20;

/// For answers to a block, and then to many questions.
const PATIENCE: Duration = Duration::from_secs(4);

/// How long nothing may come once all has been read; on a busy machine an answer takes a while.
const QUIET: Duration = Duration::from_secs(2);

/// How long to wait for the rest of a block of output.
const REST: Duration = Duration::from_millis(50);

/// The pause between two looks whether all has been read.
const TICK: Duration = Duration::from_millis(50);

/// What buffers hold is a multiple of this, but for a line at most.
const UNIT: usize = 1024;

/// The smallest buffer of output that is known.
const SMALL: usize = 128;

/// The longest answer and its newline, roughly.
const LINE: usize = 16;

enum Fed {
    Wrote(Vec<u8>),
    /// It read everything, and wrote nothing.
    Read,
    /// It did not read everything in time, or exited.
    Nothing,
}

impl Checkup<'_> {
    /// The problem once the cause is known, and whether that may be the output. By fresh processes that are sent this
    /// request: one whose input then ends, and one that is sent it many times.
    pub(super) async fn explain(
        &mut self,
        request: &str,
        problem: Problem,
    ) -> Result<(Problem, bool), GameError> {
        let question = format!("{request}\n");
        let asked = problem.what.split("; ").next().unwrap_or_default();
        self.examiner.start().await?;
        let mut last = Vec::new();
        if let Some(process) = self.examiner.seat.process() {
            process.feed(question.as_bytes(), TICK).await;
            last = process.last_words(PATIENCE).await;
        }
        if last.is_empty() {
            let state = if problem.what.contains(WAITING) {
                format!("; {WAITING}, such as in a sleep")
            } else {
                String::new()
            };
            let problem = Problem {
                what: format!("{asked}; nothing came, not even when its input ended{state}"),
                fix: "print an answer to every line, to standard output, before the time is over"
                    .to_owned(),
                ..problem
            };
            return Ok((problem, false));
        }
        let language = self.examiner.seat.language();
        let flush = advice::flush(language);
        let read_lines = advice::read_lines(language);
        let (fed, sent_many) = self.ask_many(&question).await?;
        let (what, fix, may_be_output) = match fed {
            Fed::Wrote(output) if fills_small_buffer(&output) || sent_many && is_block(&output) => {
                (
                    "it writes its answers in blocks, as it does not flush its output",
                    flush,
                    true,
                )
            }
            Fed::Wrote(_) => (
                "it reads its input in blocks of some kilobytes, and answers none of them before",
                read_lines,
                false,
            ),
            Fed::Read => (
                "it reads all of it before its first answer, however many questions it is sent",
                read_lines,
                false,
            ),
            Fed::Nothing => (
                "it holds back its output or its input",
                format!("{flush}; or {read_lines}"),
                true,
            ),
        };
        let problem = Problem {
            what: format!("{asked}; it answered only when its input ended: {what}"),
            fix,
            ..problem
        };
        Ok((problem, may_be_output))
    }
    /// Sends a fresh process a block of questions and, when it reads them all without an answer, many more: what came of
    /// it, and whether it was sent many.
    async fn ask_many(&mut self, question: &str) -> Result<(Fed, bool), GameError> {
        let questions = |bytes: usize| question.repeat(bytes.div_ceil(question.len()));
        self.examiner.start().await?;
        let mut fed = self.feed(questions(BLOCK).as_bytes()).await;
        let sends_many = matches!(fed, Fed::Read);
        if sends_many {
            fed = self.feed(questions(MANY).as_bytes()).await;
        }
        if let (Fed::Wrote(output), Some(process)) = (&mut fed, self.examiner.seat.process()) {
            output.extend(process.feed(&[], REST).await.1);
        }
        self.examiner.seat.stop(GracePeriods::FAULT).await?;
        Ok((fed, sends_many))
    }

    /// Unless an answer comes before.
    async fn feed(&mut self, bytes: &[u8]) -> Fed {
        let Some(process) = self.examiner.seat.process() else {
            return Fed::Nothing;
        };
        let begun = Instant::now();
        let (mut sent, mut read) = (0, None);
        loop {
            let now = Instant::now();
            let (more, output) = process.feed(&bytes[sent..], TICK).await;
            sent += more;
            if !output.is_empty() {
                return Fed::Wrote(output);
            }
            if sent == bytes.len() && !process.has_unread_input() {
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

/// Whether its first output was as large as a buffer or several of 128, 256 or 512 bytes, such as that of Pascal. The
/// answers to a block of input are 816 bytes, or 182 in Four In A Row.
fn fills_small_buffer(output: &[u8]) -> bool {
    output.last() != Some(&b'\n') || output.len().is_multiple_of(SMALL)
}

/// Whether its first output was as large as a buffer, and not the answers to a block of input.
fn is_block(output: &[u8]) -> bool {
    let beyond = output.len() % UNIT;
    output.last() != Some(&b'\n') || beyond <= LINE || UNIT - beyond <= LINE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_buffers_are_told_from_answers_to_a_block_of_input() {
        let answers = |bytes: usize| "- K\n".repeat(bytes / 4).into_bytes();
        for buffer in [128, 256, 512, 768] {
            assert!(fills_small_buffer(&answers(buffer)));
        }
        for questions in 203..=209 {
            assert!(!fills_small_buffer(&answers(questions * 4)) || questions == 208);
        }
        assert!(fills_small_buffer(&answers(256)[..255]));
    }

    #[test]
    fn blocks_are_told_from_answers() {
        let answers = |bytes: usize| "- K\n".repeat(bytes / 4).into_bytes();
        assert!(is_block(&answers(8192)));
        assert!(is_block(&answers(4096)[..4095]));
        assert!(is_block(&"16 A\n".repeat(819).into_bytes()));
        for block in [8192, 16384, 32768, 65536] {
            assert!(!is_block(&answers(block / 19 * 4)));
        }
    }
}
