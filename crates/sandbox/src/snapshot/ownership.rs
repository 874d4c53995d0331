//! Which files are a bot's own.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::bot_command::BotCommand;
use crate::paths::{escaped_path, is_system, parent_directory};
use referee_host::executable::{CannotStart, find_in_path, interpreter};
use referee_host::paths::lies_in;
use referee_host::system::{directory_of, is_path};
use referee_text::cause;

/// A directory with more entries is not a bot's own.
pub(super) const MAX_ENTRIES: usize = 20_000;

/// A directory with more bytes is not a bot's own.
pub(super) const MAX_BYTES: u64 = 1 << 30;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BotOwnership {
    Builtin(String),
    System(PathBuf),
    /// In a directory that can be no bot's own. Canonical but for its last part.
    File(PathBuf),
    /// Canonical.
    Directory(PathBuf),
}

impl BotOwnership {
    /// `others` are entrants too.
    pub(super) fn by(
        command: BotCommand<'_>,
        others: &[BotCommand<'_>],
    ) -> Result<Self, CannotStart> {
        let bot = command.name;
        if let Some(directory) = command.directory {
            return whole_directory(directory, command, others);
        }
        if let Some(builtin) = command.builtin {
            return Ok(Self::Builtin(builtin.to_owned()));
        }
        let Some(program) = bot_program(command.argv) else {
            let first = command.argv.first().map_or("", String::as_str);
            let path = find_in_path(first).unwrap_or_else(|| PathBuf::from(first));
            return Ok(Self::System(canonical(bot, &path)?));
        };
        if program.is_dir() {
            return whole_directory(&program, command, others);
        }
        let file = beside(bot, &program)?;
        let parent = parent_directory(&file);
        if is_common(parent) || is_large(parent) {
            return Ok(Self::File(file));
        }
        Ok(Self::Directory(parent.to_owned()))
    }
}

/// A directory that was named; it must not hold another entrant.
fn whole_directory(
    directory: &Path,
    command: BotCommand<'_>,
    others: &[BotCommand<'_>],
) -> Result<BotOwnership, CannotStart> {
    let canonical = canonical(command.name, directory)?;
    match shared_with(&canonical, command, others) {
        None => Ok(BotOwnership::Directory(canonical)),
        Some(other) => Err(CannotStart::new(
            command.name,
            format!(
                "its directory {} also holds {}",
                escaped_path(&canonical),
                other.name
            ),
            "give each bot a directory of its own",
        )),
    }
}

/// The path in a command that is the bot's own: its program, or the first file or directory given
/// to its interpreter. `None` for a program of the system.
pub fn bot_program(argv: &[String]) -> Option<PathBuf> {
    let (command, arguments) = argv.split_first()?;
    let given = is_path(command).then(|| PathBuf::from(command));
    let found = given.or_else(|| find_in_path(command));
    let interpreter = Path::new(command)
        .file_name()
        .and_then(|name| interpreter::by_interpreter(name.to_str()?));
    // Without arguments it is a program, whatever its name.
    let is_program = interpreter.is_none() || arguments.is_empty();
    let foreign = |path: &PathBuf| is_program && !is_system(path);
    if let Some(program) = found.filter(foreign) {
        return Some(program);
    }
    arguments
        .iter()
        .filter(|word| !word.starts_with('-'))
        .map(PathBuf::from)
        .find(|path| path.exists() && !is_system(path))
}

/// Whether no bot can own a directory: `/`, a home, the temporary directory, and their parents.
fn is_common(directory: &Path) -> bool {
    lies_in(&env::temp_dir(), directory)
        || env::home_dir().is_some_and(|home| lies_in(&home, directory))
}

/// Whether a directory is too large to copy for every run, such as a compiler's target directory.
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

/// Refuses a program that is a link out of its directory.
pub(crate) fn check_program(command: BotCommand<'_>) -> Result<(), CannotStart> {
    let program = bot_program(command.argv).filter(|program| program.is_symlink());
    let Some(program) = program.filter(|_| command.builtin.is_none()) else {
        return Ok(());
    };
    let link = beside(command.name, &program)?;
    let end = canonical(command.name, &link)?;
    let directory = match command.directory {
        Some(directory) => canonical(command.name, directory)?,
        None => link.parent().unwrap_or(&link).to_owned(),
    };
    if end.starts_with(directory) {
        return Ok(());
    }
    let to = fs::read_link(&link).unwrap_or(end);
    Err(leads_out(command.name, &link, &to))
}

pub(super) fn leads_out(bot: &str, link: &Path, to: &Path) -> CannotStart {
    let (link, to) = (escaped_path(link), escaped_path(to));
    CannotStart::new(
        bot,
        format!("{link} is a link that leads out of its directory, to {to}"),
        "put what it needs into its directory instead of the link",
    )
}

fn shared_with<'a>(
    directory: &Path,
    command: BotCommand<'_>,
    others: &[BotCommand<'a>],
) -> Option<BotCommand<'a>> {
    let place = |command: BotCommand<'_>| bot_program(command.argv)?.canonicalize().ok();
    let program = place(command);
    others.iter().copied().find(|&other| {
        other.builtin.is_none()
            && place(other)
                .is_some_and(|path| Some(&path) != program.as_ref() && path.starts_with(directory))
    })
}

pub(super) fn canonical(bot: &str, path: &Path) -> Result<PathBuf, CannotStart> {
    path.canonicalize().map_err(|error| {
        let cause = format!("{} cannot be read: {}", escaped_path(path), cause(&error));
        CannotStart::new(bot, cause, "check the spelling and the permissions")
    })
}

/// Canonical but for its last part, which may be a link.
pub(super) fn beside(bot: &str, path: &Path) -> Result<PathBuf, CannotStart> {
    match path.file_name() {
        Some(name) => Ok(canonical(bot, directory_of(path))?.join(name)),
        None => canonical(bot, path),
    }
}
