//! Submissions of students or teams, from folders, archives and repositories.

mod error;
mod folder;
mod formats;
mod git;
pub(in crate::league) mod names;
mod objects;
mod unpack;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

pub use self::error::{IntakeError, SubmissionError};
use self::formats::ArchiveFormat;
pub use self::objects::{GitError, SandboxChoice};
use super::roster::SenderId;
use super::zone::{TimeReader, Zone};
use referee_entrants::folder::{BotFolder, FolderProblem, entries};
use referee_match::bot::naming::composed;
use referee_match::bot::referee_files::REFEREE_FILES;
use referee_sandbox::snapshot::copy_tree;
use referee_text::short_name;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    pub sender: SenderId,
    /// As the entry says: a label.
    pub name: String,
    pub folder: PathBuf,
    pub received: Timestamp,
    pub found_in: String,
    pub is_newest: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedSubmission {
    pub sender: SenderId,
    pub name: String,
    /// Reason and advice, a sentence.
    pub reason: String,
    /// Time of submission; the end of time if unknown.
    pub received: Timestamp,
}

#[derive(Debug, Default)]
pub struct Intake {
    pub submissions: Vec<Submission>,
    pub refused: Vec<RefusedSubmission>,
    /// Problems of the source that concern no student: sentences.
    pub notes: Vec<String>,
    times: TimeReader,
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

    /// The zone that was assumed for times without one; `None` if there were none.
    pub fn assumed_zone(&self) -> Option<&Zone> {
        self.times.is_zone_used.then(|| self.times.zone())
    }

    /// Sorts, and marks each sender's newest. A refusal counts unless something newer can be used.
    fn put_in_order(&mut self) {
        let key = |name: &str, sender: &SenderId| (name.to_owned(), sender.clone());
        self.submissions.sort_by_key(|one| {
            let by = key(&one.name, &one.sender);
            (by, one.received, one.found_in.clone())
        });
        let mut newest: HashMap<SenderId, Timestamp> = HashMap::new();
        self.submissions.iter().for_each(|one| {
            let known = newest.entry(one.sender.clone()).or_insert(one.received);
            *known = one.received.max(*known);
        });
        let mut marked = HashSet::new();
        for one in self.submissions.iter_mut().rev() {
            let is_newest = newest.get(&one.sender) == Some(&one.received);
            one.is_newest = is_newest && marked.insert(one.sender.clone());
        }
        self.refused.retain(|refused| {
            let newest = newest.get(&refused.sender);
            newest.is_none_or(|time| refused.received >= *time)
        });
        self.refused
            .sort_by_key(|one| (key(&one.name, &one.sender), one.received));
    }

    /// All who submitted, each with the label of the newest submission.
    pub fn senders(&self) -> Vec<(&SenderId, &str)> {
        let refused = self.refused.iter().map(|one| (&one.sender, &*one.name));
        let submissions = self.submissions.iter().filter(|one| one.is_newest);
        let newest = submissions.map(|one| (&one.sender, &*one.name));
        let mut seen = HashSet::new();
        let all = newest.chain(refused);
        all.filter(|(sender, _)| seen.insert(*sender)).collect()
    }

    /// The name of a submission, with the number if others have the same name.
    pub fn label(&self, sender: &SenderId, name: &str) -> String {
        let mut senders = self.senders().into_iter();
        let is_shared = senders.any(|(other, label)| other != sender && label == name);
        match sender.number().filter(|_| is_shared) {
            Some(number) => short_name(&format!("{name} ({number})")),
            None => name.to_owned(),
        }
    }
}

/// Who an entry of this name is of, and the label.
pub(in crate::league) fn sender_of(name: &str) -> (SenderId, String) {
    let owner = names::owner(name).filter(|owner| owner.id.is_some());
    match owner {
        Some(owner) => (
            SenderId::new(&owner.name, owner.id.as_deref()),
            composed(&owner.name),
        ),
        None => (SenderId::new(name, None), composed(name)),
    }
}

/// A folder or archive with a folder, archive or program for each student or team. Repositories are read in the
/// sandbox. Times that have no zone are those of `zone`.
pub fn read(source: &Path, sandbox: &SandboxChoice<'_>, zone: Zone) -> Result<Intake, IntakeError> {
    let mut intake = Intake {
        times: TimeReader::new(zone),
        ..Intake::default()
    };
    match formats::of_file(source) {
        None if git::is_repository(source) => {
            let whole = source
                .canonicalize()
                .map_err(|error| IntakeError::Unreadable {
                    path: source.to_owned(),
                    error,
                })?;
            let versions = git::versions(&whole, None, sandbox, &mut intake);
            let versions = versions.map_err(|error| IntakeError::of_repository(source, error))?;
            folder::read_versions(&versions, &mut intake)?;
        }
        None if !source.is_file() => {
            folder::read(source, &BTreeMap::new(), Some(sandbox), &mut intake)?;
        }
        None | Some(ArchiveFormat::Other) => {
            return Err(IntakeError::OtherFile(source.to_owned()));
        }
        Some(format) => archive(source, format, sandbox, &mut intake)?,
    }
    if intake.submissions.is_empty() && intake.refused.is_empty() {
        return Err(IntakeError::NoSubmissions(source.to_owned()));
    }
    intake.put_in_order();
    Ok(intake)
}

