//! Archives are unpacked within limits: no entry leads out, none grows without bound.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::SubmissionError;
use super::formats::{self, ArchiveEntry, ArchiveEntryKind, ArchiveFormat};
use super::names::{owner, safe_components};
use crate::league::zone::TimeReader;
use referee_host::system::protect;
use referee_text::escape;

/// Of a student's files, unpacked: compression does not matter.
pub(super) const MAX_BYTES: usize = 64 << 20;

pub(super) const MAX_ENTRIES: usize = 5_000;

const MAX_DEPTH: usize = 64;

/// Of a path in a sentence.
const QUOTED_CHARS: usize = 250;

pub(super) const LEFT_OUT: [&str; 5] =
    ["__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", ".git"];

#[derive(Debug, Default)]
struct Share {
    bytes: usize,
    entries: usize,
    /// Paths of files and folders as they are written, by what they are in lower case.
    spellings: HashMap<String, String>,
    /// Why the rest is refused: a sentence.
    refused: Option<String>,
}

impl Share {
    /// A path that would be the same one where case does not matter.
    fn other_case(&mut self, parts: &[&str]) -> Option<String> {
        let mut path = String::new();
        for part in parts {
            path.extend((!path.is_empty()).then_some('/'));
            path.push_str(part);
            let known = self.spellings.entry(path.to_lowercase());
            let known = known.or_insert_with(|| path.clone());
            if *known != path {
                return Some(known.clone());
            }
        }
        None
    }
}

fn is_archive(parts: &[&str], entry: &ArchiveEntry<'_>) -> bool {
    let name = parts
        .last()
        .filter(|_| entry.what != ArchiveEntryKind::Folder);
    name.is_some_and(|name| formats::split(name).is_some())
}

/// Parts of paths that belong to a wrapping folder: 1 if the archive has a single folder that holds folders or
/// archives, else 0.
pub(super) fn wrapping(archive: &Path, format: ArchiveFormat) -> io::Result<usize> {
    let mut only: Option<String> = None;
    let (mut is_one, mut has_inner) = (true, false);
    formats::each(archive, format, |entry| {
        let next = Ok(ControlFlow::Continue(()));
        let parts = safe_components(&entry.path).unwrap_or_default();
        let Some((first, inner)) = parts.split_first() else {
            return next;
        };
        // Hidden entries are not submissions, as in a folder: macOS packs `._class` beside `class`.
        if LEFT_OUT.contains(first) || first.starts_with(['.', '_']) {
            return next;
        }
        let is_folder = entry.what == ArchiveEntryKind::Folder;
        is_one &= is_folder || !inner.is_empty();
        is_one &= *only.get_or_insert_with(|| (*first).to_owned()) == *first;
        let is_archive = |name: &&str| formats::split(name).is_some();
        has_inner |= match inner {
            [] => false,
            [name] => is_folder || is_archive(name),
            _ => true,
        };
        next
    })?;
    let is_student = |name: &str| owner(name).is_none_or(|owner| owner.id.is_some());
    let wraps = is_one && has_inner && only.is_some_and(|name| !is_student(&name));
    Ok(usize::from(wraps))
}

/// Unpacks into an empty folder. With `depth`, each entry below that many folders is a submission with its own
/// limits; otherwise the whole archive is one. Returns why submissions are refused, by name (empty for the whole).
pub(super) fn unpack(
    archive: &Path,
    format: ArchiveFormat,
    target: &Path,
    depth: Option<usize>,
    times: &mut TimeReader,
) -> io::Result<BTreeMap<String, String>> {
    let mut unpacker = Unpacker::new(target, depth, times);
    unpacker.takes_archives = depth.is_some();
    formats::each(archive, format, |entry| unpacker.take(entry))?;
    Ok(unpacker.refused())
}

/// Writes entries of any source: see [`unpack`].
pub(super) struct Unpacker<'a> {
    target: &'a Path,
    depth: Option<usize>,
    /// Not in an archive of a student's own.
    takes_archives: bool,
    times: &'a mut TimeReader,
    shares: BTreeMap<String, Share>,
}

