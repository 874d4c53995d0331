//! A bot's own files: which they are, their hash, and a private copy.
//!
//! A bot owns its program's directory, or the one given with it; of a directory in which there are other entrants, all
//! but those (see `hidden.rs`). A home directory and the like are not owned: there it owns its program's file alone. What
//! is copied is what was hashed: a bot that changes during a run stays the one that entered.
//!
//! In its directory there may be what is not the bot: see [`ignore`] and [`WrittenFiles`]. A run that is resumed
//! knows with which files the bot entered; what is new since then is left out.

mod bot_command;
mod files;
mod hidden;
pub mod ignore;
mod outputs;
mod ownership;
mod walk;
mod written_files;

use std::path::{Path, PathBuf};

pub use self::bot_command::BotCommand;
pub use self::files::{ContentHash, FileChanges, FileEntry, FileList, FileScope, FileSet, listed};
use self::hidden::HiddenFiles;
pub use self::outputs::RunOutputs;
pub use self::ownership::bot_program;
pub(super) use self::ownership::check_program;
use self::ownership::{BotOwnership, beside, canonical, leads_out};
use self::walk::Walk;
pub use self::written_files::WrittenFiles;
use crate::paths::parent_directory;
use referee_host::executable::CannotStart;
use referee_host::system::is_path;

/// Hashed for built-in bots: what they do may change with it.
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
/// let command = BotCommand { name: "bot.sh", argv: &argv, ..BotCommand::default() };
/// let files = BotFiles::of(command, &[])?;
/// assert!(files.is_directory());
///
/// let copy = tempfile::tempdir()?;
/// let snapshot = files.copy(copy.path())?;
/// assert_eq!(snapshot.files.list, files.inspect()?.list);
/// assert_eq!(snapshot.argv[1], copy.path().join("bot.sh").to_string_lossy());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotFiles {
    bot: String,
    argv: Vec<String>,
    ownership: BotOwnership,
    hidden: HiddenFiles,
    scope: FileScope,
    written: WrittenFiles,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub files: FileSet,
    /// The command with the paths of the copy.
    pub argv: Vec<String>,
    /// The copied directory; `None` when nothing had to be copied.
    pub directory: Option<PathBuf>,
}

impl BotFiles {
    /// Finds a bot's files. `others` are the other entrants, of which it may see nothing.
    ///
    /// An error when its directory is missing, or was given with it and holds another entrant.
    pub fn of(command: BotCommand<'_>, others: &[BotCommand<'_>]) -> Result<Self, CannotStart> {
        let ownership = BotOwnership::by(command, others)?;
        let hidden = match &ownership {
            BotOwnership::Directory(root) => {
                let program = bot_program(command.argv).and_then(|path| path.canonicalize().ok());
                HiddenFiles::of(root, program.as_deref(), others)
            }
            _ => HiddenFiles::default(),
        };
        Ok(Self {
            bot: command.name.to_owned(),
            argv: command.argv.to_vec(),
            ownership,
            hidden,
            scope: command.scope.cloned().unwrap_or_default(),
            written: command.written,
        })
    }

    pub fn path(&self) -> Option<&Path> {
        match &self.ownership {
            BotOwnership::Builtin(_) | BotOwnership::System(_) => None,
            BotOwnership::File(path) | BotOwnership::Directory(path) => Some(path),
        }
    }

    fn root(&self) -> &Path {
        match &self.ownership {
            BotOwnership::Builtin(_) => Path::new(""),
            BotOwnership::System(path) | BotOwnership::File(path) => parent_directory(path),
            BotOwnership::Directory(path) => path,
        }
    }

    /// Whether it owns a directory, not just its program's file.
    pub const fn is_directory(&self) -> bool {
        matches!(self.ownership, BotOwnership::Directory(_))
    }

    /// The names of what is in its directory and belongs to other entrants.
    pub fn hidden(&self) -> Vec<String> {
        self.hidden.names()
    }

    pub fn directory(&self) -> Option<&Path> {
        self.path().filter(|_| self.is_directory())
    }

    /// The same files give the same hash, wherever they are.
    pub fn hash(&self) -> Result<ContentHash, CannotStart> {
        Ok(self.inspect()?.list.hash)
    }

    /// Lists and hashes the files.
    pub fn inspect(&self) -> Result<FileSet, CannotStart> {
        self.walk(None)
    }

    /// Copies the files into `target`, an existing empty directory, and hashes them. Refuses links
    /// that lead out of the bot's directory, and anything but files, directories and links.
    pub fn copy(&self, target: &Path) -> Result<Snapshot, CannotStart> {
        let files = self.walk(Some(target))?;
        let directory = self.path().map(|_| target.to_owned());
        let moved = |(index, word): (usize, &String)| {
            // A first word without a slash is looked up in `PATH`.
            let is_named = word.starts_with('-') || (index == 0 && !is_path(word));
            if directory.is_none() || is_named {
                return word.clone();
            }
            let path = Path::new(word);
            let inside = self.inside(path);
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
            files,
            argv: self.argv.iter().enumerate().map(moved).collect(),
            directory,
        })
    }

    /// The place in its folder of a path that is there.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let place = beside(&self.bot, path).ok().filter(|_| path.exists())?;
        Some(place.strip_prefix(self.root()).ok()?.to_owned())
    }

    /// Its files, copied into `target` if given.
    fn walk(&self, target: Option<&Path>) -> Result<FileSet, CannotStart> {
        let target = target.filter(|_| self.path().is_some());
        let words = self.argv.iter().filter(|word| !word.starts_with('-'));
        let named = words.filter_map(|word| self.inside(Path::new(word)));
        // The folder itself names none of its files.
        let named: Vec<PathBuf> = named.filter(|path| !path.as_os_str().is_empty()).collect();
        let mut walk = Walk::new(&self.bot, self.root(), target)
            .within(&self.scope, &named)
            .hiding(&self.hidden)
            .without(self.written);
        match &self.ownership {
            // The program's file changes with every build; what it does may not.
            BotOwnership::Builtin(name) => {
                walk.add_entry(b'b', name.as_bytes(), VERSION.as_bytes());
            }
            BotOwnership::System(path) => walk.file_as(path, path)?,
            BotOwnership::File(path) => {
                // A link is hashed and copied as the file it leads to.
                let source = canonical(&self.bot, path)?;
                if !source.starts_with(self.root()) {
                    return Err(leads_out(&self.bot, path, &source));
                }
                walk.file_as(&source, path)?;
            }
            BotOwnership::Directory(path) => walk.directory(path)?,
        }
        Ok(walk.finish())
    }
}

/// Copies and hashes a directory (canonical) as [`BotFiles::copy`] does. `bot` names it in errors.
pub fn copy_tree(
    bot: &str,
    directory: &Path,
    target: &Path,
    written: WrittenFiles,
) -> Result<FileSet, CannotStart> {
    let mut walk = Walk::new(bot, directory, Some(target)).without(written);
    walk.directory(directory)?;
    Ok(walk.finish())
}

/// Copies a file (canonical) into `target` under this name. `bot` names it in errors.
pub fn copy_file(
    bot: &str,
    file: &Path,
    target: &Path,
    name: &str,
) -> Result<FileSet, CannotStart> {
    let root = parent_directory(file);
    let mut walk = Walk::new(bot, root, Some(target));
    walk.file_as(file, &root.join(name))?;
    Ok(walk.finish())
}
