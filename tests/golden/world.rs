//! The directory that the cases see, and running them.

use std::collections::{BTreeMap, HashMap};
use std::env;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use similar::TextDiff;
use tempfile::TempDir;

use crate::case::{self, Case, Output};
use crate::hangs::HANGS;
use crate::normalise::normalise;

/// Which cases a test program runs.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "each of the two test programs runs one kind")]
pub(crate) enum Cases {
    /// Those that find no interpreter but a shell.
    ShellOnly,
    /// Those that run files of Python or Perl.
    WithInterpreters,
}

impl Cases {
    fn include(self, case: &Case) -> bool {
        let has_other = INTERPRETERS.iter().any(|(mark, _)| needs(case, mark));
        has_other == (self == Self::WithInterpreters)
    }
}

/// Whether a case runs a file with this extension.
fn needs(case: &Case, mark: &str) -> bool {
    !case.has(SHELL_ONLY) && case.mentions(mark)
}

/// What a case needs that has this in a command. It finds no other interpreter, so that what is printed of installed
/// languages does not depend on the machine.
const INTERPRETERS: [(&str, &str); 2] = [(".py", "python3"), (".pl", "perl")];

/// A case that runs none of the files in other languages that its commands name.
const SHELL_ONLY: &str = "~ shell only";

/// The programs that every case finds, beside the referee and `tests/golden/bin`. All Unix systems have them.
const TOOLS: [&str; 24] = [
    "basename", "cat", "chmod", "cp", "cut", "dirname", "env", "grep", "head", "ln", "ls", "mkdir",
    "mv", "printf", "rm", "sed", "sh", "sleep", "sort", "tail", "touch", "tr", "true", "wc",
];

/// Another date (scripts/ci/rough.sh).
const DATE: &str = "LD_PRELOAD";

/// What has been run, by its name, to be written.
type Results = Arc<Mutex<HashMap<String, Case>>>;

struct World {
    directory: TempDir,
}

