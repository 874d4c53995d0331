//! Builds submitted sources, in the sandbox of the bots.
//!
//! A build sees what a bot sees. All files come out through standard output, because nothing outside is writable, and are
//! kept in a folder beside the sources.

mod cache;
pub mod recipe;

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub use self::cache::{BuildCache, Builder, Built, CacheLimits, CacheUse};
use self::recipe::{PROGRAM, Recipe};
use crate::folder::{BotFolder, Entry, FolderProblem, Manifest, only_program};
use referee_host::executable::{CannotStart, ToolOutput, find_in_path};
use referee_host::system::protect;
use referee_match::bot::fault::Exit;
use referee_match::bot::process::{GracePeriods, Process};
use referee_match::bot::referee_files::REFEREE_FILES;
use referee_match::bot::spec::Program;
use referee_match::record::atomic_file::sync_directory;
use referee_sandbox::snapshot::copy_tree;
use referee_sandbox::{Sandbox, SandboxKind};
use referee_text::{cause, counted, cut, escape, escape_controls, escape_path, is_full};

/// With all files after a build.
pub const BUILT: &str = "referee-built";

/// In it: what a compiler or a Makefile made.
const PROGRAMS: [&str; 2] = [PROGRAM, "referee-built-bot.jar"];

const TIME: Duration = Duration::from_mins(2);

/// For its processes to exit after the output ended.
const ENDING: Duration = Duration::from_secs(5);

const MAX_BYTES: usize = 64 << 20;

/// In one line.
const QUOTED: usize = 6;

/// In full.
const MOST_LINES: usize = 60;

/// In characters: linker command lines are very long.
const LONGEST_LINE: usize = 200;

/// Lines before an error that say where it is.
const BEFORE_ERROR: usize = 3;

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A sentence.
    #[error("{0}")]
    Submission(String),
    #[error(transparent)]
    Failed(FailedBuild),
    /// This machine lacks a tool that builds it.
    #[error(
        "this machine has no `{tool}`, which builds {what}; install it, or hand in the program itself"
    )]
    NoTool { tool: String, what: String },
    /// The sandbox shows it no compiler: a sentence.
    #[error("{0}")]
    NoCompiler(String),
    #[error("a submission cannot be built: {}", of_machine(.0))]
    Io(#[from] io::Error),
}

/// What was built, and what its compiler says is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedBuild {
    /// In words.
    pub what: String,
    /// From the first error on; escaped. There is one at least.
    pub printed: Vec<String>,
}

impl FailedBuild {
    /// With the paths of its sources as a person has them, who gave `given`. `sources` is the folder or file that was
    /// built, which is another one where `given` is an archive.
    #[must_use]
    pub fn as_given(&self, given: &Path, sources: &Path) -> Self {
        let is_folder = sources.is_dir();
        let folder = |path: &Path| {
            let around = path.parent().filter(|_| !is_folder);
            around.unwrap_or(path).to_owned()
        };
        let (shown, base) = (folder(given), folder(sources));
        let lines = self.printed.iter();
        let lines = lines.map(|line| with_paths(line, &base, &shown));
        Self {
            what: self.what.clone(),
            printed: lines.collect(),
        }
    }

    pub fn output(&self) -> ToolOutput {
        ToolOutput {
            of: format!("{} cannot be built", self.what),
            lines: self.printed.clone(),
        }
    }
}

impl fmt::Display for FailedBuild {
    /// In one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted: Vec<&str> = self
            .printed
            .iter()
            .take(QUOTED)
            .map(|line| &**line)
            .collect();
        write!(f, "{} cannot be built: {}", self.what, quoted.join(" | "))
    }
}

impl std::error::Error for FailedBuild {}

impl BuildError {
    /// All that a compiler said, where the sentence quotes it in one line.
    pub fn printed(&self) -> &[String] {
        match self {
            Self::Failed(failed) if failed.printed.len() > 1 => &failed.printed,
            _ => &[],
        }
    }

    /// Nothing is wrong with what was submitted: this machine cannot build it.
    pub const fn is_of_machine(&self) -> bool {
        matches!(self, Self::NoTool { .. } | Self::NoCompiler(_))
    }
}

/// Why nothing can be built here, and what to do.
fn of_machine(error: &io::Error) -> String {
    let fix = "; free some space, then give the same command again";
    cause(error) + if is_full(error) { fix } else { "" }
}

