//! The protocol between the referee and a supervisor: the arguments that a supervisor is started
//! with, and one line of JSON for each message.

use std::os::fd::RawFd;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::backend::Backend;
use crate::cgroup::{Account, Allowance, Controller, Freezer, ParentGroups};
use crate::limits::ResourceLimits;
use crate::seccomp::Situation;
use referee_text::size;

/// The second argument of the program inside bubblewrap, which then becomes the bot.
pub(super) const INSIDE: &str = "inside";

/// The second argument of the program when it is to become bubblewrap, which builds a box.
pub(super) const BUILD: &str = "build";

/// The second argument of the program inside a box that is kept.
pub(super) const HOLD: &str = "hold";

/// The second argument of the program when it is to try what a bot could do.
pub(super) const SELF_TEST: &str = "self-test";

/// The descriptor of the program inside bubblewrap that leads to the supervisor.
pub(super) const STATUS_FD: RawFd = 3;

/// The descriptor by which bubblewrap starts that program.
pub(super) const REFEREE_FD: RawFd = 4;

/// How long bubblewrap may take to build a sandbox.
pub(super) const BUILDING: Duration = Duration::from_secs(10);

/// A bot to start. A descriptor is sent with it, from which the bot reads questions; and where a box is
/// kept, those that lead into it, or one for whoever is to get the box that the supervisor builds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpawnRequest {
    /// What is started, and its arguments.
    pub argv: Vec<String>,
    /// All of its environment, but for the place of its scratch directory.
    pub environment: Vec<(String, String)>,
    /// Where it starts; its scratch directory when there is none.
    pub directory: Option<PathBuf>,
    /// What confines it.
    pub backend: Backend,
    /// What it may use.
    pub limits: ResourceLimits,
    /// Whether it is stopped in its opponent's turns.
    pub freeze: bool,
    /// Whether compilers are run.
    pub compiles: bool,
    /// Where control groups can be made for it.
    pub groups: ParentGroups,
    /// What all of its processes then have together.
    pub allowance: Allowance,
    /// The number of the user and group that its processes get; the referee's own without one.
    pub user: Option<u32>,
}

/// What a process restricts itself to before it becomes the bot.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Restrictions {
    /// What the bot may use.
    pub(super) limits: ResourceLimits,
    pub(super) situation: Situation,
    /// The number of the user and group that it gets.
    pub(super) user: Option<u32>,
}

impl SpawnRequest {
    /// What the bot's first process restricts itself to.
    pub(super) fn restrictions(&self) -> Restrictions {
        Restrictions {
            limits: self.limits,
            situation: self.situation(),
            user: self.user,
        }
    }

    /// What the bot's filters depend on.
    pub(super) fn situation(&self) -> Situation {
        Situation {
            shared_files: matches!(
                self.backend,
                Backend::Landlock {
                    own_view: false,
                    ..
                }
            ),
            // What the kernel stops no signal continues.
            freeze: self.freeze && self.groups.version(Controller::Freezer).is_none(),
            compiles: self.compiles,
        }
    }
}

/// What a supervisor reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SupervisorEvent {
    /// The bot runs.
    Ready {
        /// Its process, which leads a group and a session.
        pid: i32,
        /// What stops all of its processes, if that is to be had.
        freezer: Option<Freezer>,
        /// What counts their CPU time, likewise.
        account: Option<Account>,
    },
    /// It could not be started.
    Failed {
        /// Why, for people.
        cause: String,
        /// The number of the system's error, when it is one.
        errno: Option<i32>,
    },
    /// It has ended, with all that it had started.
    Ended(ExitReport),
}

/// How a bot ended, and what it had used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExitReport {
    /// Its exit status, as `wait` gives it.
    pub status: i32,
    /// Processor time of all its processes, in milliseconds.
    pub cpu_ms: f64,
    /// The most memory that was seen in use at once, in KiB.
    pub memory_kb: u64,
    /// The limit that it was ended for.
    pub exceeded: Option<Exceeded>,
    /// Whether it tried to open a network connection.
    pub network: bool,
}

/// A limit that a bot was ended for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exceeded {
    /// Memory of all its processes.
    Memory,
    /// Not one of its own: the kernel killed a process of it because others had all memory.
    OthersMemory,
    /// Processes.
    Processes,
    /// Threads of all its processes.
    Threads,
    /// Bytes in its scratch directory.
    Scratch,
    /// Files in its scratch directory.
    Files,
    /// A part of its scratch directory cannot be read.
    Hidden,
}

impl ExitReport {
    /// Why the bot was ended, when it had more than its limits allow: the end of a sentence that
    /// begins with "it".
    pub fn exceeded(&self, limits: &ResourceLimits) -> Option<String> {
        const KILLED_BY_FILE_SIZE: i32 = 25;
        let scratch = size(limits.scratch);
        Some(match self.exceeded {
            Some(Exceeded::Memory) => format!("used more than {} of memory", size(limits.memory)),
            Some(Exceeded::Processes) => format!("ran more than {} processes", limits.processes),
            Some(Exceeded::Threads) => format!("ran more than {} threads", limits.threads()),
            Some(Exceeded::Scratch) => {
                format!("wrote more than {scratch} into its scratch directory")
            }
            Some(Exceeded::Files) => {
                format!("made more than {} files", ResourceLimits::SCRATCH_FILES)
            }
            Some(Exceeded::Hidden) => {
                "hid a part of its scratch directory, which is watched".to_owned()
            }
            None if self.status == KILLED_BY_FILE_SIZE => {
                format!("wrote a file of more than {scratch}")
            }
            None | Some(Exceeded::OthersMemory) => return None,
        })
    }
}
