//! Submissions: what students or teams have handed in.

mod folder;

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::text::unreadable;

/// The newest files that somebody has handed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The student or the team.
    pub name: String,
    /// A folder with the files, and nothing else.
    pub folder: PathBuf,
    /// When it was handed in.
    pub received: Timestamp,
    /// Where it was found, for messages.
    pub found_in: String,
}

/// Somebody whose submission cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The student or the team.
    pub name: String,
    /// Why, and what to do: a sentence.
    pub reason: String,
}

/// What was handed in.
#[derive(Debug, Default)]
pub struct Intake {
    /// In the order of the names.
    pub submissions: Vec<Submission>,
    /// In the order of the names.
    pub refused: Vec<Refused>,
    /// Holds the folders that were made for submissions.
    staging: Option<tempfile::TempDir>,
}

/// Why no submissions can be read.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// Something cannot be read.
    #[error("{}", unreadable(.path, .error))]
    Unreadable {
        /// The file or the folder.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// There is nothing to take in.
    #[error("{}: there are no submissions in it; expected a folder for each student or team", .0.display())]
    Empty(PathBuf),
}

impl IntakeError {
    fn unreadable(path: &Path) -> impl Fn(io::Error) -> Self + use<'_> {
        move |error| Self::Unreadable {
            path: path.to_owned(),
            error,
        }
    }
}

/// Reads what was handed in from a folder: a folder, or a program, for each student or team.
pub fn read(source: &Path) -> Result<Intake, IntakeError> {
    let mut intake = folder::read(source)?;
    if intake.submissions.is_empty() && intake.refused.is_empty() {
        return Err(IntakeError::Empty(source.to_owned()));
    }
    intake.submissions.sort_by(|a, b| a.name.cmp(&b.name));
    intake.refused.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(intake)
}
