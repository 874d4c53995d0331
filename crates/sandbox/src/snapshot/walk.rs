//! Hashes a bot's files, and copies them on request. Their owner may replace a directory by a link
//! meanwhile: each is opened once, by its name in the open parent, and no link is followed.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use referee_text::{cause, escape};
use sha2::{Digest as _, Sha256};

use super::files::{ContentHash, FileChanges, FileEntry, FileList, FileScope, FileSet};
use super::hidden::HiddenFiles;
use super::ignore::{self, IgnoreRules};
use super::ownership::{MAX_BYTES, MAX_ENTRIES, leads_out};
use super::written_files::WrittenFiles;
use crate::paths::{escaped_path, is_system, parent_directory};
use referee_host::executable::CannotStart;
use referee_host::system::{
    EntryKind, OpenDirectory, create_directory, is_executable, protect, slashed, symlink,
};

const MAX_DEPTH: usize = 100;

pub(super) struct Walk<'a> {
    bot: &'a str,
    hash: Sha256,
    root: &'a Path,
    target: Option<&'a Path>,
    /// Paths that the bot's command names: they count, whatever the rules say.
    named: &'a [PathBuf],
    scope: &'a FileScope,
    hidden: Option<&'a HiddenFiles>,
    written: WrittenFiles,
    rules: IgnoreRules,
    list: FileList,
    new: Vec<String>,
    left_out: Vec<String>,
    entries: usize,
    bytes: u64,
    newest: Option<SystemTime>,
}

static EVERYTHING: FileScope = FileScope::NONE;

impl<'a> Walk<'a> {
    /// `target`: where to copy what is found.
    pub(super) fn new(bot: &'a str, root: &'a Path, target: Option<&'a Path>) -> Self {
        Self {
            bot,
            hash: Sha256::new(),
            root,
            target,
            named: &[],
            scope: &EVERYTHING,
            hidden: None,
            written: WrittenFiles::NONE,
            rules: IgnoreRules::built_in(),
            list: FileList::default(),
            new: Vec::new(),
            left_out: Vec::new(),
            entries: 0,
            bytes: 0,
            newest: None,
        }
    }

    /// `named`: see the field.
    pub(super) fn within(self, scope: &'a FileScope, named: &'a [PathBuf]) -> Self {
        Self {
            named,
            scope,
            ..self
        }
    }

    pub(super) const fn hiding(mut self, hidden: &'a HiddenFiles) -> Self {
        self.hidden = Some(hidden);
        self
    }

    /// `written`: see [`WrittenFiles`].
    pub(super) const fn without(mut self, written: WrittenFiles) -> Self {
        self.written = written;
        self
    }

