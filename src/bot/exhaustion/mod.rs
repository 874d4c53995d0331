//! A machine without processes, threads, descriptors or memory left. That is not a bot's fault: a
//! bot that cannot start for it has not failed to start, and a game lost meanwhile is void.

#[cfg(all(target_os = "linux", not(portable)))]
mod limits;

use std::fmt;
use std::io;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use self::limits::{LimitInUse, Limits, SLACK};
use super::fault::{Exit, Fault};
use crate::sandbox::procfs;
use crate::system::{Shortage, most_open_files};
use crate::text::{cause, escape_controls};

/// Older counts of refusals are read again.
const FRESH: Duration = Duration::from_millis(100);

/// The machine has run out of something every process needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}; {fix}")]
pub struct Exhausted {
    /// The limit, as a sentence.
    cause: String,
    fix: String,
}

impl Exhausted {
    /// From a failed start of a process or thread; `None` when it has another cause.
    pub fn from_error(error: &io::Error) -> Option<Self> {
        let (cause, fix) = match Shortage::from_error(error)? {
            Shortage::Processes => match limits().refusing() {
                Some(limit) => return Some(Self::from(&limit)),
                None => (
                    format!("{NO_PROCESS} a limit of this machine is reached"),
                    "end other programs, or raise ulimit -u, pids.max of the control group, \
                     kernel.pid_max or kernel.threads-max",
                ),
            },
            Shortage::Memory => (
                format!("{NO_PROCESS} there is no memory left for it"),
                "end other programs, or play fewer games at once",
            ),
            Shortage::OwnFiles => {
                let most = most_open_files();
                let most = most.map_or_else(String::new, |most| format!(" {most}"));
                (
                    format!("the referee has all{most} files open that it may (ulimit -n)"),
                    "raise that limit, or play fewer games at once",
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
        Some(Self {
            cause,
            fix: fix.to_owned(),
        })
    }

    /// For a bot that was killed within its memory limit.
    fn memory(cause: String) -> Self {
        let fix = "end other programs, play fewer games at once, or lower --memory";
        Self {
            cause,
            fix: fix.to_owned(),
        }
    }

    pub fn cause(&self) -> &str {
        &self.cause
    }
}

const NO_PROCESS: &str = "no process or thread can be started now, because";

impl From<&LimitInUse> for Exhausted {
    fn from(limit: &LimitInUse) -> Self {
        Self {
            cause: format!("{NO_PROCESS} {limit}"),
            fix: format!(
                "end other programs, play fewer games at once, or raise the limit ({})",
                limit.fix()
            ),
        }
    }
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

/// The error says which limit is reached.
pub fn start_thread<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let started = Builder::new().name(name.to_owned()).spawn(body);
    started.map_err(|error| explain(&format!("a thread ({name})"), &error))
}

/// Whether one more game might be refused processes: a sentence if so.
pub fn is_near() -> Option<String> {
    let limit = limits().least_free()?;
    (limit.free() < SLACK).then(|| limit.to_string())
}

/// The least memory that all bots together can have, in bytes, and whose limit it is.
pub fn available_memory() -> Option<(u64, &'static str)> {
    limits::memory()
}

/// How many more tasks can be started, as far as is known.
#[cfg(all(target_os = "linux", not(portable)))]
pub(super) fn free() -> Option<u64> {
    limits().least_free().map(|limit| limit.free())
}

fn limits() -> &'static Limits {
    static LIMITS: OnceLock<Limits> = OnceLock::new();
    LIMITS.get_or_init(Limits::find)
}

/// Notices refused starts, and kills for memory, during a game.
#[derive(Debug)]
pub struct RefusalWatch {
    /// When the counts were last read, and their values.
    seen: Mutex<(Instant, RefusalMark)>,
}

/// The state when a game began.
#[derive(Clone, Copy, Debug)]
pub struct RefusalMark {
    refusals: u64,
    kills: u64,
}

impl RefusalMark {
    fn now() -> Self {
        Self {
            refusals: limits().refusals(),
            kills: kills(),
        }
    }
}

/// How many processes the kernel has killed for memory, if it counts them.
fn kills() -> u64 {
    procfs::killed_for_memory().unwrap_or_default()
}

impl RefusalWatch {
    pub fn new() -> Self {
        Self {
            seen: Mutex::new((Instant::now(), RefusalMark::now())),
        }
    }

    /// The current state, up to 100 ms old: a short game must not pay for reading it.
    pub fn mark(&self) -> RefusalMark {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.0.elapsed() > FRESH {
            *seen = (Instant::now(), RefusalMark::now());
        }
        seen.1
    }

    /// Why a game that began at `since` and ended with this fault of `bot` is void: a sentence.
    /// `None` when nothing was refused or killed, or the bot exceeded its own limits. `is_counted`:
    /// the kernel counts which processes of the bot it kills.
    pub fn void_reason(
        &self,
        since: &RefusalMark,
        bot: &str,
        fault: &Fault,
        is_counted: bool,
    ) -> Option<Exhausted> {
        if let Fault::Exited { exit, .. } = fault {
            let bot = escape_controls(bot);
            match exit {
                Exit::Limit(_) => return None,
                Exit::OutOfMemory => {
                    return Some(Exhausted::memory(format!(
                        "the kernel killed a process of {bot} for want of memory, although {bot} was within its own limit"
                    )));
                }
                // A bot that kills itself is not in the kernel's count.
                Exit::Signal(name) if name == "SIGKILL" && !is_counted && kills() > since.kills => {
                    return Some(Exhausted::memory(format!(
                        "{bot} was killed by SIGKILL, and the kernel killed processes for want of memory; likely it was that"
                    )));
                }
                _ => {}
            }
        }
        let limits = limits();
        let limit = if limits.refusals() > since.refusals {
            limits.refusing()
        } else {
            limits.reached_uncounted()
        };
        Some(Exhausted::from(&limit?))
    }
}

impl Default for RefusalWatch {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for LimitInUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { used, most, .. } = self;
        write!(
            f,
            "{} has {used} of at most {most} ({})",
            self.owner(),
            self.setting()
        )
    }
}

/// Where the system does not report its limits on processes.
#[cfg(any(not(target_os = "linux"), portable))]
mod limits {
    pub(super) const SLACK: u64 = 64;

    #[derive(Debug)]
    pub(super) struct Limits;

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(super) struct LimitInUse {
        never: Never,
        pub(super) most: u64,
        pub(super) used: u64,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Never {}

    impl LimitInUse {
        pub(super) const fn free(&self) -> u64 {
            match self.never {}
        }

        pub(super) const fn owner(&self) -> &'static str {
            match self.never {}
        }

        pub(super) const fn setting(&self) -> &'static str {
            match self.never {}
        }

        pub(super) const fn fix(&self) -> &'static str {
            match self.never {}
        }
    }

    pub(super) const fn memory() -> Option<(u64, &'static str)> {
        None
    }

    #[expect(clippy::unused_self, reason = "as on Linux")]
    impl Limits {
        pub(super) const fn find() -> Self {
            Self
        }

        pub(super) const fn refusals(&self) -> u64 {
            0
        }

        pub(super) const fn refusing(&self) -> Option<LimitInUse> {
            None
        }

        pub(super) const fn reached_uncounted(&self) -> Option<LimitInUse> {
            None
        }

        pub(super) const fn least_free(&self) -> Option<LimitInUse> {
            None
        }
    }
}
