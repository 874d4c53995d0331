//! What belongs to a bot: which files are its own, their hash, and a private copy of them.
//!
//! A bot owns the directory that its program is in, or the one that was given with it. It
//! does not own a directory that holds another entrant too, nor a home directory or the like:
//! there it owns its program's file alone. What is copied is what was hashed, so that a bot that
//! is changed while a tournament goes on stays the bot that entered it.

use std::env;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::bot::executable::{CannotStart, find_in_path};
use crate::bot::interpreter;
use crate::bot::spec::Program;
use crate::text::escape;

/// Directories that belong to the system: what is in them needs no copy.
pub const SYSTEM: &[&str] = &[
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/snap",
];

/// What tools leave behind, which changes although the bot does not.
const LEFT_OUT: &[&str] = &["__pycache__", ".git"];

/// A directory with more entries is not taken for a bot's own.
const MAX_ENTRIES: usize = 20_000;

/// A directory with more bytes is not taken for a bot's own.
const MAX_BYTES: u64 = 1 << 30;

/// The files of a bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Belongings {
    /// The bot, for messages.
    bot: String,
    what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    /// A strategy of this program.
    Builtin(String),
    /// A program of the system.
    System(PathBuf),
    /// One file of a directory that is not the bot's own. The path is canonical but for its last
    /// part.
    File(PathBuf),
    /// A directory, canonical.
    Directory(PathBuf),
}

/// The SHA-256 of a bot's files: their paths, whether they can be executed, and their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

impl fmt::Display for ContentHash {
    /// 64 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A private copy of a bot's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The hash of what was copied.
    pub hash: ContentHash,
    /// The command to run, with the paths of the copy instead of the original ones.
    pub argv: Vec<String>,
    /// The directory of the copy; `None` when nothing had to be copied.
    pub directory: Option<PathBuf>,
}

impl Belongings {
    /// Finds out what belongs to `program`. `directory` is the directory that was given with it, if
    /// one was; `others` are the other entrants, of which it may see nothing.
    pub fn of(
        program: &Program,
        directory: Option<&Path>,
        others: &[&Program],
    ) -> Result<Self, CannotStart> {
        let bot = program.name.clone();
        let found = |what| {
            Ok(Self {
                bot: bot.clone(),
                what,
            })
        };
        if let Some(directory) = directory {
            let canonical = canonical(&bot, directory)?;
            refuse_shared(&bot, &canonical, program, others)?;
            return found(What::Directory(canonical));
        }
        if let Some(builtin) = builtin(program) {
            return found(What::Builtin(builtin.to_owned()));
        }
        let Some(own) = own_path(program) else {
            let command = program.argv.first().map_or("", String::as_str);
            let path = find_in_path(command).unwrap_or_else(|| PathBuf::from(command));
            return found(What::System(canonical(&bot, &path)?));
        };
        if own.is_dir() {
            let canonical = canonical(&bot, &own)?;
            refuse_shared(&bot, &canonical, program, others)?;
            return found(What::Directory(canonical));
        }
        let file = beside(&bot, &own)?;
        let parent = file.parent().unwrap_or(Path::new("/"));
        if is_common(parent) || shared_with(parent, program, others).is_some() || is_large(parent) {
            return found(What::File(file));
        }
        found(What::Directory(parent.to_owned()))
    }

    /// What is its own, for people: a directory, or one file.
    pub fn path(&self) -> Option<&Path> {
        match &self.what {
            What::Builtin(_) | What::System(_) => None,
            What::File(path) | What::Directory(path) => Some(path),
        }
    }

    /// Whether it has its directory, and not just its program's file.
    pub const fn is_directory(&self) -> bool {
        matches!(self.what, What::Directory(_))
    }

    /// The hash of its files. The same files give the same hash, wherever they are.
    pub fn hash(&self) -> Result<ContentHash, CannotStart> {
        self.walk(None)
    }

