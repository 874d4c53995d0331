//! What a folder means as a bot, by one order: its manifest, a build file, a program by its name, the only executable,
//! sources of one language.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use crate::build::recipe::{self, Recipe};
use referee_host::executable::{CannotStart, find_in_path, interpreter, missing_folder, start_of};
use referee_host::system::{is_executable, make_executable};
use referee_match::bot::shell::quoted;
use referee_match::record::text_file;
use referee_text::{backslash_hint, escape, escape_controls, meant, unreadable};

const PROGRAM_EXTENSIONS: [&str; 3] = ["exe", "out", "bin"];

/// So many programs of a folder are named in a message.
const LISTED: usize = 5;

/// So many folders are entered that hold nothing but another one.
const MOST_ENTERED: usize = 8;

/// Names of a program that is the bot whatever lies beside it, in this order; the folder's own name counts, too.
pub(crate) const BOT_NAMES: [&str; 2] = ["main", "bot"];

/// With this file a folder says which program counts and how it is built.
pub const MANIFEST: &str = "referee.toml";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Manifest {
    /// Relative to its folder.
    pub program: String,
    /// For a shell; without it, there is nothing to build.
    pub build: Option<String>,
}

/// The fields of [`Manifest`].
const FIELDS: [&str; 2] = ["program", "build"];

/// Of the first key that the manifest does not have, the field that was probably meant.
fn field_hint(text: &str) -> String {
    let table: toml::Table = text.parse().unwrap_or_default();
    let mut unknown = table.keys().filter(|key| !FIELDS.contains(&key.as_str()));
    let near = unknown.next().and_then(|key| meant(key, &FIELDS));
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

impl Manifest {
    /// Of a folder, if it has one.
    pub fn read(folder: &Path) -> Result<Option<Self>, FolderProblem> {
        let file = folder.join(MANIFEST);
        let text = text_file::if_there(text_file::read_written(&file))
            .map_err(|error| FolderProblem::Manifest(unreadable(&file, &error)))?;
        let Some(text) = text else {
            return Ok(None);
        };
        toml::from_str(&text).map(Some).map_err(|error| {
            let place = error.span().unwrap_or(0..0);
            let before = text.get(..place.start).unwrap_or_default();
            FolderProblem::Manifest(format!(
                "{MANIFEST}:{}: {}{}{}; expected `program`, a file, and where it has to be built `build`, a command",
                before.matches('\n').count() + 1,
                escape_controls(error.message()),
                backslash_hint(&text, &place),
                field_hint(&text)
            ))
        })
    }

    /// The program, if it is one as it is.
    fn runnable(&self, folder: &Path) -> Vec<PathBuf> {
        self.program(folder).into_iter().collect()
    }

    /// The program, which has to be there.
    pub(crate) fn program(&self, folder: &Path) -> Result<PathBuf, FolderProblem> {
        let named = PathBuf::from(&self.program);
        let is_inside = named
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let program = folder.join(named);
        if is_inside && is_program(&program) {
            return Ok(program);
        }
        let missing = missing_folder(&program).filter(|_| is_inside);
        let missing = missing.map(Path::to_owned);
        Err(FolderProblem::NotThere { program, missing })
    }
}

/// Executable, or with the extension of a known interpreter.
pub fn is_program(path: &Path) -> bool {
    let Ok(meta) = fs::metadata(path) else {
        return false;
    };
    let language = extension(path).and_then(interpreter::by_ending);
    meta.is_file()
        && (is_executable(path, &meta) || language.is_some_and(|language| !language.run.is_empty()))
}

fn extension(path: &Path) -> Option<&str> {
    path.extension().and_then(|extension| extension.to_str())
}

/// Whether a file is meant as a program but cannot run yet: source of a compiled language, or
/// without execute permission.
pub fn needs_preparation(path: &Path) -> bool {
    if !path.is_file() || is_program(path) {
        return false;
    }
    match extension(path) {
        Some(extension) if !PROGRAM_EXTENSIONS.contains(&extension) => {
            interpreter::by_ending(extension).is_some_and(|language| language.compile.is_some())
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
    let built = PROGRAM_EXTENSIONS.map(|extension| source.with_extension(extension));
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

/// A folder that is one bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotFolder {
    /// As it was given, or the folder in it that holds the bot, where there is nothing else in it.
    pub path: PathBuf,
    pub entry: Entry,
    pub decided_by: DecidedBy,
}

/// How the bot of a folder comes to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// It can be started as it is.
    Program(PathBuf),
    /// It has to be built first.
    Sources(Recipe),
}

/// What in the folder says that it is one bot, or which of its programs that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// [`MANIFEST`].
    Manifest,
    /// A Makefile, a Cargo.toml and the like.
    BuildFile,
    /// A program, or the main source, is called `main`, `bot`, or as its folder.
    Name,
    /// Of several programs one alone is executable.
    Executable,
    /// There is one program.
    OnlyProgram,
    /// Of several scripts of one language one alone has an entry point.
    EntryPoint,
    /// Sources of one language.
    Sources,
}

impl fmt::Display for DecidedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Manifest => "its referee.toml says so",
            Self::BuildFile => "it has a file by which it is built",
            Self::Name => "its program is called main, bot or as the folder",
            Self::Executable => "one of its programs alone is executable",
            Self::OnlyProgram => "there is one program in it",
            Self::EntryPoint => "one of its scripts alone has an entry point",
            Self::Sources => "there are sources of one language in it",
        })
    }
}