/// What `referee check` takes as a league does: the submissions of a download. `None` for what is one bot, or cannot be
/// read.
pub fn to_check(source: &Path, sandbox: &SandboxChoice<'_>) -> Result<Option<Intake>, IntakeError> {
    let is_of_moodle = |name: &str| names::owner(name).is_some_and(|owner| owner.id.is_some());
    let format = formats::of_file(source);
    let Some(format) = format.filter(|format| *format != ArchiveFormat::Other) else {
        let mut inside = entries(source).unwrap_or_default().into_iter();
        let is_download = inside.any(|path| {
            let name = path.file_name().unwrap_or_default();
            is_of_moodle(&name.to_string_lossy())
        });
        return is_download
            .then(|| read(source, sandbox, Zone::default()))
            .transpose();
    };
    let mut is_class = false;
    let seen = formats::each(source, format, |entry| {
        let path = String::from_utf8_lossy(&entry.path);
        is_class |= path.split('/').take(2).any(is_of_moodle);
        Ok(ControlFlow::Continue(()))
    });
    let mut intake = Intake::default();
    if seen.is_ok()
        && let Ok(folder) = folder::one(source, &mut intake)
    {
        let inside = entries(&folder).unwrap_or_default();
        let is_whole = |path: &PathBuf| path.is_dir() || formats::of_file(path).is_some();
        let are_whole = inside.len() > 1 && inside.iter().all(is_whole);
        // Such as `src` and `include`: a bot, as everywhere else.
        let is_none = || matches!(BotFolder::read(&folder), Err(FolderProblem::Empty));
        is_class |= are_whole && is_none();
    }
    if is_class {
        return read(source, sandbox, Zone::default()).map(Some);
    }
    Ok(None)
}

/// Puts the files of one bot, which are in this archive, into an empty folder.
pub fn unpack_bot(archive: &Path, target: &Path) -> Result<(), SubmissionError> {
    let mut intake = Intake::default();
    let files = folder::one(archive, &mut intake)?;
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    match copy_tree(&name, &files, target, REFEREE_FILES) {
        Ok(_) => Ok(()),
        Err(error) if error.is_for_want_of_space => {
            Err(io::Error::from(io::ErrorKind::StorageFull).into())
        }
        Err(error) => Err(SubmissionError::refused(format!(
            "{}; {}",
            error.cause, error.fix
        ))),
    }
}

/// What one student handed in: a folder of files, of which the only one may be an archive or a folder. Whose it is and
/// when it came is known, whatever the files are called.
pub fn of_student(
    files: &Path,
    sender: SenderId,
    name: &str,
    received: Timestamp,
) -> Result<Intake, SubmissionError> {
    let mut intake = Intake::default();
    let folder = folder::one(files, &mut intake)?;
    intake.submissions.push(Submission {
        sender,
        name: name.to_owned(),
        folder,
        received,
        found_in: String::new(),
        is_newest: true,
    });
    Ok(intake)
}

/// Where a file that is sent by this name belongs within the folder of a submission. The error says what is wrong with
/// the name.
pub fn place_of_upload(name: &str) -> Result<PathBuf, &'static str> {
    let folders = names::safe_components(name.as_bytes())?;
    if folders.is_empty() {
        return Err("it has no name");
    }
    Ok(folders.iter().collect())
}

fn archive(
    source: &Path,
    format: ArchiveFormat,
    sandbox: &SandboxChoice<'_>,
    intake: &mut Intake,
) -> Result<(), IntakeError> {
    let failed = |error| IntakeError::of_archive(source, error);
    let depth = unpack::wrapping(source, format).map_err(failed)?;
    let mut room = intake.room().map_err(failed)?;
    let mut refused =
        unpack::unpack(source, format, &room, Some(depth), &mut intake.times).map_err(failed)?;
    if let Some(problem) = refused.remove("") {
        let note = format!("{}: {problem}", source.display());
        intake.notes.push(note);
    }
    if depth == 1
        && let Ok(mut inside) = entries(&room)
        && let Some(only) = inside.pop()
    {
        room = only;
    }
    folder::read(&room, &refused, Some(sandbox), intake)
}