    /// Copies the files into `target`, an existing empty directory, and hashes them. Links that
    /// lead out of the bot's directory are refused, and so is whatever is no file, directory or
    /// link.
    pub fn copy(&self, program: &Program, target: &Path) -> Result<Snapshot, CannotStart> {
        let hash = self.walk(Some(target))?;
        let root = match &self.what {
            What::Builtin(_) | What::System(_) => {
                return Ok(Snapshot {
                    hash,
                    argv: program.argv.clone(),
                    directory: None,
                });
            }
            What::File(path) => path.parent().unwrap_or(Path::new("/")),
            What::Directory(path) => path,
        };
        let moved = |(index, word): (usize, &String)| {
            // A first word without a slash is looked for in PATH.
            if word.starts_with('-') || (index == 0 && !word.contains('/')) {
                return word.clone();
            }
            let path = Path::new(word);
            let inside = path
                .canonicalize()
                .ok()
                .filter(|_| path.exists())
                .and_then(|_| beside(&self.bot, path).ok())
                .and_then(|path| Some(path.strip_prefix(root).ok()?.to_owned()));
            match inside {
                Some(inside) if target.join(&inside).exists() => {
                    target.join(inside).to_string_lossy().into_owned()
                }
                _ => word.clone(),
            }
        };
        Ok(Snapshot {
            hash,
            argv: program.argv.iter().enumerate().map(moved).collect(),
            directory: Some(target.to_owned()),
        })
    }

    fn walk(&self, target: Option<&Path>) -> Result<ContentHash, CannotStart> {
        let mut walk = Walk {
            bot: &self.bot,
            hash: Sha256::new(),
            root: Path::new(""),
            target,
            entries: 0,
            bytes: 0,
        };
        match &self.what {
            // The program's file changes with every build; what it plays does not.
            What::Builtin(name) => walk.tell(b'b', name.as_bytes(), VERSION.as_bytes()),
            What::System(path) => {
                walk.target = None;
                walk.root = path.parent().unwrap_or(Path::new("/"));
                walk.file(path)?;
            }
            What::File(path) => {
                walk.root = path.parent().unwrap_or(Path::new("/"));
                if path.is_symlink() {
                    let source = path.canonicalize().map_err(|e| walk.failed(path, &e))?;
                    if !source.starts_with(walk.root) {
                        return Err(walk.leaves(path, &source));
                    }
                    walk.file_from(path, &source)?;
                } else {
                    walk.file(path)?;
                }
            }
            What::Directory(path) => {
                walk.root = path;
                walk.directory(path)?;
            }
        }
        Ok(ContentHash(walk.hash.finalize().into()))
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The name of the strategy when `program` is one of this program's own.
fn builtin(program: &Program) -> Option<&str> {
    program.command.first()?.strip_prefix("builtin:")
}

/// The path among a command's words that is the bot's own: its program, or the first file or
/// directory that its interpreter is given. `None` for a program of the system.
fn own_path(program: &Program) -> Option<PathBuf> {
    let (command, arguments) = program.argv.split_first()?;
    let found = if command.contains('/') {
        Some(PathBuf::from(command))
    } else {
        find_in_path(command)
    };
    let interpreter = Path::new(command)
        .file_name()
        .and_then(|name| interpreter::by_interpreter(name.to_str()?));
    let foreign = |path: &PathBuf| interpreter.is_none() && !is_system(path);
    if let Some(own) = found.filter(foreign) {
        return Some(own);
    }
    arguments
        .iter()
        .filter(|word| !word.starts_with('-'))
        .map(PathBuf::from)
        .find(|path| path.exists() && !is_system(path))
}

/// Whether a path leads into the system's directories.
fn is_system(path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else {
        return false;
    };
    SYSTEM.iter().any(|system| path.starts_with(system))
}

/// Whether nobody can own a directory alone: `/`, a home, the place for temporary files, and
/// whatever holds one of them.
fn is_common(directory: &Path) -> bool {
    let holds = |inside: PathBuf| {
        let inside = inside.canonicalize().unwrap_or(inside);
        inside.starts_with(directory)
    };
    holds(env::temp_dir()) || env::home_dir().is_some_and(holds)
}

/// Whether a directory is too large to be copied for every run, such as the target directory of
/// a compiler.
fn is_large(directory: &Path) -> bool {
    let mut entries = 0;
    let mut bytes = 0;
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            entries += 1;
            if let Ok(meta) = entry.metadata() {
                bytes += meta.len();
                if meta.is_dir() {
                    waiting.push(entry.path());
                }
            }
            if entries > MAX_ENTRIES || bytes > MAX_BYTES {
                return true;
            }
        }
    }
    false
}

