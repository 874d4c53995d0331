//! How a command fails: the sentence and the exit status.

use std::io;
use std::process::ExitCode;

use crate::bot::spec::CannotStart;
use crate::play::game_runner::GameError;

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(in crate::cli) enum Failure {
    /// Wrong usage, input that cannot be read or understood, or a bot that cannot be
    /// started: the thing, the place, what was expected and what to do. Status 2.
    Usage(String),
    /// The referee itself failed. Status 1.
    Referee(String),
    /// A bot that was checked is not fit to enter a tournament; the report has said why. Status 3.
    Unfit,
    /// Somebody pressed Ctrl-C, or asked the process to end. Status 130.
    Interrupted,
    /// Nobody reads our output any more, as with `| head`. Status 1, nothing is said.
    OutputClosed,
}

impl Failure {
    pub(in crate::cli) fn report(&self) -> ExitCode {
        // Nothing can be done when stderr is closed, too.
        let say = |text: &str| {
            let _ = io::Write::write_all(
                &mut io::stderr(),
                format!("referee: {}\n", text.trim_end()).as_bytes(),
            );
        };
        match self {
            Self::Usage(text) => {
                say(text);
                ExitCode::from(2)
            }
            Self::Referee(text) => {
                say(text);
                ExitCode::FAILURE
            }
            Self::Interrupted => {
                say("interrupted");
                ExitCode::from(130)
            }
            Self::Unfit => ExitCode::from(3),
            Self::OutputClosed => ExitCode::FAILURE,
        }
    }
}

impl From<io::Error> for Failure {
    /// For our own streams and processes; files that people name have sentences of their own.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            io::ErrorKind::Interrupted => Self::Interrupted,
            _ => Self::Referee(error.to_string()),
        }
    }
}

impl From<CannotStart> for Failure {
    fn from(error: CannotStart) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<GameError> for Failure {
    fn from(error: GameError) -> Self {
        match error {
            GameError::CannotStart(error) => error.into(),
            GameError::Io(error) => error.into(),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}
