//! One control group.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use super::controller::{GroupController, GroupVersion};

/// A group as the referee uses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlGroup {
    pub(super) directory: PathBuf,
    pub(super) version: GroupVersion,
}

impl ControlGroup {
    /// Opens its account for repeated reading; `None` when the group is gone, as that of a bot that ended at
    /// once may be.
    pub fn open_account(&self) -> io::Result<Option<OpenAccount>> {
        let name = match self.version {
            GroupVersion::One => "cpuacct.usage",
            GroupVersion::Two => "cpu.stat",
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

    /// Opens what counts its memory, for repeated reading; `None` when that is not there, as where the
    /// bot has exited and its group is gone.
    pub fn open_memory(&self) -> Option<OpenMemory> {
        let peak = GroupController::peak(self.version);
        let (events, start) = GroupController::oom_kills(self.version);
        Some(OpenMemory {
            // Kernels before 5.19 have none in v2.
            peak: File::open(self.directory.join(peak)).ok(),
            events: File::open(self.directory.join(events)).ok()?,
            start,
        })
    }

    pub fn set_frozen(&self, frozen: bool) -> io::Result<()> {
        let (name, word) = match (self.version, frozen) {
            (GroupVersion::One, true) => ("freezer.state", "FROZEN"),
            (GroupVersion::One, false) => ("freezer.state", "THAWED"),
            (GroupVersion::Two, true) => ("cgroup.freeze", "1"),
            (GroupVersion::Two, false) => ("cgroup.freeze", "0"),
        };
        self.set(name, word)
    }

    /// Kills all processes, stopped ones included; in v2 with one write.
    pub(super) fn kill_all(&self) {
        if self.version == GroupVersion::Two && self.set("cgroup.kill", "1").is_ok() {
            return;
        }
        // Stopped processes cannot start others meanwhile.
        let _ = self.set("freezer.state", "FROZEN");
        let list = fs::read_to_string(self.directory.join("cgroup.procs")).unwrap_or_default();
        for pid in list
            .lines()
            .filter_map(|line| Pid::from_raw(line.parse().ok()?))
        {
            // It may have exited.
            let _ = kill_process(pid, Signal::KILL);
        }
        // A stopped process dies only when it continues.
        let _ = self.set("freezer.state", "THAWED");
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

/// The memory of all processes of a group together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupMemory {
    /// The most at a time, in KiB, with pages of files and the kernel's own memory for the processes.
    pub peak_kb: u64,
    /// Processes that the kernel killed for want of memory.
    pub oom_kills: u64,
}

#[derive(Debug)]
pub struct OpenMemory {
    peak: Option<File>,
    events: File,
    /// How the line with the kills starts.
    start: &'static [u8],
}

impl OpenMemory {
    /// Two system calls; `None` when the group is gone.
    pub fn read(&self) -> Option<GroupMemory> {
        let oom_kills = count(&self.events, self.start)?;
        let peak = self.peak.as_ref().and_then(|file| count(file, b""));
        Some(GroupMemory {
            peak_kb: peak.unwrap_or(0) >> 10,
            oom_kills,
        })
    }
}

/// The number after the start of a line of a file.
pub(super) fn count(file: &File, start: &[u8]) -> Option<u64> {
    let mut text = [0; 1 << 10];
    let length = file.read_at(&mut text, 0).ok()?;
    let mut lines = text[..length].split(|&byte| byte == b'\n');
    let number = lines.find_map(|line| line.strip_prefix(start))?;
    str::from_utf8(number).ok()?.trim().parse().ok()
}

#[derive(Debug)]
pub struct OpenAccount {
    file: File,
    version: GroupVersion,
}

impl OpenAccount {
    /// CPU time used. One system call; `None` when the group is gone.
    pub fn read(&self) -> Option<Duration> {
        let mut buffer = [0; 512];
        let length = self.file.read_at(&mut buffer, 0).ok()?;
        let text = str::from_utf8(&buffer[..length]).ok()?;
        match self.version {
            GroupVersion::One => Some(Duration::from_nanos(text.trim_ascii_end().parse().ok()?)),
            GroupVersion::Two => {
                let mut lines = text.lines();
                let micros = lines.find_map(|line| line.strip_prefix("usage_usec "))?;
                Some(Duration::from_micros(micros.parse().ok()?))
            }
        }
    }
}
