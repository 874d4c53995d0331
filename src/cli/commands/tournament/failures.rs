//! Errors of a tournament as failures of the command, with the way to resume it.

use std::path::Path;

use crate::arena::RunError;
use crate::arena::directory::{DirectoryError, TournamentDirectory};
use crate::arena::entrants::EntrantsError;
use crate::arena::preparation::PreparationError;
use crate::arena::shard::Shard;
use crate::cli::support::failure::Failure;
use crate::play::game_runner::GameError;
use crate::record::journal::OpenError;

/// The hint that ends a message about a tournament that has stopped.
pub(super) fn resume_command(directory: &TournamentDirectory, shard: Option<Shard>) -> String {
    let path = directory.path().to_string_lossy();
    let path = shell_words::quote(&path);
    match shard {
        None => format!("to resume: referee tournament --out {path}"),
        Some(shard) => format!("to resume: referee run {path} --shard {shard}"),
    }
}

/// The failure for an error while the games were played.
pub(super) fn run_failure(error: RunError, journal: &Path, resume: &str) -> Failure {
    match error {
        RunError::Game(GameError::CannotStart(error)) => {
            Failure::Usage(format!("{error}\n{resume}"))
        }
        RunError::NotWritten(error) => Failure::Referee(format!(
            "{}: cannot write: {error}; no more games were begun, and the file holds every game that \
             was counted; free some space, then {resume}",
            journal.display()
        )),
        error => Failure::Referee(format!("{error}; {resume}")),
    }
}

impl From<DirectoryError> for Failure {
    fn from(error: DirectoryError) -> Self {
        match error {
            DirectoryError::Journal(OpenError::Locked { path }) => Self::Usage(format!(
                "{path}: another referee is playing this tournament; wait for it, or choose \
                 another folder with --out"
            )),
            DirectoryError::Io { .. } => Self::Referee(error.to_string()),
            error => Self::Usage(error.to_string()),
        }
    }
}

impl From<EntrantsError> for Failure {
    fn from(error: EntrantsError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<PreparationError> for Failure {
    fn from(error: PreparationError) -> Self {
        match error {
            PreparationError::Directory(error) => error.into(),
            PreparationError::Exhausted(limit) => Self::Exhausted(limit),
            PreparationError::Io(error) => error.into(),
            error => Self::Usage(error.to_string()),
        }
    }
}
