//! Errors of commands: the message and the exit status.

use std::io;
use std::process::ExitCode;

use crate::bot::exhaustion::Exhausted;
use crate::bot::spec::CannotStart;
use crate::play::game_runner::GameError;

/// Why a command failed.
#[derive(Debug)]
pub(in crate::cli) enum Failure {
    /// Wrong usage, input that cannot be read or parsed, or a bot that cannot be started. The
    /// message names the thing, the place, what was expected and the fix. Status 2.
    Usage(String),
    /// The referee itself failed. Status 1.
    Referee(String),
    /// The machine has run out of processes or the like. Status 1.
    Exhausted(Exhausted),
    /// A checked bot is not fit to enter a tournament; its report has been printed. Status 3.
    Unfit,
    /// SIGINT (Ctrl-C), SIGTERM or SIGHUP. Status 130.
    Interrupted,
    /// The reader of stdout has closed it, as `| head` does. Status 1, without a message.
    OutputClosed,
}

impl Failure {
    /// Prints the message on stderr and returns the exit status.
    pub(in crate::cli) fn report(&self) -> ExitCode {
        // A closed stderr cannot be reported anywhere.
        let print = |text: &str| {
            let _ = io::Write::write_all(
                &mut io::stderr(),
                format!("referee: {}\n", text.trim_end()).as_bytes(),
            );
        };
        match self {
            Self::Usage(text) | Self::Referee(text) => print(text),
            Self::Exhausted(limit) => print(&limit.to_string()),
            Self::Interrupted => print("interrupted"),
            Self::Unfit | Self::OutputClosed => {}
        }
        ExitCode::from(self.status())
    }

    /// The exit status.
    pub(in crate::cli) const fn status(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Referee(_) | Self::Exhausted(_) | Self::OutputClosed => 1,
            Self::Interrupted => 130,
            Self::Unfit => 3,
        }
    }
}

impl From<io::Error> for Failure {
    /// For the referee's own streams and processes; errors of named files have their own messages.
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
            GameError::Exhausted(limit) => Self::Exhausted(limit),
            GameError::Io(error) => error.into(),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}