/// Why a folder is not one bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderProblem {
    /// A sentence that names it.
    Unreadable(String),
    /// A sentence about [`MANIFEST`].
    Manifest(String),
    /// The manifest names a program that is not one, perhaps in a folder that is not there.
    NotThere {
        program: PathBuf,
        missing: Option<PathBuf>,
    },
    /// There is nothing that could be a bot.
    Empty,
    /// The first file that needs execute permission, or a compiler that the referee does not know.
    NotReady(PathBuf),
    /// Programs of which any may be the bot.
    Several(Vec<PathBuf>),
    /// Sources of two languages.
    SeveralLanguages(&'static str, &'static str),
    /// In a folder that is all that the given one holds.
    Within(PathBuf, Box<Self>),
}

impl BotFolder {
    /// What this folder is as a bot. One that holds nothing but another folder, as those do that come out of archives, is
    /// what that one is.
    ///
    /// The order is that of the [module](self); what is found first counts, and nothing falls back to anything else.
    pub fn read(folder: &Path) -> Result<Self, FolderProblem> {
        let mut entered = folder.to_owned();
        for _ in 0..MOST_ENTERED {
            match (Self::read_alone(&entered), only_folder(&entered)) {
                (Err(FolderProblem::Empty), Some(only)) => entered = only,
                (Err(problem), _) if entered != folder => {
                    return Err(FolderProblem::Within(entered, Box::new(problem)));
                }
                (read, _) => return read,
            }
        }
        Err(FolderProblem::Empty)
    }