/// The folder with all files of a bot: after its build, or as it was submitted.
pub fn files(folder: &Path) -> PathBuf {
    let built = folder.join(BUILT);
    if built.is_dir() {
        built
    } else {
        folder.to_owned()
    }
}

/// The program of a bot: the one that its build made, or the one that was submitted.
pub fn program(folder: &Path) -> Result<PathBuf, CannotStart> {
    let built = folder.join(BUILT);
    if built.is_dir() {
        made_program(&built)
    } else {
        only_program(folder)
    }
}

/// The program among the files after a build.
fn made_program(files: &Path) -> Result<PathBuf, CannotStart> {
    let made = PROGRAMS.map(|name| files.join(name));
    if let Some(program) = made.into_iter().find(|path| path.is_file()) {
        return Ok(program);
    }
    let of_manifest = |manifest: Option<Manifest>| {
        let manifest = manifest.ok_or(FolderProblem::Empty)?;
        manifest.program(files)
    };
    Manifest::read(files)
        .and_then(of_manifest)
        .map_err(|problem| problem.of_bot(files))
}

/// The folder of all files, where the program is in another one, which a bot would see alone.
pub fn directory(folder: &Path, program: &Path) -> Option<PathBuf> {
    let files = files(folder);
    (program.parent() != Some(&files)).then_some(files)
}

/// Whether there is something to build, or to say of it.
pub fn is_needed(folder: &Path) -> bool {
    !folder.join(BUILT).is_dir() && !matches!(recipe_of(folder), Ok(None))
}

/// How a folder is built; `None` where there is nothing to build, or nothing that is a bot.
fn recipe_of(folder: &Path) -> Result<Option<Recipe>, BuildError> {
    match BotFolder::read(folder) {
        Ok(BotFolder {
            path,
            entry: Entry::Sources(recipe),
            ..
        }) if path == folder => Ok(Some(recipe)),
        Err(
            problem @ (FolderProblem::Manifest(_)
            | FolderProblem::NotThere { .. }
            | FolderProblem::SeveralLanguages(..)),
        ) => {
            let error = problem.of_bot(folder);
            Err(BuildError::Submission(format!(
                "{}; {}",
                error.cause, error.fix
            )))
        }
        Ok(_) | Err(_) => Ok(None),
    }
}

/// Builds a version with sources and no program. Returns the files that were made, or `None` if there was nothing to
/// build.
///
/// A source that an interpreter can run, such as by `go run`, is compiled if there is a compiler.
pub async fn build(
    name: &str,
    folder: &Path,
    sandbox: &Sandbox,
) -> Result<Option<Vec<String>>, BuildError> {
    if !is_needed(folder) {
        return Ok(None);
    }
    let Some(recipe) = recipe_of(folder)? else {
        return Ok(None);
    };
    check_tools(&recipe)?;
    let built = run(name, folder, sandbox, &recipe).await?;
    let place = tempfile::Builder::new()
        .prefix(".built-")
        .tempdir_in(folder)?;
    let made = keep(name, &built, folder, place.path())?;
    fs::rename(place.path(), folder.join(BUILT))?;
    sync_directory(folder)?;
    Ok(Some(made))
}

fn check_tools(recipe: &Recipe) -> Result<(), BuildError> {
    let is_missing = |need: &&String| find_in_path(need).is_none();
    match recipe.needs.iter().find(is_missing) {
        None => Ok(()),
        Some(missing) => Err(BuildError::NoTool {
            tool: missing.clone(),
            what: recipe.what.clone(),
        }),
    }
}

/// Writes the files after a build into an empty folder; returns those that it made.
fn keep(name: &str, built: &[u8], sources: &Path, place: &Path) -> Result<Vec<String>, BuildError> {
    let damaged = |error: io::Error| {
        if is_full(&error) {
            return BuildError::Io(error);
        }
        BuildError::Submission(format!("what was built cannot be kept: {}", cause(&error)))
    };
    let unpacked = tempfile::tempdir()?;
    let mut made = Vec::new();
    let mut archive = tar::Archive::new(built);
    for entry in archive.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        let kind = entry.header().entry_type();
        let path = entry.path().map_err(damaged)?.into_owned();
        if kind.is_dir() || kind.is_file() || kind.is_symlink() || kind.is_hard_link() {
            entry.unpack_in(unpacked.path()).map_err(damaged)?;
        }
        if kind.is_file() && !path.ends_with(PROGRAM) && !sources.join(&path).exists() {
            let shown = path.strip_prefix(".").unwrap_or(&path);
            made.push(escape(shown.to_string_lossy().as_bytes()));
        }
    }
    let program = unpacked.path().join(PROGRAM);
    if let Ok(mut file) = File::open(&program) {
        let mut start = [0; 2];
        // A jar is run by its extension.
        let is_jar = file.read_exact(&mut start).is_ok() && start == *b"PK";
        protect(&file, !is_jar)?;
        if is_jar {
            fs::rename(&program, unpacked.path().join(PROGRAMS[1]))?;
        }
    }
    match copy_tree(name, unpacked.path(), place, REFEREE_FILES) {
        Ok(_) => Ok(made),
        Err(error) if error.is_for_want_of_space => Err(BuildError::Io(io::Error::other(error))),
        Err(error) => Err(BuildError::Submission(error.to_string())),
    }
}

