//! Hashes a bot's files, and copies them on request. Their owner may replace a directory by a link
//! meanwhile: each is opened once, by its name in the open parent, and no link is followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

use referee_text::cause;
use sha2::{Digest as _, Sha256};

use super::ownership::{MAX_BYTES, MAX_ENTRIES, is_system, leads_out, shown};
use super::{ContentHash, directory_of};
use crate::executable::CannotStart;
use crate::system::{
    EntryKind, OpenDirectory, create_directory, is_executable, protect, slashed, symlink,
};

/// Leftovers of tools, which change although the bot does not.
const LEFT_OUT: &[&str] = &["__pycache__", ".git"];

const MAX_DEPTH: usize = 100;

/// Marks a page that the referee wrote.
const PAGE_MARK: &[u8] = b"<meta name=\"generator\" content=\"referee ";

const PAGE_HEAD: u64 = 4096;

pub(super) struct Walk<'a> {
    bot: &'a str,
    hash: Sha256,
    root: &'a Path,
    target: Option<&'a Path>,
    entries: usize,
    bytes: u64,
}

impl<'a> Walk<'a> {
    /// `target`: where to copy what is found.
    pub(super) fn new(bot: &'a str, root: &'a Path, target: Option<&'a Path>) -> Self {
        Self {
            bot,
            hash: Sha256::new(),
            root,
            target,
            entries: 0,
            bytes: 0,
        }
    }

    /// The hash, and the bytes of all files.
    pub(super) fn finish(self) -> (ContentHash, u64) {
        (ContentHash(self.hash.finalize().into()), self.bytes)
    }

    /// Hashes kind, name and content, each with its length: no two trees hash the same bytes.
    pub(super) fn add_entry(&mut self, kind: u8, name: &[u8], content: &[u8]) {
        self.hash.update([kind]);
        for part in [name, content] {
            self.hash.update((part.len() as u64).to_le_bytes());
            self.hash.update(part);
        }
    }

    fn inside(&self, path: &Path) -> PathBuf {
        path.strip_prefix(self.root).unwrap_or(path).to_owned()
    }

    /// All entries of a directory (canonical) that are a bot's own.
    pub(super) fn directory(&mut self, path: &Path) -> Result<(), CannotStart> {
        let directory = self.read(path, OpenDirectory::at(path))?;
        self.contents(&directory, path, 0)
    }