    fn read_alone(folder: &Path) -> Result<Self, FolderProblem> {
        let is = |entry, decided_by| Self {
            path: folder.to_owned(),
            entry,
            decided_by,
        };
        if let Some(manifest) = Manifest::read(folder)? {
            let entry = match Recipe::of_manifest(&manifest) {
                Some(recipe) => Entry::Sources(recipe),
                None => match Recipe::of_program(folder, &manifest)? {
                    Some(recipe) => of_sources(recipe, &manifest.runnable(folder)),
                    None => Entry::Program(manifest.program(folder)?),
                },
            };
            return Ok(is(entry, DecidedBy::Manifest));
        }
        let inside = entries(folder)
            .map_err(|error| FolderProblem::Unreadable(unreadable(folder, &error)))?;
        if let Some(recipe) = Recipe::of_build_file(folder, &inside)? {
            return Ok(is(Entry::Sources(recipe), DecidedBy::BuildFile));
        }
        let (sources, programs): (Vec<PathBuf>, Vec<PathBuf>) = inside
            .iter()
            .filter(|path| is_program(path))
            .cloned()
            .partition(|path| recipe::is_source(path));
        if let Some((program, decided_by)) = chosen(folder, &programs) {
            return Ok(is(Entry::Program(program), decided_by));
        }
        if !programs.is_empty() {
            return Err(FolderProblem::Several(programs));
        }
        if let Some(recipe) = Recipe::of_sources(folder)? {
            let decided_by = if recipe.is_named {
                DecidedBy::Name
            } else {
                DecidedBy::Sources
            };
            return Ok(is(of_sources(recipe, &sources), decided_by));
        }
        let unprepared = inside.into_iter().find(|path| needs_preparation(path));
        Err(unprepared.map_or(FolderProblem::Empty, FolderProblem::NotReady))
    }

    /// Whether this folder is one bot even where folders of bots are expected: it has a manifest or a build file, or a
    /// program by name beside which nothing else is executable. One that holds the folder of a bot may be a class of one.
    pub fn is_certain(&self, given: &Path) -> bool {
        self.path == given && self.has_certain_program()
    }

    fn has_certain_program(&self) -> bool {
        match self.decided_by {
            DecidedBy::Manifest | DecidedBy::BuildFile => true,
            DecidedBy::Name => {
                let Entry::Program(program) = &self.entry else {
                    return true;
                };
                let inside = entries(&self.path).unwrap_or_default();
                let mut others = inside.iter().filter(|path| *path != program);
                !others.any(|path| can_be_executed(path))
            }
            DecidedBy::Executable
            | DecidedBy::OnlyProgram
            | DecidedBy::EntryPoint
            | DecidedBy::Sources => false,
        }
    }
}

/// What a folder holds, if that is one folder and nothing else.
fn only_folder(folder: &Path) -> Option<PathBuf> {
    match &entries(folder).ok()?[..] {
        [only] if only.is_dir() && !only.is_symlink() => Some(only.clone()),
        _ => None,
    }
}

/// A source that an interpreter can run, too, is started by that where nothing here compiles it.
fn of_sources(recipe: Recipe, runnable: &[PathBuf]) -> Entry {
    let is_here = recipe.needs.iter().all(|need| find_in_path(need).is_some());
    match runnable {
        [only] if !is_here => Entry::Program(only.clone()),
        _ => Entry::Sources(recipe),
    }
}

/// The one of these programs that is the bot, and why.
fn chosen(folder: &Path, programs: &[PathBuf]) -> Option<(PathBuf, DecidedBy)> {
    if let Some(program) = named(folder, programs) {
        return Some((program, DecidedBy::Name));
    }
    if let [only] = programs {
        return Some((only.clone(), DecidedBy::OnlyProgram));
    }
    let executable: Vec<&PathBuf> = programs
        .iter()
        .filter(|path| can_be_executed(path))
        .collect();
    if let [only] = executable[..] {
        return Some((only.clone(), DecidedBy::Executable));
    }
    let of_one_language = || {
        let mut extensions = programs.iter().map(|path| path.extension());
        let first = extensions.next();
        extensions.all(|other| Some(other) == first)
    };
    let entry_points: Vec<&PathBuf> = programs
        .iter()
        .filter(|path| has_entry_point(path))
        .collect();
    match entry_points[..] {
        [only] if executable.is_empty() && of_one_language() => {
            Some((only.clone(), DecidedBy::EntryPoint))
        }
        _ => None,
    }
}

/// Whether a script begins with `#!`, or says what it does as the main program.
fn has_entry_point(path: &Path) -> bool {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let marks = [
        "__name__ ==",
        "__name__==",
        "require.main ===",
        "import.meta.main",
    ];
    text.starts_with("#!") || marks.iter().any(|mark| text.contains(mark))
}

