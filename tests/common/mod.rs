//! Shared by tests of the built program: runs it under a hard time limit, reads its records, and
//! finds processes that it left behind.
//!
//! ```ignore
//! let run = Referee::new(["--first", "1", "./script.sh '- A\\n'", "builtin:random"]).run();
//! assert_eq!(run.code, Some(0), "{run}");
//! ```

pub(crate) mod files;
pub(crate) mod games;
pub(crate) mod hangs;
#[cfg(unix)]
pub(crate) mod printed;
pub(crate) mod schema;
pub(crate) mod signals;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use self::hangs::HANGS;

/// What a run keeps of the environment that the tests are started in: everything else could change what it does.
const KEPT: [&str; 10] = [
    "PATH",
    "HOME",
    "USER",
    "TMPDIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "LLVM_PROFILE_FILE",
    // Another date (scripts/ci/rough.sh).
    "LD_PRELOAD",
];

/// Makes a command that starts as if from a terminal of a plain user: with default signals, and an environment that does
/// not depend on where the tests are started.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    signals::unignore();
    #[cfg(unix)]
    open_program();
    let mut command = Command::new(program);
    let kept = KEPT
        .iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    command
        .env_clear()
        .envs(kept)
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC");
    command
}

/// Root's bots run as another user, who must get to the program also when it was built with a umask that keeps others out.
#[cfg(unix)]
fn open_program() {
    use std::os::unix::fs::PermissionsExt as _;
    static ONCE: std::sync::Once = std::sync::Once::new();

    ONCE.call_once(|| {
        // To what tests write, too.
        rustix::process::umask(rustix::fs::Mode::WGRP | rustix::fs::Mode::WOTH);
        let program = Path::new(env!("CARGO_BIN_EXE_referee"));
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let own = program
            .ancestors()
            .take_while(|path| path.starts_with(here));
        for path in own.filter(|_| rustix::process::geteuid().is_root()) {
            let mut mode = fs::metadata(path).expect("it is there").permissions();
            mode.set_mode(mode.mode() | if path == program { 0o005 } else { 0o001 });
            fs::set_permissions(path, mode).expect("its mode");
        }
    });
}

/// A directory with a path that the first line of a program can have: without a space.
pub(crate) fn plain_directory() -> TempDir {
    #[cfg(unix)]
    open_program();
    tempfile::tempdir_in("/tmp").expect("a directory")
}

/// Where [`Referee::recorded`] has the records written, in the scratch directory.
pub(crate) const RECORDS: &str = "records.jsonl";

/// The directory of the bots that tests play with.
pub(crate) fn bots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bots")
}

/// A run of the program that is not started yet: in the directory of the bots, with a scratch
/// directory of its own. The environment has its path (`SCRATCH`) and the program's (`REFEREE_BIN`).
pub(crate) struct Referee {
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    directory: PathBuf,
    scratch: TempDir,
    /// See [`Referee::shell`].
    shell: Option<String>,
    stdin: Option<Vec<u8>>,
    stdout: Option<Stdio>,
    stderr: Option<Stdio>,
    recorded: bool,
    default_sandbox: bool,
}

impl Referee {
    pub(crate) fn new<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Self {
        Self {
            arguments: arguments.into_iter().map(|a| a.as_ref().into()).collect(),
            environment: Vec::new(),
            directory: bots(),
            scratch: tempfile::tempdir().expect("a temporary directory"),
            shell: None,
            stdin: None,
            stdout: None,
            stderr: None,
            recorded: false,
            default_sandbox: false,
        }
    }

    /// Leaves the choice of a sandbox to the program. Elsewhere a test that names none plays without one: a start in a
    /// sandbox takes ten times the time.
    pub(crate) fn default_sandbox(mut self) -> Self {
        self.default_sandbox = true;
        self
    }

    /// Adds arguments after those that are there.
    pub(crate) fn args<A: AsRef<OsStr>>(mut self, more: impl IntoIterator<Item = A>) -> Self {
        self.arguments
            .extend(more.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment
            .push((name.as_ref().into(), value.as_ref().into()));
        self
    }

    /// Runs it in this directory instead of that of the bots.
    pub(crate) fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = directory.into();
        self
    }

