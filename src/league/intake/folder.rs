//! Submissions as entries of a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::formats::{self, Format};
use super::git;
use super::names::{Owner, owner};
use super::objects::{GitError, SandboxChoice};
use super::unpack::unpack;
use super::{Intake, IntakeError, Refused, Submission};
use crate::bot::submission::{entries, is_program, is_unready};
use crate::executable::CannotStart;
use crate::sandbox::snapshot::{copy_file, copy_tree};
use crate::system::is_own;
use crate::text::short_name;
use crate::text::{cause, escape, is_full};

const MAX_NESTED: usize = 8;

struct Group {
    owner: Owner,
    paths: Vec<PathBuf>,
}

/// By name, number and apart; and why others cannot be used.
#[derive(Default)]
struct Found {
    submissions: BTreeMap<(String, Option<String>, String), Group>,
    problems: BTreeMap<(String, Option<String>), String>,
}

impl Found {
    fn ids(&self, name: &str) -> usize {
        let keys = self.submissions.keys().map(|(known, id, _)| (known, id));
        let problems = self.problems.keys().map(|(known, id)| (known, id));
        let ids: BTreeSet<&String> = keys
            .chain(problems)
            .filter(|(known, _)| *known == name)
            .filter_map(|(_, id)| id.as_ref())
            .collect();
        ids.len()
    }

    /// Two students of one name are told apart by number.
    fn called(&self, name: &str, id: Option<&String>) -> String {
        match id {
            Some(id) if self.ids(name) > 1 => short_name(&format!("{name} ({id})")),
            _ => short_name(name),
        }
    }
}

/// Each folder, archive or program in the folder is a submission. `refused`: entries that cannot be used. Without a
/// sandbox, no entry is read as a repository.
pub(super) fn read(
    source: &Path,
    refused: &BTreeMap<String, String>,
    sandbox: Option<&SandboxChoice<'_>>,
    intake: &mut Intake,
) -> Result<(), IntakeError> {
    let found = collect(source, refused, sandbox, intake)?;
    let mut refusals: Vec<Refused> = found
        .problems
        .iter()
        .map(|((name, id), reason)| Refused {
            name: found.called(name, id.as_ref()),
            id: id.clone(),
            reason: reason.clone(),
            received: Timestamp::MAX,
        })
        .collect();
    for ((name, id, _), group) in &found.submissions {
        if found.problems.contains_key(&(name.clone(), id.clone())) {
            continue;
        }
        let name = found.called(name, id.as_ref());
        let shown = group.paths.first().and_then(|path| path.file_name());
        // The archive's temporary path means nothing to people.
        let shown = escape(shown.unwrap_or_default().as_encoded_bytes());
        let received = match group.owner.stamp {
            Some(stamp) => Ok(stamp),
            None => newest(&group.paths),
        };
        let folder = received.and_then(|received| Ok((received, files(&group.paths, intake)?)));
        match folder {
            Ok((received, Ok(folder))) => intake.submissions.push(Submission {
                name,
                id: id.clone(),
                folder,
                received,
                found_in: shown,
                is_newest: true,
            }),
            Ok((received, Err(problem))) => refusals.push(Refused {
                name,
                id: id.clone(),
                reason: format!("{shown}: {problem}"),
                received,
            }),
            Err(error) if is_full(&error) => return Err(IntakeError::NoSpace(error)),
            Err(error) => refusals.push(Refused {
                name,
                id: id.clone(),
                reason: format!("{shown}: {}", cause(&error)),
                received: Timestamp::MAX,
            }),
        }
    }
    intake.refused.append(&mut refusals);
    Ok(())
}

/// The versions of repositories. Repositories within them are not read as such.
pub(super) fn read_versions(
    versions: &[git::Version],
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
) -> Result<Found, IntakeError> {
    let mut found = Found::default();
    let mut seen = entries(source).map_err(IntakeError::unreadable(source))?;
    // Entries refused as a whole left no file.
    seen.extend(
        refused
            .keys()
            .map(|name| source.join(name))
            .filter(|path| !path.exists()),
    );
    for path in seen {
        let full = path.file_name().unwrap_or_default().to_string_lossy();
        let sandbox = sandbox.filter(|_| path.is_dir() && git::is_repository(&path));
        // The usual name on a server.
        let bare = full.strip_suffix(".git").filter(|_| sandbox.is_some());
        let full = bare.map_or(full.clone(), |name| name.to_owned().into());
        let stem = match formats::split(&full) {
            Some((stem, _)) => stem.to_owned(),
            None if path.is_dir() => full.clone().into_owned(),
            None => path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
        };
        // In Moodle's flat layout the extension is that of the student's file.
        let of = match owner(&full) {
            Some(of) if of.id.is_some() => of,
            Some(_) => match owner(&stem) {
                Some(of) => of,
                None => continue,
            },
            None => continue,
        };
        if let Some(problem) = refused.get(&*full) {
            found.problems.insert((of.name, of.id), problem.clone());
            continue;
        }
        if let Some(sandbox) = sandbox {
            let versions = place(&path)
                .map_err(|error| GitError::NotCopied(cause(&error)))
                .and_then(|place| git::versions(&place, Some(&full), sandbox, intake));
            match versions {
                Ok(versions) => read_versions(&versions, intake)?,
                Err(problem) if problem.is_of_machine() => {
                    return Err(IntakeError::of_git(&path, problem));
                }
                Err(problem) => {
                    let problem = format!("{}: {problem}", escape(full.as_bytes()));
                    found.problems.insert((of.name, of.id), problem);
                }
            }
            continue;
        }
        let is_taken = path.is_dir()
            || of.file.is_some()
            || formats::of_file(&path).is_some()
            || is_program(&path)
            || is_unready(&path);
        if !is_taken {
            continue;
        }
        // In Moodle's flat layout files belong together; anything else is a submission of its own.
        let apart = if of.file.is_some() {
            String::new()
        } else {
            full.into_owned()
        };
        let key = (of.name.clone(), of.id.clone(), apart);
        let paths = Vec::new();
        found
            .submissions
            .entry(key)
            .or_insert(Group { owner: of, paths })
            .paths
            .push(path);
    }
    Ok(found)
}

