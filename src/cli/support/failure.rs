//! Errors of commands: the message and the exit status.

use std::io;

use referee::arena::TournamentError;
use referee::bot::exhaustion::Exhausted;
use referee::bot::spec::CannotStart;
use referee::play::game_runner::GameError;
use referee::record::reader::LineError;
use referee::text::{cause, counted};
use referee::tournament::ratings::RatingError;

/// Of a command, unless it says otherwise.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

#[derive(Debug)]
pub(crate) enum Failure {
    /// Wrong usage, bad input, or a bot that cannot be started: names the thing, the place, what was expected and the
    /// fix. Status 2.
    Usage(String),
    /// The referee itself failed. Status 1.
    Referee(String),
    /// Status 1.
    Exhausted(Exhausted),
    /// SIGINT (Ctrl-C), SIGTERM or SIGHUP. Status 130.
    Interrupted,
    /// What there is to say has been printed, or stdout has no reader. With this status.
    Told(u8),
}

/// A bot fails the entry check, or plays mistakes.
pub(crate) const WRONG: Failure = Failure::Told(3);

impl Failure {
    /// `unwritten`: bytes of the results that could not be written.
    pub(crate) fn message(&self, unwritten: u64) -> Option<String> {
        match self {
            Self::Usage(text) | Self::Referee(text) => Some(text.trim_end().to_owned()),
            Self::Exhausted(limit) => Some(limit.to_string()),
            Self::Interrupted if unwritten > 0 => Some(format!(
                "interrupted; the last {} of the results were not written, since there was no reader of standard output",
                counted(unwritten, "byte", "bytes")
            )),
            Self::Interrupted => Some("interrupted".to_owned()),
            Self::Told(_) => None,
        }
    }

    pub(crate) const fn status(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Referee(_) | Self::Exhausted(_) => 1,
            Self::Interrupted => 130,
            Self::Told(status) => *status,
        }
    }
}

impl From<io::Error> for Failure {
    /// Not for named files, which have messages of their own.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // The reader of stdout closed it, as `| head` does.
            io::ErrorKind::BrokenPipe => Self::Told(1),
            // A signal ended a wait for a reader, or another call.
            io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => Self::Interrupted,
            _ => Self::Referee(cause(&error)),
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
            GameError::Game(failure) => Self::Usage(failure),
            GameError::Io(error) => error.into(),
        }
    }
}

impl From<LineError> for Failure {
    fn from(error: LineError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<RatingError> for Failure {
    fn from(error: RatingError) -> Self {
        Self::Referee(error.to_string())
    }
}

impl From<TournamentError> for Failure {
    fn from(error: TournamentError) -> Self {
        match error {
            TournamentError::Exhausted(limit) => Self::Exhausted(limit),
            TournamentError::Machine(problem) => Self::Referee(problem),
            error => Self::Usage(error.to_string()),
        }
    }
}

impl From<String> for Failure {
    fn from(problem: String) -> Self {
        Self::Usage(problem)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}

/// A failure that the user caused; arguments as for `format!`.
macro_rules! usage {
    ($($text:tt)*) => {
        $crate::cli::support::failure::Failure::Usage(format!($($text)*))
    };
}

macro_rules! bail {
    ($($text:tt)*) => {
        return Err($crate::cli::support::failure::usage!($($text)*))
    };
}

pub(crate) use {bail, usage};
