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
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use self::formats::Format;
pub use self::objects::{GitError, SandboxChoice};
use crate::bot::submission::entries;
use crate::text::{cause, is_full, unreadable};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    pub name: String,
    pub id: Option<String>,
    pub folder: PathBuf,
    pub received: Timestamp,
    pub found_in: String,
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
            let newest = newest.get(&refused.name);
            newest.is_none_or(|time| refused.received >= *time)
        });
        self.refused
            .sort_by_key(|one| (one.name.clone(), one.received));
    }
}

fn no_space(error: &io::Error) -> String {
    format!(
        "{}: what was handed in cannot be unpacked here: {}; free some space, or set TMPDIR to a folder with more of it, \
         then give the same command again",
        env::temp_dir().display(),
        cause(error)
    )
}

fn of_git(path: &Path, error: &GitError) -> String {
    match error {
        GitError::Io(error) if is_full(error) => no_space(error),
        error => format!("{}: {error}", path.display()),
    }
}

/// A folder or archive with a folder, archive or program for each student or team. Repositories are read in the
/// sandbox. The error is a sentence.
pub fn read(source: &Path, sandbox: &SandboxChoice<'_>) -> Result<Intake, String> {
    let mut intake = Intake::default();
    match formats::of_file(source) {
        None if git::is_repository(source) => {
            let whole = source.canonicalize();
            let whole = whole.map_err(|error| unreadable(source, &error))?;
            let versions = git::versions(&whole, None, sandbox, &mut intake);
            let versions = versions.map_err(|error| of_git(source, &error))?;
            folder::read_versions(&versions, &mut intake)?;
        }
        None if !source.is_file() => {
            folder::read(source, &BTreeMap::new(), Some(sandbox), &mut intake)?;
        }
        None | Some(Format::Other) => {
            return Err(format!(
                "{}: this is neither a folder nor an archive that can be read; expected a folder, a .zip, a .tar or a .tar.gz",
                source.display()
            ));
        }
        Some(format) => archive(source, format, sandbox, &mut intake)?,
    }
    if intake.submissions.is_empty() && intake.refused.is_empty() {
        return Err(format!(
            "{}: there are no submissions in it; expected a folder, an archive or a program for each student or team",
            source.display()
        ));
    }
    intake.put_in_order();
    Ok(intake)
}

/// What `referee check` takes as a league does: the submissions of a download, or the one in an archive. `None` for
/// what is neither.
pub fn to_check(source: &Path, sandbox: &SandboxChoice<'_>) -> Result<Option<Intake>, String> {
    let is_of_moodle = |name: &str| names::owner(name).is_some_and(|owner| owner.id.is_some());
    let format = formats::of_file(source);
    let Some(format) = format.filter(|format| *format != Format::Other) else {
        let mut inside = entries(source).unwrap_or_default().into_iter();
        let is_download = inside.any(|path| {
            let name = path.file_name().unwrap_or_default();
            is_of_moodle(&name.to_string_lossy())
        });
        return is_download.then(|| read(source, sandbox)).transpose();
    };
    let mut is_class = false;
    let seen = formats::each(source, format, |entry| {
        let path = String::from_utf8_lossy(&entry.path);
        is_class |= path.split('/').take(2).any(is_of_moodle);
        Ok(ControlFlow::Continue(()))
    });
    let mut intake = Intake::default();
    let one = seen.and_then(|()| folder::one(source, &mut intake));
    if let Ok(folder) = &one {
        let inside = entries(folder).unwrap_or_default();
        let is_whole = |path: &PathBuf| path.is_dir() || formats::of_file(path).is_some();
        is_class |= inside.len() > 1 && inside.iter().all(is_whole);
    }
    if is_class {
        return read(source, sandbox).map(Some);
    }
    let folder = one.map_err(|error| format!("{}: {}", source.display(), cause(&error)))?;
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    intake.submissions.push(Submission {
        name: formats::split(&name)
            .map_or(&*name, |(stem, _)| stem)
            .to_owned(),
        id: None,
        folder,
        received: Timestamp::UNIX_EPOCH,
        found_in: String::new(),
        is_newest: true,
    });
    Ok(Some(intake))
}

fn archive(
    source: &Path,
    format: Format,
    sandbox: &SandboxChoice<'_>,
    intake: &mut Intake,
) -> Result<(), String> {
    let shown = source.display();
    let failed = |error: io::Error| match error {
        error if is_full(&error) => no_space(&error),
        error => format!("{shown}: this archive cannot be unpacked: {error}; download it again"),
    };
    let depth = unpack::wrapping(source, format).map_err(failed)?;
    let mut room = intake.room().map_err(failed)?;
    let mut refused = unpack::unpack(source, format, &room, Some(depth)).map_err(failed)?;
    if let Some(problem) = refused.remove("") {
        intake.notes.push(format!("{shown}: {problem}"));
    }
    if depth == 1
        && let Ok(mut inside) = entries(&room)
        && let Some(only) = inside.pop()
    {
        room = only;
    }
    folder::read(&room, &refused, Some(sandbox), intake)
}