    /// Writes a record file, so that [`Run::records`] can read it.
    pub(crate) fn recorded(mut self) -> Self {
        self.recorded = true;
        self
    }

    /// Limits the address space of it and of each process that it starts.
    pub(crate) fn memory(self, kib: u64) -> Self {
        self.shell(format!("ulimit -v {kib} && exec \"$0\" \"$@\""))
    }

    /// Runs it by this shell script, in which it is `"$0" "$@"`.
    pub(crate) fn shell(mut self, script: impl Into<String>) -> Self {
        self.shell = Some(script.into());
        self
    }

    /// Sets its standard input, which is empty otherwise.
    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// Sets its standard output, which [`Run`] then does not have.
    pub(crate) fn stdout(mut self, stdout: impl Into<Stdio>) -> Self {
        self.stdout = Some(stdout.into());
        self
    }

    /// Sets its standard error, which [`Run`] then does not have.
    pub(crate) fn stderr(mut self, stderr: impl Into<Stdio>) -> Self {
        self.stderr = Some(stderr.into());
        self
    }

    /// The directory that the bots know as `SCRATCH`.
    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Runs it to its end.
    ///
    /// # Panics
    ///
    /// When it takes longer than [`HANGS`], or leaves a process behind.
    pub(crate) fn run(self) -> Run {
        self.start().finish()
    }

    /// Starts it.
    pub(crate) fn start(mut self) -> Running {
        let program = env!("CARGO_BIN_EXE_referee");
        let mut command = match &self.shell {
            None => command(program),
            Some(script) => {
                let mut command = command("sh");
                command.args(["-c", script, program]);
                command
            }
        };
        let place = place_of_sandbox(&self.arguments, &self.directory);
        if let Some(place) = place.filter(|_| !self.default_sandbox) {
            let none = ["--sandbox", "none"].map(OsString::from);
            self.arguments.splice(place..place, none);
        }
        command.args(&self.arguments);
        if self.recorded {
            command.arg("--record").arg(self.scratch().join(RECORDS));
        }
        let stdin = match &self.stdin {
            None => Stdio::null(),
            Some(bytes) => {
                let path = self.scratch().join("stdin");
                fs::write(&path, bytes).expect("a file");
                File::open(path).expect("the file").into()
            }
        };
        let started = Instant::now();
        let mut child = command
            .env("REFEREE_BIN", program)
            .env("SCRATCH", self.scratch())
            // What is built of bots.
            .env(
                "XDG_CACHE_HOME",
                concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"),
            )
            .envs(self.environment)
            .current_dir(&self.directory)
            .stdin(stdin)
            .stdout(self.stdout.unwrap_or_else(Stdio::piped))
            .stderr(self.stderr.unwrap_or_else(Stdio::piped))
            .spawn()
            .expect("the referee starts");
        Running {
            started,
            stdout: child.stdout.take().map(collect),
            stderr: child.stderr.take().map(collect),
            child: KillOnDrop(child),
            directory: self.directory,
            scratch: self.scratch,
        }
    }
}

/// What bots of `tests/bots` contain that need what a sandbox refuses on purpose: they ask the referee's
/// own program for answers, which has a solver; write into the test's directory; close their output, which
/// bubblewrap's own processes keep open; or read a device that costs memory which nobody counts.
const NEED_MORE: [&str; 5] = ["lib.sh", "SCRATCH", "REFEREE_BIN", "exec >&-", "/dev/zero"];

/// Whether the first word names a command, and not a bot.
fn is_command(word: &str, directory: &Path) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
    let is_word = !word.starts_with('-') && word.bytes().all(is_letter);
    is_word && !directory.join(word).exists()
}