    pub(super) fn finish(mut self) -> FileSet {
        self.list.hash = ContentHash(self.hash.clone().finalize().into());
        let is_under = |path: &str, above: &String| {
            let rest = path.strip_prefix(above.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let excused = |path: &str| {
            let is_left_out = self.rules.would_leave_out(path)
                || self.left_out.iter().any(|above| is_under(path, above));
            is_left_out && !self.is_named(Path::new(path))
        };
        let known = self.scope.known.as_ref();
        let changes = known.map(|known| known.changes(&self.list, excused));
        let changes = changes.map(|changes| FileChanges {
            new: self.new,
            ..changes
        });
        FileSet {
            list: self.list,
            bytes: self.bytes,
            newest: self.newest,
            changes,
        }
    }

    /// Hashes kind, name and content, each with its length: no two trees hash the same bytes.
    pub(super) fn add_entry(&mut self, kind: u8, name: &[u8], content: &[u8]) {
        self.hash.update([kind]);
        for part in [name, content] {
            self.hash.update((part.len() as u64).to_le_bytes());
            self.hash.update(part);
        }
    }

    /// Whether others own the folder, too. What they share is copied, and neither counts nor refuses a bot: it may
    /// belong to another author.
    fn is_shared(&self) -> bool {
        self.hidden.is_some_and(|hidden| !hidden.is_empty())
    }

    fn inside(&self, path: &Path) -> PathBuf {
        path.strip_prefix(self.root).unwrap_or(path).to_owned()
    }

    fn is_named(&self, inside: &Path) -> bool {
        self.named.iter().any(|named| named.starts_with(inside))
    }

    /// Whether it was not there when the bot entered; then it is noted.
    fn is_new(&mut self, inside: &Path) -> bool {
        let key = key(inside);
        let known = self.scope.known.as_ref();
        let is_new =
            known.is_some_and(|known| !known.files.contains_key(&key)) && !self.is_named(inside);
        if is_new {
            self.new.push(key);
        }
        is_new
    }

    fn note(&mut self, inside: &Path, entry: FileEntry) {
        self.list.files.insert(key(inside), entry);
    }

    /// All entries of a directory (canonical) that are a bot's own.
    pub(super) fn directory(&mut self, path: &Path) -> Result<(), CannotStart> {
        let directory = self.read(path, OpenDirectory::at(path))?;
        self.read_rules(&directory, path)?;
        self.contents(&directory, path, 0)
    }

    /// Adds the rules of the folder's own file, if there is one.
    fn read_rules(&mut self, directory: &OpenDirectory, path: &Path) -> Result<(), CannotStart> {
        let path = path.join(ignore::FILE);
        let file = match directory.file(ignore::FILE.as_ref()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            file => self.read(&path, file)?,
        };
        let mut text = Vec::new();
        let read = file.take(ignore::LONGEST + 1).read_to_end(&mut text);
        self.read(&path, read)?;
        let invalid = |cause: String| {
            let fix = "write one pattern a line, as in .gitignore";
            CannotStart::new(self.bot, format!("{}{cause}", escaped_path(&path)), fix)
        };
        if text.len() as u64 > ignore::LONGEST {
            return Err(invalid(format!(
                " has more than {} KiB",
                ignore::LONGEST >> 10
            )));
        }
        let text = String::from_utf8_lossy(&text);
        let added = self.rules.add(&text);
        added.map_err(|error| {
            invalid(format!(
                ":{}: invalid pattern: {}",
                error.line, error.problem
            ))
        })
    }

    /// `depth` folders below the root.
    fn contents(
        &mut self,
        directory: &OpenDirectory,
        path: &Path,
        depth: usize,
    ) -> Result<(), CannotStart> {
        let mut entries = self.read(path, directory.entries())?;
        entries.sort();
        for (name, kind) in entries {
            let path = path.join(&name);
            let inside = self.inside(&path);
            let is_hidden = self.hidden.is_some_and(|hidden| hidden.contain(&path));
            if is_hidden && !self.is_named(&inside) {
                continue;
            }
            if self.is_left_out(directory, &name, kind, &inside) {
                self.left_out.push(key(&inside));
                continue;
            }
            let is_shared = self.is_shared();
            if kind != EntryKind::File && !is_shared && self.is_new(&inside) {
                continue;
            }
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(self.too_much());
            }
            match kind {
                // Each open level needs a descriptor.
                EntryKind::Directory if depth == MAX_DEPTH => return Err(self.too_much()),
                EntryKind::Directory => {
                    if !is_shared {
                        self.add_entry(b'd', &slashed(&inside), b"");
                        self.note(&inside, FileEntry::Directory);
                    }
                    if let Some(target) = self.target {
                        self.read(&path, create_directory(&target.join(inside)))?;
                    }
                    let inner = self.read(&path, directory.directory(&name))?;
                    self.contents(&inner, &path, depth + 1)?;
                }
                EntryKind::Link => self.link(directory, &path)?,
                EntryKind::File => {
                    self.file_from(directory, &path, &path, self.is_named(&inside))?;
                }
                EntryKind::Other if is_shared => {}
                EntryKind::Other => {
                    let path = escaped_path(&path);
                    let cause = format!(
                        "its directory holds {path}, which is not a file, directory or link"
                    );
                    return Err(CannotStart::new(self.bot, cause, "remove it"));
                }
            }
        }
        Ok(())
    }

    /// Whether an entry is not the bot's: a leftover of tools, one of the pages or folders that the caller wrote, or what
    /// the folder's rules name.
    fn is_left_out(
        &self,
        directory: &OpenDirectory,
        name: &OsStr,
        kind: EntryKind,
        inside: &Path,
    ) -> bool {
        if self.is_named(inside) {
            return false;
        }
        let path = slashed(inside);
        let path: Cow<'_, str> = String::from_utf8_lossy(&path);
        self.rules.leaves_out(&path, kind == EntryKind::Directory)
            || match kind {
                EntryKind::Directory => self.written.has_folder(directory, name),
                EntryKind::File => self.written.has_page(directory, name),
                EntryKind::Link | EntryKind::Other => false,
            }
    }

    /// The content of `source` (canonical) for the entry `path`, which counts in any case.
    pub(super) fn file_as(&mut self, source: &Path, path: &Path) -> Result<(), CannotStart> {
        let directory = self.read(source, OpenDirectory::at(parent_directory(source)))?;
        self.file_from(&directory, source, path, true)
    }

    /// The content of `source`, in this directory, for the entry `path`.
    fn file_from(
        &mut self,
        directory: &OpenDirectory,
        source: &Path,
        path: &Path,
        is_named: bool,
    ) -> Result<(), CannotStart> {
        let inside = self.inside(path);
        let opened = directory.file(source.file_name().unwrap_or_default());
        let mut from = self.read(source, opened)?;
        let meta = self.read(source, from.metadata())?;
        if !meta.is_file() {
            return self.read(source, Err(io::Error::other("it is not a regular file")));
        }
        if !is_named && self.scope.outputs.contain(source, &meta) {
            self.left_out.push(key(&inside));
            return Ok(());
        }
        let is_helper = self.is_shared() && !is_named;
        if !is_named && !is_helper && self.is_new(&inside) {
            return Ok(());
        }
        let counts = is_named
            || !is_helper
                && inside != Path::new(ignore::FILE)
                && !self.read(path, self.written.is_data(&mut from))?;
        let executable = is_executable(source, &meta);
        self.bytes = self.bytes.saturating_add(meta.len());
        if self.bytes > MAX_BYTES {
            return Err(self.too_much());
        }
        let to = self
            .target
            .map(|target| File::create_new(target.join(&inside)));
        let mut to = self.read(path, to.transpose())?;
        if counts {
            self.newest = self.newest.max(meta.modified().ok());
            let kind = if executable { b'x' } else { b'f' };
            self.add_entry(kind, &slashed(&inside), b"");
        }
        let content = self.content(&mut from, to.as_mut(), counts);
        let (length, sha256) = self.read(path, content)?;
        if counts {
            self.hash.update(length.to_le_bytes());
        }
        let entry = match (counts, executable) {
            (false, _) => FileEntry::NotCounted,
            (true, false) => FileEntry::File { sha256 },
            (true, true) => FileEntry::Executable { sha256 },
        };
        if !is_helper {
            self.note(&inside, entry);
        }
        if let Some(to) = to {
            self.read(path, protect(&to, executable))?;
        }
        Ok(())
    }

    /// Hashes and copies a file's bytes: how many there were, and their hash. They `count` for that of the bot, too.
    fn content(
        &mut self,
        from: &mut File,
        mut to: Option<&mut File>,
        counts: bool,
    ) -> io::Result<(u64, ContentHash)> {
        let mut buffer = vec![0; 1 << 16];
        let mut length = 0;
        let mut hash = Sha256::new();
        loop {
            let count = from.read(&mut buffer)?;
            if count == 0 {
                return Ok((length, ContentHash(hash.finalize().into())));
            }
            length += count as u64;
            if length > MAX_BYTES {
                return Err(io::Error::other("it grows while it is read"));
            }
            if counts {
                self.hash.update(&buffer[..count]);
                hash.update(&buffer[..count]);
            }
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
        let end = parent_directory(path).join(&to).canonicalize();
        let stays = match end {
            Ok(end) => {
                is_system(&end)
                    || (to.is_relative() && end.starts_with(self.root))
                    || is_python_of_environment(path, &end)
            }
            // A dangling link must not name a place outside that may exist later.
            Err(_) => !to.is_absolute() && !climbs(&self.inside(path), &to),
        };
        let inside = self.inside(path);
        let is_helper = self.is_shared() && !self.is_named(&inside);
        if !stays && is_helper {
            return Ok(());
        }
        if !stays {
            return Err(leads_out(self.bot, path, &to));
        }
        if !is_helper {
            self.add_entry(b'l', &slashed(&inside), &slashed(&to));
            self.note(&inside, FileEntry::Link { to: key(&to) });
        }
        if let Some(target) = self.target {
            // A relative link that climbs out would lead elsewhere from the copy.
            let leaves = to.is_relative() && climbs(&inside, &to);
            let to = if leaves {
                parent_directory(path).join(to)
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
            escaped_path(self.root),
            MAX_BYTES >> 20
        );
        let fix = "give it a directory that holds just what it needs";
        CannotStart::new(self.bot, cause, fix)
    }

    /// What was found at a path, or why that cannot be read and copied.
    fn read<T>(&self, path: &Path, found: io::Result<T>) -> Result<T, CannotStart> {
        found.map_err(|error| {
            let (path, why) = (escaped_path(path), cause(&error));
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

/// A path as lists of files have it.
fn key(path: &Path) -> String {
    escape(&slashed(path))
}
