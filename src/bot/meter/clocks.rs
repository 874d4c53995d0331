//! The processor clocks of a process and all below it, and how long they have waited for a processor.

#![expect(unsafe_code, reason = "each block says why it is sound")]

use std::mem::MaybeUninit;
use std::time::Duration;

use rustix::process::Pid;

use super::waits::{Runnable, Waits};
use crate::sandbox::procfs::{self, Stat};

/// The clocks of a process and all below it.
#[derive(Debug)]
pub(super) struct Clocks {
    root: Pid,
    /// How many processes are above the bot: its supervisor and the helpers, one below the
    /// other.
    above: usize,
    /// Each process that was found, with its clock.
    running: Vec<(Pid, libc::clockid_t)>,
    /// What the helpers had used at the last search. They only wait for the bot; this matters
    /// because the supervisor counts them, too, in the end.
    helpers: Duration,
    /// What their children had used that have ended.
    ended: Duration,
    /// The last reading: what is used never becomes less.
    last: Duration,
}

impl Clocks {
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
        }
    }

    pub(super) fn read(&mut self) -> Duration {
        let mut sum = Duration::ZERO;
        let mut gone = false;
        for &(_, clock) in &self.running {
            match read(clock) {
                Some(time) => sum += time,
                None => gone = true,
            }
        }
        if gone {
            // Its parent has its time now.
            self.search();
            sum = self
                .running
                .iter()
                .filter_map(|&(_, clock)| read(clock))
                .sum();
        }
        self.last = self.last.max(sum + self.helpers + self.ended);
        self.last
    }

    /// Finds the processes.
    pub(super) fn search(&mut self) {
        self.running.clear();
        self.helpers = Duration::ZERO;
        self.ended = ended_children(self.root);
        let mut waiting = vec![self.root];
        let mut visited = 0;
        while let Some(pid) = waiting.pop() {
            if visited >= self.above {
                self.running.extend(clock(pid).map(|clock| (pid, clock)));
            } else if pid != self.root {
                self.helpers += clock(pid).and_then(read).unwrap_or_default();
            }
            visited += 1;
            for child in procfs::children(pid) {
                self.ended += ended_children(child);
                waiting.push(child);
            }
        }
    }

    /// How long each of them has waited for a processor; `None` where the kernel does not report it.
    pub(super) fn waits(&self) -> Option<Waits> {
        Waits::read(self.running.iter().map(|&(pid, _)| pid))
    }

    /// Their threads that run, or wait for a processor.
    pub(super) fn runnable(&self) -> Runnable {
        Runnable::read(self.running.iter().map(|&(pid, _)| pid))
    }

    /// The number of processes that were found.
    pub(super) const fn count(&self) -> usize {
        self.running.len()
    }

    /// The most memory that one of them has had in use, in KiB.
    pub(super) fn memory_kb(&self) -> u64 {
        let peak = |&(pid, _): &(Pid, _)| procfs::peak_memory_kib(pid);
        self.running.iter().filter_map(peak).max().unwrap_or(0)
    }
}

/// Processor time of the children of a process that it has waited for, in steps of the
/// kernel's clock.
fn ended_children(pid: Pid) -> Duration {
    Stat::read(pid).map_or(Duration::ZERO, |stat| stat.ended_children_time())
}

/// The clock of a process.
fn clock(pid: Pid) -> Option<libc::clockid_t> {
    let mut clock = 0;
    // SAFETY: the pointer is good for the length of the call.
    (unsafe { libc::clock_getcpuclockid(pid.as_raw_pid(), &raw mut clock) } == 0).then_some(clock)
}

fn read(clock: libc::clockid_t) -> Option<Duration> {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: the pointer is good for the length of the call, which fills the struct when
    // it succeeds.
    if unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: its bytes are all valid as zeros, too.
    let time = unsafe { time.assume_init() };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    Some(Duration::new(seconds, u32::try_from(time.tv_nsec).ok()?))
}