/// The entrant that has a directory together with `program`.
fn shared_with<'a>(
    directory: &Path,
    program: &Program,
    others: &[&'a Program],
) -> Option<&'a Program> {
    let place = |program: &Program| own_path(program)?.canonicalize().ok();
    let own = place(program);
    others.iter().copied().find(|other| {
        builtin(other).is_none()
            && place(other)
                .is_some_and(|path| Some(&path) != own.as_ref() && path.starts_with(directory))
    })
}

fn refuse_shared(
    bot: &str,
    directory: &Path,
    program: &Program,
    others: &[&Program],
) -> Result<(), CannotStart> {
    match shared_with(directory, program, others) {
        None => Ok(()),
        Some(other) => Err(CannotStart {
            bot: bot.to_owned(),
            cause: format!(
                "its directory {} also holds {}",
                shown(directory),
                other.name
            ),
            fix: "give each bot a directory of its own".to_owned(),
        }),
    }
}

fn canonical(bot: &str, path: &Path) -> Result<PathBuf, CannotStart> {
    path.canonicalize().map_err(|error| CannotStart {
        bot: bot.to_owned(),
        cause: format!("{} cannot be looked at: {error}", shown(path)),
        fix: "check the spelling and the permissions".to_owned(),
    })
}

/// A path whose directory is canonical and whose last part may be a link.
fn beside(bot: &str, path: &Path) -> Result<PathBuf, CannotStart> {
    match path.file_name() {
        Some(name) => {
            let parent = match path.parent() {
                Some(parent) if parent != Path::new("") => parent,
                _ => Path::new("."),
            };
            Ok(canonical(bot, parent)?.join(name))
        }
        None => canonical(bot, path),
    }
}

/// Whether a directory holds a tournament's journal: it may lie beside the bots, and grows while
/// they play.
fn is_tournament(directory: &Path) -> bool {
    directory.join("games.jsonl").is_file()
}

fn shown(path: &Path) -> String {
    escape(path.as_os_str().as_bytes())
}

/// A walk through a bot's files, in the order of their names.
struct Walk<'a> {
    bot: &'a str,
    hash: Sha256,
    root: &'a Path,
    /// Where the files are copied to.
    target: Option<&'a Path>,
    entries: usize,
    bytes: u64,
}

