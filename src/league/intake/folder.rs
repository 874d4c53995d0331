//! Submissions as entries of a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::formats::{self, Format};
use super::git;
use super::names::owner;
use super::objects::{GitError, SandboxChoice};
use super::unpack::unpack;
use super::{Intake, Refused, Submission, no_space, of_git};
use crate::bot::submission::{entries, is_program, is_unready};
use crate::sandbox::snapshot::{copy_file, copy_tree};
use crate::system::is_own;
use crate::text::{cause, escape, is_full, short_name, unreadable};

const MAX_NESTED: usize = 8;

#[derive(Default)]
struct Group {
    stamp: Option<Timestamp>,
    paths: Vec<PathBuf>,
    /// Why it cannot be used.
    problem: Option<String>,
}

/// By name, Moodle's number, and entry. In Moodle's flat layout all files of a student are one group.
type Found = BTreeMap<(String, Option<String>, String), Group>;

/// Each folder, archive or program in the folder is a submission. `refused`: entries that cannot be used. Without a
/// sandbox, no entry is read as a repository.
pub(super) fn read(
    source: &Path,
    refused: &BTreeMap<String, String>,
    sandbox: Option<&SandboxChoice<'_>>,
    intake: &mut Intake,
) -> Result<(), String> {
    let found = collect(source, refused, sandbox, intake)?;
    let mut ids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, id, _) in found.keys() {
        ids.entry(name).or_default().extend(id.as_deref());
    }
    for ((name, id, _), group) in &found {
        // Two students of one name are told apart by number.
        let name = match id {
            Some(id) if ids[&**name].len() > 1 => short_name(&format!("{name} ({id})")),
            _ => short_name(name),
        };
        let mut received = Timestamp::MAX;
        let reason = if let Some(problem) = &group.problem {
            problem.clone()
        } else {
            let shown = group.paths.first().and_then(|path| path.file_name());
            // The archive's temporary path means nothing to people.
            let found_in = escape(shown.unwrap_or_default().as_encoded_bytes());
            let at = group.stamp.map_or_else(|| newest(&group.paths), Ok);
            let folder = at.and_then(|at| {
                received = at;
                contents(copies(&group.paths, intake)?, intake)
            });
            match folder {
                Ok(folder) => {
                    intake.submissions.push(Submission {
                        name,
                        id: id.clone(),
                        folder,
                        received,
                        found_in,
                        is_newest: true,
                    });
                    continue;
                }
                Err(error) if is_full(&error) => return Err(no_space(&error)),
                // Moodle's names mean nothing to people.
                Err(error) if id.is_some() => cause(&error),
                Err(error) => format!("{found_in}: {}", cause(&error)),
            }
        };
        intake.refused.push(Refused {
            name,
            id: id.clone(),
            reason,
            received,
        });
    }
    Ok(())
}

/// The versions of repositories. Repositories within them are not read as such.
pub(super) fn read_versions(versions: &[git::Version], intake: &mut Intake) -> Result<(), String> {
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
) -> Result<Found, String> {
    let mut found = Found::new();
    let mut seen = entries(source).map_err(|error| unreadable(source, &error))?;
    // Entries refused as a whole left no file.
    let refused_paths = refused.keys().map(|name| source.join(name));
    seen.extend(refused_paths.filter(|path| !path.exists()));
    for path in seen {
        let full = path.file_name().unwrap_or_default().to_string_lossy();
        let sandbox = sandbox.filter(|_| path.is_dir() && git::is_repository(&path));
        // The usual name on a server.
        let full = match full.strip_suffix(".git") {
            Some(name) if sandbox.is_some() => name.to_owned(),
            _ => full.into_owned(),
        };
        let stem = match formats::split(&full) {
            Some((stem, _)) => stem,
            None if path.is_dir() => &full,
            None => {
                let stem = Path::new(&full).file_stem();
                stem.and_then(|stem| stem.to_str()).unwrap_or(&full)
            }
        };
        // In Moodle's flat layout the extension is that of the student's file.
        let of = owner(&full).filter(|of| of.id.is_some());
        let Some(of) = of.or_else(|| owner(stem)) else {
            continue;
        };
        let problem = if let Some(problem) = refused.get(&full) {
            Some(problem.clone())
        } else if let Some(sandbox) = sandbox {
            let versions = place(&path)
                .map_err(|error| GitError::NotCopied(cause(&error)))
                .and_then(|place| git::versions(&place, Some(&full), sandbox, intake));
            match versions {
                Ok(versions) => {
                    read_versions(&versions, intake)?;
                    continue;
                }
                Err(problem) if problem.is_of_machine() => {
                    return Err(of_git(&path, &problem));
                }
                Err(problem) => Some(format!("{}: {problem}", escape(full.as_bytes()))),
            }
        } else if path.is_dir()
            || of.file.is_some()
            || formats::of_file(&path).is_some()
            || is_program(&path)
            || is_unready(&path)
        {
            None
        } else {
            continue;
        };
        let entry = match of.file {
            Some(_) => String::new(),
            None => full,
        };
        let group = found.entry((of.name, of.id, entry)).or_default();
        group.stamp = of.stamp;
        group.paths.push(path);
        group.problem = group.problem.take().or(problem);
    }
    Ok(found)
}