/// Words of a line that loads a module, in the languages whose programs are run from their sources.
const LOADS: [&str; 6] = ["import", "require", "from", "use", "load", "include"];

/// What the sources of a folder load, by the words of the lines that do so.
#[derive(Debug, Default)]
pub(crate) struct LoadedModules {
    /// By extension and word: the first file that has it, and whether others have it, too.
    loaded: HashMap<(OsString, String), (PathBuf, bool)>,
}

impl LoadedModules {
    pub(crate) fn of(programs: &[PathBuf]) -> Self {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let mut loaded: HashMap<(OsString, String), (PathBuf, bool)> = HashMap::new();
        for path in programs {
            let extension = path.extension().unwrap_or_default();
            let text = fs::read(path).unwrap_or_default();
            for line in String::from_utf8_lossy(&text).lines() {
                let mut words = line.split(|c: char| !is_part(c));
                if !words.clone().any(|word| LOADS.contains(&word)) {
                    continue;
                }
                for word in words.by_ref().filter(|word| !word.is_empty()) {
                    let by = loaded.entry((extension.to_owned(), word.to_owned()));
                    let by = by.or_insert_with(|| (path.clone(), false));
                    by.1 |= by.0 != *path;
                }
            }
        }
        Self { loaded }
    }

    /// Whether a file is a module of these, and not a program: it has no entry point, and another one of its language loads
    /// it by its name.
    pub(crate) fn has(&self, path: &Path) -> bool {
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else {
            return false;
        };
        let extension = path.extension().unwrap_or_default().to_owned();
        let by = self.loaded.get(&(extension, stem.to_owned()));
        by.is_some_and(|(first, more)| *more || first != path)
            && !can_be_executed(path)
            && !has_entry_point(path)
    }
}

/// The program among several whose name says that it is the bot. Case does not matter; of two with the same name none
/// counts.
fn named(folder: &Path, programs: &[PathBuf]) -> Option<PathBuf> {
    names_of_bot(folder).iter().find_map(|name| {
        let mut called = programs.iter().filter(|path| has_stem(path, name));
        called.next().filter(|_| called.next().is_none()).cloned()
    })
}

/// [`BOT_NAMES`], and the folder's own name, whatever it was called by.
pub(crate) fn names_of_bot(folder: &Path) -> Vec<OsString> {
    let folder = fs::canonicalize(folder).ok();
    let folder_name = folder.as_deref().and_then(Path::file_name);
    let names = BOT_NAMES.iter().map(OsString::from);
    names.chain(folder_name.map(OsString::from)).collect()
}

/// Case does not matter.
pub(crate) fn has_stem(path: &Path, name: &OsStr) -> bool {
    let stem = path.file_stem().unwrap_or_default();
    stem.eq_ignore_ascii_case(name)
}

/// Without an interpreter that its extension names.
fn can_be_executed(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && is_executable(path, &meta))
}

fn escaped(path: &Path) -> String {
    escape(path.to_string_lossy().as_bytes())
}

fn file_name(path: &Path) -> String {
    escaped(path.file_name().unwrap_or_default().as_ref())
}

impl FolderProblem {
    /// What a person is told who gave this folder as a bot.
    pub fn of_bot(self, folder: &Path) -> CannotStart {
        if let Self::Within(folder, problem) = self {
            return problem.of_bot(&folder);
        }
        let manifest = folder.join(MANIFEST);
        let place = match &self {
            Self::Manifest(_) | Self::NotThere { .. } => &*manifest,
            _ => folder,
        };
        let (cause, fix) = self.cause_and_fix();
        CannotStart::new(&escaped(place), cause, fix)
    }

