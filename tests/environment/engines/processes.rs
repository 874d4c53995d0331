//! Starts and ends processes, and finds those that would end with a killed machine.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::hangs::HANGS;
use crate::requirements;

/// The path of a program; daemons are not in everybody's search path.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    requirements::program(name, &["/usr/sbin", "/sbin"])
}

/// A command of this program.
///
/// # Panics
///
/// When there is no such program.
pub(crate) fn command(name: &str) -> Command {
    Command::new(program(name).unwrap_or_else(|| panic!("there is no {name}")))
}

/// A process of `/proc`.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) id: i32,
    pub(crate) parent: i32,
    /// Its words, each ended by a zero byte.
    pub(crate) command: String,
    /// Its environment, each variable ended by a zero byte.
    environment: String,
}

impl Process {
    /// All processes but this one and those that have ended.
    pub(crate) fn all() -> Vec<Self> {
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(|&id| id != own).filter_map(Self::read).collect()
    }

    fn read(id: i32) -> Option<Self> {
        let text = |file: &str| {
            let bytes = fs::read(format!("/proc/{id}/{file}")).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let stat = text("stat");
        // The name, in parentheses, may hold anything.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        (state != "Z").then(|| Self {
            id,
            parent,
            command: text("cmdline"),
            environment: text("environ"),
        })
    }

    /// The value of a variable in its environment.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let mut variables = self.environment.split('\0');
        variables.find_map(|variable| variable.strip_prefix(name)?.strip_prefix('='))
    }

    /// Whether it was started for this folder.
    pub(crate) fn is_of(&self, folder: &Path) -> bool {
        let folder = folder.to_string_lossy();
        self.command.contains(&*folder) || self.environment.contains(&*folder)
    }

    /// The I of its `--shard I/N`.
    pub(crate) fn shard(&self) -> Option<u64> {
        let (_, rest) = self.command.split_once("\0--shard\0")?;
        rest.split_once('/')?.0.parse().ok()
    }
}

/// Kills the processes found, with all descendants, until none is found any more. As in a power
/// failure, no process sees another one end: all are stopped before the first is killed.
///
/// # Panics
///
/// When something is not to be killed.
pub(crate) fn kill_all(found: impl Fn(&Process) -> bool) {
    let begun = Instant::now();
    let mut chosen = HashSet::new();
    loop {
        let all = Process::all();
        chosen.extend(all.iter().filter(|one| found(one)).map(|one| one.id));
        let parents: HashMap<i32, i32> = all.iter().map(|one| (one.id, one.parent)).collect();
        let is_chosen = |one: &&Process| {
            let mut line = std::iter::successors(Some(one.id), |id| parents.get(id).copied());
            line.any(|id| chosen.contains(&id))
        };
        let alive: Vec<i32> = all.iter().filter(is_chosen).map(|one| one.id).collect();
        if alive.is_empty() {
            return;
        }
        for signal in [Signal::STOP, Signal::KILL] {
            for id in alive.iter().filter_map(|&id| Pid::from_raw(id)) {
                // It may have ended since.
                let _ = kill_process(id, signal);
            }
        }
        chosen.extend(alive);
        // While another panic is under way, a second one would end the whole test program.
        if begun.elapsed() > HANGS {
            assert!(thread::panicking(), "there are processes that nothing ends");
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// A program that ends when it is dropped, or when the test program is killed; what it prints goes
/// into a file.
pub(crate) struct Daemon {
    child: Child,
    log: PathBuf,
}

impl Daemon {
    pub(crate) fn start(what: &Command, log: &Path) -> Self {
        let out = File::options()
            .append(true)
            .create(true)
            .open(log)
            .expect("a file");
        let mut command = command("setpriv");
        command
            .args(["--pdeathsig", "KILL", "--"])
            .arg(what.get_program())
            .args(what.get_args())
            .stdin(Stdio::null())
            .stdout(out.try_clone().expect("a file"))
            .stderr(out);
        if let Some(directory) = what.get_current_dir() {
            command.current_dir(directory);
        }
        for (name, value) in what.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Self {
            child: command.spawn().expect("it starts"),
            log: log.to_owned(),
        }
    }

    /// Its output so far.
    pub(crate) fn printed(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Its process id; it may have ended.
    pub(crate) fn id(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap_or(0)
    }

    /// Whether it has not ended.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }

    /// Waits for its end.
    pub(crate) fn finish(mut self, explain: &dyn Fn() -> String) -> (ExitStatus, String) {
        let mut status = None;
        until("the end", explain, || {
            status = self.child.try_wait().expect("a child");
            status.is_some()
        });
        (status.expect("it has ended"), self.printed())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something has happened.
///
/// # Panics
///
/// With an explanation, when it does not happen.
pub(crate) fn until(what: &str, explain: &dyn Fn() -> String, mut happened: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < HANGS, "{what}: never\n{}", explain());
        thread::sleep(Duration::from_millis(30));
    }
}

/// The ends of all logs in a folder, for messages.
pub(crate) fn ends_of_files(folder: &Path) -> String {
    let mut out = String::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry
            .path()
            .extension()
            .is_none_or(|ending| ending != "log")
        {
            continue;
        }
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let _ = writeln!(out, "== {}", entry.path().display());
        for line in &lines[lines.len().saturating_sub(40)..] {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}