/// Where `--sandbox none` belongs in a match or a check that names no sandbox; `None` when it plays in the default. With
/// `TEST_IN_SANDBOX`, as CI has it for the faults, that is where its bots do with what a sandbox gives them.
fn place_of_sandbox(arguments: &[OsString], directory: &Path) -> Option<usize> {
    let words = arguments.iter().filter_map(|argument| argument.to_str());
    if words.clone().any(|word| word.starts_with("--sandbox")) {
        return None;
    }
    let place = match words.clone().next()? {
        "check" => 1,
        "tournament" => return None,
        "human" => 0,
        word if is_command(word, directory) => return None,
        _ => 0,
    };
    let needs_more = |bot: &str| {
        let file = bot.split(' ').next().unwrap_or_default();
        let file = directory.join(file.trim_matches('\''));
        // Not a device, which may have no end.
        let text = if file.is_file() {
            fs::read(file).unwrap_or_default()
        } else {
            Vec::new()
        };
        let text = [text, bot.into()].concat();
        NEED_MORE
            .iter()
            .any(|mark| contains(&text, mark.as_bytes()))
    };
    let is_sandboxed = cfg!(all(target_os = "linux", not(portable)))
        && std::env::var_os("TEST_IN_SANDBOX").is_some();
    (!is_sandboxed || words.clone().any(needs_more)).then_some(place)
}

/// A process that is killed when it is dropped, as when a test fails.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Holds a test for each of these, four at a time: most of it is waiting.
///
/// # Panics
///
/// When one of the tests does.
pub(crate) fn each_of<T: Sync>(all: &[T], test: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            test(one);
        }
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(work);
        }
    });
}

/// A run in progress.
pub(crate) struct Running {
    child: KillOnDrop,
    started: Instant,
    stdout: Option<Receiver<Vec<u8>>>,
    stderr: Option<Receiver<Vec<u8>>>,
    directory: PathBuf,
    scratch: TempDir,
}

impl Running {
    /// Its process id, or that of its shell.
    pub(crate) fn id(&self) -> u32 {
        self.child.0.id()
    }

    /// The directory that the bots know as `SCRATCH`.
    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Whether it has not ended.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.0.try_wait().expect("a child").is_none()
    }

    /// Waits for something to happen while it runs.
    ///
    /// # Panics
    ///
    /// When it ends before, or that takes longer than [`HANGS`].
    #[track_caller]
    pub(crate) fn wait_until(&mut self, happened: impl Fn(&Path) -> bool) {
        while !happened(self.scratch.path()) {
            assert!(self.is_running(), "it has ended too early");
            assert!(self.started.elapsed() < HANGS, "it never happened");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Sends it a signal, such as `INT`.
    pub(crate) fn signal(&self, name: &str) {
        let sent = signals::send(name, &self.id().to_string());
        assert!(sent, "no signal could be sent");
    }

    /// Waits for its end.
    ///
    /// # Panics
    ///
    /// When it takes longer than [`HANGS`], or leaves a process behind.
    pub(crate) fn finish(mut self) -> Run {
        let ended = wait(&mut self.child.0, self.started + HANGS);
        let elapsed = self.started.elapsed();
        let left_behind = left_behind(self.scratch.path());
        let stderr = self.stderr.as_ref().map(text).unwrap_or_default();
        let warning = |line: &&str| line.starts_with(ROOT_WARNING);
        let run = Run {
            code: ended.and_then(|status| status.code()),
            stdout: self.stdout.as_ref().map(text).unwrap_or_default(),
            root_warnings: stderr.lines().filter(warning).count(),
            stderr: stderr
                .split_inclusive('\n')
                .filter(|line| !warning(line))
                .collect(),
            elapsed,
            directory: self.directory,
            scratch: self.scratch,
        };
        assert!(ended.is_some(), "still running after {HANGS:?}\n{run}");
        assert!(
            left_behind.is_empty(),
            "left behind: {left_behind:#?}\n{run}"
        );
        run
    }
}

/// Runs of a referee whose last argument is a piece set: its file, standard input, and a pipe.
pub(crate) fn runs_with_set(new: impl Fn() -> Referee, file: &Path, set: &[u8]) -> [Run; 3] {
    let from_pipe = "cat \"$SCRATCH/stdin\" | \"$0\" \"$@\"";
    let from_stdin = || new().args(["/dev/stdin"]).stdin(set);
    [
        new().args([file]).run(),
        from_stdin().run(),
        from_stdin().shell(from_pipe).run(),
    ]
}

/// How the line begins that warns root of bots without a sandbox.
const ROOT_WARNING: &str = "referee: WARNING: you are root";

/// The result of a run.
pub(crate) struct Run {
    /// The exit status; `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    /// Without the warning to root, so that it is the same whoever runs the tests.
    pub(crate) stderr: String,
    /// How often root was warned of bots without a sandbox.
    pub(crate) root_warnings: usize,
    pub(crate) elapsed: Duration,
    directory: PathBuf,
    scratch: TempDir,
}

impl Run {
    /// The records that it wrote.
    pub(crate) fn records(&self) -> Vec<Value> {
        records(&self.file(RECORDS))
    }

    /// The records that it printed, with `--json`.
    pub(crate) fn printed_records(&self) -> Vec<Value> {
        records(&self.stdout)
    }

    /// A file that a bot wrote into its scratch directory; empty when there is none.
    pub(crate) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.scratch.path().join(name)).unwrap_or_default()
    }

    /// The directory that the bots knew as `SCRATCH`.
    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    pub(crate) fn last_line(&self) -> &str {
        self.stdout.lines().next_back().unwrap_or_default()
    }

    /// Runs the command that stderr gives to reproduce the fault; returns its stdout.
    pub(crate) fn reproduce(&self) -> Vec<u8> {
        let command = self
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("  reproduce: "))
            .unwrap_or_else(|| panic!("no command that reproduces the fault\n{self}"));
        let output = self::command("sh")
            .args(["-c", command])
            .env("REFEREE_BIN", env!("CARGO_BIN_EXE_referee"))
            .env("SCRATCH", self.scratch.path())
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .output()
            .expect("sh starts");
        output.stdout
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "status: {:?} after {:?}", self.code, self.elapsed)?;
        writeln!(f, "stdout:\n{}", self.stdout)?;
        writeln!(f, "stderr:\n{}", self.stderr)?;
        writeln!(f, "records:")?;
        for record in self.file(RECORDS).lines().take(10) {
            writeln!(f, "{record}")?;
        }
        Ok(())
    }
}

