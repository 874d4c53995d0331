//! Submissions of students or teams, from folders, archives and repositories.

mod folder;
mod formats;
mod git;
mod names;
mod objects;
pub mod people;
mod unpack;

use std::collections::{BTreeMap, HashMap};
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use self::formats::Format;
pub use self::objects::{GitError, SandboxChoice};
use crate::bot::submission::entries;
use crate::text::{cause, is_full, unreadable};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    pub name: String,
    /// Moodle's participant number.
    pub id: Option<String>,
    /// With the files and nothing else.
    pub folder: PathBuf,
    pub received: Timestamp,
    pub found_in: String,
    /// The newest found of this student.
    pub is_newest: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub name: String,
    pub id: Option<String>,
    /// Reason and advice, a sentence.
    pub reason: String,
    /// Time of submission; the end of time if unknown.
    pub received: Timestamp,
}

#[derive(Debug, Default)]
pub struct Intake {
    pub submissions: Vec<Submission>,
    pub refused: Vec<Refused>,
    /// Problems of the source that concern no student: sentences.
    pub notes: Vec<String>,
    /// Holds the folders of submissions.
    staging: Option<tempfile::TempDir>,
    rooms: usize,
}

impl Intake {
    /// A new empty folder that lives as long as this.
    fn room(&mut self) -> io::Result<PathBuf> {
        let staging = match &mut self.staging {
            Some(staging) => staging,
            none => none.insert(tempfile::tempdir()?),
        };
        self.rooms += 1;
        let room = staging.path().canonicalize()?;
        let room = room.join(self.rooms.to_string());
        fs::create_dir(&room)?;
        Ok(room)
    }

    /// Sorts, and marks each student's newest. A refusal counts unless something newer can be used.
    pub(super) fn put_in_order(&mut self) {
        self.submissions
            .sort_by_key(|one| (one.name.clone(), one.received, one.found_in.clone()));
        let mut newest: HashMap<String, Timestamp> = HashMap::new();
        for one in self.submissions.iter_mut().rev() {
            one.is_newest = !newest.contains_key(&one.name);
            newest.entry(one.name.clone()).or_insert(one.received);
        }
        self.refused.retain(|refused| {
            newest
                .get(&refused.name)
                .is_none_or(|time| refused.received >= *time)
        });
        self.refused
            .sort_by(|a, b| (&a.name, a.received).cmp(&(&b.name, b.received)));
    }
}

#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    #[error("{}", unreadable(.path, .error))]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{}: there are no submissions in it; expected a folder, an archive or a program for each student or team", .0.display())]
    Empty(PathBuf),
    #[error("{}: this is neither a folder nor an archive that can be read; expected a folder, a .zip, a .tar or a .tar.gz", .0.display())]
    Unknown(PathBuf),
    #[error("{}: {error}", .0.display(), error = .1)]
    Git(PathBuf, GitError),
    #[error(
        "{}: what was handed in cannot be unpacked here: {problem}; free some space, or set TMPDIR to a folder with more \
         of it, then give the same command again", env::temp_dir().display(), problem = cause(.0)
    )]
    NoSpace(io::Error),
    #[error("{}: this archive cannot be unpacked: {problem}; download it again", .0.display(), problem = .1)]
    Archive(PathBuf, io::Error),
}

impl IntakeError {
    fn of_git(path: &Path, error: GitError) -> Self {
        match error {
            GitError::Io(error) if is_full(&error) => Self::NoSpace(error),
            error => Self::Git(path.to_owned(), error),
        }
    }

    fn unreadable(path: &Path) -> impl Fn(io::Error) -> Self + use<'_> {
        move |error| Self::Unreadable {
            path: path.to_owned(),
            error,
        }
    }
}

/// A folder or archive with a folder, archive or program for each student or team. Repositories are read in the
/// sandbox.
pub fn read(source: &Path, sandbox: &SandboxChoice<'_>) -> Result<Intake, IntakeError> {
    let mut intake = Intake::default();
    match formats::of_file(source) {
        None if git::is_repository(source) => {
            let whole = source
                .canonicalize()
                .map_err(IntakeError::unreadable(source))?;
            let versions = git::versions(&whole, None, sandbox, &mut intake)
                .map_err(|error| IntakeError::of_git(source, error))?;
            folder::read_versions(&versions, &mut intake)?;
        }
        None if source.is_file() => return Err(IntakeError::Unknown(source.to_owned())),
        None => folder::read(source, &BTreeMap::new(), Some(sandbox), &mut intake)?,
        Some(Format::Other) => return Err(IntakeError::Unknown(source.to_owned())),
        Some(format) => archive(source, format, sandbox, &mut intake)?,
    }
    if intake.submissions.is_empty() && intake.refused.is_empty() {
        return Err(IntakeError::Empty(source.to_owned()));
    }
    intake.put_in_order();
    Ok(intake)
}

fn archive(
    source: &Path,
    format: Format,
    sandbox: &SandboxChoice<'_>,
    intake: &mut Intake,
) -> Result<(), IntakeError> {
    let failed = |error| match error {
        error if is_full(&error) => IntakeError::NoSpace(error),
        error => IntakeError::Archive(source.to_owned(), error),
    };
    let depth = unpack::wrapping(source, format).map_err(failed)?;
    let mut room = intake.room().map_err(failed)?;
    let mut refused = unpack::unpack(source, format, &room, Some(depth)).map_err(failed)?;
    if let Some(problem) = refused.remove("") {
        intake
            .notes
            .push(format!("{}: {problem}", source.display()));
    }
    if depth == 1
        && let Ok(mut inside) = entries(&room)
        && let Some(only) = inside.pop()
    {
        room = only;
    }
    folder::read(&room, &refused, Some(sandbox), intake)
}
