//! The settings of a control group, in both versions of the interface.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Version;

/// The period of the CPU bound, in microseconds.
const PERIOD: u64 = 100_000;

/// What the kernel can do for all processes of a bot together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Controller {
    /// Bounds memory, the kernel's own for the processes included.
    Memory,
    Pids,
    Cpu,
    Freezer,
    /// Counts CPU time. v2 needs no controller for it.
    Account,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    pub memory: u64,
    pub tasks: u64,
}

impl Allowance {
    /// To try whether groups can be made.
    pub(super) const PROBE: Self = Self {
        memory: 1 << 30,
        tasks: 512,
    };
}

/// A file of a group, what is written to it, and whether every kernel has it.
pub(super) type Setting = (&'static str, String, bool);

impl Controller {
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

    pub(super) fn settings(self, version: Version, allowance: Allowance) -> Vec<Setting> {
        let memory = allowance.memory.to_string();
        match (self, version) {
            // Memory must not be swapped out instead, and a bot is killed as a whole.
            (Self::Memory, Version::One) => vec![
                ("memory.limit_in_bytes", memory.clone(), true),
                ("memory.memsw.limit_in_bytes", memory, false),
            ],
            (Self::Memory, Version::Two) => vec![
                ("memory.max", memory, true),
                ("memory.swap.max", "0".to_owned(), false),
                ("memory.oom.group", "1".to_owned(), false),
            ],
            (Self::Pids, _) => vec![("pids.max", allowance.tasks.to_string(), true)],
            (Self::Cpu, Version::One) => vec![
                ("cpu.cfs_period_us", PERIOD.to_string(), true),
                ("cpu.cfs_quota_us", PERIOD.to_string(), true),
            ],
            (Self::Cpu, Version::Two) => vec![("cpu.max", format!("{PERIOD} {PERIOD}"), true)],
            // Only whether it can be written matters.
            (Self::Freezer, Version::One) => vec![("freezer.state", "THAWED".to_owned(), true)],
            (Self::Freezer, Version::Two) => vec![("cgroup.freeze", "0".to_owned(), true)],
            (Self::Account, _) => Vec::new(),
        }
    }

    /// The file that counts how often a bound was met, and how its line starts.
    pub(super) const fn events(self, version: Version) -> Option<(&'static str, &'static [u8])> {
        match (self, version) {
            (Self::Memory, Version::One) => Some(("memory.oom_control", b"oom_kill ")),
            (Self::Memory, Version::Two) => Some(("memory.events", b"oom_kill ")),
            (Self::Pids, _) => Some(("pids.events", b"max ")),
            (Self::Cpu | Self::Freezer | Self::Account, _) => None,
        }
    }
}

/// A group as the referee uses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    pub(super) directory: PathBuf,
    pub(super) version: Version,
}

impl Group {
    /// Opens its account for repeated reading; `None` when the group is gone, as that of a bot that ended at
    /// once may be.
    pub fn open_account(&self) -> io::Result<Option<OpenAccount>> {
        let name = match self.version {
            Version::One => "cpuacct.usage",
            Version::Two => "cpu.stat",
        };
        match File::open(self.directory.join(name)) {
            Ok(file) => Ok(Some(OpenAccount {
                file,
                version: self.version,
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub fn set_frozen(&self, frozen: bool) -> io::Result<()> {
        let (name, word) = match (self.version, frozen) {
            (Version::One, true) => ("freezer.state", "FROZEN"),
            (Version::One, false) => ("freezer.state", "THAWED"),
            (Version::Two, true) => ("cgroup.freeze", "1"),
            (Version::Two, false) => ("cgroup.freeze", "0"),
        };
        self.set(name, word)
    }

    pub(super) fn set(&self, name: &str, value: &str) -> io::Result<()> {
        // Never creates a file, in case this is another file system.
        let mut file = File::options()
            .write(true)
            .open(self.directory.join(name))?;
        file.write_all(value.as_bytes())
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        let text = fs::read_to_string(self.directory.join(name)).ok()?;
        text.trim().parse().ok()
    }
}

#[derive(Debug)]
pub struct OpenAccount {
    file: File,
    version: Version,
}

impl OpenAccount {
    /// CPU time used. One system call; `None` when the group is gone.
    pub fn read(&self) -> Option<Duration> {
        let mut buffer = [0; 512];
        let length = self.file.read_at(&mut buffer, 0).ok()?;
        let text = str::from_utf8(&buffer[..length]).ok()?;
        match self.version {
            Version::One => Some(Duration::from_nanos(text.trim_ascii_end().parse().ok()?)),
            Version::Two => {
                let mut lines = text.lines();
                let micros = lines.find_map(|line| line.strip_prefix("usage_usec "))?;
                Some(Duration::from_micros(micros.parse().ok()?))
            }
        }
    }
}