/// The records of a file, one a line between which lines may be blank, each of which has what its schema describes and no more.
pub(crate) fn records(text: &str) -> Vec<Value> {
    let record = |line| {
        let record = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        schema::RECORD.check(&record);
        record
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(record).collect()
}

/// Reads a stream to its end on a separate thread, so that neither pipe fills up.
fn collect(mut stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // After an error, the part that was read is used.
        let _ = stream.read_to_end(&mut bytes);
        let _ = send.send(bytes);
    });
    receive
}

/// All collected text. The program has ended, so it is available at once.
fn text(collected: &Receiver<Vec<u8>>) -> String {
    let bytes = collected
        .recv_timeout(HANGS)
        .expect("the output ends with the program");
    String::from_utf8(bytes).expect("the referee writes UTF-8")
}

/// The exit status; `None` when the time is up before it has ended, and it was killed.
fn wait(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return Some(status);
        }
        if Instant::now() >= deadline {
            break;
        }
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("a child");
    child.wait().expect("a child");
    None
}

/// The commands of processes that have `mark` in their environment or command line, after the
/// kernel had time to remove killed ones. Kills them.
fn left_behind(mark: &Path) -> Vec<String> {
    let mark = mark.as_os_str().as_encoded_bytes();
    let mut found = marked(mark);
    let deadline = Instant::now() + HANGS;
    while !found.is_empty() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
        found = marked(mark);
    }
    for (pid, _) in &found {
        signals::send("KILL", pid);
    }
    found.into_iter().map(|(_, command)| command).collect()
}

/// Ids and commands of the marked processes; none on systems without `/proc`.
fn marked(mark: &[u8]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_string_lossy().into_owned();
        if !pid.bytes().all(|byte| byte.is_ascii_digit()) || pid == std::process::id().to_string() {
            continue;
        }
        let read = |file| fs::read(entry.path().join(file)).unwrap_or_default();
        let command = read("cmdline");
        if contains(&read("environ"), mark) || contains(&command, mark) {
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            found.push((pid, command));
        }
    }
    found
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    // Each test reads the environments of all processes, not optimised.
    memchr::memmem::find(bytes, part).is_some()
}
