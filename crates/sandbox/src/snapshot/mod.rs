//! A bot's own files: which they are, their hash, and a private copy.
//!
//! A bot owns its program's directory, or the one given with it. A directory with another entrant,
//! a home directory and the like are not owned: there it owns its program's file alone. What is
//! copied is what was hashed: a bot that changes during a tournament stays the one that entered.

mod ownership;
mod walk;

use std::fmt;
use std::path::{Path, PathBuf};

pub(super) use self::ownership::check_program;
pub use self::ownership::own_program;
use self::ownership::{Owned, beside, canonical, leads_out};
#[cfg(all(target_os = "linux", not(portable)))]
pub(super) use self::ownership::{SYSTEM, lies_in, shown};
use self::walk::Walk;
pub use self::walk::is_own_page;
use crate::confinement::BotCommand;
use crate::executable::CannotStart;
use crate::system::is_path;

/// Hashed for built-in bots: what they play may change with it.
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
/// let command = BotCommand { name: "bot.sh", argv: &argv, builtin: None, directory: None, starts:
/// &[] };
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
    bot: String,
    argv: Vec<String>,
    owned: Owned,
}

/// The SHA-256 of a bot's files: their paths, executable bits and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

impl fmt::Display for ContentHash {
    /// 64 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub hash: ContentHash,
    /// The command with the paths of the copy.
    pub argv: Vec<String>,
    /// The copied directory; `None` when nothing had to be copied.
    pub directory: Option<PathBuf>,
    pub bytes: u64,
}

impl BotFiles {
    /// Finds a bot's files. `others` are the other entrants, of which it may see nothing.
    ///
    /// An error when its directory is missing, or was given with it and holds another entrant.
    pub fn of(command: BotCommand<'_>, others: &[BotCommand<'_>]) -> Result<Self, CannotStart> {
        Ok(Self {
            bot: command.name.to_owned(),
            argv: command.argv.to_vec(),
            owned: Owned::by(command, others)?,
        })
    }

    pub fn path(&self) -> Option<&Path> {
        match &self.owned {
            Owned::Builtin(_) | Owned::System(_) => None,
            Owned::File(path) | Owned::Directory(path) => Some(path),
        }
    }

    fn root(&self) -> &Path {
        match &self.owned {
            Owned::Builtin(_) => Path::new(""),
            Owned::System(path) | Owned::File(path) => directory_of(path),
            Owned::Directory(path) => path,
        }
    }

    /// Whether it owns a directory, not just its program's file.
    pub const fn is_directory(&self) -> bool {
        matches!(self.owned, Owned::Directory(_))
    }

    pub fn directory(&self) -> Option<&Path> {
        self.path().filter(|_| self.is_directory())
    }

    /// The same files give the same hash, wherever they are.
    pub fn hash(&self) -> Result<ContentHash, CannotStart> {
        Ok(self.walk(None)?.0)
    }

    /// Copies the files into `target`, an existing empty directory, and hashes them. Refuses links
    /// that lead out of the bot's directory, and anything but files, directories and links.
    pub fn copy(&self, target: &Path) -> Result<Snapshot, CannotStart> {
        let (hash, bytes) = self.walk(Some(target))?;
        let directory = self.path().map(|_| target.to_owned());
        let root = self.root();
        let moved = |(index, word): (usize, &String)| {
            // A first word without a slash is looked up in `PATH`.
            let is_named = word.starts_with('-') || (index == 0 && !is_path(word));
            if directory.is_none() || is_named {
                return word.clone();
            }
            let path = Path::new(word);
            let place = beside(&self.bot, path).ok().filter(|_| path.exists());
            let inside = place.and_then(|path| Some(path.strip_prefix(root).ok()?.to_owned()));
            // It starts in the copy: a relative word stays as it is, since it may not be a path at
            // all.
            if index > 0 && inside.as_deref() == Some(path) {
                return word.clone();
            }
            let copy = inside.map(|inside| target.join(inside));
            let copy = copy.filter(|copy| copy.exists());
            copy.map_or_else(|| word.clone(), |copy| copy.to_string_lossy().into_owned())
        };
        Ok(Snapshot {
            hash,
            argv: self.argv.iter().enumerate().map(moved).collect(),
            directory,
            bytes,
        })
    }

    /// The hash and size of its files, copied into `target` if given.
    fn walk(&self, target: Option<&Path>) -> Result<(ContentHash, u64), CannotStart> {
        let target = target.filter(|_| self.path().is_some());
        let mut walk = Walk::new(&self.bot, self.root(), target);
        match &self.owned {
            // The program's file changes with every build; what it plays does not.
            Owned::Builtin(name) => walk.add_entry(b'b', name.as_bytes(), VERSION.as_bytes()),
            Owned::System(path) => walk.file_as(path, path)?,
            Owned::File(path) => {
                // A link is hashed and copied as the file it leads to.
                let source = canonical(&self.bot, path)?;
                if !source.starts_with(self.root()) {
                    return Err(leads_out(&self.bot, path, &source));
                }
                walk.file_as(&source, path)?;
            }
            Owned::Directory(path) => walk.directory(path)?,
        }
        Ok(walk.finish())
    }
}

/// Copies and hashes a directory (canonical) as [`BotFiles::copy`] does. `bot` names it in errors.
pub fn copy_tree(
    bot: &str,
    directory: &Path,
    target: &Path,
) -> Result<(ContentHash, u64), CannotStart> {
    let mut walk = Walk::new(bot, directory, Some(target));
    walk.directory(directory)?;
    Ok(walk.finish())
}

/// Copies a file (canonical) into `target` under this name. `bot` names it in errors.
pub fn copy_file(bot: &str, file: &Path, target: &Path, name: &str) -> Result<(), CannotStart> {
    let root = directory_of(file);
    Walk::new(bot, root, Some(target)).file_as(file, &root.join(name))
}

fn directory_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}
