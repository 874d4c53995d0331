//! The CPU time of all processes of a bot, including those that exited and were not waited for.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::hierarchy::Version;

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
