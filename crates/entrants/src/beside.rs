//! Which programs beside a bot's file are other bots: of them it may see nothing, however it was named.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use memchr::memmem;

use crate::class::{FolderPrograms, programs};
use crate::folder::{BotFolder, Entry, is_program};
use referee_host::system::directory_of;
use referee_match::bot::fault::crash::is_library_module;
use referee_match::bot::spec::with_slash;
use referee_sandbox::BotCommand;
use referee_sandbox::snapshot::BotFiles;

/// So much of a file is searched for names, in bytes.
const SEARCHED: u64 = 1 << 20;

/// What was read of folders, so that one of many bots is read once.
#[derive(Debug, Default)]
pub struct FolderReadings(RefCell<HashMap<PathBuf, Rc<FolderReading>>>);

#[derive(Debug, Default)]
struct FolderReading {
    /// Its program where it is one bot.
    program: Option<PathBuf>,
    /// Its bots where it is a class; nothing of a folder that cannot be read, or holds none.
    found: FolderPrograms,
}

impl FolderReadings {
    /// The folder of a program; nothing where it can be no bot's own, such as a home folder or one of the system.
    fn of(&self, program: &Path) -> Rc<FolderReading> {
        let folder = directory_of(program);
        let mut known = self.0.borrow_mut();
        let read = || {
            let argv = [with_slash(&program.to_string_lossy())];
            let command = BotCommand {
                argv: &argv,
                ..BotCommand::default()
            };
            let is_own = BotFiles::of(command, &[]).is_ok_and(|files| files.is_directory());
            if !is_own {
                return Rc::default();
            }
            let program = match BotFolder::read(folder).map(|bot| bot.entry) {
                Ok(Entry::Program(program)) => Some(program),
                _ => None,
            };
            let found = programs(folder).unwrap_or_default();
            Rc::new(FolderReading { program, found })
        };
        Rc::clone(known.entry(folder.to_owned()).or_insert_with(read))
    }
}

/// The other bots in the folder of a program's file: those that the folder holds where it is given as a class. There are none
/// where the folder, given as one bot, is this one. What the program speaks of by its name is a part of it, and so is what
/// that speaks of.
pub(crate) fn other_bots(program: &Path, readings: &FolderReadings) -> Vec<PathBuf> {
    let reading = readings.of(program);
    let found = &reading.found;
    let bots = found.programs.iter().map(|(path, _)| PathBuf::from(path));
    let mut bots: Vec<PathBuf> = bots.collect();
    // A bot in a folder of its own is called by that.
    let folder = directory_of(program);
    let entry = |path: &PathBuf| {
        let inside = path.strip_prefix(folder).unwrap_or(path);
        inside.iter().next().unwrap_or_default().to_owned()
    };
    let this = program.file_name().unwrap_or_default();
    let is_this = |path: &PathBuf| entry(path) == this;
    let is_whole = found.is_one_by.is_some() || reading.program.iter().any(is_this);
    if is_whole || !bots.iter().any(is_this) {
        return Vec::new();
    }
    // A program and what it was compiled from are one.
    bots.retain(|bot| Path::new(&entry(bot)).file_stem() != program.file_stem());
    let modules = found.others.iter().map(PathBuf::from);
    let modules = modules.filter(|path| is_program(path));
    let mut others: Vec<PathBuf> = bots.iter().cloned().chain(modules).collect();
    let mut own = vec![program.to_owned()];
    while let Some(path) = own.pop() {
        let text = beginning(&path);
        let is_named = |other: &PathBuf| speaks_of(&text, Path::new(&entry(other)));
        let (named, rest): (Vec<_>, Vec<_>) = others.into_iter().partition(is_named);
        own.extend(named);
        others = rest;
    }
    bots.retain(|bot| others.contains(bot));
    bots
}

/// Of a file; nothing of a folder.
fn beginning(path: &Path) -> Vec<u8> {
    let mut text = Vec::new();
    if let Ok(file) = fs::File::open(path) {
        // What cannot be read names nothing.
        let _ = file.take(SEARCHED).read_to_end(&mut text);
    }
    text
}

/// Whether a program names a file beside it: as a word, with or without its extension. What is called as a module of Python's
/// library is named by its whole name alone: `import random` does not mean `random.py`.
fn speaks_of(text: &[u8], file: &Path) -> bool {
    let stem = file.file_stem().unwrap_or_default();
    let is_library = stem.to_str().is_some_and(is_library_module);
    let name = file.file_name().filter(|_| is_library).unwrap_or(stem);
    has_word(text, name)
}

fn has_word(text: &[u8], word: &OsStr) -> bool {
    let word = word.as_encoded_bytes();
    let is_part =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let is_word = |place: usize| {
        !is_part(place.checked_sub(1).and_then(|before| text.get(before)))
            && !is_part(text.get(place + word.len()))
    };
    memmem::find_iter(text, word).any(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        folder
    }

    fn others(files: &[(&str, &str)]) -> Vec<String> {
        let folder = folder(files);
        let others =
            other_bots(&folder.path().join(files[0].0), &FolderReadings::default()).into_iter();
        let name = |path: PathBuf| {
            let inside = path.strip_prefix(folder.path()).expect("inside");
            inside.to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = others.map(name).collect();
        names.sort();
        names
    }

    const BOT: &str = "#!/usr/bin/env python3\nimport random\n";

    #[test]
    fn other_bots_of_the_folder_are_found() {
        for (files, expected) in [
            (
                &[("ann.py", BOT), ("ben.py", BOT), ("notes.txt", "x")][..],
                &["ben.py"][..],
            ),
            // It means the library's.
            (&[("ann.py", BOT), ("random.py", BOT)], &["random.py"]),
            (
                &[("ann.py", BOT), ("ben.py", BOT), ("cem/bot.py", BOT)],
                &["ben.py", "cem/bot.py"],
            ),
            // Parts of it.
            (
                &[
                    (
                        "ann.py",
                        "#!/usr/bin/env python3\nfrom board import Board\n",
                    ),
                    ("board.py", BOT),
                ],
                &[],
            ),
            (
                &[
                    ("run.sh", "#!/bin/sh\n./start.sh\n"),
                    ("start.sh", "#!/bin/sh\npython3 src/x.py\n"),
                    ("src/x.py", BOT),
                    ("ben.sh", BOT),
                ],
                &["ben.sh"],
            ),
            (
                &[
                    ("ann.py", "#!/usr/bin/env python3\nopen('random.py')\n"),
                    ("random.py", BOT),
                ],
                &[],
            ),
            (
                &[
                    ("ann.py", "#!/usr/bin/env python3\nimport rules\n"),
                    ("rules.py", "import table\n"),
                    ("table.py", BOT),
                ],
                &[],
            ),
            // The folder is one bot.
            (&[("bot.py", BOT), ("ben.py", BOT)], &[]),
            (&[("ann.py", BOT), ("ben.py", "x = 1\n")], &[]),
            (&[("ann.py", BOT), ("data/bot.py", BOT)], &[]),
        ] {
            assert_eq!(others(files), expected, "{files:?}");
        }
    }

    #[test]
    fn words_are_whole() {
        for (text, is_there) in [
            ("./ann", true),
            ("ann", true),
            ("import ann.x", true),
            ("banned", false),
            ("ann_2", false),
            ("an", false),
        ] {
            assert_eq!(
                has_word(text.as_bytes(), OsStr::new("ann")),
                is_there,
                "{text}"
            );
        }
    }
}
