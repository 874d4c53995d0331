//! What a bot uses while it runs, looked at now and then: memory and processes of its whole
//! tree, and its scratch directory. The kernel bounds these for one process, or for one user,
//! but not for a tree without a control group of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Pid;

use super::descendants::{Descendants, Process};
use super::order::{Bounds, Exceeded};

/// Time between two looks. Memory grows fastest; where the kernel bounds it, there is more time.
pub(super) const fn interval(memory_by_kernel: bool) -> Duration {
    Duration::from_millis(if memory_by_kernel { 50 } else { 25 })
}

/// The watch over one bot.
#[derive(Debug)]
pub(super) struct Watch {
    bounds: Bounds,
    scratch: Scratch,
    descendants: Descendants,
    /// Processes that are not the bot's own: bubblewrap's.
    helpers: usize,
    /// The most memory seen, in KiB.
    peak: u64,
}

/// Where a bot's scratch directory is.
#[derive(Debug)]
pub(super) enum Scratch {
    /// A directory of this system.
    Directory(PathBuf),
    /// A file system of its own, of limited size, in the processes' own view.
    Inside,
}

impl Watch {
    pub(super) fn new(bounds: Bounds, scratch: Scratch, helpers: usize) -> Self {
        Self {
            bounds,
            scratch,
            descendants: Descendants::new(),
            helpers,
            peak: 0,
        }
    }

    /// The most memory seen, in KiB.
    pub(super) const fn peak(&self) -> u64 {
        self.peak
    }

    /// Looks at everything; the first bound that is exceeded.
    pub(super) fn look(&mut self) -> Option<Exceeded> {
        let limit = usize::try_from(self.bounds.processes).unwrap_or(usize::MAX);
        let limit = limit.saturating_add(self.helpers);
        let threads = self.bounds.threads();
        let processes = self.descendants.look(limit, threads);
        if processes.len() > limit {
            return Some(Exceeded::Processes);
        }
        if processes.iter().map(|process| process.threads).sum::<u64>() > threads {
            return Some(Exceeded::Threads);
        }
        if self.memory(&processes) > self.bounds.memory {
            return Some(Exceeded::Memory);
        }
        match &self.scratch {
            Scratch::Directory(path) => self.directory(path),
            Scratch::Inside => file_system(processes.last()?.pid),
        }
    }

    /// Bytes in use by these processes.
    fn memory(&mut self, processes: &[Process]) -> u64 {
        let resident: u64 = processes.iter().map(|process| process.resident).sum();
        self.peak = self.peak.max(resident >> 10);
        if resident <= self.bounds.memory {
            return resident;
        }
        // Looked at more closely, at some cost: what processes share counts once, and what
        // they read from files not at all.
        processes.iter().map(proportional).sum()
    }

    fn directory(&self, path: &Path) -> Option<Exceeded> {
        let mut bytes = 0;
        let mut files = 0;
        let mut waiting = vec![path.to_owned()];
        while let Some(directory) = waiting.pop() {
            let entries = match fs::read_dir(directory) {
                Ok(entries) => entries,
                // It has gone meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                // It was closed, or its path has become too long.
                Err(_) => return Some(Exceeded::Hidden),
            };
            for entry in entries.flatten() {
                files += 1;
                if files > Bounds::FILES {
                    return Some(Exceeded::Files);
                }
                let Ok(meta) = entry.metadata() else { continue };
                bytes += std::os::unix::fs::MetadataExt::blocks(&meta) * 512;
                if meta.is_dir() {
                    waiting.push(entry.path());
                }
            }
        }
        (bytes > self.bounds.scratch).then_some(Exceeded::Scratch)
    }
}

/// Bubblewrap bounds the bytes, but not the number of files.
fn file_system(pid: Pid) -> Option<Exceeded> {
    let root = format!("/proc/{}/root/tmp", pid.as_raw_pid());
    let system = rustix::fs::statvfs(root).ok()?;
    let files = system.f_files.saturating_sub(system.f_ffree);
    (files > Bounds::FILES).then_some(Exceeded::Files)
}

/// Memory of a process in bytes, without what is read from files; shared memory counts in
/// proportion.
fn proportional(process: &Process) -> u64 {
    let rollup = format!("/proc/{}/smaps_rollup", process.pid.as_raw_pid());
    let Ok(rollup) = fs::read_to_string(rollup) else {
        return process.resident;
    };
    let kib = |line: &str| -> Option<u64> {
        let line = line
            .strip_prefix("Pss_Anon:")
            .or_else(|| line.strip_prefix("Pss_Shmem:"))?;
        line.trim().strip_suffix(" kB")?.parse().ok()
    };
    rollup.lines().filter_map(kib).sum::<u64>() << 10
}
