//! The CPU clocks of a process and its descendants, and how long they have waited for a CPU.
//!
//! A child's usage is added to its parent's when the parent waits for it. If the parent ignores
//! exits, only a control group counts it. Without one it is detected: a child is gone, and its
//! parent's count for children has not grown by what the child had used.
#![expect(unsafe_code, reason = "each block says why it is sound")]

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::time::Duration;

use rustix::process::Pid;

use super::ongoing::{Runnable, Waits};
use referee_sandbox::cgroup::OpenAccount;
use referee_sandbox::procfs::{self, ProcessStat};

#[derive(Debug)]
pub(super) struct Clocks {
    root: Pid,
    /// Processes above the bot: supervisor and helpers, in a chain.
    above: usize,
    running: Vec<(Pid, libc::clockid_t)>,
    /// The helpers' usage at the last search. They only wait, but the supervisor's final count has
    /// it.
    helpers: Duration,
    ended: Duration,
    /// The last reading: it never decreases.
    last: Duration,
    /// Counts everything the processes use.
    account: Option<OpenAccount>,
    /// Without it, all processes at the last search.
    seen: HashMap<Pid, Seen>,
    /// Whether one exited and was not waited for: some usage is uncounted.
    pub(super) has_lost: bool,
    /// Whether some of its processes exited before it.
    pub(super) has_ended_children: bool,
}

/// A process at a search. Usage in thousandths of a CPU tick; a page fault counts as a tick.
#[derive(Debug)]
struct Seen {
    parent: Option<Pid>,
    started: Option<u64>,
    used: u64,
    /// Usage of the children it waited for.
    of_ended: u64,
    /// The least that this must be: its value when first seen, plus what its vanished children were
    /// last seen to have used.
    due: u64,
}

/// User and system ticks are each rounded.
const ROUNDING: u64 = 2 * TICK;

/// In the unit of [`Seen`].
const TICK: u64 = 1_000;

impl Clocks {
    /// Whether looking shows what its threads wait for.
    pub(super) const SHOWS_STATES: bool = true;

    pub(super) fn new(root: Pid, helpers: Option<usize>) -> Self {
        let running = clock(root)
            .filter(|_| helpers.is_none())
            .map(|clock| (root, clock));
        Self {
            root,
            above: helpers.map_or(0, |helpers| helpers + 1),
            running: running.into_iter().collect(),
            helpers: Duration::ZERO,
            ended: Duration::ZERO,
            last: Duration::ZERO,
            account: None,
            seen: HashMap::new(),
            has_lost: false,
            has_ended_children: false,
        }
    }

    pub(super) fn started(&mut self, account: Option<OpenAccount>) {
        self.account = account;
    }

    /// Whether all usage of its processes is counted.
    pub(super) const fn is_complete(&self) -> bool {
        self.account.is_some()
    }

    pub(super) fn read(&mut self) -> Duration {
        if let Some(account) = &self.account {
            self.last = self.last.max(account.read().unwrap_or_default());
            return self.last;
        }
        let running = self.running.iter().map(|&(_, clock)| read(clock));
        let sum = running.sum::<Option<Duration>>().unwrap_or_else(|| {
            // One is gone: its parent has its time now.
            self.search();
            let running = self.running.iter();
            running.filter_map(|&(_, clock)| read(clock)).sum()
        });
        self.last = self.last.max(sum + self.helpers + self.ended);
        self.last
    }

    pub(super) fn search(&mut self) {
        self.running.clear();
        self.helpers = Duration::ZERO;
        self.ended = Duration::ZERO;
        let mut seen = HashMap::new();
        let mut waiting = vec![self.root];
        let mut visited = 0;
        while let Some(pid) = waiting.pop() {
            let clock = clock(pid);
            let is_own = visited >= self.above;
            if is_own {
                self.running.extend(clock.map(|clock| (pid, clock)));
            } else if pid != self.root {
                self.helpers += clock.and_then(read).unwrap_or_default();
            }
            visited += 1;
            waiting.extend(procfs::children(pid));
            let Some(stat) = ProcessStat::read(pid) else {
                continue;
            };
            self.has_ended_children |= is_own && stat.used_by_ended_children() > 0;
            if self.account.is_none() {
                self.ended += stat.ended_children_time();
                let used = clock.and_then(read).unwrap_or_default();
                seen.insert(pid, Seen::of(&stat, used, self.seen.get(&pid)));
            }
        }
        self.has_lost |= self.has_lost_since(&mut seen);
        self.seen = seen;
    }