impl World {
    fn new(games: &[Case]) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("golden-").tempdir()?;
        let world = directory.path();
        let source = Path::new(env!("CARGO_MANIFEST_DIR"));
        for (from, to) in [
            ("players", "players"),
            ("players/four_in_a_row", "players/four_in_a_row"),
            ("sets", "sets"),
            ("puzzles", "puzzles"),
            ("tests/bots", "bots"),
            ("tests/bots/mistakes", "bots/mistakes"),
            ("tests/bots/games", "bots/games"),
            ("tests/golden/bin", "bin"),
        ] {
            copy_files(&source.join(from), &world.join(to))?;
        }
        for empty in ["home", "tmp", "games", "tools"] {
            fs::create_dir(world.join(empty))?;
        }
        for tool in TOOLS {
            let program = candidates(tool).next();
            let program = program.ok_or_else(|| io::Error::other(format!("no {tool} in PATH")))?;
            symlink(program, world.join("tools").join(tool))?;
        }
        symlink(env!("CARGO_BIN_EXE_referee"), world.join("bin/referee"))?;
        for game in games {
            let name = game.name.strip_prefix("games/").unwrap_or(&game.name);
            let records: String = game.steps.iter().map(|step| &*step.output.stdout).collect();
            fs::write(world.join(format!("games/{name}.jsonl")), records)?;
        }
        Ok(Self { directory })
    }

    /// Finds each interpreter for the cases that need it. Those are missing that do not run in the environment of the
    /// cases, such as a shim of pyenv, which needs its user's home.
    fn interpreters(&self) -> io::Result<Vec<Interpreter>> {
        let mut all = Vec::new();
        for (mark, name) in INTERPRETERS {
            let folder = self.directory.path().join("with").join(name);
            fs::create_dir_all(&folder)?;
            let link = folder.join(name);
            let mut is_there = false;
            for program in candidates(name) {
                symlink(program, &link)?;
                let mut version = self.environment(Command::new(&link), &[]);
                let output = version.arg("--version").output();
                is_there = output.is_ok_and(|output| output.status.success());
                if is_there {
                    break;
                }
                fs::remove_file(&link)?;
            }
            all.push(Interpreter {
                mark,
                name,
                folder: is_there.then_some(folder),
            });
        }
        Ok(all)
    }

    /// Runs a case in a directory of its own; gives it with what it prints now.
    fn run(&self, case: &Case, interpreters: &[PathBuf]) -> io::Result<Case> {
        let place = self.directory.path().join(case.name.replace('/', "-"));
        fs::create_dir(&place)?;
        let case = self.run_in(case, &place, interpreters);
        fs::remove_dir_all(place)?;
        case
    }

    fn run_in(&self, case: &Case, place: &Path, interpreters: &[PathBuf]) -> io::Result<Case> {
        let mut case = case.clone();
        let times = case.has("~ times");
        for step in &mut case.steps {
            let output = self.command(&step.command, place, interpreters)?;
            let normal = |text: &str| normalise(text, self.directory.path(), times);
            step.output = Output {
                stdout: normal(&output.stdout),
                stderr: normal(&output.stderr),
                status: output.status,
            };
        }
        Ok(case)
    }

    /// The command in the environment of the cases.
    fn environment(&self, mut command: Command, interpreters: &[PathBuf]) -> Command {
        let world = self.directory.path();
        let mut path = vec![world.join("bin"), world.join("tools")];
        path.extend_from_slice(interpreters);
        let path: Vec<_> = path.into_iter().map(PathBuf::into_os_string).collect();
        let date = env::var_os(DATE).map(|library| (DATE, library));
        command
            .env_clear()
            .envs(date)
            .env("PATH", path.join(":".as_ref()))
            .env("HOME", world.join("home"))
            .env("TMPDIR", world.join("tmp"))
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .env("TERM", "dumb")
            .env("COLUMNS", "100");
        command
    }

    fn command(&self, command: &str, place: &Path, interpreters: &[PathBuf]) -> io::Result<Output> {
        // Files, which end when the command does, whatever it left behind.
        let [stdout, stderr] = ["stdout", "stderr"].map(|name| place.with_extension(name));
        let mut child = self
            .environment(Command::new("/bin/sh"), interpreters)
            .args(["-c", &format!("umask 022\n{command}")])
            // What the bots of `tests/bots` need.
            .env("REFEREE_BIN", self.directory.path().join("bin/referee"))
            .env("SCRATCH", place)
            .current_dir(place)
            .stdin(Stdio::null())
            .stdout(File::create(&stdout)?)
            .stderr(File::create(&stderr)?)
            .spawn()?;
        let deadline = Instant::now() + HANGS;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if Instant::now() > deadline {
                child.kill()?;
                child.wait()?;
                let error = format!("still running after {HANGS:?}: {command}");
                return Err(io::Error::other(error));
            }
            thread::sleep(Duration::from_millis(2));
        };
        let text =
            |path| Ok::<_, io::Error>(String::from_utf8_lossy(&fs::read(path)?).into_owned());
        Ok(Output {
            stdout: text(stdout)?,
            stderr: text(stderr)?,
            // A signal as shells say it.
            status: status.code().unwrap_or(128),
        })
    }
}

/// Copies the files of a directory, and no directories in it. A program's hash has its mode, so that does not
/// depend on the umask with which the sources were written.
fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if !entry.file_type()?.is_file() {
            continue;
        }
        let copy = to.join(entry.file_name());
        fs::copy(entry.path(), &copy)?;
        let executable = entry.metadata()?.permissions().mode() & 0o100 != 0;
        let mode = if executable { 0o755 } else { 0o644 };
        fs::set_permissions(copy, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// An interpreter, and where a case finds it: nowhere if it is missing.
struct Interpreter {
    mark: &'static str,
    name: &'static str,
    folder: Option<PathBuf>,
}

/// The programs of this name in the search path of the tests.
fn candidates(name: &str) -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = env::split_paths(&path)
        .filter_map(|folder| std::path::absolute(folder.join(name)).ok())
        .collect();
    places.into_iter().filter(|program| {
        let meta = fs::metadata(program);
        meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    })
}

