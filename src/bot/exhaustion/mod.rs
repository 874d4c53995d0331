//! A machine that has no process, thread, file descriptor or memory left for a bot. That is nobody's
//! fault who plays: a bot that cannot be started for it has not failed to start, and a game that is
//! lost while others were refused a process is void.
//!
//! - `limits`: which limits hold for this process, and how much of them is in use

#[cfg(all(target_os = "linux", not(portable)))]
mod limits;
#[cfg(any(not(target_os = "linux"), portable))]
#[path = "no_limits.rs"]
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

/// The count of refused processes is read again when it is older than this.
const FRESH: Duration = Duration::from_millis(100);

/// The machine has run out of something that every process needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}; {fix}")]
pub struct Exhausted {
    /// The limit, in a sentence.
    cause: String,
    /// How it is raised.
    fix: String,
}

impl Exhausted {
    /// For the error of a call that starts a process or a thread; `None` when the error has another
    /// cause.
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

    /// For a bot that was killed although it used no more memory than it may.
    fn memory(cause: String) -> Self {
        let fix = "end other programs, play fewer games at once, or lower --memory";
        Self {
            cause,
            fix: fix.to_owned(),
        }
    }

    /// The limit, in a sentence, without the fix.
    pub fn cause(&self) -> &str {
        &self.cause
    }
}

/// How a sentence about processes begins.
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

/// The error of a sandbox that could not be built because there is too little of something. Bubblewrap reports errors in
/// words only, in `stderr`.
pub(super) fn refused(error: &io::Error, stderr: &str) -> Option<io::Error> {
    let named = Shortage::in_words(&error.to_string()).or_else(|| Shortage::in_words(stderr));
    named.map(Shortage::error)
}

/// Adds to the error of a call that starts a thread or a runtime what it was for and, if the machine
/// has run out of something, of what.
pub fn explain(what: &str, error: &io::Error) -> io::Error {
    let cause =
        Exhausted::from_error(error).map_or_else(|| cause(error), |limit| limit.to_string());
    io::Error::other(format!("cannot start {what}: {cause}"))
}

/// Starts a thread with this name. The error says which limit is reached.
pub fn start_thread<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let started = Builder::new().name(name.to_owned()).spawn(body);
    started.map_err(|error| explain(&format!("a thread ({name})"), &error))
}

/// Whether so few processes and threads can still be started that one more game might be refused some:
/// a sentence if so.
pub fn is_near() -> Option<String> {
    let limit = limits().least_free()?;
    (limit.free() < SLACK).then(|| limit.to_string())
}

/// The least memory that all bots together can have: in bytes, and whose it is. `None` when it is not known.
pub fn available_memory() -> Option<(u64, &'static str)> {
    limits::memory()
}

/// How many more processes and threads can be started, as far as is known.
#[cfg(all(target_os = "linux", not(portable)))]
pub(super) fn free() -> Option<u64> {
    limits().least_free().map(|limit| limit.free())
}

fn limits() -> &'static Limits {
    static LIMITS: OnceLock<Limits> = OnceLock::new();
    LIMITS.get_or_init(Limits::find)
}

/// Notices when processes and threads are refused, or killed for want of memory, while a game is played.
#[derive(Debug)]
pub struct RefusalWatch {
    /// When the counts were read last, and what they were.
    seen: Mutex<(Instant, RefusalMark)>,
}

/// The state of the watch when a game began.
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

/// How many processes the kernel has killed for want of memory, if it counts them.
fn kills() -> u64 {
    procfs::killed_for_memory().unwrap_or_default()
}

impl RefusalWatch {
    /// A watch that begins now.
    pub fn new() -> Self {
        Self {
            seen: Mutex::new((Instant::now(), RefusalMark::now())),
        }
    }

    /// The current state, or that of up to 100 ms ago: a short game must not pay for reading it.
    pub fn mark(&self) -> RefusalMark {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.0.elapsed() > FRESH {
            *seen = (Instant::now(), RefusalMark::now());
        }
        seen.1
    }

    /// Why a game that began at `since` and ended with this fault of `bot` is void: a sentence. `None` when all
    /// processes and threads could be started, and the bot was not killed for want of memory, as far as is known; and
    /// when it went beyond its own limits. `is_counted` says that the kernel counts its processes that it kills.
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
                // A bot that kills itself is not among those that the kernel counts.
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
