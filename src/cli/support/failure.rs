//! Errors of commands: the message and the exit status.

use std::io;

use super::output::outlives_reader;
use referee::bot::exhaustion::Exhausted;
use referee::bot::spec::CannotStart;
use referee::class::alike::interview::InterviewError;
use referee::class::alike::kept_answers::KeptAnswersError;
use referee::class::league::error::LeagueError;
use referee::class::league::grading::scale::ScaleError;
use referee::class::league::intake::IntakeError;
use referee::class::league::roster::student_list::StudentListError;
use referee::entrants::adapter::AdapterError;
use referee::entrants::class::FolderError;
use referee::play::examiner::ImpossibleLine;
use referee::play::game_runner::GameError;
use referee::record::reader::{LineError, ReadError};
use referee::stats::comparison::TermsError;
use referee::stats::ratings::RatingError;
use referee::study::debug::DebugError;
use referee::study::puzzles::PuzzleError;
use referee::study::rerun::RerunError;
use referee::text::{cause, counted};
use referee::tournament::TournamentError;

/// Of a command, unless it says otherwise.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

#[derive(Debug)]
pub(crate) enum Failure {
    /// Wrong usage or bad input: names the thing, the place, what was expected and the fix. Status 2.
    Usage(String),
    /// Status 2.
    CannotStart(CannotStart),
    /// The referee itself failed. Status 1.
    Referee(String),
    /// Status 1.
    Exhausted(Exhausted),
    /// SIGINT (Ctrl-C), SIGTERM or SIGHUP. Status 130.
    Interrupted,
    /// The reader of stdout went away, as `| head` does, and the command only prints. Status 0.
    NoReader,
    /// What there is to say has been printed. With this status.
    Told(u8),
}

/// A bot fails the entry check, or plays mistakes.
pub(crate) const WRONG: Failure = Failure::Told(3);

impl Failure {
    /// `unwritten`: bytes of the results that could not be written.
    pub(crate) fn message(&self, unwritten: u64) -> Option<String> {
        match self {
            Self::Usage(text) | Self::Referee(text) => Some(text.trim_end().to_owned()),
            Self::CannotStart(error) => Some(error.in_full()),
            Self::Exhausted(limit) => Some(limit.to_string()),
            Self::Interrupted if unwritten > 0 => Some(format!(
                "interrupted; the last {} of the results were not written, since there was no reader of standard output",
                counted(unwritten, "byte", "bytes")
            )),
            Self::Interrupted => Some("interrupted".to_owned()),
            Self::NoReader | Self::Told(_) => None,
        }
    }

    /// Whether games count that were played before it: a bot, or the machine, failed.
    pub(crate) const fn leaves_results(&self) -> bool {
        matches!(
            self,
            Self::Usage(_) | Self::CannotStart(_) | Self::Exhausted(_)
        )
    }

    pub(crate) const fn status(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::CannotStart(_) => 2,
            Self::Referee(_) | Self::Exhausted(_) => 1,
            Self::Interrupted => 130,
            Self::NoReader => 0,
            Self::Told(status) => *status,
        }
    }
}

impl From<io::Error> for Failure {
    /// Not for named files, which have messages of their own.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe if !outlives_reader() => Self::NoReader,
            // A signal ended a wait for a reader, or another call.
            io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => Self::Interrupted,
            _ => Self::Referee(cause(&error)),
        }
    }
}

impl From<CannotStart> for Failure {
    fn from(error: CannotStart) -> Self {
        Self::CannotStart(error)
    }
}

impl From<AdapterError> for Failure {
    fn from(error: AdapterError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<GameError> for Failure {
    fn from(error: GameError) -> Self {
        match error {
            GameError::CannotStart(error) => error.into(),
            GameError::Exhausted(limit) => Self::Exhausted(limit),
            GameError::Game(failure) => Self::Usage(failure.to_string()),
            GameError::Io(error) => error.into(),
        }
    }
}

impl From<DebugError> for Failure {
    fn from(error: DebugError) -> Self {
        match error {
            DebugError::Game(error) => error.into(),
            DebugError::Io(error) => error.into(),
            DebugError::Interrupted => Self::Interrupted,
            error => Self::Usage(error.to_string()),
        }
    }
}

impl From<RerunError> for Failure {
    fn from(error: RerunError) -> Self {
        match error {
            RerunError::Game(error) => error.into(),
            RerunError::Question(problem) => Self::Usage(problem),
            RerunError::Judging(error) => Self::Referee(error.to_string()),
        }
    }
}

impl From<InterviewError> for Failure {
    fn from(error: InterviewError) -> Self {
        match error {
            InterviewError::Game(error) => error.into(),
            error @ InterviewError::SilentStarter { .. } => Self::Usage(error.to_string()),
        }
    }
}

/// Errors in what the user gave, each with its own sentence.
macro_rules! usage_errors {
    ($($error:ty),+ $(,)?) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::Usage(error.to_string())
            }
        })+
    };
}

usage_errors!(
    FolderError,
    ImpossibleLine,
    IntakeError,
    KeptAnswersError,
    LineError,
    PuzzleError,
    ReadError,
    ScaleError,
    StudentListError,
    TermsError,
);

impl From<RatingError> for Failure {
    fn from(error: RatingError) -> Self {
        Self::Referee(error.to_string())
    }
}

impl From<TournamentError> for Failure {
    fn from(error: TournamentError) -> Self {
        match error {
            TournamentError::Exhausted(limit) => Self::Exhausted(limit),
            error if error.is_of_machine() => Self::Referee(error.to_string()),
            error => Self::Usage(error.to_string()),
        }
    }
}

impl From<LeagueError> for Failure {
    fn from(error: LeagueError) -> Self {
        match error {
            LeagueError::Tournament(error) => error.into(),
            LeagueError::Ratings(error) => error.into(),
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