/// Enters the only folder of a folder and unpacks the only archive, unless it comes out of one. An error of no system
/// call is a sentence for the student.
fn contents(mut folder: PathBuf, intake: &mut Intake) -> io::Result<PathBuf> {
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
            _ => return Ok(folder),
        };
        return Err(io::Error::other(problem));
    }
    Err(io::Error::other(format!(
        "there are more than {MAX_NESTED} folders in one another; hand in the files themselves"
    )))
}

/// The files of a single submission, in a room.
pub(super) fn one(path: &Path, intake: &mut Intake) -> io::Result<PathBuf> {
    contents(copies(&[path.canonicalize()?], intake)?, intake)
}

fn inner(archive: &Path, intake: &mut Intake) -> io::Result<PathBuf> {
    let format = formats::of_file(archive).unwrap_or(Format::Other);
    if format == Format::Other {
        let name = archive.file_name().unwrap_or_default().to_string_lossy();
        return Err(io::Error::other(format!(
            "archives like `{name}` are not read; hand in a .zip or .tar.gz"
        )));
    }
    let folder = intake.room()?;
    let refused = unpack(archive, format, &folder, None).map_err(|error| {
        if is_full(&error) {
            return error;
        }
        let cause = cause(&error);
        io::Error::other(format!(
            "the archive cannot be unpacked: {cause}; make it again"
        ))
    })?;
    match refused.into_values().next() {
        Some(problem) => Err(io::Error::other(problem)),
        None => Ok(folder),
    }
}

/// Copies without Moodle's prefixes, because students can change the originals at any moment.
fn copies(paths: &[PathBuf], intake: &mut Intake) -> io::Result<PathBuf> {
    let room = intake.room()?;
    for path in paths {
        let full = path.file_name().unwrap_or_default().to_string_lossy();
        let place = place(path)?;
        let copied = if paths.len() == 1 && place.is_dir() {
            copy_tree(&full, &place, &room).map(drop)
        } else {
            let file = owner(&full).and_then(|owner| owner.file);
            let name = file.unwrap_or_else(|| full.clone().into_owned());
            let copy = room.join(&name);
            if copy.parent() != Some(&room) || copy.exists() {
                return Err(io::Error::other("its files cannot be told apart"));
            }
            copy_file(&full, &place, &room, &name)
        };
        copied.map_err(|problem| {
            if problem.is_for_want_of_space() {
                io::ErrorKind::StorageFull.into()
            } else {
                io::Error::other(format!("{}; {}", problem.cause, problem.fix))
            }
        })?;
    }
    Ok(room)
}

/// Follows links of the user who runs the referee; other users' links are errors.
fn place(path: &Path) -> io::Result<PathBuf> {
    let meta = path.symlink_metadata()?;
    let problem = "it is a link that another user has made; put the files themselves there";
    match (path.parent(), path.file_name()) {
        _ if meta.is_symlink() && !is_own(&meta) => Err(io::Error::other(problem)),
        (Some(folder), Some(name)) if !meta.is_symlink() => Ok(folder.canonicalize()?.join(name)),
        _ => path.canonicalize(),
    }
}

/// The newest change of these files, or of files in these folders.
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
