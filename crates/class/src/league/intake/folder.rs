//! Submissions as entries of a folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;

use super::error::{IntakeError, SubmissionError};
use super::formats::{self, ArchiveFormat};
use super::git;
use super::names::{EntryOwner, owner};
use super::objects::{GitError, SandboxChoice};
use super::unpack::unpack;
use super::{Intake, RefusedSubmission, Submission};
use crate::league::roster::SenderId;
use referee_entrants::folder::{entries, is_program, needs_preparation};
use referee_host::system::{is_executable, is_own, protect};
use referee_match::bot::naming::bot_name;
use referee_match::bot::referee_files::REFEREE_FILES;
use referee_sandbox::snapshot::{copy_file, copy_tree};
use referee_text::{cause, escape, is_full};

const MAX_NESTED: usize = 8;

#[derive(Default)]
struct SubmissionFiles {
    stamp: Option<Timestamp>,
    paths: Vec<PathBuf>,
    /// Why it cannot be used.
    problem: Option<String>,
}

/// By name, Moodle's number, and entry. In Moodle's flat layout all files of a student are one group.
type FoundSubmissions = BTreeMap<(String, Option<String>, String), SubmissionFiles>;

/// Each folder, archive or program in the folder is a submission. `refused`: entries that cannot be used. Without a
/// sandbox, no entry is read as a repository.
pub(super) fn read(
    source: &Path,
    refused: &BTreeMap<String, String>,
    sandbox: Option<&SandboxChoice<'_>>,
    intake: &mut Intake,
) -> Result<(), IntakeError> {
    for ((name, id, _), group) in collect(source, refused, sandbox, intake)? {
        let name = bot_name(&name);
        let sender = SenderId::new(&name, id.as_deref());
        let first = group.paths.first().and_then(|path| path.file_name());
        // The archive's temporary path means nothing to people.
        let found_in = escape(first.unwrap_or_default().as_encoded_bytes());
        let mut received = Timestamp::MAX;
        let folder = match group.problem {
            Some(problem) => Err(problem),
            None => match group.folder(&mut received, intake) {
                Ok(folder) => Ok(folder),
                Err(SubmissionError::Io(error)) if is_full(&error) => {
                    return Err(IntakeError::NoSpace(error));
                }
                // Moodle's names mean nothing to people.
                Err(error) if id.is_some() => Err(error.to_string()),
                Err(error) => Err(format!("{found_in}: {error}")),
            },
        };
        match folder {
            Ok(folder) => intake.submissions.push(Submission {
                sender,
                name,
                folder,
                received,
                found_in,
                is_newest: true,
            }),
            Err(reason) => intake.refused.push(RefusedSubmission {
                sender,
                name,
                reason,
                received,
            }),
        }
    }
    Ok(())
}

impl SubmissionFiles {
    /// A folder with the files of the submission. `received` is set once it is known.
    fn folder(
        &self,
        received: &mut Timestamp,
        intake: &mut Intake,
    ) -> Result<PathBuf, SubmissionError> {
        let copied = copies(&self.paths, intake);
        *received = match (self.stamp, &copied) {
            (Some(stamp), _) => stamp,
            (None, Ok((_, Some(newest)))) => {
                Timestamp::try_from(*newest).map_err(io::Error::other)?
            }
            (None, _) => newest(&self.paths)?,
        };
        contents(copied?.0, intake)
    }
}

/// The versions of repositories. Repositories within them are not read as such.
pub(super) fn read_versions(
    versions: &[git::CommittedVersion],
    intake: &mut Intake,
) -> Result<(), IntakeError> {
    for version in versions {
        let before = intake.refused.len();
        read(&version.room, &version.refused, None, intake)?;
        for refused in intake.refused.iter_mut().skip(before) {
            refused.received = version.at;
        }
    }
    Ok(())
}

