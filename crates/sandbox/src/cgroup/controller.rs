//! The settings of a control group, in both versions of the interface.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
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
    /// Bounds processes and threads.
    Pids,
    /// Bounds CPU time.
    Cpu,
    /// Stops the processes, whatever signals they get.
    Freezer,
    /// Counts CPU time. v2 needs no controller for it.
    Account,
}

/// What the processes of a bot may use together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    pub memory: u64,
    pub tasks: u64,
}

impl Default for Allowance {
    fn default() -> Self {
        Self {
            memory: 1 << 30,
            tasks: 512,
        }
    }
}

/// A file of a group, and what is written to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) file: &'static str,
    pub(super) value: String,
    /// Whether a kernel may lack the file.
    pub(super) optional: bool,
}

const fn setting(file: &'static str, value: String) -> Setting {
    Setting {
        file,
        value,
        optional: false,
    }
}

const fn optional(file: &'static str, value: String) -> Setting {
    Setting {
        file,
        value,
        optional: true,
    }
}

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
                setting("memory.limit_in_bytes", memory.clone()),
                optional("memory.memsw.limit_in_bytes", memory),
            ],
            (Self::Memory, Version::Two) => vec![
                setting("memory.max", memory),
                optional("memory.swap.max", "0".to_owned()),
                optional("memory.oom.group", "1".to_owned()),
            ],
            (Self::Pids, _) => vec![setting("pids.max", allowance.tasks.to_string())],
            (Self::Cpu, Version::One) => vec![
                setting("cpu.cfs_period_us", PERIOD.to_string()),
                setting("cpu.cfs_quota_us", PERIOD.to_string()),
            ],
            (Self::Cpu, Version::Two) => {
                vec![setting("cpu.max", format!("{PERIOD} {PERIOD}"))]
            }
            // Only whether it can be written matters.
            (Self::Freezer, Version::One) => vec![setting("freezer.state", "THAWED".to_owned())],
            (Self::Freezer, Version::Two) => vec![setting("cgroup.freeze", "0".to_owned())],
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

/// The file that counts a group's CPU time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    file: PathBuf,
    version: Version,
    /// What processes of the group had used before.
    before: Duration,
}

impl Account {
    /// Counts from now on.
    pub(super) fn new(directory: &Path, version: Version) -> io::Result<Self> {
        let mut account = Self {
            file: directory.join(match version {
                Version::One => "cpuacct.usage",
                Version::Two => "cpu.stat",
            }),
            version,
            before: Duration::ZERO,
        };
        let used = account.open()?.read();
        account.before = used.ok_or(io::ErrorKind::InvalidData)?;
        Ok(account)
    }

    /// Opens it for repeated reading.
    pub fn open(&self) -> io::Result<OpenAccount> {
        Ok(OpenAccount {
            file: File::open(&self.file)?,
            version: self.version,
            before: self.before,
        })
    }
}

/// An open [`Account`].
#[derive(Debug)]
pub struct OpenAccount {
    file: File,
    version: Version,
    before: Duration,
}

impl OpenAccount {
    /// CPU time used. One system call; `None` when the group is gone.
    pub fn read(&self) -> Option<Duration> {
        let mut buffer = [0; 512];
        let length = self.file.read_at(&mut buffer, 0).ok()?;
        let text = str::from_utf8(&buffer[..length]).ok()?;
        let used = match self.version {
            Version::One => Duration::from_nanos(text.trim_ascii_end().parse().ok()?),
            Version::Two => {
                let line = text
                    .lines()
                    .find_map(|line| line.strip_prefix("usage_usec "))?;
                Duration::from_micros(line.parse().ok()?)
            }
        };
        Some(used.saturating_sub(self.before))
    }
}

/// The file that stops and continues the processes of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freezer {
    pub(super) file: PathBuf,
    pub(super) version: Version,
}

impl Freezer {
    /// Opens it for repeated use.
    pub fn open(&self) -> io::Result<OpenFreezer> {
        let file = File::options().write(true).open(&self.file)?;
        let version = self.version;
        Ok(OpenFreezer { file, version })
    }
}

/// An open [`Freezer`].
#[derive(Debug)]
pub struct OpenFreezer {
    file: File,
    version: Version,
}

impl OpenFreezer {
    /// Stops or continues the processes. One system call.
    pub fn set(&self, frozen: bool) -> io::Result<()> {
        let word = match (self.version, frozen) {
            (Version::One, true) => "FROZEN",
            (Version::One, false) => "THAWED",
            (Version::Two, true) => "1",
            (Version::Two, false) => "0",
        };
        (&self.file).write_all(word.as_bytes())
    }
}
