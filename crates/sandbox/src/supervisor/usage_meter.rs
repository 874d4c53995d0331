//! Measures what the processes of a running bot use together.

use rustix::process::Pid;

use super::descendants::{descendants, ended_orphans, reap_orphans};
use super::sys;
use crate::limits::{ExceededLimit, ResourceLimits};
use crate::procfs::{self, ProcessUsage};

/// How often processes are counted again while some of too many are exited orphans.
const ATTEMPTS: u32 = 2;

/// Page tables are read at every such check: it takes longer than all else.
const TABLES_EVERY: u32 = 4;

#[derive(Debug)]
pub(super) struct UsageMeter {
    limits: ResourceLimits,
    /// The bot's first process, or bubblewrap's above it.
    bot: Pid,
    helpers: usize,
    /// Whether the kernel bounds their memory together, its own for them included.
    memory_by_kernel: bool,
    checks: u32,
    peak_kb: u64,
}

impl UsageMeter {
    pub(super) const fn new(
        limits: ResourceLimits,
        bot: Pid,
        helpers: usize,
        memory_by_kernel: bool,
    ) -> Self {
        Self {
            limits,
            bot,
            helpers,
            memory_by_kernel,
            checks: 0,
            peak_kb: 0,
        }
    }

    /// The most memory that was seen in use at a time, in KiB. Shared memory counts more than once.
    pub(super) const fn peak_kb(&self) -> u64 {
        self.peak_kb
    }

    /// The limit that the processes have exceeded by now.
    pub(super) fn exceeded(&mut self) -> Option<ExceededLimit> {
        let Some(processes) = self.processes() else {
            return Some(ExceededLimit::Processes);
        };
        let running: u64 = processes.iter().map(|(_, usage)| usage.threads).sum();
        if running > self.limits.threads().saturating_add(self.helpers as u64) {
            return Some(ExceededLimit::Threads);
        }
        (self.memory(&processes) > self.limits.memory).then_some(ExceededLimit::Memory)
    }

    /// The processes that there are; `None` for more than there may be. Exited orphans wait for this
    /// process, or bubblewrap's first; the bot cannot help that.
    fn processes(&self) -> Option<Vec<(Pid, ProcessUsage)>> {
        let most = usize::try_from(self.limits.processes).unwrap_or(usize::MAX);
        let most = most.saturating_add(self.helpers);
        let threads = self.limits.threads();
        let mut processes = descendants(most, threads);
        for attempt in 0.. {
            if processes.len() <= most {
                break;
            }
            let ended = ended_orphans(&processes, self.helpers);
            if processes.len() <= most + ended {
                // Includes those that were left out.
                processes = descendants(most + ended, threads);
                let now = ended_orphans(&processes, self.helpers);
                if processes.len() <= most + now {
                    break;
                }
            }
            if attempt == ATTEMPTS {
                return None;
            }
            reap_orphans(self.bot);
            processes = descendants(most, threads);
        }
        Some(processes)
    }

    /// Bytes in use, every few checks with page tables.
    fn memory(&mut self, processes: &[(Pid, ProcessUsage)]) -> u64 {
        let resident: u64 = processes.iter().map(|(_, usage)| usage.resident).sum();
        self.peak_kb = self.peak_kb.max(resident >> 10);
        self.checks = self.checks.wrapping_add(1);
        let tables = if self.memory_by_kernel || !self.checks.is_multiple_of(TABLES_EVERY) {
            0
        } else {
            let tables = |(pid, _): &(Pid, ProcessUsage)| procfs::page_tables(*pid);
            processes.iter().filter_map(tables).sum()
        };
        if resident.saturating_add(tables) <= self.limits.memory {
            return resident;
        }
        // Measured more closely, at some cost: shared memory counts once (including that of `vfork`
        // children), file pages not at all.
        let closer = |(place, &(pid, _)): (usize, &(Pid, ProcessUsage))| {
            let mut others = processes[..place].iter();
            if others.any(|&(other, _)| sys::share_memory(other, pid)) {
                return 0;
            }
            procfs::proportional_memory(pid).unwrap_or_else(|| {
                // It may have exited since.
                let now = ProcessUsage::read(pid, self.limits.threads());
                now.map_or(0, |usage| usage.resident)
            })
        };
        let memory: u64 = processes.iter().enumerate().map(closer).sum();
        memory.saturating_add(tables)
    }
}