fn collect(
    source: &Path,
    refused: &BTreeMap<String, String>,
    sandbox: Option<&SandboxChoice<'_>>,
    intake: &mut Intake,
) -> Result<FoundSubmissions, IntakeError> {
    let mut found = FoundSubmissions::new();
    let mut seen = entries(source).map_err(|error| IntakeError::Unreadable {
        path: source.to_owned(),
        error,
    })?;
    // Entries refused as a whole left no file.
    let refused_paths = refused.keys().map(|name| source.join(name));
    seen.extend(refused_paths.filter(|path| !path.exists()));
    for path in seen {
        let sandbox = sandbox.filter(|_| path.is_dir() && git::is_repository(&path));
        let name = entry_name(&path, sandbox.is_some());
        let Some(of) = owner_of_entry(&path, &name) else {
            continue;
        };
        let problem = if let Some(problem) = refused.get(&name) {
            Some(problem.clone())
        } else if let Some(sandbox) = sandbox {
            match repository(&path, &name, sandbox, intake)? {
                None => continue,
                Some(problem) => Some(problem),
            }
        } else if of.file.is_some() || may_be_submission(&path) {
            None
        } else {
            continue;
        };
        let entry = match of.file {
            Some(_) => String::new(),
            None => name,
        };
        let group = found.entry((of.name, of.id, entry)).or_default();
        group.stamp = of.stamp.map(|time| intake.times.instant(time));
        group.paths.push(path);
        group.problem = group.problem.take().or(problem);
    }
    Ok(found)
}

fn entry_name(path: &Path, is_repository: bool) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The usual extension on a server.
    match name.strip_suffix(".git") {
        Some(stem) if is_repository => stem.to_owned(),
        _ => name.into_owned(),
    }
}

/// Who handed in an entry of this name.
fn owner_of_entry(path: &Path, name: &str) -> Option<EntryOwner> {
    // In Moodle's flat layout the extension is that of the student's file.
    let of_moodle = owner(name).filter(|of| of.id.is_some());
    of_moodle.or_else(|| match formats::split(name) {
        Some((stem, _)) => owner(stem),
        None if path.is_dir() => owner(name),
        None => {
            let stem = Path::new(name).file_stem();
            owner(stem.and_then(|stem| stem.to_str()).unwrap_or(name))
        }
    })
}

fn may_be_submission(path: &Path) -> bool {
    path.is_dir() || formats::of_file(path).is_some() || is_program(path) || needs_preparation(path)
}

/// Takes in the versions of a student's repository. Returns its problem, if it has one.
fn repository(
    path: &Path,
    name: &str,
    sandbox: &SandboxChoice<'_>,
    intake: &mut Intake,
) -> Result<Option<String>, IntakeError> {
    let versions = place(path)
        .map_err(|error| GitError::NotCopied(error.to_string()))
        .and_then(|place| git::versions(&place, Some(name), sandbox, intake));
    match versions {
        Ok(versions) => {
            read_versions(&versions, intake)?;
            Ok(None)
        }
        Err(error) if error.is_of_machine() => Err(IntakeError::of_repository(path, error)),
        Err(error) => Ok(Some(format!("{}: {error}", escape(name.as_bytes())))),
    }
}

/// Enters the only folder of a folder and unpacks the only archive, unless it comes out of one.
fn contents(mut folder: PathBuf, intake: &mut Intake) -> Result<PathBuf, SubmissionError> {
    let mut is_unpacked = false;
    for _ in 0..MAX_NESTED {
        let mut inside = entries(&folder)?;
        inside.retain(|path| !path.ends_with("onlinetext.html"));
        let is_archive = |path: &&PathBuf| formats::of_file(path).is_some();
        let archives = inside.iter().filter(is_archive).count();
        let problem = match &inside[..] {
            [] => "nothing was handed in: there are no files; hand in the program".to_owned(),
            [only] if only.is_dir() && !only.is_symlink() => {
                folder.clone_from(only);
                continue;
            }
            [_] if archives == 1 && is_unpacked => {
                "there is an archive in the archive; hand in one with the files themselves"
                    .to_owned()
            }
            [only] if archives == 1 && only.is_symlink() => {
                "it is a link to an archive; put the file itself there".to_owned()
            }
            [only] if archives == 1 => {
                (folder, is_unpacked) = (inner(only, intake)?, true);
                continue;
            }
            all if archives == all.len() => {
                format!("there are {archives} archives; hand in one, with the files of the bot")
            }
            _ => {
                mark_programs(&folder)?;
                return Ok(folder);
            }
        };
        return Err(SubmissionError::refused(problem));
    }
    Err(SubmissionError::refused(format!(
        "there are more than {MAX_NESTED} folders in one another; hand in the files themselves"
    )))
}

