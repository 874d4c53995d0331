//! Why a game's program cannot be asked (any more), or refuses what it was asked.

use std::borrow::Cow;
use std::fmt;

use referee_games::game::{GameFailure, Rejection, StartError};
use referee_text::{counted, escape, escape_path, quote};

use super::connection::TIME;
use super::in_play::MOST_TURNS;
use super::messages::MOST_BYTES;
use crate::bot::fault::Fault;

/// As sentences name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramName(pub(super) Vec<String>);

impl fmt::Display for ProgramName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the game's program {}", escape_path(&self.0.join(" ")))
    }
}

/// The first failure of a program: nothing is asked any more, and no bot is to blame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ProgramFailure {
    pub program: ProgramName,
    pub cause: FailureCause,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureCause {
    CannotStart(StartFailure),
    Answer {
        question: String,
        problem: AnswerProblem,
    },
    /// A game has too many turns.
    Endless,
}

impl fmt::Display for ProgramFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = &self.program;
        match &self.cause {
            FailureCause::CannotStart(problem) => write!(f, "{program} {problem}"),
            FailureCause::Answer { question, problem } => {
                // The fault is a sentence, the others go on with this one.
                let mark = match problem {
                    AnswerProblem::Gone { .. } => ":",
                    _ => ",",
                };
                write!(f, "{program}, asked {question}{mark} {problem}")
            }
            FailureCause::Endless => write!(
                f,
                "{program}: a game is not over after {MOST_TURNS} turns; bound the number of turns, since bots may play for ever"
            ),
        }
    }
}

/// Why no process of it runs; follows its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartFailure {
    #[error("has no command")]
    NoCommand,
    /// In the system's words.
    #[error("cannot be started: {0}")]
    Spawn(String),
    #[error("has no process id")]
    NoProcessId,
    #[error("has no pipes")]
    NoPipes,
    /// In the system's words.
    #[error("cannot be watched: {0}")]
    NoThread(String),
}

/// What is wrong with its answer; follows its name and the question. `stderr` is the line of it that explains most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerProblem {
    Late {
        stderr: Option<String>,
    },
    /// It has exited, or closed a stream: told as a bot's fault is.
    Gone {
        fault: Box<Fault>,
        stderr: Option<String>,
    },
    TooLong,
    MoreLines {
        first: Vec<u8>,
    },
    NotUtf8(Vec<u8>),
    NotJson {
        answer: String,
    },
    /// A field is missing, or of another type: in the parser's words.
    OtherJson {
        answer: String,
        problem: String,
    },
    Unexpected {
        answer: String,
        expected: Expected,
    },
}

/// How much of an answer is shown.
const SHOWN: usize = 200;

impl fmt::Display for AnswerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let begin = |line: &[u8]| escape(&line[..line.len().min(SHOWN)]);
        match self {
            Self::Late { stderr } => {
                let seconds = counted(TIME.as_secs(), "second", "seconds");
                write!(
                    f,
                    "did not answer within {seconds}; does it flush after every line?"
                )?;
                stderr_ending(f, stderr.as_deref())
            }
            Self::Gone { fault, stderr } => {
                write!(f, "{fault}")?;
                stderr_ending(f, stderr.as_deref())
            }
            Self::TooLong => write!(f, "answered with a line of more than {MOST_BYTES} bytes"),
            Self::MoreLines { first } => {
                let first = begin(first);
                write!(f, "answered with more than one line: {first} and more")
            }
            Self::NotUtf8(line) => {
                write!(f, "answered {}, which is not UTF-8 text", begin(line))
            }
            Self::NotJson { answer } => write!(
                f,
                "answered {}; expected a line of JSON; debugging text belongs on standard error",
                quote(answer.as_bytes())
            ),
            Self::OtherJson { answer, problem } => {
                write!(f, "answered {}; {problem}", quote(answer.as_bytes()))
            }
            Self::Unexpected { answer, expected } => {
                let answer = quote(answer.as_bytes());
                write!(f, "answered {answer}; expected {expected}")
            }
        }
    }
}

fn stderr_ending(f: &mut fmt::Formatter<'_>, line: Option<&str>) -> fmt::Result {
    match line {
        Some(line) => write!(f, "; stderr ended with: {line}"),
        None => Ok(()),
    }
}

/// What should have been answered: the end of a sentence that begins with "expected".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected(Cow<'static, str>);

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&'static str> for Expected {
    fn from(text: &'static str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Expected {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

/// Why a game's program starts no game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    #[error(transparent)]
    Failed(#[from] ProgramFailure),
    /// Its options, or the seed.
    #[error("{program}: {refusal}")]
    RefusedStart {
        program: ProgramName,
        refusal: Rejection,
    },
    #[error(transparent)]
    RefusedState(Rejection),
    #[error("the game is over in this state")]
    GameOver,
    /// Only the request that was sent last is known.
    #[error("a request of a game's program does not tell the whole position; give a state")]
    UnknownRequest,
}

impl From<ProgramFailure> for GameFailure {
    fn from(failure: ProgramFailure) -> Self {
        Self::new(failure)
    }
}

impl From<ProgramError> for StartError {
    fn from(error: ProgramError) -> Self {
        match error {
            ProgramError::Failed(failure) => Self::Failed(failure.into()),
            refused => Self::refused(refused),
        }
    }
}