impl Walk<'_> {
    /// Adds an entry to the hash: its kind, its name, and what is in it, each with its length, so
    /// that no two trees read the same.
    fn tell(&mut self, kind: u8, name: &[u8], content: &[u8]) {
        self.hash.update([kind]);
        for part in [name, content] {
            self.hash.update((part.len() as u64).to_le_bytes());
            self.hash.update(part);
        }
    }

    fn inside(&self, path: &Path) -> PathBuf {
        path.strip_prefix(self.root).unwrap_or(path).to_owned()
    }

    fn directory(&mut self, path: &Path) -> Result<(), CannotStart> {
        let mut entries = fs::read_dir(path)
            .and_then(Iterator::collect::<io::Result<Vec<_>>>)
            .map_err(|error| self.failed(path, &error))?;
        entries.retain(|entry| {
            !LEFT_OUT
                .iter()
                .any(|&left_out| entry.file_name() == left_out)
        });
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(self.too_much());
            }
            let kind = entry.file_type().map_err(|e| self.failed(&path, &e))?;
            if kind.is_dir() && is_tournament(&path) {
                continue;
            }
            if kind.is_dir() {
                let inside = self.inside(&path);
                self.tell(b'd', inside.as_os_str().as_bytes(), b"");
                if let Some(target) = self.target {
                    fs::DirBuilder::new()
                        .mode(0o755)
                        .create(target.join(inside))
                        .map_err(|error| self.failed(&path, &error))?;
                }
                self.directory(&path)?;
            } else if kind.is_symlink() {
                self.link(&path)?;
            } else if kind.is_file() {
                self.file(&path)?;
            } else {
                return Err(CannotStart {
                    bot: self.bot.to_owned(),
                    cause: format!(
                        "its directory holds {}, which is no file, directory or link",
                        shown(&path)
                    ),
                    fix: "remove it".to_owned(),
                });
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<(), CannotStart> {
        self.file_from(path, path)
    }

    /// Takes the content of `source` for the entry `path`.
    fn file_from(&mut self, path: &Path, source: &Path) -> Result<(), CannotStart> {
        let inside = self.inside(path);
        let no_link = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(no_link.bits().cast_signed())
            .open(source)
            .and_then(|file| Ok((file.metadata()?, file)));
        let (meta, mut from) = match opened {
            Ok((meta, file)) if meta.is_file() => (meta, file),
            Ok(_) => return Err(self.failed(source, &io::Error::other("it is no regular file"))),
            Err(error) => return Err(self.failed(source, &error)),
        };
        let executable = meta.permissions().mode() & 0o111 != 0;
        self.bytes = self.bytes.saturating_add(meta.len());
        if self.bytes > MAX_BYTES {
            return Err(self.too_much());
        }
        let mut to = match self.target {
            Some(target) => {
                let created = OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .mode(0o644)
                    .open(target.join(&inside));
                Some(created.map_err(|error| self.failed(path, &error))?)
            }
            None => None,
        };
        let kind = if executable { b'x' } else { b'f' };
        self.tell(kind, inside.as_os_str().as_bytes(), b"");
        let length = self.content(&mut from, to.as_mut());
        let length = length.map_err(|error| self.failed(path, &error))?;
        self.hash.update(length.to_le_bytes());
        if let Some(to) = to {
            let mode = if executable { 0o555 } else { 0o444 };
            to.set_permissions(fs::Permissions::from_mode(mode))
                .map_err(|error| self.failed(path, &error))?;
        }
        Ok(())
    }

    /// Hashes and copies the bytes of a file; how many there were.
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

    /// A link is copied as a link, when it stays within the directory.
    fn link(&mut self, path: &Path) -> Result<(), CannotStart> {
        let to = fs::read_link(path).map_err(|error| self.failed(path, &error))?;
        let stays = match path.canonicalize() {
            Ok(end) => is_system(&end) || (to.is_relative() && end.starts_with(self.root)),
            // It leads nowhere; then it must not name a place outside that may come to be.
            Err(_) => !to.is_absolute() && !climbs(&self.inside(path), &to),
        };
        if !stays {
            return Err(self.leaves(path, &to));
        }
        let inside = self.inside(path);
        self.tell(
            b'l',
            inside.as_os_str().as_bytes(),
            to.as_os_str().as_bytes(),
        );
        if let Some(target) = self.target {
            symlink(&to, target.join(inside)).map_err(|error| self.failed(path, &error))?;
        }
        Ok(())
    }

    fn leaves(&self, link: &Path, to: &Path) -> CannotStart {
        CannotStart {
            bot: self.bot.to_owned(),
            cause: format!(
                "{} is a link that leads out of its directory, to {}",
                shown(link),
                shown(to)
            ),
            fix: "put what it needs into its directory instead of the link".to_owned(),
        }
    }

    fn too_much(&self) -> CannotStart {
        CannotStart {
            bot: self.bot.to_owned(),
            cause: format!(
                "its directory {} holds more than {MAX_ENTRIES} files or {} MiB",
                shown(self.root),
                MAX_BYTES >> 20
            ),
            fix: "give it a directory that holds just what it needs".to_owned(),
        }
    }

    fn failed(&self, path: &Path, error: &io::Error) -> CannotStart {
        CannotStart {
            bot: self.bot.to_owned(),
            cause: format!("{} cannot be read and copied: {error}", shown(path)),
            fix: "check its permissions and the space for temporary files".to_owned(),
        }
    }
}

/// Whether a relative link in `place` names something above the root, word by word.
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
