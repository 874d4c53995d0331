//! Folders with a bot: which program is meant.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use super::shell::quoted;
use crate::executable::{CannotStart, interpreter, start_of};
use crate::system::{is_executable, make_executable};
use crate::text::{escape, unreadable};

const PROGRAM_ENDINGS: [&str; 3] = ["exe", "out", "bin"];

const LISTED: usize = 5;

/// Executable, or with the extension of a known interpreter.
pub fn is_program(path: &Path) -> bool {
    let Ok(meta) = fs::metadata(path) else {
        return false;
    };
    let ending = path.extension().and_then(|ending| ending.to_str());
    let language = ending.and_then(interpreter::by_ending);
    meta.is_file()
        && (is_executable(path, &meta) || language.is_some_and(|language| !language.run.is_empty()))
}

/// Whether a file is meant as a program but cannot run yet: source of a compiled language, or
/// without execute permission.
pub fn is_unready(path: &Path) -> bool {
    if !path.is_file() || is_program(path) {
        return false;
    }
    match path.extension().and_then(|ending| ending.to_str()) {
        Some(ending) if !PROGRAM_ENDINGS.contains(&ending) => {
            interpreter::by_ending(ending).is_some_and(|language| language.compile.is_some())
        }
        _ => {
            let start = start_of(path, 4).unwrap_or_default();
            let marks: [&[u8]; 3] = [b"#!", b"\x7fELF", b"MZ"];
            marks.iter().any(|mark| start.starts_with(mark))
        }
    }
}

/// Whether this source's compiled program lies beside it.
pub fn is_compiled(source: &Path) -> bool {
    let built = PROGRAM_ENDINGS.map(|ending| source.with_extension(ending));
    let mut all = built.into_iter().chain([source.with_extension("")]);
    all.any(|path| path != source && is_program(&path))
}

/// The entries of a folder, without hidden ones and those starting with `_`, sorted by name.
pub fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(['.', '_']) {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// With it, a submission says which program counts and how it is built.
pub const OWN: &str = "referee.toml";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Own {
    /// Relative to its folder.
    pub program: String,
    /// For a shell; without it, there is nothing to build.
    pub build: Option<String>,
}

/// Of a folder, if it has one. The error is a sentence.
pub fn own(folder: &Path) -> Result<Option<Own>, String> {
    let file = folder.join(OWN);
    match fs::read_to_string(&file) {
        Ok(text) => toml::from_str(&text).map(Some).map_err(|error| {
            format!(
                "{OWN}: {}; expected `program`, a file, and where it has to be built `build`, a command",
                escape(error.message().as_bytes())
            )
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(&file, &error)),
    }
}

fn shown(path: &Path) -> String {
    escape(path.to_string_lossy().as_bytes())
}

/// The program that a folder's [`OWN`] names; `None` without one.
fn named_by_itself(folder: &Path) -> Result<Option<PathBuf>, CannotStart> {
    let cannot = |cause, fix| CannotStart::new(&shown(&folder.join(OWN)), cause, fix);
    let own = own(folder).map_err(|cause| cannot(cause, "correct this file"))?;
    let Some(program) = own.map(|own| PathBuf::from(own.program)) else {
        return Ok(None);
    };
    let is_inside = program
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let program = folder.join(program);
    if is_inside && is_program(&program) {
        return Ok(Some(program));
    }
    let program = shown(&program);
    Err(cannot(
        format!("it names {program}, which is not a program in this folder"),
        "name a file of this folder that can be run, or build it first",
    ))
}

/// The program among several whose name says that it counts: `main.*`, `bot.*`, or named as its folder.
fn named(folder: &Path, programs: &[PathBuf]) -> Option<PathBuf> {
    let own_name = fs::canonicalize(folder).ok();
    let own_name = own_name.as_deref().and_then(Path::file_name);
    let names = [Some("main".as_ref()), Some("bot".as_ref()), own_name];
    names.into_iter().flatten().find_map(|name| {
        let mut called = programs
            .iter()
            .filter(|path| path.file_stem() == Some(name));
        called.next().filter(|_| called.next().is_none()).cloned()
    })
}

/// The program of a folder that is one bot although other programs or folders are in it: its [`OWN`] names it, or its
/// name does and no other file beside it is executable.
pub fn program_of_one_bot(folder: &Path) -> Option<PathBuf> {
    if let Ok(Some(program)) = named_by_itself(folder) {
        return Some(program);
    }
    let inside = entries(folder).ok()?;
    let programs: Vec<PathBuf> = inside.into_iter().filter(|path| is_program(path)).collect();
    let program = named(folder, &programs)?;
    let alone = programs
        .iter()
        .all(|path| *path == program || !can_be_run(path));
    alone.then_some(program)
}

/// Without an interpreter that its extension names.
fn can_be_run(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| is_executable(path, &meta))
}

/// The program of a folder with a bot: the one that its [`OWN`] names, the only one, `main.*`, `bot.*` or the one named
/// as its folder, or the only one that is executable. An error names those found, and how to choose one.
pub fn only_program(folder: &Path) -> Result<PathBuf, CannotStart> {
    if let Some(program) = named_by_itself(folder)? {
        return Ok(program);
    }
    let inside = entries(folder).map_err(|error| {
        let cause = unreadable(folder, &error);
        CannotStart::new(&shown(folder), cause, "check its permissions")
    })?;
    let programs: Vec<PathBuf> = inside
        .iter()
        .filter(|path| is_program(path))
        .cloned()
        .collect();
    let mut executable = programs.iter().filter(|path| can_be_run(path));
    let chosen = match &programs[..] {
        [one] => Some(one.clone()),
        all => named(folder, all).or_else(|| {
            let only = executable.next()?;
            executable.next().is_none().then(|| only.clone())
        }),
    };
    if let Some(program) = chosen {
        return Ok(program);
    }
    let unready = inside.iter().find(|path| is_unready(path));
    let name = |path: &PathBuf| shown(path.file_name().unwrap_or_default().as_ref());
    let (cause, fix) = match (&programs[..], unready) {
        ([], Some(first)) => {
            let (what, fix) = match interpreter::compiling(&shown(first)) {
                Some((language, command)) => (
                    format!("source of {language}"),
                    format!("compile it into the folder: {command}"),
                ),
                None => ("not executable".to_owned(), make_executable(&quoted(&shown(first)))),
            };
            (format!("there is no program in this folder that can be run; {} is {what}", name(first)), fix)
        }
        ([], None) => (
            "there is no program in this folder".to_owned(),
            "put one into it: a file that can be run, or that ends like a known language; sources of other languages have to be compiled"
                .to_owned(),
        ),
        (several, _) => {
            let names: Vec<String> = several.iter().take(LISTED).map(name).collect();
            let more = several.len().saturating_sub(LISTED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            (
                format!("there are several programs in this folder: {}{more}", names.join(", ")),
                format!("call the one that counts main or bot, or name it in a file {OWN}: program = \"NAME\""),
            )
        }
    };
    Err(CannotStart::new(&shown(folder), cause, fix))
}
