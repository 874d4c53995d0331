//! A folder with many bots: each program in it, or in a folder of its own.

use std::path::{Path, PathBuf};

use crate::archive;
use crate::build::recipe::Recipe;
use crate::folder::{
    BotFolder, DecidedBy, Entry, LoadedModules, entries, is_compiled, is_program, needs_preparation,
};
use referee_match::bot::naming::folder_name;
use referee_text::{escape_controls, unreadable};

/// Why nothing can be made of a folder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FolderError {
    /// A sentence that names it.
    #[error("{0}")]
    Unreadable(String),
    #[error(
        "{}: there is no program in it; expected files that can be run, or end like a known language",
        .0.display()
    )]
    Empty(PathBuf),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderPrograms {
    /// The folder is one bot, and by what.
    pub is_one_by: Option<DecidedBy>,
    /// Paths, with names that differ from the file's.
    pub programs: Vec<(String, Option<String>)>,
    pub others: Vec<String>,
    /// Meant as bots, but they cannot be started: directories with no program or several, programs not compiled or
    /// not executable. [`BotFolder::read`] says why.
    pub refused: Vec<(String, Option<String>)>,
    /// Names, and why nothing can be made of them.
    pub unusable: Vec<(String, String)>,
}

/// The bots in a directory, sorted by name: runnable files, sources that can be built, archives, and the bot of each
/// directory in it, named after that directory; or the directory itself, if it is certain that it is one bot.
pub fn programs(folder: &Path) -> Result<FolderPrograms, FolderError> {
    let mut found = FolderPrograms::default();
    let bot = BotFolder::read(folder);
    if let Ok(bot) = bot
        && bot.is_certain(folder)
    {
        found.is_one_by = Some(bot.decided_by);
        found.programs.push((start_of(&bot), folder_name(folder)));
        return Ok(found);
    }
    let unread = |error| FolderError::Unreadable(unreadable(folder, &error));
    let entries = entries(folder).map_err(unread)?;
    let files = entries
        .iter()
        .filter(|path| path.is_file() && is_program(path));
    let files: Vec<PathBuf> = files.cloned().collect();
    let modules = LoadedModules::of(&files);
    for path in entries {
        if path.is_dir() {
            match BotFolder::read(&path) {
                Ok(bot) => found.programs.push((start_of(&bot), folder_name(&path))),
                Err(_) => found.refused.push((text(&path), folder_name(&path))),
            }
        } else if files.contains(&path) && modules.has(&path) {
            found.others.push(escape_controls(&text(&path)));
        } else if let Some(name) = archive::name_of(&path) {
            if path.with_file_name(name).is_dir() {
                // What was unpacked of it.
                found.others.push(escape_controls(&text(&path)));
            } else {
                found.programs.push((text(&path), None));
            }
        } else if is_program(&path) || Recipe::of_file(&path).is_some() && !is_compiled(&path) {
            found.programs.push((text(&path), None));
        } else if needs_preparation(&path) && !is_compiled(&path) {
            found.refused.push((text(&path), None));
        } else {
            found.others.push(escape_controls(&text(&path)));
        }
    }
    if let [(_, unnamed @ None)] = &mut found.programs[..] {
        // The folder of one bot.
        *unnamed = folder_name(folder);
    }
    if found.programs.is_empty() && found.refused.is_empty() {
        return Err(FolderError::Empty(folder.to_owned()));
    }
    Ok(found)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The file that is started, or the folder, where it has to be built.
pub fn start_of(bot: &BotFolder) -> String {
    match &bot.entry {
        Entry::Program(program) => text(program),
        Entry::Sources(_) => text(&bot.path),
    }
}
