//! Why what was handed in, or one submission of it, cannot be used.

use std::borrow::Cow;
use std::env;
use std::io;
use std::path::{Path, PathBuf};

use super::objects::GitError;
use referee_text::{cause, is_full, unreadable};

#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    #[error("{}", unreadable(.path, .error))]
    Unreadable { path: PathBuf, error: io::Error },
    #[error(
        "{}: this is neither a folder nor an archive that can be read; expected a folder, a .zip, a .tar or a .tar.gz",
        .0.display()
    )]
    OtherFile(PathBuf),
    #[error(
        "{}: there are no submissions in it; expected a folder, an archive or a program for each student or team",
        .0.display()
    )]
    NoSubmissions(PathBuf),
    #[error("{}: this archive cannot be unpacked: {error}; download it again", .path.display())]
    Archive { path: PathBuf, error: io::Error },
    #[error("{}: {error}", .path.display())]
    Repository { path: PathBuf, error: GitError },
    #[error(
        "{}: what was handed in cannot be unpacked here: {}; free some space, or set TMPDIR to a folder with more of it, \
         then give the same command again", env::temp_dir().display(), cause(.0)
    )]
    NoSpace(io::Error),
}

impl IntakeError {
    pub(super) fn of_archive(path: &Path, error: io::Error) -> Self {
        if is_full(&error) {
            return Self::NoSpace(error);
        }
        Self::Archive {
            path: path.to_owned(),
            error,
        }
    }

    pub(super) fn of_repository(path: &Path, error: GitError) -> Self {
        match error {
            GitError::Io(error) if is_full(&error) => Self::NoSpace(error),
            error => Self::Repository {
                path: path.to_owned(),
                error,
            },
        }
    }
}

/// Why one submission cannot be used, or cannot be unpacked here.
#[derive(Debug, thiserror::Error)]
pub enum SubmissionError {
    /// A sentence for the student, with advice.
    #[error("{0}")]
    Refused(Cow<'static, str>),
    #[error("{}", cause(.0))]
    Io(#[from] io::Error),
}

impl SubmissionError {
    pub(super) fn refused(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Refused(reason.into())
    }
}
