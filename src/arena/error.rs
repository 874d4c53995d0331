//! Why a tournament cannot be prepared, played, read or merged.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::bot::exhaustion::Exhausted;
use crate::play::game_runner::GameError;
use crate::record::reader::LineError;
use crate::text::cause;

/// What a journal holds stays; the tournament can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum TournamentError {
    /// Wrong options or input: a sentence with the fix.
    #[error("{0}")]
    Input(String),
    #[error("{0}")]
    Machine(String),
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    #[error(
        "{0}\nfix it, and begin again with another --out: games by a changed program are not mixed with those before"
    )]
    GameProgram(String),
    #[error(
        "{0}: another referee is playing this tournament; wait for it, or choose another folder with --out"
    )]
    Locked(String),
    /// A line is not a game of the plan, or repeats one.
    #[error("{0}; fix the line or take it out")]
    Line(#[from] LineError),
    /// A bot of the resumed tournament cannot be started.
    #[error("{0}")]
    Missing(String),
}

impl TournamentError {
    pub fn io(path: &Path) -> impl Fn(io::Error) -> Self + use<'_> {
        move |error| {
            let path = path.display();
            let cause = cause(&error);
            match error.kind() {
                ErrorKind::AlreadyExists | ErrorKind::NotADirectory => Self::Input(format!(
                    "{path}: it is a file, and no folder of a tournament; choose another folder"
                )),
                ErrorKind::NotFound
                | ErrorKind::PermissionDenied
                | ErrorKind::ReadOnlyFilesystem => Self::Input(format!(
                    "{path}: {cause}; choose a folder that you may write to"
                )),
                ErrorKind::InvalidData => Self::Input(format!("{path}: {cause}")),
                _ => Self::Machine(format!("{path}: {cause}")),
            }
        }
    }
}

impl From<GameError> for TournamentError {
    fn from(error: GameError) -> Self {
        match error {
            GameError::CannotStart(error) => Self::Input(error.to_string()),
            GameError::Exhausted(limit) => Self::Exhausted(limit),
            GameError::Game(failure) => Self::GameProgram(failure),
            GameError::Io(error) => error.into(),
        }
    }
}

impl From<io::Error> for TournamentError {
    fn from(error: io::Error) -> Self {
        Self::Machine(cause(&error))
    }
}
