//! Polls what a running bot uses: memory and processes of its whole tree, and its scratch
//! directory. Without a control group the kernel bounds these for one process or user only.

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

/// Between two checks. Memory grows fastest; less often where the kernel bounds it.
pub(super) const fn interval(memory_by_kernel: bool) -> Duration {
    Duration::from_millis(if memory_by_kernel { 50 } else { 25 })
}

/// How often processes are counted again while some of too many are exited orphans.
const ATTEMPTS: u32 = 2;

/// Page tables are read at every such check: it takes longer than all else.
const TABLES_EVERY: u32 = 4;

#[derive(Debug)]
pub(super) struct Watch {
    limits: ResourceLimits,
    /// Its first process, or bubblewrap's above it.
    bot: Pid,
    scratch: Scratch,
    descendants: Descendants,
    /// Bubblewrap's own processes.
    helpers: usize,
    /// Whether the kernel bounds their memory together, its own for them included.
    memory_by_kernel: bool,
    checks: u32,
    /// Peak memory seen, in KiB.
    peak: u64,
}

/// Where a bot's scratch directory is.
#[derive(Debug)]
pub(super) enum Scratch {
    /// Directories of this system.
    Directories(Vec<PathBuf>),
    /// Its own file system of limited size, visible to the bot's processes.
    Inside,
    /// Likewise, with a limited number of files.
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

    pub(super) const fn peak(&self) -> u64 {
        self.peak
    }

    /// The first limit that is exceeded.
    pub(super) fn check(&mut self) -> Option<Exceeded> {
        let limit = usize::try_from(self.limits.processes).unwrap_or(usize::MAX);
        let limit = limit.saturating_add(self.helpers);
        let threads = self.limits.threads();
        let mut processes = self.descendants.check(limit, threads);
        // Exited orphans wait for this process, or bubblewrap's first; the bot cannot help that.
        for attempt in 0.. {
            if processes.len() <= limit {
                break;
            }
            let ended = self.descendants.ended_orphans(&processes, self.helpers);
            if processes.len() <= limit + ended {
                // Includes those that were left out.
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

    /// Bytes in use, every few checks with page tables.
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
        // Measured more closely, at some cost: shared memory counts once (including that of `vfork`
        // children), file pages not at all.
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
                // Removed meanwhile.
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

/// Bubblewrap bounds the bytes, not the number of files.
fn file_system(pid: Pid) -> Option<Exceeded> {
    let system = rustix::fs::statvfs(procfs::path_in_view_of(pid, "tmp")).ok()?;
    let files = system.f_files.saturating_sub(system.f_ffree);
    (files > ResourceLimits::SCRATCH_FILES).then_some(Exceeded::Files)
}