    /// `depth` folders below the root.
    fn contents(
        &mut self,
        directory: &OpenDirectory,
        path: &Path,
        depth: usize,
    ) -> Result<(), CannotStart> {
        for (name, kind) in self.read(path, own_entries(directory))? {
            let path = path.join(&name);
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(self.too_much());
            }
            match kind {
                // Each open level needs a descriptor.
                EntryKind::Directory if depth == MAX_DEPTH => return Err(self.too_much()),
                EntryKind::Directory => {
                    let inside = self.inside(&path);
                    self.add_entry(b'd', &slashed(&inside), b"");
                    if let Some(target) = self.target {
                        self.read(&path, create_directory(&target.join(inside)))?;
                    }
                    let inner = self.read(&path, directory.directory(&name))?;
                    self.contents(&inner, &path, depth + 1)?;
                }
                EntryKind::Link => self.link(directory, &path)?,
                EntryKind::File => self.file_from(directory, &path, &path)?,
                EntryKind::Other => {
                    let path = shown(&path);
                    let cause = format!(
                        "its directory holds {path}, which is not a file, directory or link"
                    );
                    return Err(CannotStart::new(self.bot, cause, "remove it"));
                }
            }
        }
        Ok(())
    }

    /// The content of `source` (canonical) for the entry `path`.
    pub(super) fn file_as(&mut self, source: &Path, path: &Path) -> Result<(), CannotStart> {
        let directory = self.read(source, OpenDirectory::at(directory_of(source)))?;
        self.file_from(&directory, source, path)
    }

    /// The content of `source`, in this directory, for the entry `path`.
    fn file_from(
        &mut self,
        directory: &OpenDirectory,
        source: &Path,
        path: &Path,
    ) -> Result<(), CannotStart> {
        let inside = self.inside(path);
        let opened = directory.file(source.file_name().unwrap_or_default());
        let mut from = self.read(source, opened)?;
        let meta = self.read(source, from.metadata())?;
        if !meta.is_file() {
            return self.read(source, Err(io::Error::other("it is not a regular file")));
        }
        let executable = is_executable(source, &meta);
        self.bytes = self.bytes.saturating_add(meta.len());
        if self.bytes > MAX_BYTES {
            return Err(self.too_much());
        }
        let to = self
            .target
            .map(|target| File::create_new(target.join(&inside)));
        let mut to = self.read(path, to.transpose())?;
        let kind = if executable { b'x' } else { b'f' };
        self.add_entry(kind, &slashed(&inside), b"");
        let length = self.content(&mut from, to.as_mut());
        let length = self.read(path, length)?;
        self.hash.update(length.to_le_bytes());
        if let Some(to) = to {
            self.read(path, protect(&to, executable))?;
        }
        Ok(())
    }

    /// Hashes and copies a file's bytes; how many there were.
    fn content(&mut self, from: &mut File, mut to: Option<&mut File>) -> io::Result<u64> {
        let mut buffer = vec![0; 1 << 16];
        let mut length = 0;
        loop {
            let count = from.read(&mut buffer)?;
            if count == 0 {
                return Ok(length);
            }
            length += count as u64;
            if length > MAX_BYTES {
                return Err(io::Error::other("it grows while it is read"));
            }
            self.hash.update(&buffer[..count]);
            if let Some(to) = &mut to {
                to.write_all(&buffer[..count])?;
            }
        }
    }

    /// Copied as a link when it stays within the root.
    fn link(&mut self, directory: &OpenDirectory, path: &Path) -> Result<(), CannotStart> {
        let to = directory.link(path.file_name().unwrap_or_default());
        let to = self.read(path, to)?;
        // Not of the path, which may be another link by now.
        let end = directory_of(path).join(&to).canonicalize();
        let stays = match end {
            Ok(end) => {
                is_system(&end)
                    || (to.is_relative() && end.starts_with(self.root))
                    || is_python_of_environment(path, &end)
            }
            // A dangling link must not name a place outside that may exist later.
            Err(_) => !to.is_absolute() && !climbs(&self.inside(path), &to),
        };
        if !stays {
            return Err(leads_out(self.bot, path, &to));
        }
        let inside = self.inside(path);
        self.add_entry(b'l', &slashed(&inside), &slashed(&to));
        if let Some(target) = self.target {
            // A relative link that climbs out would lead elsewhere from the copy.
            let leaves = to.is_relative() && climbs(&inside, &to);
            let to = if leaves {
                directory_of(path).join(to)
            } else {
                to
            };
            self.read(path, symlink(&to, target.join(inside)))?;
        }
        Ok(())
    }

    fn too_much(&self) -> CannotStart {
        let cause = format!(
            "its directory {} holds more than {MAX_ENTRIES} files, {} MiB, or {MAX_DEPTH} folders in one another",
            shown(self.root),
            MAX_BYTES >> 20
        );
        let fix = "give it a directory that holds just what it needs";
        CannotStart::new(self.bot, cause, fix)
    }

    /// What was found at a path, or why that cannot be read and copied.
    fn read<T>(&self, path: &Path, found: io::Result<T>) -> Result<T, CannotStart> {
        found.map_err(|error| {
            let (path, why) = (shown(path), cause(&error));
            let cause = format!("{path} cannot be read and copied: {why}");
            let fix = "check its permissions and the space for temporary files";
            CannotStart::copying(self.bot, cause, &error, fix)
        })
    }
}

/// The Python of a virtual environment may lead to wherever it is installed, and the copy does the
/// same.
fn is_python_of_environment(link: &Path, end: &Path) -> bool {
    let environment = link.parent().and_then(Path::parent);
    let name = link.file_name().unwrap_or_default().to_string_lossy();
    environment.is_some_and(|root| root.join("pyvenv.cfg").is_file())
        && (name.starts_with("python") || name.starts_with("pypy"))
        && end.is_file()
}

/// Whether a relative link in `place` climbs above the root, judged by its words.
fn climbs(place: &Path, to: &Path) -> bool {
    let mut depth = place.components().count().saturating_sub(1);
    for component in to.components() {
        match component {
            Component::ParentDir if depth == 0 => return true,
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    false
}

/// The entries that are a bot's own, sorted by name: without leftovers of tools, and without the
/// referee's pages and tournament folders. Records stay: a bot may play by them.
fn own_entries(directory: &OpenDirectory) -> io::Result<Vec<(OsString, EntryKind)>> {
    let mut entries = directory.entries()?;
    entries.retain(|(name, kind)| {
        let is_written_later = match kind {
            EntryKind::Directory => is_tournament(directory, name),
            EntryKind::File => is_page(directory, name),
            EntryKind::Link | EntryKind::Other => false,
        };
        !LEFT_OUT.iter().any(|&left_out| name == left_out) && !is_written_later
    });
    entries.sort();
    Ok(entries)
}

fn is_page(directory: &OpenDirectory, name: &OsStr) -> bool {
    let is_html = Path::new(name)
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("html"));
    is_html && directory.file(name).and_then(is_own_page).unwrap_or(false)
}

/// Whether the referee wrote the page in this file.
pub fn is_own_page(file: File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(PAGE_HEAD).read_to_end(&mut start)?;
    let mut windows = start.windows(PAGE_MARK.len());
    Ok(windows.any(|window| window == PAGE_MARK))
}

/// Whether a directory holds a tournament's journal: it may lie beside the bots, and grows while
/// they play.
fn is_tournament(directory: &OpenDirectory, name: &OsStr) -> bool {
    let journal = directory
        .directory(name)
        .and_then(|inner| inner.file("games.jsonl".as_ref())?.metadata());
    journal.is_ok_and(|meta| meta.is_file())
}