/// Whether this is CI, where nothing may be missing.
fn is_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

/// The lines that differ, each with two before and after it.
fn difference(expected: &str, actual: &str) -> String {
    TextDiff::from_lines(expected, actual)
        .unified_diff()
        .context_radius(2)
        .header("stored", "now")
        .to_string()
}

/// A case that differs is run once more: the program drops notes when its thread that writes them is not run for half a
/// second, as on a very busy machine.
fn trial(
    case: Case,
    world: Arc<World>,
    interpreters: &[Interpreter],
    results: Option<Results>,
) -> Trial {
    let name = case.name.clone();
    let mut folders = Vec::new();
    for Interpreter {
        mark,
        name: program,
        folder,
    } in interpreters
    {
        if !needs(&case, mark) {
            continue;
        }
        let Some(folder) = folder else {
            let program = *program;
            let fail = move || Err(format!("no {program} in PATH runs here").into());
            return Trial::test(name, fail)
                .with_kind(format!("no {program}"))
                .with_ignored_flag(!is_ci());
        };
        folders.push(folder.clone());
    }
    let run = move || {
        let stored = case.to_string();
        let mut printed = [String::new(), String::new()];
        for printed in &mut printed {
            let now = world
                .run(&case, &folders)
                .map_err(|error| Failed::from(error.to_string()))?;
            *printed = now.to_string();
            if *printed == stored {
                return Ok(());
            }
            if let Some(results) = &results {
                results
                    .lock()
                    .expect("no trial panics with it")
                    .insert(case.name.clone(), now);
            }
        }
        let [first, second] = printed;
        if first != second {
            let difference = difference(&first, &second);
            return Err(format!("it differs from run to run:\n{difference}").into());
        }
        if results.is_some() {
            return Ok(());
        }
        let name = &case.name;
        let difference = difference(&stored, &second);
        let accept = format!("UPDATE_GOLDEN=1 cargo test --test golden {name}");
        Err(format!("{difference}\nto accept it: {accept}").into())
    };
    Trial::test(name, run)
}

/// Runs the cases of this kind that the arguments select.
pub(crate) fn run_all(cases: Cases) -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Many cases wait more than they compute.
    arguments.test_threads.get_or_insert(4);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files: BTreeMap<PathBuf, (String, Vec<Case>)> = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("the folder of the cases") {
        let path = entry.expect("a file").path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            let text = fs::read_to_string(&path).expect("a file of cases");
            let parsed = case::parse(&path.to_string_lossy(), &text);
            files.insert(path, parsed);
        }
    }
    let all: Vec<Case> = files
        .values()
        .flat_map(|(_, cases)| cases.clone())
        .collect();
    let games: Vec<Case> = all
        .iter()
        .filter(|case| case.name.starts_with("games/"))
        .cloned()
        .collect();
    let world = Arc::new(World::new(&games).expect("a directory for the cases"));
    let interpreters = world.interpreters().expect("folders of interpreters");
    let results = env::var_os("UPDATE_GOLDEN").map(|_| Results::default());
    let trials = all
        .into_iter()
        .filter(|case| cases.include(case))
        .map(|case| trial(case, world.clone(), &interpreters, results.clone()))
        .collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    if let Some(results) = results {
        let mut results = results.lock().expect("all trials have ended");
        for (path, (before, mut cases)) in files {
            for case in &mut cases {
                if let Some(now) = results.remove(&case.name) {
                    *case = now;
                }
            }
            fs::write(path, case::unparse(&before, &cases)).expect("a file of cases");
        }
    }
    // `ExitCode` and not `exit`, so that the directory is removed.
    conclusion.exit_code()
}
