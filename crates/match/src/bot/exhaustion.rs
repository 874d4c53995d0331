//! A machine without processes, threads, descriptors, memory or time left. That is not a bot's fault: a
//! bot that cannot start for it has not failed to start, and a game lost meanwhile is void.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::fault::{Exit, Fault};
use super::process::SilentStart;
use referee_host::system::{Shortage, most_open_files};
use referee_host::threads::locked;
use referee_sandbox::cgroup::levels_of_this_process;
use referee_sandbox::procfs;
use referee_text::{cause, escape_controls, size};

/// Older counts of refusals are read again.
const FRESH: Duration = Duration::from_millis(100);

/// With at most this many free, a limit has probably just been reached: failures free some again
/// before they are looked at.
const SLACK: u64 = 64;

/// The machine has run out of something every process needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}; {fix}")]
pub struct Exhausted {
    cause: String,
    fix: &'static str,
}

impl Exhausted {
    /// From a failed start of a process or thread; `None` when it has another cause.
    pub fn from_error(error: &io::Error) -> Option<Self> {
        let (cause, fix) = match Shortage::from_error(error)? {
            Shortage::Processes => return Some(Self::processes()),
            Shortage::Memory => (
                "no process or thread can be started now (ENOMEM): there is no memory left for it"
                    .to_owned(),
                "end other programs, or play fewer games at a time",
            ),
            Shortage::OwnFiles => {
                let most = most_open_files();
                let most = most.map_or_else(String::new, |most| format!(" {most}"));
                (
                    format!("the referee has all{most} files open that it may (ulimit -n)"),
                    "raise that limit, or play fewer games at a time",
                )
            }
            Shortage::Files => (
                "this machine has all files open that it may (fs.file-max)".to_owned(),
                "end other programs, or raise that limit",
            ),
            Shortage::Space => (
                "no space is left for temporary files".to_owned(),
                "free some, or set TMPDIR to a folder with more of it",
            ),
        };
        Some(Self { cause, fix })
    }

    /// From a failed start of a bot: also one of which nothing was heard.
    pub fn of_start(bot: &str, error: &io::Error) -> Option<Self> {
        let Some(silent) = SilentStart::of(error) else {
            return Self::from_error(error);
        };
        Some(Self {
            cause: format!("{} was started, and {silent}", escape_controls(bot)),
            fix: "likely this machine has too much to do: end other programs, or play fewer games at a time",
        })
    }

    /// Names the limit with the fewest free: which one refused, the kernel does not say.
    fn processes() -> Self {
        let likely = nearest_limit().map_or_else(String::new, |limit| {
            let Limit {
                setting,
                most,
                used,
            } = limit;
            format!(
                "; likely {used} of at most {most} processes and threads are in use ({setting})"
            )
        });
        Self {
            cause: format!("no process or thread can be started now (EAGAIN){likely}"),
            fix: "end other programs, play fewer games at a time, or raise the limit (ulimit -u, or nproc in \
                  /etc/security/limits.conf; of a container: --pids-limit; of a systemd unit or user: TasksMax=; \
                  of the machine: sysctl)",
        }
    }

    /// For a bot that was killed within its memory limit.
    const fn memory(cause: String) -> Self {
        let fix = "end other programs, play fewer games at a time, or lower --memory";
        Self { cause, fix }
    }

    pub fn cause(&self) -> &str {
        &self.cause
    }
}

/// A limit on processes and threads, and its use.
#[derive(Debug)]
struct Limit {
    setting: String,
    most: u64,
    used: u64,
}

impl Limit {
    const fn free(&self) -> u64 {
        self.most.saturating_sub(self.used)
    }
}

/// The control groups of this process that limit the number of processes.
static GROUPS: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
    let mut levels = levels_of_this_process("pids");
    levels.retain(|directory| directory.join("pids.max").exists());
    levels
});

fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn nearest_limit() -> Option<Limit> {
    let of_group = |directory: &PathBuf| {
        let max = directory.join("pids.max");
        Some(Limit {
            most: number(&max)?,
            used: number(&directory.join("pids.current"))?,
            setting: max.display().to_string(),
        })
    };
    let groups = GROUPS.iter().filter_map(of_group);
    groups.chain(system_limits()).min_by_key(Limit::free)
}

/// Limits of the machine and of the user. Reads a file for each process when the user's might be
/// reached.
#[cfg(all(target_os = "linux", not(portable)))]
fn system_limits() -> Vec<Limit> {
    use rustix::process::{Resource, getrlimit, getuid};

    let Some(tasks) = procfs::tasks_of_system() else {
        return Vec::new();
    };
    let of_kernel = |name: &str| {
        Some(Limit {
            most: procfs::kernel_setting(name)?.parse().ok()?,
            used: tasks,
            setting: name.replace('/', "."),
        })
    };
    let user = getuid();
    let of_user = getrlimit(Resource::Nproc).current;
    let of_user = of_user.filter(|_| !user.is_root()).map(|most| Limit {
        most,
        used: if most.saturating_sub(tasks) > SLACK {
            tasks
        } else {
            procfs::count_tasks(user.as_raw())
        },
        setting: format!("ulimit -u of user {user}"),
    });
    let kernel = ["kernel/threads-max", "kernel/pid_max"].map(of_kernel);
    kernel.into_iter().flatten().chain(of_user).collect()
}

