//! What the referee orders from a guard, and what the guard tells it: one line of JSON each.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::cgroup::Home;

/// A bot to start. A descriptor comes with it: what the bot reads questions from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    /// What is started, and its arguments.
    pub(crate) argv: Vec<String>,
    /// All of its environment, but for the place of its scratch directory.
    pub(crate) environment: Vec<(String, String)>,
    /// Where it starts; its scratch directory when there is none.
    pub(crate) directory: Option<PathBuf>,
    /// What is around it.
    pub(crate) wall: Wall,
    /// What it may use.
    pub(crate) bounds: Bounds,
    /// Where a control group can be made for it, and how many bytes of memory all of its processes
    /// then have together.
    pub(crate) group: Option<(Home, u64)>,
}

/// What keeps a bot in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Wall {
    /// Landlock and seccomp.
    Landlock {
        /// What it may read and run.
        read: Vec<PathBuf>,
        /// Where a scratch directory of its own is made.
        scratch: PathBuf,
    },
    /// Bubblewrap and seccomp.
    Bwrap {
        /// Bubblewrap's file.
        program: PathBuf,
        /// Its arguments up to the command.
        arguments: Vec<String>,
        /// Where the referee's own file is found inside.
        inside: String,
    },
}

/// What a bot may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bounds {
    /// Memory of all its processes together, in bytes.
    pub(crate) memory: u64,
    /// Processes.
    pub(crate) processes: u64,
    /// Open files of a process.
    pub(crate) open_files: u64,
    /// Its scratch directory, and the largest file, in bytes.
    pub(crate) scratch: u64,
}

impl Bounds {
    /// Private memory that one process may reserve, in bytes. More than it may use: runtimes
    /// reserve what they never touch. What is in use is watched.
    pub(super) const fn reserved(&self) -> u64 {
        self.memory.saturating_mul(2).saturating_add(256 << 20)
    }

    /// Threads of all its processes together; a runtime starts some for every core.
    pub(crate) const fn threads(&self) -> u64 {
        let threads = self.processes.saturating_mul(4);
        if threads < 512 { 512 } else { threads }
    }

    /// Files in a scratch directory.
    pub(super) const FILES: u64 = 4096;
}

/// What a guard tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum News {
    /// The bot runs.
    Ready {
        /// Its process, which leads a group and a session.
        pid: i32,
    },
    /// It could not be started.
    Failed {
        /// Why, for people.
        cause: String,
    },
    /// It has ended, with all that it had started.
    Ended(Ended),
}

/// How a bot ended, and what it had used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ended {
    /// Its exit status, as `wait` gives it.
    pub(crate) status: i32,
    /// Processor time of all its processes, in milliseconds.
    pub(crate) cpu_ms: f64,
    /// The most memory that was seen in use at once, in KiB.
    pub(crate) memory_kb: u64,
    /// The bound that it was ended for.
    pub(crate) exceeded: Option<Exceeded>,
    /// Whether it tried to open a network connection.
    pub(crate) network: bool,
}

/// A bound that a bot was ended for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Exceeded {
    /// Memory of all its processes.
    Memory,
    /// Processes.
    Processes,
    /// Threads of all its processes.
    Threads,
    /// Bytes in its scratch directory.
    Scratch,
    /// Files in its scratch directory.
    Files,
    /// A part of its scratch directory cannot be looked at.
    Hidden,
}
