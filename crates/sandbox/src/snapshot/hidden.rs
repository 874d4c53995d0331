//! What lies in a bot's folder and is another entrant's.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::bot_command::BotCommand;
use super::ownership::{beside, bot_program};

/// Of a folder that several entrants share, what one of them does not see. What is the program of none of them, such
/// as a shared module, stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HiddenFiles {
    /// Canonical.
    folders: Vec<PathBuf>,
    /// Programs: their folder (canonical) and name. Also files that differ in the extension only are hidden, such as its
    /// source.
    programs: Vec<(PathBuf, OsString)>,
}

impl HiddenFiles {
    /// `root`: the folder, canonical. `program`: the bot's own, canonical.
    pub(super) fn of(root: &Path, program: Option<&Path>, others: &[BotCommand<'_>]) -> Self {
        let mut hidden = Self::default();
        for other in others.iter().filter(|other| other.builtin.is_none()) {
            let folder = other
                .directory
                .and_then(|folder| folder.canonicalize().ok());
            if let Some(folder) = folder.filter(|folder| folder != root && folder.starts_with(root))
            {
                hidden.folders.push(folder);
                continue;
            }
            let Some(path) = bot_program(other.argv) else {
                continue;
            };
            // A program that is a link is hidden at both ends.
            let ends = [beside(other.name, &path).ok(), path.canonicalize().ok()];
            for end in ends.into_iter().flatten() {
                if !end.starts_with(root) || Some(&*end) == program {
                    continue;
                }
                match (end.parent(), end.file_name()) {
                    (Some(parent), Some(name)) if parent == root => {
                        hidden.programs.push((root.to_owned(), name.to_owned()));
                    }
                    (Some(parent), _) => hidden.folders.push(parent.to_owned()),
                    _ => {}
                }
            }
        }
        hidden
    }

    pub(super) fn is_empty(&self) -> bool {
        self.folders.is_empty() && self.programs.is_empty()
    }

    pub(super) fn contain(&self, path: &Path) -> bool {
        self.folders.iter().any(|folder| folder == path)
            || self.programs.iter().any(|(folder, name)| {
                path.parent() == Some(folder) && path.file_stem() == Path::new(name).file_stem()
            })
    }

    /// The names of what is hidden.
    pub(super) fn names(&self) -> Vec<String> {
        let folders = self.folders.iter().filter_map(|folder| folder.file_name());
        let programs = self.programs.iter().map(|(_, name)| name.as_os_str());
        let names = folders.chain(programs);
        let mut names: Vec<String> = names
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.dedup();
        names
    }
}
