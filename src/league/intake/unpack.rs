//! Archives are unpacked within limits: no entry leads out, and none grows without end.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

use super::formats::{self, Entry, Format, What};
use super::names::{owner, safe_parts};
use crate::system::protect;
use crate::text::escape;

/// How many bytes a student's files may have. As this bounds what is written, how well they were compressed does not matter.
pub(super) const MAX_BYTES: u64 = 64 << 20;

/// How many files and folders a student's submission may have.
const MAX_ENTRIES: usize = 5_000;

/// What tools add to archives, which nobody has written.
const LEFT_OUT: [&str; 4] = ["__MACOSX", ".DS_Store", "Thumbs.db", ".git"];

/// What is done with each entry.
pub(super) type Visit<'a> = dyn FnMut(Entry<'_>) -> io::Result<()> + 'a;

/// What has been unpacked of somebody.
#[derive(Debug, Default)]
struct Share {
    bytes: u64,
    entries: usize,
    /// Why nothing more is: a sentence.
    refused: Option<String>,
}

/// How many parts of paths belong to a folder that holds the submissions: 1 where an archive has one folder, which holds
/// folders or archives, and otherwise 0.
pub(super) fn wrapping(archive: &Path, format: Format) -> io::Result<usize> {
    let mut only: Option<String> = None;
    let (mut is_one, mut has_inner) = (true, false);
    formats::each(archive, format, |entry| {
        let Ok(parts) = safe_parts(&entry.path) else {
            return Ok(());
        };
        let parts: Vec<&str> = parts.into_iter().take(3).collect();
        let [first, inner @ ..] = &parts[..] else {
            return Ok(());
        };
        if LEFT_OUT.contains(first) {
            return Ok(());
        }
        let is_folder = entry.what == What::Folder;
        is_one &= is_folder || !inner.is_empty();
        is_one &= *only.get_or_insert_with(|| (*first).to_owned()) == *first;
        let is_archive = |name: &&str| formats::split(name).is_some();
        has_inner |= match inner {
            [] => false,
            [name] => is_folder || is_archive(name),
            _ => true,
        };
        Ok(())
    })?;
    let is_student = |name: &str| owner(name).is_none_or(|owner| owner.id.is_some());
    let wraps = is_one && has_inner && only.is_some_and(|name| !is_student(&name));
    Ok(usize::from(wraps))
}

/// Unpacks an archive into an existing empty folder. With `depth`, each entry below that many folders is somebody's own, with
/// limits of its own; otherwise the archive is one submission. Returns why shares cannot be used, by their names (an empty name
/// for the whole).
pub(super) fn unpack(
    archive: &Path,
    format: Format,
    target: &Path,
    depth: Option<usize>,
) -> io::Result<BTreeMap<String, String>> {
    unpack_each(|visit| formats::each(archive, format, visit), target, depth)
}

/// The same for entries that come from elsewhere: `each` calls its argument with each of them.
pub(super) fn unpack_each(
    each: impl FnOnce(&mut Visit<'_>) -> io::Result<()>,
    target: &Path,
    depth: Option<usize>,
) -> io::Result<BTreeMap<String, String>> {
    let mut shares: BTreeMap<String, Share> = BTreeMap::new();
    each(&mut |mut entry| {
        let path = entry.path.clone();
        let parts = safe_parts(&path);
        let name = match (&parts, depth) {
            (_, None) => String::new(),
            (Ok(parts), Some(depth)) => match parts.get(depth) {
                Some(part) => (*part).to_owned(),
                None => return Ok(()),
            },
            // Whose it says it is, as far as that can be read.
            (Err(_), Some(depth)) => {
                let lossy = String::from_utf8_lossy(&path);
                let part = lossy.split('/').filter(|part| *part != ".").nth(depth);
                let is_name = |part: &&str| safe_parts(part.as_bytes()).is_ok();
                part.filter(is_name).unwrap_or_default().to_owned()
            }
        };
        let share = match shares.entry(name) {
            Slot::Occupied(share) => share.into_mut(),
            Slot::Vacant(place) => place.insert(Share::default()),
        };
        if share.refused.is_some() {
            return Ok(());
        }
        let written = match parts {
            Ok(parts) if parts.iter().any(|part| LEFT_OUT.contains(part)) => Ok(()),
            Ok(parts) => write(&mut entry, &parts, target, share)?,
            Err(problem) => Err(problem.to_owned()),
        };
        if let Err(problem) = written {
            share.refused = Some(format!("`{}` cannot be unpacked: {problem}", escape(&path)));
        }
        Ok(())
    })?;
    let refused = shares.into_iter();
    Ok(refused
        .filter_map(|(name, share)| Some((name, share.refused?)))
        .collect())
}

/// Writes an entry. The inner error says why it is refused.
fn write(
    entry: &mut Entry<'_>,
    parts: &[&str],
    target: &Path,
    share: &mut Share,
) -> io::Result<Result<(), String>> {
    let refused = |problem: &str| Ok(Err(problem.to_owned()));
    share.entries += 1;
    if share.entries > MAX_ENTRIES {
        return Ok(Err(format!(
            "there are more than {MAX_ENTRIES} files; hand in the bot's own files alone"
        )));
    }
    match entry.what {
        What::File | What::Folder => {}
        What::Other => {
            return refused("it is a link or no regular file; put the file itself there");
        }
        What::Repository => {
            return refused(
                "it is another repository (a submodule); put the files themselves there",
            );
        }
        What::Pointer => {
            return refused("Git LFS keeps it elsewhere; commit the file itself, without Git LFS");
        }
        What::Encrypted => return refused("it has a password; hand it in without one"),
        What::Unreadable => {
            return refused(
                "it is damaged or compressed in an unusual way; make the archive again",
            );
        }
    }
    let path = target.join(parts.iter().collect::<std::path::PathBuf>());
    let is_folder = entry.what == What::Folder;
    let folder = if is_folder {
        Some(&*path)
    } else {
        path.parent()
    };
    if let Some(Err(_)) = folder.map(fs::create_dir_all) {
        return refused("a file is in the place of its folder");
    }
    if is_folder {
        return Ok(Ok(()));
    }
    let mut file = match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return refused("there are two of this name");
        }
        Err(error) => return Err(error),
    };
    let mut start = [0; 4];
    let (mut filled, mut buffer) = (0, vec![0; 64 << 10]);
    loop {
        let Ok(count) = entry.content.read(&mut buffer) else {
            return refused("it is damaged; make the archive again");
        };
        if count == 0 {
            break;
        }
        for &byte in buffer.iter().take(count) {
            let Some(place) = start.get_mut(filled) else {
                break;
            };
            *place = byte;
            filled += 1;
        }
        share.bytes += count as u64;
        if share.bytes > MAX_BYTES {
            return Ok(Err(format!(
                "there are more than {} MB; hand in the bot's own files alone",
                MAX_BYTES >> 20
            )));
        }
        file.write_all(&buffer[..count])?;
    }
    // Moodle's archives forget which files can be run.
    let is_program = start.starts_with(b"#!") || start == *b"\x7fELF";
    finish(&file, entry.is_executable || is_program, entry.modified)?;
    Ok(Ok(()))
}

fn finish(file: &File, executable: bool, modified: Option<jiff::Timestamp>) -> io::Result<()> {
    if let Some(time) = modified {
        file.set_modified(SystemTime::from(time))?;
    }
    protect(file, executable)
}
