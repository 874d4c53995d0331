//! Archives are unpacked within limits: no entry leads out, none grows without bound.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::formats::{self, Entry, Format, What};
use super::names::{owner, safe_parts};
use crate::system::protect;
use crate::text::escape;

/// Of a student's files, unpacked: compression does not matter.
pub(super) const MAX_BYTES: usize = 64 << 20;

pub(super) const MAX_ENTRIES: usize = 5_000;

const MAX_DEPTH: usize = 64;

const SHOWN: usize = 250;

const MARK: usize = 4;

pub(super) const LEFT_OUT: [&str; 4] = ["__MACOSX", ".DS_Store", "Thumbs.db", ".git"];

#[derive(Debug, Default)]
struct Share {
    bytes: usize,
    entries: usize,
    /// Why the rest is refused: a sentence.
    refused: Option<String>,
}

/// Parts of paths that belong to a wrapping folder: 1 if the archive has a single folder that holds folders or
/// archives, else 0.
pub(super) fn wrapping(archive: &Path, format: Format) -> io::Result<usize> {
    let mut only: Option<String> = None;
    let (mut is_one, mut has_inner) = (true, false);
    formats::each(archive, format, |entry| {
        let next = Ok(ControlFlow::Continue(()));
        let parts = safe_parts(&entry.path).unwrap_or_default();
        let Some((first, inner)) = parts.split_first() else {
            return next;
        };
        if LEFT_OUT.contains(first) {
            return next;
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
    format: Format,
    target: &Path,
    depth: Option<usize>,
) -> io::Result<BTreeMap<String, String>> {
    let mut unpacker = Unpacker::new(target, depth);
    formats::each(archive, format, |entry| unpacker.take(entry))?;
    Ok(unpacker.refused())
}

/// Writes entries of any source: see [`unpack`].
pub(super) struct Unpacker<'a> {
    target: &'a Path,
    depth: Option<usize>,
    shares: BTreeMap<String, Share>,
}

impl<'a> Unpacker<'a> {
    pub(super) const fn new(target: &'a Path, depth: Option<usize>) -> Self {
        Self {
            target,
            depth,
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
    pub(super) fn take(&mut self, mut entry: Entry<'_>) -> io::Result<ControlFlow<()>> {
        let path = entry.path.clone();
        let parts = safe_parts(&path);
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
                let is_name = |part: &&str| safe_parts(part.as_bytes()).is_ok();
                part.filter(is_name).unwrap_or_default().to_owned()
            }
        };
        let share = self.shares.entry(name).or_default();
        if share.refused.is_some() {
            return Ok(ControlFlow::Continue(()));
        }
        let written = match parts {
            Ok(parts) if parts.iter().any(|part| LEFT_OUT.contains(part)) => Ok(()),
            Ok(parts) => write(&mut entry, &parts, self.target, share),
            Err(problem) => refuse(problem),
        };
        let problem = match written {
            Ok(()) => return Ok(ControlFlow::Continue(())),
            Err(error) if error.kind() == io::ErrorKind::Other => error,
            Err(error) => return Err(error),
        };
        share.refused = Some(format!("{} cannot be unpacked: {problem}", shown(&path)));
        // Other submissions go on.
        Ok(match self.depth {
            None => ControlFlow::Break(()),
            Some(_) => ControlFlow::Continue(()),
        })
    }
}

fn shown(path: &[u8]) -> String {
    let path = escape(path);
    match path.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("`{}…`", &path[..end]),
        None => format!("`{path}`"),
    }
}

fn refuse(problem: &str) -> io::Result<()> {
    Err(io::Error::other(problem))
}

/// An error of the kind `Other` refuses the submission.
fn write(
    entry: &mut Entry<'_>,
    parts: &[&str],
    target: &Path,
    share: &mut Share,
) -> io::Result<()> {
    share.entries += 1;
    let too_many = |what: String| {
        refuse(&format!(
            "there are more than {what}; hand in the bot's own files alone"
        ))
    };
    if share.entries > MAX_ENTRIES {
        return too_many(format!("{MAX_ENTRIES} files"));
    }
    if parts.len() > MAX_DEPTH {
        return too_many(format!("{MAX_DEPTH} folders in one another"));
    }
    if let What::Refused(why) = &entry.what {
        return refuse(why);
    }
    let path = target.join(parts.iter().collect::<PathBuf>());
    let is_folder = entry.what == What::Folder;
    let folder = if is_folder {
        &path
    } else {
        path.parent().unwrap_or(target)
    };
    let failed = |in_place: &'static str| {
        move |error: io::Error| match error.kind() {
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => io::Error::other(in_place),
            ErrorKind::InvalidFilename => io::Error::other("its path is too long"),
            _ => error,
        }
    };
    fs::create_dir_all(folder).map_err(failed("a file is in the place of its folder"))?;
    if is_folder {
        return Ok(());
    }
    let mut file = File::create_new(&path).map_err(failed("there are two of this name"))?;
    let mut start = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let Ok(count) = entry.content.read(&mut buffer) else {
            return refuse("it is damaged; make the archive again");
        };
        if count == 0 {
            break;
        }
        start.extend(buffer.iter().take(count.min(MARK - start.len())));
        share.bytes += count;
        if share.bytes > MAX_BYTES {
            return too_many(format!("{} MB", MAX_BYTES >> 20));
        }
        file.write_all(&buffer[..count])?;
    }
    if let Some(time) = entry.modified {
        file.set_modified(SystemTime::from(time))?;
    }
    // Moodle's archives lose execute permissions.
    let is_program = start.starts_with(b"#!") || start == b"\x7fELF";
    protect(&file, entry.is_executable || is_program)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where no folder can be made, as on a full disk.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_failure_of_the_machine_refuses_no_submission() {
        let mut unpacker = Unpacker::new(Path::new("/proc/none"), None);
        let entry = Entry {
            path: b"bot/bot.py".to_vec(),
            what: What::File,
            is_executable: false,
            modified: None,
            content: &mut io::empty(),
        };
        assert!(unpacker.take(entry).is_err());
    }

    #[test]
    fn a_path_that_is_too_long_refuses_its_submission() {
        let target = tempfile::tempdir().unwrap();
        let mut unpacker = Unpacker::new(target.path(), None);
        let entry = Entry {
            path: vec!["x".repeat(200); 40].join("/").into_bytes(),
            what: What::File,
            is_executable: false,
            modified: None,
            content: &mut io::empty(),
        };
        assert!(unpacker.take(entry).is_ok_and(|next| next.is_break()));
    }
}
