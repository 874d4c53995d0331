//! Why a tournament cannot be prepared, played, read or merged.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::experiment::OtherGames;
use super::merge::MergeError;
use super::openings::OpeningsError;
use super::plan::PlanError;
use super::plan::request::PlanRequestError;
use super::preparation::OtherTournament;
use referee_match::bot::exhaustion::Exhausted;
use referee_match::play::game_runner::GameError;
use referee_match::record::LineProblem;
use referee_match::record::journal::OpenError;
use referee_match::record::reader::{LineError, ReadError};
use referee_stats::schedule::knockout::BracketError;
use referee_stats::standings::Absence;
use referee_text::{cause, join_parts, unreadable};

/// What a journal holds stays; the tournament can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum TournamentError {
    /// Wrong options or input: a sentence with the fix.
    #[error("{0}")]
    Input(String),
    #[error("{0}")]
    Machine(String),
    #[error(transparent)]
    Request(#[from] PlanRequestError),
    /// The resumed tournament is another one.
    #[error(transparent)]
    OtherTournament(#[from] OtherTournament),
    #[error(transparent)]
    OtherGames(Box<OtherGames>),
    #[error(transparent)]
    Merge(Box<MergeError>),
    #[error("{}", unreadable(.path, .error))]
    Unreadable { path: PathBuf, error: io::Error },
    /// A record that was read cannot be written again.
    #[error(transparent)]
    Unwritable(serde_json::Error),
    /// A line of a journal that was read before.
    #[error("{0}")]
    Record(LineProblem),
    #[error("{}: {error}", .path.display())]
    Plan { path: PathBuf, error: PlanError },
    #[error("{}: {error}", .path.display())]
    Openings { path: PathBuf, error: OpeningsError },
    /// An opening of the resumed plan. `problem` is the game's sentence about the board.
    #[error("plan.json: the opening {board}: {problem}")]
    PlannedOpening { board: String, problem: String },
    #[error(
        "{}: not the lists of the bots' files: {error}; put it back as it was, or delete it: then every file of a bot \
         counts", .path.display()
    )]
    BotFiles {
        path: PathBuf,
        error: serde_json::Error,
    },
    #[error("{}: there is a games.jsonl but no plan.json; choose another folder", .0.display())]
    GamesWithoutPlan(PathBuf),
    #[error(transparent)]
    Journal(OpenError),
    #[error("{0}; delete this file to have all games analysed again")]
    Analysis(LineError),
    #[error("a record that was just written: {0}")]
    JustWritten(LineProblem),
    #[error(
        "{}: cannot write: {}; no more games were begun, and the file holds every game that was counted{}",
        .path.display(), cause(.error), fix_of_unwritten(.error)
    )]
    NotWritten { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Bracket(#[from] BracketError),
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    #[error(
        "{0}\nif that happens once, the same command goes on; with another program of the game it goes on with --accept-changes"
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
    #[error("{}", join_parts(.0, "\n    "))]
    Missing(Box<Absence>),
}

impl TournamentError {
    pub fn unreadable(path: &Path) -> impl Fn(io::Error) -> Self + use<'_> {
        move |error| Self::Unreadable {
            path: path.to_owned(),
            error,
        }
    }

    /// Whether the referee or the machine failed, whatever the user gave it.
    pub const fn is_of_machine(&self) -> bool {
        matches!(
            self,
            Self::Machine(_)
                | Self::Bracket(_)
                | Self::Exhausted(_)
                | Self::JustWritten(_)
                | Self::NotWritten { .. }
        )
    }

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

fn fix_of_unwritten(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "; free some space first"
        }
        _ => "",
    }
}

impl From<GameError> for TournamentError {
    fn from(error: GameError) -> Self {
        match error {
            GameError::CannotStart(error) => Self::Input(error.to_string()),
            GameError::Exhausted(limit) => Self::Exhausted(limit),
            GameError::Game(failure) => Self::GameProgram(failure.to_string()),
            GameError::Io(error) => error.into(),
        }
    }
}

impl From<ReadError> for TournamentError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io { path, error } => Self::io(&path)(error),
            ReadError::Line(error) => Self::Line(error),
        }
    }
}

impl From<MergeError> for TournamentError {
    fn from(error: MergeError) -> Self {
        Self::Merge(Box::new(error))
    }
}

impl From<OtherGames> for TournamentError {
    fn from(error: OtherGames) -> Self {
        Self::OtherGames(Box::new(error))
    }
}

impl From<io::Error> for TournamentError {
    fn from(error: io::Error) -> Self {
        Self::Machine(cause(&error))
    }
}
