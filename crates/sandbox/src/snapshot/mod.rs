//! A bot's own files: which they are, their hash, and a private copy of them.
//!
//! A bot owns the directory that its program is in, or the one that was given with it. It
//! does not own a directory that also holds another entrant, nor a home directory or the like:
//! there it owns its program's file alone. What is copied is what was hashed, so that a bot that
//! is changed while a tournament goes on stays the bot that entered it.
//!
//! - `ownership`: which files are a bot's own
//! - `walk`: hashing and copying them

mod ownership;
mod walk;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

#[cfg(all(target_os = "linux", not(portable)))]
pub(super) use self::ownership::SYSTEM;
pub(super) use self::ownership::check_program;
pub use self::ownership::own_program;
use self::ownership::{Owned, beside};
use self::walk::{Walk, newer};
use crate::command::BotCommand;
use crate::executable::CannotStart;
use crate::system::is_path;

/// The version of this program: what a built-in bot plays may change with it.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The files of a bot.
///
/// ```
/// use referee_sandbox::BotCommand;
/// use referee_sandbox::snapshot::BotFiles;
///
/// let directory = tempfile::tempdir()?;
/// let script = directory.path().join("bot.sh");
/// std::fs::write(&script, "#!/bin/sh\n")?;
/// let argv = ["sh".to_owned(), script.to_string_lossy().into_owned()];
/// let command = BotCommand { name: "bot.sh", argv: &argv, builtin: None, directory: None, starts: &[] };
/// let files = BotFiles::of(command, &[])?;
/// assert!(files.is_directory());
///
/// let copy = tempfile::tempdir()?;
/// let snapshot = files.copy(copy.path())?;
/// assert_eq!(snapshot.hash, files.hash()?);
/// assert_eq!(snapshot.argv[1], copy.path().join("bot.sh").to_string_lossy());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotFiles {
    /// The bot, for messages.
    bot: String,
    argv: Vec<String>,
    owned: Owned,
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
    /// How many bytes were copied.
    pub bytes: u64,
}

impl BotFiles {
    /// Finds out which files belong to a bot. `others` are the other entrants, of which it may see
    /// nothing.
    ///
    /// An error when its directory is missing, or was given with it and holds another entrant, too.
    pub fn of(command: BotCommand<'_>, others: &[BotCommand<'_>]) -> Result<Self, CannotStart> {
        Ok(Self {
            bot: command.name.to_owned(),
            argv: command.argv.to_vec(),
            owned: Owned::by(command, others)?,
        })
    }

    /// What is its own, for people: a directory, or one file.
    pub fn path(&self) -> Option<&Path> {
        match &self.owned {
            Owned::Builtin(_) | Owned::System(_) => None,
            Owned::File(path) | Owned::Directory(path) => Some(path),
        }
    }

    /// Whether it has its directory, and not just its program's file.
    pub const fn is_directory(&self) -> bool {
        matches!(self.owned, Owned::Directory(_))
    }

    /// The directory that is its own, canonical, if it has one.
    pub fn directory(&self) -> Option<&Path> {
        self.path().filter(|_| self.is_directory())
    }

    /// The files of its directory that were made or changed after `time`, as seen from it, at most `most`; none
    /// when it owns no directory.
    pub fn newer_than(&self, time: SystemTime, most: usize) -> Vec<PathBuf> {
        let directory = self.directory();
        directory.map_or_else(Vec::new, |directory| newer(directory, time, most))
    }

    /// The hash of its files. The same files give the same hash, wherever they are.
    pub fn hash(&self) -> Result<ContentHash, CannotStart> {
        Ok(self.walk(None)?.0)
    }

    /// Copies the files into `target`, an existing empty directory, and hashes them. Links that
    /// lead out of the bot's directory are refused, and so is whatever is no file, directory or
    /// link.
    pub fn copy(&self, target: &Path) -> Result<Snapshot, CannotStart> {
        let (hash, bytes) = self.walk(Some(target))?;
        let root = match &self.owned {
            Owned::Builtin(_) | Owned::System(_) => {
                return Ok(Snapshot {
                    hash,
                    argv: self.argv.clone(),
                    directory: None,
                    bytes: 0,
                });
            }
            Owned::File(path) => directory_of(path),
            Owned::Directory(path) => path,
        };
        let moved = |(index, word): (usize, &String)| {
            // A first word without a slash is searched for in PATH.
            if word.starts_with('-') || (index == 0 && !is_path(word)) {
                return word.clone();
            }
            let path = Path::new(word);
            let inside = path
                .canonicalize()
                .ok()
                .filter(|_| path.exists())
                .and_then(|_| beside(&self.bot, path).ok())
                .and_then(|path| Some(path.strip_prefix(root).ok()?.to_owned()));
            // It starts in the copy: a word that means the same there stays as it is, as it may be no path
            // at all.
            if index > 0 && inside.as_deref() == Some(path) {
                return word.clone();
            }
            match inside {
                Some(inside) if target.join(&inside).exists() => {
                    target.join(inside).to_string_lossy().into_owned()
                }
                _ => word.clone(),
            }
        };
        Ok(Snapshot {
            hash,
            argv: self.argv.iter().enumerate().map(moved).collect(),
            directory: Some(target.to_owned()),
            bytes,
        })
    }

    /// The hash and the bytes of its files, which are copied into `target`, if one is given.
    fn walk(&self, target: Option<&Path>) -> Result<(ContentHash, u64), CannotStart> {
        let walk = match &self.owned {
            Owned::Builtin(name) => {
                let mut walk = Walk::new(&self.bot, Path::new(""), target);
                // The program's file changes with every build; what it plays does not.
                walk.add_entry(b'b', name.as_bytes(), VERSION.as_bytes());
                walk
            }
            Owned::System(path) => {
                let mut walk = Walk::new(&self.bot, directory_of(path), None);
                walk.file(path)?;
                walk
            }
            Owned::File(path) => {
                let mut walk = Walk::new(&self.bot, directory_of(path), target);
                if path.is_symlink() {
                    walk.linked_file(path)?;
                } else {
                    walk.file(path)?;
                }
                walk
            }
            Owned::Directory(path) => {
                let mut walk = Walk::new(&self.bot, path, target);
                walk.directory(path)?;
                walk
            }
        };
        let bytes = walk.bytes();
        Ok((ContentHash(walk.finish()), bytes))
    }
}

/// Copies the files of a directory, whose path is canonical, into `target`, an existing empty directory, and hashes
/// them, as [`BotFiles::copy`] does. `bot` names it in errors.
pub fn copy_tree(
    bot: &str,
    directory: &Path,
    target: &Path,
) -> Result<(ContentHash, u64), CannotStart> {
    let mut walk = Walk::new(bot, directory, Some(target));
    walk.directory(directory)?;
    let bytes = walk.bytes();
    Ok((ContentHash(walk.finish()), bytes))
}

/// Copies a file, whose path is canonical, into `target` under this name. `bot` names it in errors.
pub fn copy_file(bot: &str, file: &Path, target: &Path, name: &str) -> Result<(), CannotStart> {
    let root = directory_of(file);
    Walk::new(bot, root, Some(target)).file_as(file, &root.join(name))
}

/// The directory that a file is in.
fn directory_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}