    /// Whether vanished processes exited and were not waited for.
    fn has_lost_since(&self, seen: &mut HashMap<Pid, Seen>) -> bool {
        for (&pid, before) in &self.seen {
            // The list of children may miss one that lives.
            if !seen.contains_key(&pid)
                && ProcessStat::read(pid).is_none()
                && let Some(parent) = before.parent.and_then(|parent| seen.get_mut(&parent))
            {
                parent.due += before.used + before.of_ended;
            }
        }
        seen.iter().any(|(&pid, parent)| {
            let lacks = |of_ended| of_ended + ROUNDING < parent.due;
            // They may have exited since the list was read; an exiting parent leaves its children
            // to others.
            let is_same = |now: &ProcessStat| now.started() == parent.started && !now.has_ended();
            let is_short =
                |now: ProcessStat| is_same(&now) && lacks(now.used_by_ended_children() * TICK);
            lacks(parent.of_ended) && ProcessStat::read(pid).is_some_and(is_short)
        })
    }

    /// How long each has waited for a CPU; `None` where the kernel does not report it.
    pub(super) fn waits(&self) -> Option<Waits> {
        let of = |&(pid, _): &(Pid, _)| {
            let waits = procfs::cpu_waits(pid).into_iter();
            waits.map(move |(thread, wait)| (thread.as_raw_pid(), (pid.as_raw_pid(), wait)))
        };
        let waits: Waits = self.running.iter().flat_map(of).collect();
        (!waits.is_empty()).then_some(waits)
    }

    pub(super) fn runnable(&self) -> Runnable {
        let threads = self.running.iter().map(|&(pid, _)| pid);
        let threads = threads.flat_map(procfs::runnable_threads);
        threads
            .map(|(thread, times)| (thread.as_raw_pid(), times))
            .collect()
    }

    /// Whether one of its processes waits for the disk at this moment.
    pub(super) fn waits_for_disk(&self) -> bool {
        self.running
            .iter()
            .any(|&(pid, _)| procfs::waits_for_disk(pid))
    }

    /// Grows with all that is read from the disk for its processes.
    pub(super) fn disk_reads(&self) -> u64 {
        let read = self.running.iter().map(|&(pid, _)| procfs::disk_reads(pid));
        read.sum()
    }

    pub(super) const fn count(&self) -> usize {
        self.running.len()
    }

    /// The highest peak memory of one of them, in KiB.
    pub(super) fn memory_kb(&self) -> u64 {
        let peak = |&(pid, _): &(Pid, _)| procfs::peak_memory_kib(pid);
        self.running.iter().filter_map(peak).max().unwrap_or(0)
    }
}

impl Seen {
    /// A process that has `used` this, and was seen `before`.
    fn of(stat: &ProcessStat, used: Duration, before: Option<&Self>) -> Self {
        let started = stat.started();
        let of_ended = stat.used_by_ended_children() * TICK;
        let before = before.filter(|before| before.started == started);
        Self {
            parent: stat.parent(),
            started,
            used: stat.faults() * TICK + thousandths(used),
            of_ended,
            due: before.map_or(of_ended, |before| before.due),
        }
    }
}

fn thousandths(time: Duration) -> u64 {
    let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    micros.saturating_mul(rustix::param::clock_ticks_per_second()) / TICK
}

fn clock(pid: Pid) -> Option<libc::clockid_t> {
    let mut clock = 0;
    // SAFETY: the pointer outlives the call.
    (unsafe { libc::clock_getcpuclockid(pid.as_raw_pid(), &raw mut clock) } == 0).then_some(clock)
}

fn read(clock: libc::clockid_t) -> Option<Duration> {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: the pointer outlives the call, which fills the struct on success.
    if unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: all-zero bytes are valid.
    let time = unsafe { time.assume_init() };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    Some(Duration::new(seconds, u32::try_from(time.tv_nsec).ok()?))
}
