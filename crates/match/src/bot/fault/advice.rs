//! What the author of a bot does about a fault.

use super::{Exit, Fault, ProcessState, Timeout, TimeoutEvidence};
use referee_games::game::RejectionCause;
use referee_host::executable::interpreter::Language;

pub fn flush(language: Option<Language>) -> String {
    in_language(
        "flush after every line",
        language,
        language.and_then(|language| language.flush),
    )
}

pub fn read_lines(language: Option<Language>) -> String {
    in_language(
        "read and answer one line at a time",
        language,
        language.and_then(|language| language.read_lines()),
    )
}

/// Where to look when a question is read, and neither answered nor the end of the program.
pub fn unanswered(language: Option<Language>) -> String {
    in_language(
        "print an answer to every line; what catches errors may hide one: let it print them to standard error",
        language,
        language.and_then(|language| language.hides_errors()),
    )
}

fn in_language(advice: &str, language: Option<Language>, how: Option<&str>) -> String {
    match (language, how) {
        (Some(language), Some(how)) => format!("{advice}; in {}: {how}", language.name),
        _ => advice.to_owned(),
    }
}

impl Fault {
    /// What to do, in this language: an imperative without full stop. For a program game
    /// (`is_program_game`) rules and answers are documented elsewhere.
    pub fn advice(&self, language: Option<Language>, is_program_game: bool) -> String {
        match self {
            Self::Rejected { rejection, .. } if rejection.hint.is_some() => {
                rejection.hint.as_deref().unwrap_or_default()
            }
            Self::Rejected { rejection, .. } => match rejection.cause {
                RejectionCause::Illegal(_) if is_program_game => {
                    "ask the program this question by hand, and fix it until its answer is one that the \
                     rules of the game allow there; they are the game's own"
                }
                RejectionCause::Malformed(_) if is_program_game => {
                    "write an answer in the form that the game expects, and nothing else; it is the game's \
                     own (protocol-games.md)"
                }
                RejectionCause::Illegal(_) => {
                    "ask the program this question by hand, and fix it until its answer is one that the \
                     sentence names (protocol.md has the rules)"
                }
                RejectionCause::Malformed(_) => {
                    "write the answer in that form, and nothing else; protocol.md has the form of every answer"
                }
            },
            Self::ExtraOutput { .. } => {
                let advice =
                    "write one line for each question, with the whole answer; text for yourself goes to standard error";
                let how = language.and_then(|language| language.to_stderr());
                return in_language(advice, language, how);
            }
            Self::Timeout(timeout) => return timeout.advice(language),
            Self::Exited { exit, answered, .. } => exit.advice(*answered > 0),
            Self::Closed { .. } => "leave standard input and standard output open",
            Self::LineTooLong { .. } => {
                "end every answer with a newline; an answer is a few characters"
            }
            Self::NotUtf8 { .. } => "write plain ASCII text to standard output",
            Self::PrintedError { error, .. } => {
                let what = match &error.place {
                    Some(place) => format!("correct the error at {place}"),
                    None => "correct that error".to_owned(),
                };
                return format!("{what}; send no error messages to standard output (2>&1)");
            }
        }
        .to_owned()
    }
}

impl Exit {
    const fn advice(&self, has_answered: bool) -> &'static str {
        match self {
            Self::Code(0) if has_answered => "keep reading until the input ends: answer in a loop",
            Self::Code(0) => {
                "read a line, answer it, and go on until the input ends; see that the program calls \
                 its main function"
            }
            Self::Limit(_) => {
                "use less of it, or play with a higher limit (docs/sandbox.md has the options)"
            }
            Self::OutOfMemory { .. } => "play fewer games at a time, or lower --memory",
            Self::Refused(..) => "do without what the sandbox forbids (docs/sandbox.md)",
            Self::ShortOfMemory(..) => "use less memory, or play with more (--memory)",
            Self::Code(_) => "correct the error that stderr names",
            Self::Signal(_) => {
                "find where it crashes: a debugger shows it, and in C -fsanitize=address"
            }
            Self::Left => "stay in the game",
        }
    }
}

impl Timeout {
    fn advice(&self, language: Option<Language>) -> String {
        use ProcessState::{Computing, NotReading, Stopped, Unknown, Waiting, WritingToStderr};
        use TimeoutEvidence::{HeldBack, Late, Nothing, Partial};
        let quicker = "answer sooner: think for a fixed part of REFEREE_MOVE_TIME";
        match &self.evidence {
            Nothing(Computing) => {
                format!("look for a loop that does not end; if there is none, {quicker}")
            }
            Late(..) => quicker.to_owned(),
            Nothing(NotReading) if self.answered == 0 => {
                "read the questions from standard input; if it starts slowly, give it more time with --start-time".to_owned()
            }
            Nothing(NotReading) => "after an answer, go back to reading standard input".to_owned(),
            Nothing(Stopped) => "let nothing stop the program".to_owned(),
            Nothing(WritingToStderr(_)) => {
                "look for a loop that writes to stderr without an end; the answer belongs on standard output".to_owned()
            }
            Partial(_) => "end every answer with a newline".to_owned(),
            Nothing(Waiting | Unknown) if self.answered > 0 => {
                "find what it waits for after this question: a sleep, a lock, a file, another program, a second line of input"
                    .to_owned()
            }
            HeldBack(_) | Nothing(Waiting | Unknown) => {
                format!("{}; or {}", flush(language), read_lines(language))
            }
        }
    }
}
