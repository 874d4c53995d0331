//! Builds submitted sources, in the sandbox of the bots.
//!
//! A build sees what a bot sees. All files come out through standard output, because nothing outside is writable, and are
//! kept in a folder beside the sources.

mod recipe;

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use self::recipe::{PROGRAM, Recipe};
use crate::bot::fault::Exit;
use crate::bot::process::{GracePeriods, Process};
use crate::bot::spec::Program;
use crate::bot::submission::{OWN, only_program};
use crate::executable::CannotStart;
use crate::executable::find_in_path;
use crate::league::confined;
use crate::record::atomic_file::sync_directory;
use crate::sandbox::snapshot::copy_tree;
use crate::sandbox::{Kind, Sandbox};
use crate::system::protect;
use crate::text::{cause, cut, escape, escape_controls, is_full};

/// With all files after a build.
pub(super) const BUILT: &str = "referee-built";

/// In it: what a compiler or a Makefile made.
const PROGRAMS: [&str; 2] = [PROGRAM, "referee-built-bot.jar"];

const TIME: Duration = Duration::from_mins(2);

/// For its processes to exit after the output ended.
const ENDING: Duration = Duration::from_secs(5);

const MAX_BYTES: usize = 64 << 20;

const QUOTED: usize = 6;

/// In characters: linker command lines are very long.
const LONGEST_LINE: usize = 200;

/// Lines before an error that say where it is.
const BEFORE_ERROR: usize = 3;

/// Reasons with this beginning are the machine's fault, not the submission's.
pub const NO_COMPILER: &str = "this machine has no";

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A sentence with the compiler's words.
    #[error("{0}")]
    Submission(String),
    #[error("a submission cannot be built: {}", of_machine(.0))]
    Io(#[from] io::Error),
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

pub fn program(folder: &Path) -> Result<PathBuf, CannotStart> {
    let files = files(folder);
    let built = PROGRAMS.map(|name| files.join(name));
    let built = built.into_iter().find(|path| path.is_file());
    built.map_or_else(|| only_program(&files), Ok)
}

/// The folder of all files, where the program is in another one, which a bot would see alone.
pub fn directory(folder: &Path, program: &Path) -> Option<PathBuf> {
    let files = files(folder);
    (program.parent() != Some(&files)).then_some(files)
}

/// Whether there is something to build rather than a program; a `referee.toml` decides.
pub fn is_needed(folder: &Path) -> bool {
    let is_source = || only_program(folder).map_or(true, |path| recipe::is_source(&path));
    !folder.join(BUILT).is_dir() && (folder.join(OWN).is_file() || is_source())
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
    let program = program(folder);
    if !is_needed(folder) {
        return Ok(None);
    }
    let Some(recipe) = recipe::of(folder).map_err(BuildError::Submission)? else {
        return Ok(None);
    };
    let is_missing = |need: &&String| find_in_path(need).is_none();
    if let Some(missing) = recipe.needs.iter().find(is_missing) {
        if program.is_ok() {
            return Ok(None);
        }
        return Err(BuildError::Submission(format!(
            "{NO_COMPILER} `{missing}`, which builds {}; install it, or hand in the program itself",
            recipe.what
        )));
    }
    let built = run(name, folder, sandbox, &recipe).await?;
    let place = tempfile::Builder::new()
        .prefix(".built-")
        .tempdir_in(folder)?;
    let made = keep(name, &built, folder, place.path())?;
    fs::rename(place.path(), folder.join(BUILT))?;
    sync_directory(folder)?;
    Ok(Some(made))
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
    match copy_tree(name, unpacked.path(), place) {
        Ok(_) => Ok(made),
        Err(error) if error.is_for_want_of_space() => Err(BuildError::Io(io::Error::other(error))),
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
    let confine = |starts: &[String]| confined(sandbox, name, argv.clone(), folder, starts);
    let all = [&recipe.needs[..], &recipe.names].concat();
    confine(&all)
        .or_else(|_| confine(&recipe.needs))
        .map_err(|unseen| match confine(&[]) {
            Ok(_) => BuildError::Submission(format!(
                "{NO_COMPILER} compiler for {} that can be seen in the sandbox: {}; {}",
                recipe.what, unseen.cause, unseen.fix
            )),
            Err(error) if error.is_for_want_of_space() => BuildError::Io(io::Error::other(error)),
            Err(error) => BuildError::Submission(error.to_string()),
        })
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
    let environment = (sandbox.kind() == Kind::None).then(variable);
    let environment: Vec<(String, String)> = environment.into_iter().collect();
    let mut process = Process::start(&program, &environment, None)?;
    process.ready().await?;
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
    let is_late = Instant::now() >= end;
    let mut exit = if is_late || output.len() > MAX_BYTES {
        None
    } else {
        process.end_input(ENDING).await?
    };
    process.stop(GracePeriods::FAULT).await?;
    // Refused calls do not matter if the build succeeded.
    exit.iter_mut().for_each(Exit::forgive_refusal);
    let problem = match exit {
        Some(Exit::Code(0)) if !output.is_empty() => return Ok(output),
        Some(Exit::Code(0)) => "it made no program".to_owned(),
        Some(Exit::Code(_)) if !output.is_empty() => first_lines(&output),
        Some(exit) => exit.to_string(),
        None if is_late => format!("it took longer than {} s", TIME.as_secs()),
        None => {
            let most = MAX_BYTES >> 20;
            format!("with what it made there are more than {most} MB, or it did not end")
        }
    };
    // Outside the sandbox it was found.
    let unseen = |need: &&String| {
        let mut ends = ["not found", "No such file or directory"].into_iter();
        ends.any(|end| problem.contains(&format!("{need}: {end}")))
    };
    let named = recipe
        .names
        .iter()
        .filter(|name| find_in_path(name).is_some());
    if let Some(unseen) = recipe.needs.iter().chain(named).find(unseen) {
        return Err(BuildError::Submission(format!(
            "{NO_COMPILER} `{unseen}` that can be seen in the sandbox; install the system's, or show it by --expose"
        )));
    }
    Err(BuildError::Submission(format!(
        "{} cannot be built: {problem}",
        recipe.what
    )))
}

/// The first lines, or those around the error if many warnings come before it.
fn first_lines(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let lines = text.lines().map(str::trim_end);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let is_error = |line: &&str| line.to_ascii_lowercase().contains("error");
    let first = match lines.iter().position(is_error) {
        Some(error) if lines[error].contains(": error: ") => error,
        Some(error) if error >= QUOTED => error - BEFORE_ERROR,
        _ => 0,
    };
    let shown = lines[first..].iter().take(QUOTED);
    let shown = shown.map(|line| escape_controls(&cut(line, LONGEST_LINE)));
    shown.collect::<Vec<_>>().join(" | ")
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
        assert!(is_needed(folder.path()));
        fs::create_dir(folder.path().join(BUILT)).expect("a folder");
        assert!(!is_needed(folder.path()));
    }

    #[test]
    fn an_error_behind_warnings_is_quoted_with_its_place() {
        let warnings = "bot.ml:1: warning\n".repeat(20);
        let output =
            format!("{warnings}File \"bot.ml\", line 3:\n  x\n  ^\nError: Unbound value x\n");
        let quoted = first_lines(output.as_bytes());
        assert_eq!(
            quoted,
            "File \"bot.ml\", line 3: |   x |   ^ | Error: Unbound value x"
        );
    }
}