/// Nothing is known of the limits of this system.
#[cfg(any(not(target_os = "linux"), portable))]
const fn system_limits() -> Vec<Limit> {
    Vec::new()
}

/// The error of a sandbox that could not be built for a shortage. Bubblewrap reports it in words,
/// in `stderr`.
pub(super) fn refused(error: &io::Error, stderr: &str) -> Option<io::Error> {
    let named = Shortage::in_words(&error.to_string()).or_else(|| Shortage::in_words(stderr));
    named.map(Shortage::error)
}

/// Adds to a failed start of a thread or runtime what it was for and what is short.
pub fn explain(what: &str, error: &io::Error) -> io::Error {
    let cause =
        Exhausted::from_error(error).map_or_else(|| cause(error), |limit| limit.to_string());
    io::Error::other(format!("cannot start {what}: {cause}"))
}

pub fn start_thread<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let started = Builder::new().name(name.to_owned()).spawn(body);
    started.map_err(|error| explain(&format!("a thread ({name})"), &error))
}

/// The least memory that all bots together can have, in bytes, and whose limit it is.
pub fn available_memory() -> Option<(u64, &'static str)> {
    let limit = |directory: &PathBuf| {
        let mut files = ["memory.max", "memory.limit_in_bytes"].into_iter();
        let bytes = files.find_map(|name| number(&directory.join(name)))?;
        Some((bytes, "the referee's control group"))
    };
    let machine = procfs::available_memory().map(|bytes| (bytes, "this machine"));
    let groups = levels_of_this_process("memory");
    let limits = groups.iter().filter_map(limit).chain(machine);
    limits.min_by_key(|&(bytes, _)| bytes)
}

/// How much had been refused and killed when a game began.
#[derive(Clone, Copy, Debug)]
pub struct RefusalMark {
    /// Processes and threads that control groups refused. Of other limits the kernel counts none.
    refusals: u64,
    /// Processes that the kernel killed for want of memory.
    kills: u64,
}

impl RefusalMark {
    fn now() -> Self {
        let refusals = |directory: &PathBuf| {
            // Without a limit it counts what the groups below it refused: those of bots.
            number(&directory.join("pids.max"))?;
            let events = fs::read_to_string(directory.join("pids.events")).ok()?;
            let count = events.lines().find_map(|line| line.strip_prefix("max "))?;
            count.trim().parse::<u64>().ok()
        };
        Self {
            refusals: GROUPS.iter().filter_map(refusals).sum(),
            kills: procfs::killed_for_memory().unwrap_or_default(),
        }
    }

    /// The current state, up to 100 ms old: a short game must not pay for reading it.
    pub fn recent() -> Self {
        static SEEN: Mutex<Option<(Instant, RefusalMark)>> = Mutex::new(None);
        let mut seen = locked(&SEEN);
        match *seen {
            Some((at, mark)) if at.elapsed() < FRESH => mark,
            _ => seen.insert((Instant::now(), Self::now())).1,
        }
    }

    /// Why a game that began here and ended with this fault of `bot` is void. `None` when nothing
    /// was refused or killed, or the bot exceeded its own limits. `is_counted`: the kernel counts
    /// which processes of the bot it kills.
    pub fn void_reason(&self, bot: &str, fault: &Fault, is_counted: bool) -> Option<Exhausted> {
        let now = RefusalMark::now();
        if let Fault::Exited { exit, .. } = fault {
            let bot = escape_controls(bot);
            match exit {
                Exit::Limit(_) => return None,
                Exit::OutOfMemory { used, limit } => {
                    let (used, limit) = (size(*used), size(*limit));
                    return Some(Exhausted::memory(format!(
                        "the kernel killed a process of {bot} for want of memory, although {bot} was within its own limit ({used} of {limit})"
                    )));
                }
                // A bot that kills itself is not in the kernel's count.
                Exit::Signal(name)
                    if name == "SIGKILL" && !is_counted && now.kills > self.kills =>
                {
                    return Some(Exhausted::memory(format!(
                        "{bot} was killed by SIGKILL, and the kernel killed processes for want of memory; likely it was that"
                    )));
                }
                _ => {}
            }
        }
        let is_reached = |limit: &Limit| limit.free() <= (limit.most / 16).min(SLACK);
        let has_refused = now.refusals > self.refusals || system_limits().iter().any(is_reached);
        has_refused.then(Exhausted::processes)
    }
}