/// Confines a build; it sees the compilers that it needs, and those that it names where possible.
fn confine(
    name: &str,
    folder: &Path,
    sandbox: &Sandbox,
    recipe: &Recipe,
) -> Result<Program, BuildError> {
    let argv = ["sh", "-c", &recipe.script()].map(str::to_owned).to_vec();
    let confine = |starts: &[String]| Program::tool(name, argv.clone(), folder, sandbox, starts);
    let all = [&recipe.needs[..], &recipe.names].concat();
    confine(&all)
        .or_else(|_| confine(&recipe.needs))
        .map_err(|unseen| match confine(&[]) {
            Ok(_) => BuildError::NoCompiler(format!(
                "this machine has no compiler for {} that can be seen in the sandbox: {}; {}",
                recipe.what, unseen.cause, unseen.fix
            )),
            Err(error) if error.is_for_want_of_space => BuildError::Io(io::Error::other(error)),
            Err(error) => BuildError::Submission(error.to_string()),
        })
}

/// What a build prints, and whether its time is over.
async fn output_of(process: &mut Process) -> (Vec<u8>, bool) {
    let end = Instant::now() + TIME;
    let mut output = Vec::new();
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let (_, more) = process.feed(&[], left).await;
        if more.is_empty() || output.len() > MAX_BYTES {
            break;
        }
        output.extend(more);
    }
    (output, Instant::now() >= end)
}

async fn run(
    name: &str,
    folder: &Path,
    sandbox: &Sandbox,
    recipe: &Recipe,
) -> Result<Vec<u8>, BuildError> {
    let folder = fs::canonicalize(folder)?;
    let program = confine(name, &folder, sandbox, recipe)?;
    let scratch = tempfile::tempdir()?;
    let variable = || ("TMPDIR".to_owned(), scratch.path().display().to_string());
    let environment = (sandbox.kind() == SandboxKind::None).then(variable);
    let environment: Vec<(String, String)> = environment.into_iter().collect();
    let mut process = Process::start(&program, &environment, None)?;
    process.ready().await?;
    let (output, is_late) = output_of(&mut process).await;
    let mut exit = if is_late || output.len() > MAX_BYTES {
        None
    } else {
        process.end_input(ENDING).await?
    };
    process.stop(GracePeriods::FAULT).await?;
    // Refused calls do not matter if the build succeeded.
    exit.iter_mut().for_each(Exit::forgive_refusal);
    let printed = match exit {
        Some(Exit::Code(0)) if !output.is_empty() => return Ok(output),
        Some(Exit::Code(0)) => vec!["it made no program".to_owned()],
        Some(Exit::Code(_)) if !output.is_empty() => from_the_error(&output),
        Some(exit) => vec![exit.to_string()],
        None if is_late => vec![format!("it took longer than {} s", TIME.as_secs())],
        None => {
            let most = MAX_BYTES >> 20;
            vec![format!(
                "with what it made there are more than {most} MB, or it did not end"
            )]
        }
    };
    // Outside the sandbox it was found.
    let unseen = |need: &&String| {
        let ends = ["not found", "No such file or directory"].map(|end| format!("{need}: {end}"));
        let mut said = printed.iter();
        said.any(|line| ends.iter().any(|end| line.contains(end)))
    };
    let named = recipe
        .names
        .iter()
        .filter(|name| find_in_path(name).is_some());
    if let Some(unseen) = recipe.needs.iter().chain(named).find(unseen) {
        return Err(BuildError::NoCompiler(format!(
            "this machine has no `{unseen}` that can be seen in the sandbox; install the system's, or show it by --expose"
        )));
    }
    Err(BuildError::Failed(FailedBuild {
        what: recipe.what.clone(),
        printed,
    }))
}

