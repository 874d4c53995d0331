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
use crate::normalise::normalise;

/// A command that takes longer hangs, and fails its case.
const HARD_LIMIT: Duration = Duration::from_mins(1);

/// What a case needs that has this in a command.
const INTERPRETERS: [(&str, &str); 2] = [(".py", "python3"), (".pl", "perl")];

/// The programs that cases find, after the referee.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

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
        for empty in ["home", "tmp", "games"] {
            fs::create_dir(world.join(empty))?;
        }
        symlink(env!("CARGO_BIN_EXE_referee"), world.join("bin/referee"))?;
        for game in games {
            let name = game.name.strip_prefix("games/").unwrap_or(&game.name);
            let records: String = game.steps.iter().map(|step| &*step.output.stdout).collect();
            fs::write(world.join(format!("games/{name}.jsonl")), records)?;
        }
        Ok(Self { directory })
    }

    /// Runs a case in a directory of its own; gives it with what it prints now.
    fn run(&self, case: &Case) -> io::Result<Case> {
        let place = self.directory.path().join(case.name.replace('/', "-"));
        fs::create_dir(&place)?;
        let case = self.run_in(case, &place);
        fs::remove_dir_all(place)?;
        case
    }

    fn run_in(&self, case: &Case, place: &Path) -> io::Result<Case> {
        let mut case = case.clone();
        let times = case.has("~ times");
        for step in &mut case.steps {
            let output = self.command(&step.command, place)?;
            let normal = |text: &str| normalise(text, self.directory.path(), times);
            step.output = Output {
                stdout: normal(&output.stdout),
                stderr: normal(&output.stderr),
                status: output.status,
            };
        }
        Ok(case)
    }

    fn command(&self, command: &str, place: &Path) -> io::Result<Output> {
        let world = self.directory.path();
        let bin = world.join("bin");
        // Files, which end when the command does, whatever it left behind.
        let [stdout, stderr] = ["stdout", "stderr"].map(|name| place.with_extension(name));
        let path = [bin.clone().into_os_string(), PATH.into()].join(":".as_ref());
        let mut child = Command::new("/bin/sh")
            .args(["-c", &format!("umask 022\n{command}")])
            .env_clear()
            .env("PATH", path)
            .env("HOME", world.join("home"))
            .env("TMPDIR", world.join("tmp"))
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .env("TERM", "dumb")
            .env("COLUMNS", "100")
            // What the bots of `tests/bots` need.
            .env("REFEREE_BIN", bin.join("referee"))
            .env("SCRATCH", place)
            .current_dir(place)
            .stdin(Stdio::null())
            .stdout(File::create(&stdout)?)
            .stderr(File::create(&stderr)?)
            .spawn()?;
        let deadline = Instant::now() + HARD_LIMIT;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if Instant::now() > deadline {
                child.kill()?;
                child.wait()?;
                let error = format!("still running after {HARD_LIMIT:?}: {command}");
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

fn is_installed(program: &str) -> bool {
    PATH.split(':')
        .any(|place| Path::new(place).join(program).exists())
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
fn trial(case: Case, world: Arc<World>, results: Option<Results>) -> Trial {
    let missing = INTERPRETERS
        .iter()
        .any(|(mark, program)| case.mentions(mark) && !is_installed(program));
    let name = case.name.clone();
    let run = move || {
        let stored = case.to_string();
        let mut printed = [String::new(), String::new()];
        for printed in &mut printed {
            let now = world
                .run(&case)
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
    Trial::test(name, run).with_ignored_flag(missing)
}

/// Runs the cases that the arguments select.
pub(crate) fn run_all() -> ExitCode {
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
    let results = env::var_os("UPDATE_GOLDEN").map(|_| Results::default());
    let trials = all
        .into_iter()
        .map(|case| trial(case, world.clone(), results.clone()))
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