    fn cause_and_fix(self) -> (String, String) {
        match self {
            Self::Unreadable(cause) => (cause, "check its permissions".to_owned()),
            Self::Manifest(cause) => (cause, "correct this file".to_owned()),
            Self::NotThere { program, missing } => {
                let why = match missing {
                    Some(folder) => format!("and there is no folder {}", escaped(&folder)),
                    None => "which is not a program in this folder".to_owned(),
                };
                (
                    format!("it names {}, {why}", escaped(&program)),
                    "name a file of this folder that can be run, or build it first".to_owned(),
                )
            }
            Self::Empty => (
                "there is no program in this folder".to_owned(),
                "put one into it: a file that can be run, or that ends like a known language; sources of other languages have to be compiled"
                    .to_owned(),
            ),
            Self::NotReady(first) => {
                let (what, fix) = match interpreter::compiling(&escaped(&first)) {
                    Some((language, command)) => (
                        format!("source of {language}"),
                        format!("compile it into the folder: {command}"),
                    ),
                    None => (
                        "not executable".to_owned(),
                        make_executable(&quoted(&escaped(&first))),
                    ),
                };
                (
                    format!(
                        "there is no program in this folder that can be run; {} is {what}",
                        file_name(&first)
                    ),
                    fix,
                )
            }
            Self::Several(programs) => {
                let names: Vec<String> = programs.iter().take(LISTED).map(|path| file_name(path)).collect();
                let more = programs.len().saturating_sub(LISTED);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                (
                    format!("there are several programs in this folder: {}{more}", names.join(", ")),
                    format!("call the one that counts main or bot, or name it in a file {MANIFEST}: program = \"NAME\""),
                )
            }
            Self::SeveralLanguages(one, other) => (
                format!("there are sources of {one} and {other}"),
                "leave one of them, or add a Makefile".to_owned(),
            ),
            Self::Within(_, problem) => problem.cause_and_fix(),
        }
    }
}