impl<'a> Unpacker<'a> {
    pub(super) const fn new(
        target: &'a Path,
        depth: Option<usize>,
        times: &'a mut TimeReader,
    ) -> Self {
        Self {
            target,
            depth,
            takes_archives: true,
            times,
            shares: BTreeMap::new(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.shares.values().map(|share| share.bytes).sum()
    }

    pub(super) fn refused(self) -> BTreeMap<String, String> {
        let shares = self.shares.into_iter();
        shares
            .filter_map(|(name, share)| Some((name, share.refused?)))
            .collect()
    }

    /// Breaks when nothing more can be taken.
    pub(super) fn take(&mut self, mut entry: ArchiveEntry<'_>) -> io::Result<ControlFlow<()>> {
        let path = entry.path.clone();
        let parts = safe_components(&path);
        let name = match (&parts, self.depth) {
            (_, None) => String::new(),
            (Ok(parts), Some(depth)) => match parts.get(depth) {
                Some(part) => (*part).to_owned(),
                None => return Ok(ControlFlow::Continue(())),
            },
            // Charged to its owner, as far as the path tells.
            (Err(_), Some(depth)) => {
                let lossy = String::from_utf8_lossy(&path);
                let part = lossy.split('/').filter(|part| *part != ".").nth(depth);
                let is_name = |part: &&str| safe_components(part.as_bytes()).is_ok();
                part.filter(is_name).unwrap_or_default().to_owned()
            }
        };
        let share = self.shares.entry(name).or_default();
        if share.refused.is_some() {
            return Ok(ControlFlow::Continue(()));
        }
        let written = match parts {
            Ok(parts) if parts.iter().any(|part| LEFT_OUT.contains(part)) => Ok(()),
            Ok(parts) if is_archive(&parts, &entry) && !self.takes_archives => {
                refuse("it is an archive in the archive; hand in the files themselves")
            }
            Ok(parts) => match share.other_case(&parts) {
                Some(other) => refuse(format!(
                    "it differs from {} in upper and lower case alone; rename one",
                    quoted_path(other.as_bytes())
                )),
                None => write(&mut entry, &parts, self.target, share, self.times),
            },
            Err(problem) => refuse(problem),
        };
        let reason = match written {
            Ok(()) => return Ok(ControlFlow::Continue(())),
            Err(SubmissionError::Refused(reason)) => reason,
            Err(SubmissionError::Io(error)) => return Err(error),
        };
        let path = quoted_path(&path);
        share.refused = Some(format!("{path} cannot be unpacked: {reason}"));
        // Other submissions go on.
        Ok(match self.depth {
            None => ControlFlow::Break(()),
            Some(_) => ControlFlow::Continue(()),
        })
    }
}

fn quoted_path(path: &[u8]) -> String {
    let path = escape(path);
    match path.char_indices().nth(QUOTED_CHARS) {
        Some((end, _)) => format!("`{}…`", &path[..end]),
        None => format!("`{path}`"),
    }
}

fn refuse(reason: impl Into<Cow<'static, str>>) -> Result<(), SubmissionError> {
    Err(SubmissionError::refused(reason))
}

fn write(
    entry: &mut ArchiveEntry<'_>,
    parts: &[&str],
    target: &Path,
    share: &mut Share,
    times: &mut TimeReader,
) -> Result<(), SubmissionError> {
    share.entries += 1;
    if share.entries > MAX_ENTRIES {
        return too_many(&format!("{MAX_ENTRIES} files"));
    }
    if parts.len() > MAX_DEPTH {
        return too_many(&format!("{MAX_DEPTH} folders in one another"));
    }
    if let ArchiveEntryKind::Refused(why) = &entry.what {
        return refuse(why.clone());
    }
    let path = target.join(parts.iter().collect::<PathBuf>());
    let is_folder = entry.what == ArchiveEntryKind::Folder;
    let folder = if is_folder {
        &path
    } else {
        path.parent().unwrap_or(target)
    };
    let failed = |in_place: &'static str| {
        move |error: io::Error| match error.kind() {
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
                SubmissionError::refused(in_place)
            }
            ErrorKind::InvalidFilename => SubmissionError::refused("its path is too long"),
            _ => error.into(),
        }
    };
    fs::create_dir_all(folder).map_err(failed("a file is in the place of its folder"))?;
    if is_folder {
        return Ok(());
    }
    let mut file = File::create_new(&path).map_err(failed("there are two of this name"))?;
    write_content(entry, &mut file, share)?;
    if let Some(time) = entry.modified {
        file.set_modified(SystemTime::from(times.instant(time)))?;
    }
    Ok(protect(&file, entry.is_executable)?)
}

fn too_many(what: &str) -> Result<(), SubmissionError> {
    refuse(format!(
        "there are more than {what}; hand in the bot's own files alone"
    ))
}

/// Not more than its share, whatever its header says of its size.
fn write_content(
    entry: &mut ArchiveEntry<'_>,
    file: &mut File,
    share: &mut Share,
) -> Result<(), SubmissionError> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let Ok(count) = entry.content.read(&mut buffer) else {
            return refuse("it is damaged; make the archive again");
        };
        if count == 0 {
            return Ok(());
        }
        share.bytes += count;
        if share.bytes > MAX_BYTES {
            return too_many(&format!("{} MB", MAX_BYTES >> 20));
        }
        file.write_all(&buffer[..count])?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where no folder can be made, as on a full disk.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_failure_of_the_machine_refuses_no_submission() {
        let mut times = TimeReader::default();
        let mut unpacker = Unpacker::new(Path::new("/proc/none"), None, &mut times);
        let entry = ArchiveEntry {
            path: b"bot/bot.py".to_vec(),
            what: ArchiveEntryKind::File,
            is_executable: false,
            modified: None,
            content: &mut io::empty(),
        };
        assert!(unpacker.take(entry).is_err());
    }

    #[test]
    fn a_path_that_is_too_long_refuses_its_submission() {
        let target = tempfile::tempdir().unwrap();
        let mut times = TimeReader::default();
        let mut unpacker = Unpacker::new(target.path(), None, &mut times);
        let entry = ArchiveEntry {
            path: vec!["x".repeat(200); 40].join("/").into_bytes(),
            what: ArchiveEntryKind::File,
            is_executable: false,
            modified: None,
            content: &mut io::empty(),
        };
        assert!(unpacker.take(entry).is_ok_and(|next| next.is_break()));
    }
}
