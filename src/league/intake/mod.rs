//! Submissions: what students or teams have handed in.
//!
//! - `names`: whose a file is by its name, also as Moodle writes it
//! - `formats`, `unpack`: archives
//! - `folder`: the entries of a folder
//! - `git`, `objects`: the commits of repositories, and how they are read
//! - [`people`]: the list of students

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

/// Files that somebody has handed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The student or the team.
    pub name: String,
    /// Moodle's number of the participant, if it is known.
    pub id: Option<String>,
    /// A folder with the files, and nothing else.
    pub folder: PathBuf,
    /// When it was handed in.
    pub received: Timestamp,
    /// Where it was found, for messages.
    pub found_in: String,
    /// Whether nothing newer of the same student was found.
    pub is_newest: bool,
}

/// Somebody whose submission cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The student or the team.
    pub name: String,
    /// Moodle's number of the participant, if it is known.
    pub id: Option<String>,
    /// Why, and what to do: a sentence.
    pub reason: String,
    /// When it was handed in; the end of time where that cannot be known.
    pub received: Timestamp,
}

/// What was handed in.
#[derive(Debug, Default)]
pub struct Intake {
    /// In the order of the names, and of the times for each name.
    pub submissions: Vec<Submission>,
    /// In the order of the names.
    pub refused: Vec<Refused>,
    /// What is wrong with the source and concerns no student: sentences.
    pub notes: Vec<String>,
    /// Holds the folders that were made for submissions.
    staging: Option<tempfile::TempDir>,
    /// How many there are.
    rooms: usize,
}

impl Intake {
    /// A new empty folder, which is there as long as this is.
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

    /// Sorts what was found, and says which of each student's is the newest. A refusal counts unless something newer can be
    /// used.
    pub(super) fn put_in_order(&mut self) {
        self.submissions.sort_by(|a, b| {
            let of = |one: &Submission| (one.name.clone(), one.received, one.found_in.clone());
            of(a).cmp(&of(b))
        });
        let newest: HashMap<String, Timestamp> = self
            .submissions
            .iter()
            .map(|one| (one.name.clone(), one.received))
            .collect();
        let mut later = self.submissions.iter().skip(1).map(|one| one.name.clone());
        let next: Vec<Option<String>> = self.submissions.iter().map(|_| later.next()).collect();
        for (one, next) in self.submissions.iter_mut().zip(next) {
            one.is_newest = next.as_ref() != Some(&one.name);
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
    #[error("{}: there are no submissions in it; expected a folder, an archive or a program for each student or team", .0.display())]
    Empty(PathBuf),
    /// It is a file and no archive that is read.
    #[error("{}: this is neither a folder nor an archive that can be read; expected a folder, a .zip, a .tar or a .tar.gz", .0.display())]
    Unknown(PathBuf),
    /// A repository cannot be read.
    #[error("{}: {error}", .0.display(), error = .1)]
    Git(PathBuf, GitError),
    /// There is no space for what was handed in.
    #[error(
        "{}: what was handed in cannot be unpacked here: {problem}; free some space, or set TMPDIR to a folder with more \
         of it, then give the same command again", env::temp_dir().display(), problem = cause(.0)
    )]
    NoSpace(io::Error),
    /// The archive of a class is damaged.
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

/// Reads what was handed in: a folder or an archive with a folder, an archive or a program for each student or team.
/// Repositories are read in the sandbox.
pub fn read(source: &Path, sandbox: &SandboxChoice<'_>) -> Result<Intake, IntakeError> {
    let mut intake = Intake::default();
    match formats::of_file(source) {
        None if git::is_repository(source) => {
            let versions = git::of_class(source, sandbox, &mut intake);
            let versions = versions.map_err(|error| IntakeError::of_git(source, error))?;
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

/// Unpacks an archive with the submissions of a class.
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