/// The program of a folder whose bot can be started as it is. An error names those found, and how to choose one.
pub fn only_program(folder: &Path) -> Result<PathBuf, CannotStart> {
    match BotFolder::read(folder)
        .map_err(|problem| problem.of_bot(folder))?
        .entry
    {
        Entry::Program(program) => Ok(program),
        Entry::Sources(recipe) => Err(CannotStart::new(
            &escaped(folder),
            format!("{} has to be built first", recipe.what),
            "build it, and name the program in a file referee.toml: program = \"NAME\"",
        )),
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    type Files<'a> = &'a [(&'a str, &'a str)];

    /// A folder `mine` with these files; a name that begins with `+` is executable.
    fn folder(files: Files) -> (TempDir, PathBuf) {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("mine");
        for (name, text) in files {
            let path = folder.join(name.trim_start_matches('+'));
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, text).expect("a file");
            if name.starts_with('+') {
                let file = fs::File::open(&path).expect("the file");
                referee_host::system::protect(&file, true).expect("a mode");
            }
        }
        (place, folder)
    }

    /// What decided, and the program or what is built.
    fn decided(files: Files) -> Result<(DecidedBy, String), FolderProblem> {
        let (_place, folder) = folder(files);
        let bot = BotFolder::read(&folder)?;
        let entry = match &bot.entry {
            Entry::Program(program) => file_name(program),
            Entry::Sources(recipe) => recipe.what.clone(),
        };
        Ok((bot.decided_by, entry))
    }

    #[cfg(unix)]
    #[test]
    fn the_first_that_is_true_decides() {
        const MAIN: &str = "if __name__ == \"__main__\":";
        const C: &str = "int main(void) {}";
        const JAVA: &str = "static void main(";
        #[rustfmt::skip]
        let cases: &[(Files, DecidedBy, &str)] = &[
            (&[("referee.toml", "program = 'b.py'"), ("Makefile", ""), ("main.py", ""), ("b.py", "")], DecidedBy::Manifest, "b.py"),
            (&[("referee.toml", "program = 'b'\nbuild = 'make'"), ("main.py", "")], DecidedBy::Manifest, "referee.toml"),
            (&[("referee.toml", "program = 'x.c'"), ("main.py", ""), ("x.c", C), ("y.c", "")], DecidedBy::Manifest, "its C"),
            (&[("referee.toml", "program = './x.c'"), ("x.c", C)], DecidedBy::Manifest, "x.c"),
            (&[("referee.toml", "program = 'src/x.c'"), ("x.c", C), ("src/x.c", C), ("src/y.c", C)], DecidedBy::Manifest, "its C"),
            (&[("Makefile", "bot:"), ("main.py", ""), ("bot.c", C)], DecidedBy::BuildFile, "the Makefile"),
            (&[("Cargo.toml", ""), ("src/main.rs", "")], DecidedBy::BuildFile, "the package of Cargo.toml"),
            (&[("pom.xml", ""), ("src/main/java/a/Bot.java", JAVA), ("src/main/java/a/B.java", "")], DecidedBy::BuildFile, "the sources of pom.xml"),
            (&[("build.gradle", "mainClass = 'B'"), ("src/main/java/A.java", JAVA), ("src/main/java/B.java", JAVA)], DecidedBy::BuildFile, "the sources of build.gradle"),
            (&[("pom.xml", ""), ("bot.py", "")], DecidedBy::Name, "bot.py"),
            (&[("src/main/java/a/Bot.java", JAVA), ("src/test/java/a/BotTest.java", JAVA)], DecidedBy::Sources, "the sources in src/main/java"),
            (&[("Main.py", ""), ("engine.py", MAIN), ("+x.py", "")], DecidedBy::Name, "Main.py"),
            (&[("MINE.py", ""), ("engine.py", "")], DecidedBy::Name, "MINE.py"),
            (&[("main.py", ""), ("bot.py", ""), ("mine.py", "")], DecidedBy::Name, "main.py"),
            (&[("start.py", ""), ("notes.txt", ""), ("_old.py", ""), ("engine/a.py", "")], DecidedBy::OnlyProgram, "start.py"),
            (&[("+start.py", ""), ("engine.py", MAIN)], DecidedBy::Executable, "start.py"),
            (&[("start.py", MAIN), ("engine.py", "")], DecidedBy::EntryPoint, "start.py"),
            (&[("start.py", "#!/usr/bin/env python3"), ("engine.py", "")], DecidedBy::EntryPoint, "start.py"),
            (&[("a.c", ""), ("b.c", C), ("b.h", "")], DecidedBy::Sources, "its C"),
            (&[("a.c", ""), ("b.cpp", C)], DecidedBy::Sources, "its C++"),
            (&[("a.c", C)], DecidedBy::Sources, "a.c"),
            (&[("bot", ""), ("src/a.c", ""), ("src/b.c", C)], DecidedBy::Sources, "its C"),
            (&[("Bot.c", C), ("b.c", "")], DecidedBy::Name, "its C"),
            (&[("a.c", ""), ("mine.c", C)], DecidedBy::Name, "its C"),
            (&[("src/main.rs", "fn main() {}"), ("src/a.rs", "")], DecidedBy::Name, "its Rust"),
            (&[("bot.c", C), ("anna.c", C)], DecidedBy::Sources, "its C"),
            (&[("a.c", C), ("b.c", ""), ("mine.txt", "")], DecidedBy::Sources, "its C"),
            (&[("proj/start.py", ""), (".DS_Store", "")], DecidedBy::OnlyProgram, "start.py"),
            (&[("a/b/proj/proj.py", ""), ("a/b/proj/engine.py", "")], DecidedBy::Name, "proj.py"),
            (&[("proj/Makefile", "bot:"), ("proj/a.c", C)], DecidedBy::BuildFile, "the Makefile"),
        ];
        for (files, decided_by, entry) in cases {
            let found = decided(files);
            assert_eq!(found, Ok((*decided_by, (*entry).to_owned())), "{files:?}");
        }
    }

    #[test]
    fn a_folder_that_leaves_it_open_is_not_one_bot() {
        let names = |problem: FolderProblem| match problem {
            FolderProblem::Several(programs) => {
                programs.iter().map(|path| file_name(path)).collect()
            }
            other => vec![format!("{other:?}")],
        };
        let problem = |files: Files| decided(files).map_err(names);
        let several = |files: &[&str]| Err(files.iter().map(|&file| file.to_owned()).collect());
        assert_eq!(
            problem(&[("a.py", ""), ("b.py", "")]),
            several(&["a.py", "b.py"])
        );
        assert_eq!(
            problem(&[("a.c", "int main() {}"), ("b.c", "int main() {}")]),
            several(&["a.c", "b.c"])
        );
        assert_eq!(
            problem(&[("main.py", ""), ("main.sh", "")]),
            several(&["main.py", "main.sh"])
        );
        assert_eq!(problem(&[("notes.txt", "")]), several(&["Empty"]));
        assert_eq!(
            problem(&[("notes.txt", ""), ("proj/start.py", "")]),
            several(&["Empty"])
        );
        let (_place, folder) = folder(&[("proj/a.py", ""), ("proj/b.py", "")]);
        let problem_within = BotFolder::read(&folder).expect_err("two programs");
        let error = problem_within.of_bot(&folder);
        let place = folder.join("proj");
        assert_eq!(error.bot, place.to_string_lossy());
        assert_eq!(
            error.cause,
            "there are several programs in this folder: a.py, b.py"
        );
        assert_eq!(
            problem(&[("a.c", ""), ("b.rs", "")]),
            several(&["SeveralLanguages(\"C\", \"Rust\")"])
        );
    }

    #[test]
    fn a_field_that_was_meant_is_named() {
        let problem = decided(&[("referee.toml", "progam = 'b.py'"), ("b.py", "")]);
        let Err(FolderProblem::Manifest(cause)) = problem else {
            panic!("{problem:?}");
        };
        assert!(cause.starts_with("referee.toml:1: "), "{cause}");
        assert!(
            cause.contains("; did you mean `program`?; expected `program`"),
            "{cause}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn only_what_is_plain_is_one_bot_among_folders_of_bots() {
        let certain = |files: Files| {
            let (_place, folder) = folder(files);
            BotFolder::read(&folder).is_ok_and(|bot| bot.is_certain(&folder))
        };
        assert!(certain(&[("Makefile", "bot:"), ("a.c", ""), ("b.c", "")]));
        assert!(certain(&[
            ("referee.toml", "program = 'b.py'"),
            ("b.py", ""),
            ("c.py", "")
        ]));
        assert!(certain(&[("bot.py", ""), ("engine.py", "")]));
        assert!(certain(&[("bot.c", "int main() {}"), ("board.c", "")]));
        assert!(!certain(&[
            ("bot.c", "int main() {}"),
            ("anna.c", "int main() {}")
        ]));
        assert!(!certain(&[("bot.py", ""), ("+anna.py", "")]));
        assert!(!certain(&[("anna.py", "")]));
        assert!(!certain(&[("anna/bot.py", "")]));
        assert!(!certain(&[("anna.c", "int main() {}"), ("ben.c", "")]));
    }

    #[test]
    fn a_module_of_a_bot_beside_it_is_no_bot() {
        let files: Files = &[
            ("v1.py", "import sys, referee_bot as bot\n"),
            ("v2.py", "from tools.deep import x\nimport v1helper\n"),
            ("referee_bot.py", "x = 1\n"),
            ("v1.js", "const c = require('./chooser.js')\n"),
            ("chooser.js", ""),
            ("chooser.py", ""),
            ("loaded.py", "if __name__ == '__main__': pass\n"),
            ("v3.py", "import loaded\n"),
        ];
        let (_place, folder) = folder(files);
        let all: Vec<PathBuf> = files.iter().map(|(name, _)| folder.join(name)).collect();
        let loaded = LoadedModules::of(&all);
        let modules = all.iter().filter(|path| loaded.has(path));
        let names: Vec<String> = modules.map(|path| file_name(path)).collect();
        assert_eq!(names, ["referee_bot.py", "chooser.js"]);
    }
}
