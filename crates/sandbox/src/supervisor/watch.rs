//! What a bot uses while it runs, checked at intervals: memory and processes of its whole
//! tree, and its scratch directory. The kernel bounds these for one process, or for one user,
//! but not for a tree without a control group of its own.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Pid;

use super::descendants::{Descendants, Process, reap_orphans};
use super::message::Exceeded;
use super::sys;
use crate::limits::ResourceLimits;
use crate::procfs;

/// Time between two checks. Memory grows fastest; where the kernel bounds it, there is more time.
pub(super) const fn interval(memory_by_kernel: bool) -> Duration {
    Duration::from_millis(if memory_by_kernel { 50 } else { 25 })
}

/// How often processes are counted again while some of too many are orphans that have ended.
const ATTEMPTS: u32 = 2;

/// At every one of so many checks the kernel's tables are looked at, which takes longer than all else.
const TABLES_EVERY: u32 = 4;

/// The watch over one bot.
#[derive(Debug)]
pub(super) struct Watch {
    limits: ResourceLimits,
    /// Its first process, or bubblewrap's above it.
    bot: Pid,
    scratch: Scratch,
    descendants: Descendants,
    /// Processes that are not the bot's own: bubblewrap's.
    helpers: usize,
    /// Whether the kernel bounds their memory together, with what it needs for them itself.
    memory_by_kernel: bool,
    /// Checks that were made.
    checks: u32,
    /// The most memory seen, in KiB.
    peak: u64,
}

/// Where a bot's scratch directory is.
#[derive(Debug)]
pub(super) enum Scratch {
    /// Directories of this system.
    Directories(Vec<PathBuf>),
    /// A file system of its own, of limited size, in the processes' own view.
    Inside,
    /// Likewise, and with a limited number of files.
    Bounded,
}

impl Watch {
    pub(super) fn new(
        limits: ResourceLimits,
        bot: Pid,
        scratch: Scratch,
        helpers: usize,
        memory_by_kernel: bool,
    ) -> Self {
        Self {
            limits,
            bot,
            scratch,
            descendants: Descendants::new(),
            helpers,
            memory_by_kernel,
            checks: 0,
            peak: 0,
        }
    }

    /// The most memory seen, in KiB.
    pub(super) const fn peak(&self) -> u64 {
        self.peak
    }

    /// Checks everything; the first limit that is exceeded.
    pub(super) fn check(&mut self) -> Option<Exceeded> {
        let limit = usize::try_from(self.limits.processes).unwrap_or(usize::MAX);
        let limit = limit.saturating_add(self.helpers);
        let threads = self.limits.threads();
        let mut processes = self.descendants.check(limit, threads);
        // Orphans that have ended wait for this process, or for bubblewrap's first; that they are still
        // there is not the bot's doing.
        for attempt in 0.. {
            if processes.len() <= limit {
                break;
            }
            let ended = self.descendants.ended_orphans(&processes, self.helpers);
            if processes.len() <= limit + ended {
                // Those that were left out are checked, too.
                processes = self.descendants.check(limit + ended, threads);
                let now = self.descendants.ended_orphans(&processes, self.helpers);
                if processes.len() <= limit + now {
                    break;
                }
            }
            if attempt == ATTEMPTS {
                return Some(Exceeded::Processes);
            }
            reap_orphans(self.bot);
            processes = self.descendants.check(limit, threads);
        }
        if processes.iter().map(|process| process.threads).sum::<u64>() > threads {
            return Some(Exceeded::Threads);
        }
        if self.memory(&processes) > self.limits.memory {
            return Some(Exceeded::Memory);
        }
        match &self.scratch {
            Scratch::Directories(paths) => self.directories(paths),
            Scratch::Inside => file_system(processes.last()?.pid),
            Scratch::Bounded => None,
        }
    }

    /// Bytes in use by these processes, now and then with the kernel's tables for them.
    fn memory(&mut self, processes: &[Process]) -> u64 {
        let resident: u64 = processes.iter().map(|process| process.resident).sum();
        self.peak = self.peak.max(resident >> 10);
        self.checks = self.checks.wrapping_add(1);
        let tables = if self.memory_by_kernel || !self.checks.is_multiple_of(TABLES_EVERY) {
            0
        } else {
            let tables = |process: &Process| procfs::page_tables(process.pid);
            processes.iter().filter_map(tables).sum()
        };
        if resident.saturating_add(tables) <= self.limits.memory {
            return resident;
        }
        // Measured more closely, at some cost: what processes share counts once, also all that a process
        // shares until it starts another program (`vfork`), and what they read from files not at all.
        let closer = |(place, process): (usize, &Process)| {
            let mut others = processes[..place].iter();
            if others.any(|other| sys::have_one_memory(other.pid, process.pid)) {
                return 0;
            }
            procfs::proportional_memory(process.pid).unwrap_or(process.resident)
        };
        let memory: u64 = processes.iter().enumerate().map(closer).sum();
        memory.saturating_add(tables)
    }

    fn directories(&self, paths: &[PathBuf]) -> Option<Exceeded> {
        let mut bytes = 0;
        let mut files = 0;
        let mut waiting = paths.to_vec();
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
                if files > ResourceLimits::SCRATCH_FILES {
                    return Some(Exceeded::Files);
                }
                let Ok(meta) = entry.metadata() else { continue };
                bytes += std::os::unix::fs::MetadataExt::blocks(&meta) * 512;
                if meta.is_dir() {
                    waiting.push(entry.path());
                }
            }
        }
        (bytes > self.limits.scratch).then_some(Exceeded::Scratch)
    }
}

/// Bubblewrap bounds the bytes, but not the number of files.
fn file_system(pid: Pid) -> Option<Exceeded> {
    let system = rustix::fs::statvfs(procfs::path_in_view_of(pid, "tmp")).ok()?;
    let files = system.f_files.saturating_sub(system.f_ffree);
    (files > ResourceLimits::SCRATCH_FILES).then_some(Exceeded::Files)
}
