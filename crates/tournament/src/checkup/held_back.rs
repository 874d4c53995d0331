//! Why a bot answered only when its input was closed: it holds back its output, or its input.
//!
//! From outside both look the same: the program has read the question and waits for more. So a fresh process is sent
//! many questions. An answer to some kilobytes of them means that input is read in blocks; answers in blocks mean
//! that output is not flushed; no answer to any number of them means that all input is read first.

use std::time::{Duration, Instant};

use super::{Cause, Checkup, HoldsBack, Problem};
use referee_host::executable::interpreter::Language;
use referee_match::bot::fault::advice;
use referee_match::bot::fault::sentence::WAITING;
use referee_match::bot::fault::{Exit, Fault, ProcessState, TimeoutEvidence};
use referee_match::bot::process::GracePeriods;
use referee_match::play::game_runner::GameError;

/// A block of input of the usual size, 4096 bytes, and a line more; the answers to so many questions are fewer bytes
/// than most buffers of output.
const BLOCK: usize = 4096 + 64;

/// More questions than any buffer of output has room for the answers to, in bytes.
const MANY: usize = 1 << 20;

/// For the answer that comes when its input ends.
const PATIENCE: Duration = Duration::from_secs(4);

/// For answers to a block, with the start of an interpreter on a busy machine; and once more for those to many questions.
const READING: Duration = Duration::from_secs(10);

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

/// To exit once its output has ended.
const EXIT: Duration = Duration::from_millis(500);

enum AtEndOfInput {
    Answered,
    /// Without a word and without an error.
    Exited,
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
    /// The problem once the cause is known, and whether that may be the output. By fresh processes that are sent this
    /// request: one whose input then ends, and one that is sent it many times.
    pub(super) async fn explain(
        &mut self,
        request: &str,
        problem: Problem,
    ) -> Result<(Problem, bool), GameError> {
        let Cause::Fault { fault, .. } = &problem.cause else {
            return Ok((problem, false));
        };
        let Fault::Timeout(timeout) = &**fault else {
            return Ok((problem, false));
        };
        let asked = format!("{}: {}", fault.reason(), timeout.question());
        let is_waiting = timeout.evidence == TimeoutEvidence::Nothing(ProcessState::Waiting);
        let question = format!("{request}\n");
        match self.at_end_of_input(&question).await? {
            AtEndOfInput::Answered => {}
            AtEndOfInput::Exited if is_waiting => {
                let language = self.examiner.seat.language();
                return Ok((reads_on(&asked, language, problem), false));
            }
            AtEndOfInput::Exited | AtEndOfInput::Nothing => {
                return Ok((silent(&asked, is_waiting, problem), false));
            }
        }
        let (fed, sent_many) = self.ask_many(&question).await?;
        let holds_back = HoldsBack::of(&fed, sent_many);
        let language = self.examiner.seat.language();
        let flush = advice::flush(language);
        let read_lines = advice::read_lines(language);
        let fix = match holds_back {
            HoldsBack::Output => flush,
            HoldsBack::Input | HoldsBack::AllInput => read_lines,
            HoldsBack::Unknown => format!("{flush}; or {read_lines}"),
        };
        let what = holds_back.in_words();
        let problem = Problem {
            cause: Cause::HeldBack(holds_back),
            what: format!("{asked}; it answered only when its input ended: {what}"),
            fix,
            ..problem
        };
        let may_be_output = matches!(holds_back, HoldsBack::Output | HoldsBack::Unknown);
        Ok((problem, may_be_output))
    }

    /// What a fresh process does when its input ends after a question.
    async fn at_end_of_input(&mut self, question: &str) -> Result<AtEndOfInput, GameError> {
        self.examiner.start().await?;
        let Some(process) = self.examiner.seat.process() else {
            return Ok(AtEndOfInput::Nothing);
        };
        process.feed(question.as_bytes(), TICK).await;
        if !process.last_words(PATIENCE).await.is_empty() {
            return Ok(AtEndOfInput::Answered);
        }
        Ok(match process.end_input(EXIT).await? {
            Some(Exit::Code(0)) => AtEndOfInput::Exited,
            _ => AtEndOfInput::Nothing,
        })
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
            if has_ended || begun.elapsed() >= READING {
                return Fed::Nothing;
            }
        }
    }
}

impl HoldsBack {
    /// By what came of a block of questions, or of many.
    fn of(fed: &Fed, sent_many: bool) -> Self {
        match fed {
            Fed::Wrote(output) if fills_small_buffer(output) || sent_many && is_block(output) => {
                Self::Output
            }
            Fed::Wrote(_) => Self::Input,
            Fed::Read => Self::AllInput,
            Fed::Nothing => Self::Unknown,
        }
    }

    const fn in_words(self) -> &'static str {
        match self {
            Self::Output => "it writes its answers in blocks, as it does not flush its output",
            Self::Input => {
                "it reads its input in blocks of some kilobytes, and answers none of them before"
            }
            Self::AllInput => {
                "it reads all of it before its first answer, however many questions it is sent"
            }
            Self::Unknown => "it holds back its output or its input",
        }
    }
}

/// The problem of a bot that never answers, and goes back to reading.
fn reads_on(asked: &str, language: Option<Language>, problem: Problem) -> Problem {
    Problem {
        cause: Cause::ReadsOn,
        what: format!(
            "{asked}; nothing came: it read the question and waited for the next line, as it exited without an answer when its input ended"
        ),
        fix: advice::unanswered(language),
        ..problem
    }
}

/// The problem of a bot that never answers.
fn silent(asked: &str, is_waiting: bool, problem: Problem) -> Problem {
    let state = if is_waiting {
        format!("; {WAITING}, such as in a sleep")
    } else {
        String::new()
    };
    Problem {
        cause: Cause::Silent,
        what: format!("{asked}; nothing came, not even when its input ended{state}"),
        fix: "print an answer to every line, to standard output, before the time is over"
            .to_owned(),
        ..problem
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
