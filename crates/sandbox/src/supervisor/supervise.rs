//! Watches a running bot until it has exited or must be killed.

use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};
use std::{fs, io};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, WaitStatus, pidfd_open};

use super::descendants::{descendants, end_all, ended_orphans, reap_orphans};
use super::message::SpawnRequest;
use super::removal::Watched;
use super::spawn::RunningBot;
use super::sys;
use crate::backend::Backend;
use crate::cgroup::{Controller, Groups, OpenAccount};
use crate::limits::{Exceeded, ExitReport, ResourceLimits};
use crate::procfs::{self, ProcessUsage};
use crate::session;

/// The status of a killed bot that hangs in the kernel.
const KILLED: i32 = 9;

/// Waits until the bot has exited, the referee is gone, or a limit is exceeded; afterwards only its
/// scratch and its groups are left. `account` counts its CPU time.
pub(super) fn supervise(
    request: &SpawnRequest,
    bot: &mut RunningBot,
    account: Option<&OpenAccount>,
    control: &UnixStream,
) -> io::Result<ExitReport> {
    let pidfd = pidfd_open(bot.pid, PidfdFlags::empty())?;
    let by_kernel = bot.groups.with(Controller::Memory).is_some();
    let helpers = request.backend.helpers();
    let mut watch = Watch {
        limits: request.restrictions.limits,
        bot: bot.pid,
        helpers,
        memory_by_kernel: by_kernel,
        checks: 0,
        peak: 0,
    };
    let mut exceeded: Option<Exceeded> = None;
    // Memory grows fastest; less often where the kernel bounds it.
    let interval = Duration::from_millis(if by_kernel { 50 } else { 25 });
    let mut next_check = Instant::now() + interval;
    let mut network = false;
    let mut asking = true;
    loop {
        let mut events = [
            PollFd::new(&pidfd, PollFlags::IN),
            PollFd::new(control, PollFlags::IN),
            PollFd::new(&bot.calls, PollFlags::IN),
        ];
        let wait = next_check.saturating_duration_since(Instant::now());
        let wait = Timespec::try_from(wait).map_err(io::Error::other)?;
        let asked = if asking { 3 } else { 2 };
        let ready = poll(&mut events[..asked], Some(&wait));
        // Even when it keeps asking for the network.
        if Instant::now() >= next_check {
            reap_orphans(bot.pid);
            if let Scratch::Watched(scratch) = &bot.scratch {
                scratch.clear();
            }
            exceeded = met(&bot.groups, || watch.check(&bot.scratch))
                .or_else(|| watch.check(&bot.scratch));
            if exceeded.is_some() {
                break;
            }
            next_check = Instant::now() + interval;
        }
        match ready {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) if events[..2].iter().all(|event| event.revents().is_empty()) => {
                if events[2].revents().contains(PollFlags::IN) {
                    if let Ok(call) = sys::waiting_call(&bot.calls) {
                        network |= libc::c_long::from(call.data.nr) == libc::SYS_socket;
                        let answer = match &mut bot.scratch {
                            Scratch::Watched(scratch) => scratch.remove(&call),
                            Scratch::Inside | Scratch::Bounded => Err(Errno::PERM),
                        };
                        sys::answer_call(&bot.calls, &call, answer);
                    }
                } else {
                    // No process is left that could ask; the exit is about to be reported.
                    asking = false;
                }
            }
            Ok(_) => break,
            Err(error) => return Err(error.into()),
        }
    }
    bot.groups.thaw();
    // If it exited by itself, this is its status.
    let status = end_all(Some(bot.pid)).map_or(KILLED, WaitStatus::as_raw);
    if let Backend::Landlock {
        scratch,
        own_view: false,
        ..
    } = &request.backend
    {
        session::forget(scratch, bot.pid);
    }
    let exceeded = exceeded.or_else(|| met(&bot.groups, || None));
    let (waited_for, largest) = sys::used_by_children();
    let cpu = account.and_then(OpenAccount::read).unwrap_or(waited_for);
    Ok(ExitReport {
        status: decode_bwrap_status(status, helpers > 0),
        cpu_ms: cpu.as_secs_f64() * 1e3,
        memory_kb: largest.max(watch.peak),
        exceeded,
        limits: watch.limits,
        network,
    })
}

/// The kernel bound that the bot met. `check` tells processes from threads, which the kernel counts
/// together.
fn met(groups: &Groups, check: impl FnOnce() -> Option<Exceeded>) -> Option<Exceeded> {
    match groups.exceeded()? {
        Exceeded::Threads => check().or(Some(Exceeded::Threads)),
        memory => Some(memory),
    }
}

/// The bot's own status: bubblewrap in between exits with 128 and the signal's number when a signal
/// killed the bot.
fn decode_bwrap_status(status: i32, bwrap: bool) -> i32 {
    match ExitStatus::from_raw(status).code() {
        Some(code @ 129..=192) if bwrap => code - 128,
        _ => status,
    }
}

/// How often processes are counted again while some of too many are exited orphans.
const ATTEMPTS: u32 = 2;

/// Page tables are read at every such check: it takes longer than all else.
const TABLES_EVERY: u32 = 4;

#[derive(Debug)]
struct Watch {
    limits: ResourceLimits,
    /// Its first process, or bubblewrap's above it.
    bot: Pid,
    helpers: usize,
    /// Whether the kernel bounds their memory together, its own for them included.
    memory_by_kernel: bool,
    checks: u32,
    peak: u64,
}

#[derive(Debug)]
pub(super) enum Scratch {
    Watched(Watched),
    /// Its own file system of limited size, visible to the bot's processes.
    Inside,
    /// Its own file system of limited size and number of files.
    Bounded,
}

impl Watch {
    fn check(&mut self, scratch: &Scratch) -> Option<Exceeded> {
        let limit = usize::try_from(self.limits.processes).unwrap_or(usize::MAX);
        let limit = limit.saturating_add(self.helpers);
        let threads = self.limits.threads();
        let mut processes = descendants(limit, threads);
        // Exited orphans wait for this process, or bubblewrap's first; the bot cannot help that.
        for attempt in 0.. {
            if processes.len() <= limit {
                break;
            }
            let ended = ended_orphans(&processes, self.helpers);
            if processes.len() <= limit + ended {
                // Includes those that were left out.
                processes = descendants(limit + ended, threads);
                let now = ended_orphans(&processes, self.helpers);
                if processes.len() <= limit + now {
                    break;
                }
            }
            if attempt == ATTEMPTS {
                return Some(Exceeded::Processes);
            }
            reap_orphans(self.bot);
            processes = descendants(limit, threads);
        }
        let running: u64 = processes.iter().map(|(_, usage)| usage.threads).sum();
        if running > threads {
            return Some(Exceeded::Threads);
        }
        if self.memory(&processes) > self.limits.memory {
            return Some(Exceeded::Memory);
        }
        match scratch {
            Scratch::Watched(scratch) => self.directories(scratch.directories()),
            Scratch::Inside => file_system(processes.last()?.0),
            Scratch::Bounded => None,
        }
    }

    /// Bytes in use, every few checks with page tables.
    fn memory(&mut self, processes: &[(Pid, ProcessUsage)]) -> u64 {
        let resident: u64 = processes.iter().map(|(_, usage)| usage.resident).sum();
        self.peak = self.peak.max(resident >> 10);
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
            if others.any(|&(other, _)| sys::have_one_memory(other, pid)) {
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

    fn directories(&self, paths: [&Path; 2]) -> Option<Exceeded> {
        let mut bytes = 0;
        let mut files = 0;
        let mut waiting = paths.map(Path::to_owned).to_vec();
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