/// The lines from the first on, or from the error if many warnings come before it.
fn from_the_error(output: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(output);
    let lines = text.lines().map(str::trim_end);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let is_error = |line: &&str| line.to_ascii_lowercase().contains("error");
    let first = match lines.iter().position(is_error) {
        Some(error) if lines[error].contains(": error: ") => error,
        Some(error) if error >= QUOTED => error - BEFORE_ERROR,
        _ => 0,
    };
    let shown = lines[first..].iter().take(MOST_LINES);
    let mut shown: Vec<String> = shown
        .map(|line| escape_controls(&cut(line, LONGEST_LINE)))
        .collect();
    let more = (lines.len() - first).saturating_sub(MOST_LINES);
    if more > 0 {
        shown.push(format!(
            "… and {}",
            counted(more as u64, "more line", "more lines")
        ));
    }
    shown
}

/// A line of a compiler, which worked in a copy of the folder `base`: files in it are named as if it were `shown`.
fn with_paths(line: &str, base: &Path, shown: &Path) -> String {
    let is_end = |c: char| c.is_whitespace() || "\"'`:,()[]".contains(c);
    let mut text = String::with_capacity(line.len());
    for part in line.split_inclusive(is_end) {
        let word = part.strip_suffix(is_end).unwrap_or(part);
        let inside = word
            .rsplit_once("/build/")
            .map_or(word, |(_, inside)| inside);
        let inside = inside.strip_prefix("./").unwrap_or(inside);
        let looks_like_one = inside.contains(['.', '/']) && !inside.starts_with(['/', '.']);
        let mut places = ["", "src"].iter();
        let place = places.find(|place| base.join(place).join(inside).is_file());
        match place.filter(|_| looks_like_one) {
            Some(place) => {
                let path = shown.join(place).join(inside);
                text += &escape_path(&path.to_string_lossy());
                text += &part[word.len()..];
            }
            None => text += part,
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_goes_before_a_script() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str| fs::write(folder.path().join(name), "x").expect("a file");
        write("train.py");
        assert!(!is_needed(folder.path()));
        write("referee.toml");
        // Not a manifest: the build says so.
        assert!(is_needed(folder.path()));
        fs::create_dir(folder.path().join(BUILT)).expect("a folder");
        assert!(!is_needed(folder.path()));
    }

    #[test]
    fn an_error_behind_warnings_is_quoted_with_its_place() {
        let warnings = "bot.ml:1: warning\n".repeat(20);
        let output =
            format!("{warnings}File \"bot.ml\", line 3:\n  x\n  ^\nError: Unbound value x\n");
        let failed = FailedBuild {
            what: "bot.ml".to_owned(),
            printed: from_the_error(output.as_bytes()),
        };
        assert_eq!(
            failed.to_string(),
            "bot.ml cannot be built: File \"bot.ml\", line 3: |   x |   ^ | Error: Unbound value x"
        );
    }

    #[test]
    fn all_that_a_compiler_said_is_kept_up_to_a_bound() {
        let output = "./a.c:1:1: error: x\n".repeat(100);
        let printed = from_the_error(output.as_bytes());
        assert_eq!(printed.len(), MOST_LINES + 1);
        assert_eq!(printed[MOST_LINES], "… and 40 more lines");
    }

    #[test]
    fn compilers_name_files_as_their_owner_has_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let base = folder.path();
        fs::create_dir(base.join("src")).expect("a folder");
        for name in ["a.c", "src/main.rs", "src/deep.rs"] {
            fs::write(base.join(name), "x").expect("a file");
        }
        let shown = base.display().to_string();
        for (line, expected) in [
            ("./a.c:10:14: error: no", "BASE/a.c:10:14: error: no"),
            ("a.c: In function 'main':", "BASE/a.c: In function 'main':"),
            (" --> src/main.rs:3:5", " --> BASE/src/main.rs:3:5"),
            ("File \"a.c\", line 3", "File \"BASE/a.c\", line 3"),
            ("error in deep.rs", "error in BASE/src/deep.rs"),
            ("/tmp/x/build/a.c:1: no", "BASE/a.c:1: no"),
            ("b.c:1: no; a.b = x.y", "b.c:1: no; a.b = x.y"),
            ("/etc/passwd: no", "/etc/passwd: no"),
        ] {
            assert_eq!(
                with_paths(line, base, base),
                expected.replace("BASE", &shown)
            );
        }
    }
}
