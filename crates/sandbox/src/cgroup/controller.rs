//! The controllers of control groups, and their settings in both versions of the interface.

use serde::{Deserialize, Serialize};

/// Of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum GroupVersion {
    One,
    Two,
}

/// The period of the CPU bound, in microseconds.
const PERIOD: u64 = 100_000;

/// Not 0 in v1: the kernel does not count how often the bound on memory and swap refused some.
const SWAP: u64 = 1 << 16;

/// What the kernel can do for all processes of a bot together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupController {
    /// Bounds memory, the kernel's own for the processes included.
    Memory,
    Pids,
    Cpu,
    Freezer,
    /// Counts CPU time. v2 needs no controller for it.
    Account,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupAllowance {
    pub memory: u64,
    pub tasks: u64,
}

impl GroupAllowance {
    /// To try whether groups can be made.
    pub(super) const PROBE: Self = Self {
        memory: 1 << 30,
        tasks: 512,
    };
}

/// A file of a group, what is written to it, and whether every kernel has it.
pub(super) type Setting = (&'static str, String, bool);

impl GroupController {
    pub const ALL: [Self; 5] = [
        Self::Memory,
        Self::Pids,
        Self::Cpu,
        Self::Freezer,
        Self::Account,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Cpu => "cpu",
            Self::Freezer => "freezer",
            Self::Account => "cpuacct",
        }
    }

    pub(super) fn settings(self, version: GroupVersion, allowance: GroupAllowance) -> Vec<Setting> {
        let memory = allowance.memory.to_string();
        match (self, version) {
            // Memory must not be swapped out instead, and a bot is killed as a whole.
            (Self::Memory, GroupVersion::One) => vec![
                ("memory.limit_in_bytes", memory, true),
                (
                    "memory.memsw.limit_in_bytes",
                    allowance.memory.saturating_add(SWAP).to_string(),
                    false,
                ),
            ],
            (Self::Memory, GroupVersion::Two) => vec![
                ("memory.max", memory, true),
                ("memory.swap.max", "0".to_owned(), false),
                ("memory.oom.group", "1".to_owned(), false),
            ],
            (Self::Pids, _) => vec![("pids.max", allowance.tasks.to_string(), true)],
            (Self::Cpu, GroupVersion::One) => vec![
                ("cpu.cfs_period_us", PERIOD.to_string(), true),
                ("cpu.cfs_quota_us", PERIOD.to_string(), true),
            ],
            (Self::Cpu, GroupVersion::Two) => vec![("cpu.max", format!("{PERIOD} {PERIOD}"), true)],
            // Only whether it can be written matters.
            (Self::Freezer, GroupVersion::One) => {
                vec![("freezer.state", "THAWED".to_owned(), true)]
            }
            (Self::Freezer, GroupVersion::Two) => vec![("cgroup.freeze", "0".to_owned(), true)],
            (Self::Account, _) => Vec::new(),
        }
    }

    /// The file with the most memory that a group had.
    pub(super) const fn peak(version: GroupVersion) -> &'static str {
        match version {
            GroupVersion::One => "memory.max_usage_in_bytes",
            GroupVersion::Two => "memory.peak",
        }
    }

    /// The file that counts processes killed for want of memory, and how its line starts.
    pub(super) const fn oom_kills(version: GroupVersion) -> (&'static str, &'static [u8]) {
        let file = match version {
            GroupVersion::One => "memory.oom_control",
            GroupVersion::Two => "memory.events",
        };
        (file, b"oom_kill ")
    }
}
