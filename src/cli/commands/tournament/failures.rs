//! Errors of a tournament as failures of the command, with the way to resume it.

use std::env;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::Path;

use super::late;
use super::options::Options;

use crate::arena::RunError;
use crate::arena::directory::{DirectoryError, TournamentDirectory};
use crate::arena::entrants::EntrantsError;
use crate::arena::plan::Plan;
use crate::arena::plan::request::RequestError;
use crate::arena::preparation::PreparationError;
use crate::arena::shard::Shard;
use crate::bot::shell;
use crate::cli::support::failure::Failure;
use crate::play::game_runner::GameError;
use crate::record::journal::OpenError;
use crate::text::{cause, escape_controls};

/// The hint that ends a message about a tournament that has stopped.
pub(super) fn resume_command(
    directory: &TournamentDirectory,
    shard: Option<Shard>,
    options: &Options,
) -> String {
    let path = directory.path().to_string_lossy();
    let path = shell::quoted(&path);
    let mut command = match shard {
        None => format!("to resume: referee tournament --out {path}"),
        Some(shard) => format!("to resume: referee run {path} --shard {shard}"),
    };
    // What the plan does not have.
    if let Some(jobs) = options.jobs {
        let _ = write!(command, " --jobs {jobs}");
    }
    if options.analyse {
        command.push_str(" --analyse");
    }
    if let Some(time) = options.time_per_move {
        let _ = write!(command, " --time-per-move {}s", time.as_secs_f64());
    }
    for word in options.pages.words() {
        let _ = write!(command, " {}", shell::quoted(&word));
    }
    command
}

/// Where the bots of a tournament that is resumed are not found: that relative paths start from the directory
/// where it was begun.
pub(super) fn with_place(failure: Failure, plan: Option<&Plan>) -> Failure {
    let begun_in = plan.and_then(|plan| plan.begun_in.as_deref());
    let here = env::current_dir().ok();
    match (failure, begun_in) {
        (Failure::Usage(text), Some(begun_in))
            if here.is_some_and(|here| here != Path::new(begun_in)) =>
        {
            let place = escape_controls(begun_in);
            Failure::Usage(format!(
                "{text}\nthis tournament was begun in {place}, where paths of its bots start; resume it \
                 from there"
            ))
        }
        (failure, _) => failure,
    }
}

/// The failure for an error while the games were played.
pub(in crate::cli) fn run_failure(error: RunError, journal: &Path, resume: &str) -> Failure {
    match error {
        RunError::Game(GameError::CannotStart(error)) => {
            Failure::Usage(format!("{error}\n{resume}"))
        }
        RunError::Game(GameError::Game(failure)) => Failure::Usage(format!(
            "{failure}\nmend it, and begin again with another --out: games by a changed program are not mixed with \
                 those before"
        )),
        RunError::NotWritten(error) => {
            let fix = match error.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                    "free some space, then "
                }
                _ => "",
            };
            Failure::Referee(format!(
                "{}: cannot write: {error}; no more games were begun, and the file holds every game \
                 that was counted; {fix}{resume}",
                journal.display(),
                error = crate::text::cause(&error)
            ))
        }
        error => Failure::Referee(format!("{error}; {resume}")),
    }
}

/// Whether a folder was chosen that cannot be made there.
const fn may_not(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
    )
}

impl From<DirectoryError> for Failure {
    fn from(error: DirectoryError) -> Self {
        match error {
            DirectoryError::Journal(OpenError::Locked { path }) => Self::Usage(format!(
                "{path}: another referee is playing this tournament; wait for it, or choose \
                 another folder with --out"
            )),
            DirectoryError::Io { path, error }
                if [ErrorKind::AlreadyExists, ErrorKind::NotADirectory].contains(&error.kind()) =>
            {
                Self::Usage(format!(
                    "{path}: it is a file, and no folder of a tournament; choose another folder"
                ))
            }
            DirectoryError::Io { path, error } if may_not(error.kind()) => Self::Usage(format!(
                "{path}: {}; choose a folder that you may write to",
                cause(&error)
            )),
            DirectoryError::Io {
                error: ref cause, ..
            } if cause.kind() != ErrorKind::InvalidData => Self::Referee(error.to_string()),
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
            PreparationError::Another {
                ref path,
                ref late,
                ref plan,
                ..
            } if !late.is_empty() => {
                let way = late::way(path, plan, late);
                Self::Usage(format!("{error}; {way}"))
            }
            error => Self::Usage(error.to_string()),
        }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Self::Usage(error.to_string())
    }
}