/// Where no file is executable, those are that begin as programs do: Moodle's archives lose permissions, and so do some
/// programs that unpack them. What is in an archive and what lies in a folder then is the same.
fn mark_programs(folder: &Path) -> io::Result<()> {
    let mut programs = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let (kind, path) = (entry.file_type()?, entry.path());
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                if is_executable(&path, &entry.metadata()?) {
                    return Ok(());
                }
                let mut start = Vec::new();
                File::open(&path)?.take(4).read_to_end(&mut start)?;
                if start.starts_with(b"#!") || start == b"\x7fELF" {
                    programs.push(path);
                }
            }
        }
    }
    for program in programs {
        protect(&File::open(program)?, true)?;
    }
    Ok(())
}

/// The files of a single submission, in a room.
pub(super) fn one(path: &Path, intake: &mut Intake) -> Result<PathBuf, SubmissionError> {
    contents(copies(&[path.canonicalize()?], intake)?.0, intake)
}

fn inner(archive: &Path, intake: &mut Intake) -> Result<PathBuf, SubmissionError> {
    let format = formats::of_file(archive).unwrap_or(ArchiveFormat::Other);
    if format == ArchiveFormat::Other {
        let name = archive.file_name().unwrap_or_default().to_string_lossy();
        return Err(SubmissionError::refused(format!(
            "archives like `{name}` are not read; hand in a .zip or .tar.gz"
        )));
    }
    let folder = intake.room()?;
    let refused = unpack(archive, format, &folder, None, &mut intake.times).map_err(|error| {
        if is_full(&error) {
            return SubmissionError::from(error);
        }
        let cause = cause(&error);
        SubmissionError::refused(format!(
            "the archive cannot be unpacked: {cause}; make it again"
        ))
    })?;
    match refused.into_values().next() {
        Some(reason) => Err(SubmissionError::refused(reason)),
        None => Ok(folder),
    }
}

/// Copies without Moodle's prefixes, because students can change the originals at any moment. Also the newest change of
/// what was copied and counts: not of what systems and editors have left.
fn copies(
    paths: &[PathBuf],
    intake: &mut Intake,
) -> Result<(PathBuf, Option<SystemTime>), SubmissionError> {
    let room = intake.room()?;
    let mut newest = None;
    for path in paths {
        let full = path.file_name().unwrap_or_default().to_string_lossy();
        let place = place(path)?;
        let copied = if paths.len() == 1 && place.is_dir() {
            copy_tree(&full, &place, &room, REFEREE_FILES)
        } else {
            let file = owner(&full).and_then(|owner| owner.file);
            let name = file.unwrap_or_else(|| full.clone().into_owned());
            let copy = room.join(&name);
            if copy.parent() != Some(&room) || copy.exists() {
                return Err(SubmissionError::refused("its files cannot be told apart"));
            }
            copy_file(&full, &place, &room, &name)
        };
        let files = copied.map_err(|problem| {
            if problem.is_for_want_of_space {
                SubmissionError::Io(io::ErrorKind::StorageFull.into())
            } else {
                SubmissionError::refused(format!("{}; {}", problem.cause, problem.fix))
            }
        })?;
        newest = newest.max(files.newest);
    }
    Ok((room, newest))
}

/// Follows links of the user who runs the referee; other users' links are errors.
fn place(path: &Path) -> Result<PathBuf, SubmissionError> {
    let meta = path.symlink_metadata()?;
    let problem = "it is a link that another user has made; put the files themselves there";
    match (path.parent(), path.file_name()) {
        _ if meta.is_symlink() && !is_own(&meta) => Err(SubmissionError::refused(problem)),
        (Some(folder), Some(name)) if !meta.is_symlink() => Ok(folder.canonicalize()?.join(name)),
        _ => Ok(path.canonicalize()?),
    }
}

/// The newest change of these files, or of files in these folders, where nothing of them counts.
fn newest(paths: &[PathBuf]) -> io::Result<Timestamp> {
    let mut newest = Timestamp::UNIX_EPOCH;
    let mut all = paths.to_owned();
    while let Some(path) = all.pop() {
        let mut meta = fs::symlink_metadata(&path)?;
        if meta.is_symlink() && paths.contains(&path) {
            meta = fs::metadata(&path)?;
        }
        if meta.is_dir() {
            for entry in fs::read_dir(&path)? {
                all.push(entry?.path());
            }
            all.retain(|path| !path.ends_with(".git"));
        } else {
            let modified = Timestamp::try_from(meta.modified()?).map_err(io::Error::other)?;
            newest = newest.max(modified);
        }
    }
    Ok(newest)
}