/// A folder with just the files of a submission. The inner error: why there is none.
fn files(paths: &[PathBuf], intake: &mut Intake) -> io::Result<Result<PathBuf, String>> {
    match copies(paths, intake)? {
        Ok(folder) => contents(&folder, intake),
        Err(problem) => Ok(Err(problem)),
    }
}

/// Enters the only folder of a folder and unpacks the only archive, unless it comes out of one.
fn contents(folder: &Path, intake: &mut Intake) -> io::Result<Result<PathBuf, String>> {
    let mut folder = folder.to_owned();
    let mut is_unpacked = false;
    for _ in 0..MAX_NESTED {
        let mut inside = entries(&folder)?;
        inside.retain(|path| {
            path.file_name()
                .is_none_or(|name| name != "onlinetext.html")
        });
        let archives = inside
            .iter()
            .filter(|path| formats::of_file(path).is_some())
            .count();
        match &inside[..] {
            [] => {
                return Ok(Err(
                    "nothing was handed in: there are no files; hand in the program".to_owned(),
                ));
            }
            [only] if only.is_dir() && !only.is_symlink() => folder.clone_from(only),
            [_] if archives == 1 && is_unpacked => {
                return Ok(Err(
                    "there is an archive in the archive; hand in one with the files themselves"
                        .to_owned(),
                ));
            }
            [only] if archives == 1 && only.is_symlink() => {
                return Ok(Err(
                    "it is a link to an archive; put the file itself there".to_owned()
                ));
            }
            [only] if archives == 1 => match inner(only, intake)? {
                Ok(unpacked) => (folder, is_unpacked) = (unpacked, true),
                Err(problem) => return Ok(Err(problem)),
            },
            all if archives == all.len() => {
                return Ok(Err(format!(
                    "there are {archives} archives; hand in one, with the files of the bot"
                )));
            }
            _ => return Ok(Ok(folder)),
        }
    }
    Ok(Err(format!(
        "there are more than {MAX_NESTED} folders in one another; hand in the files themselves"
    )))
}

fn inner(archive: &Path, intake: &mut Intake) -> io::Result<Result<PathBuf, String>> {
    let format = formats::of_file(archive).unwrap_or(Format::Other);
    if format == Format::Other {
        let name = archive.file_name().unwrap_or_default().to_string_lossy();
        return Ok(Err(format!(
            "archives like `{name}` are not read; hand in a .zip or .tar.gz"
        )));
    }
    let folder = intake.room()?;
    Ok(match unpack(archive, format, &folder, None) {
        Ok(refused) => match refused.into_values().next() {
            Some(problem) => Err(problem),
            None => Ok(folder),
        },
        Err(error) if is_full(&error) => return Err(error),
        Err(error) => Err(format!(
            "the archive cannot be unpacked: {}; make it again",
            cause(&error)
        )),
    })
}

/// Copies without Moodle's prefixes, because students can change the originals at any moment.
fn copies(paths: &[PathBuf], intake: &mut Intake) -> io::Result<Result<PathBuf, String>> {
    let room = intake.room()?;
    for path in paths {
        let full = path.file_name().unwrap_or_default().to_string_lossy();
        let place = place(path)?;
        let copied = match paths {
            [_] if place.is_dir() => copy_tree(&full, &place, &room).map(drop),
            _ => {
                let own = owner(&full).and_then(|owner| owner.file);
                let name = own.unwrap_or_else(|| full.clone().into_owned());
                let copy = room.join(&name);
                if copy.parent() != Some(&room) || copy.exists() {
                    return Err(io::Error::other("its files cannot be told apart"));
                }
                copy_file(&full, &place, &room, &name)
            }
        };
        match copied {
            Ok(()) => {}
            Err(problem) if problem.is_for_want_of_space() => {
                return Err(io::ErrorKind::StorageFull.into());
            }
            Err(CannotStart { cause, fix, .. }) => return Ok(Err(format!("{cause}; {fix}"))),
        }
    }
    Ok(Ok(room))
}

/// The organiser's own links count.
fn place(path: &Path) -> io::Result<PathBuf> {
    let meta = path.symlink_metadata()?;
    if meta.is_symlink() {
        return if is_own(&meta) {
            path.canonicalize()
        } else {
            Err(io::Error::other(
                "it is a link that somebody else has made; put the files themselves there",
            ))
        };
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return path.canonicalize();
    };
    Ok(folder.canonicalize()?.join(name))
}

/// The newest change of these files, or of files in these folders.
fn newest(paths: &[PathBuf]) -> io::Result<Timestamp> {
    let mut newest = Timestamp::UNIX_EPOCH;
    let mut all = paths.to_owned();
    while let Some(path) = all.pop() {
        let meta = fs::symlink_metadata(&path)?;
        let meta = if meta.is_symlink() && paths.contains(&path) {
            fs::metadata(&path)?
        } else {
            meta
        };
        if meta.is_dir() {
            if path.file_name().is_some_and(|name| name == ".git") {
                continue;
            }
            for entry in fs::read_dir(&path)? {
                all.push(entry?.path());
            }
        } else {
            let modified = Timestamp::try_from(meta.modified()?).map_err(io::Error::other)?;
            newest = newest.max(modified);
        }
    }
    Ok(newest)
}
