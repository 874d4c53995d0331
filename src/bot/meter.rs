//! What a bot uses: processor time of all its processes, apart from that of its opponent's turns,
//! and memory. On Linux; elsewhere nothing is known.
//!
//! A ply takes microseconds when both bots are quick. So clocks are read at most every 50 µs, and
//! new processes are searched for after turns of 10 ms, and otherwise every 100 ms at most; what a
//! process used before it was found counts from then on.

use std::time::{Duration, Instant};

use rustix::process::Pid;

/// What a bot used in a game.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Processor time of all its processes, in milliseconds.
    pub cpu_ms: f64,
    /// The part of it that it used while it was not its turn.
    pub cpu_other_ms: f64,
    /// The most memory that its process has had in use since it was started, in KiB; 0 when
    /// this is not known.
    pub memory_kb: u64,
}

/// Time between two readings of the clocks, at least.
const READING: Duration = Duration::from_micros(50);

/// After a turn of this length new processes are searched for; a search takes some 0.1 ms.
const LONG: Duration = Duration::from_millis(10);

/// Time between two searches for new processes while all turns are shorter, at least.
const SEARCHING: Duration = Duration::from_millis(100);

/// The account of one process and all below it.
#[derive(Debug)]
pub(super) struct Meter {
    clocks: clocks::Clocks,
    /// When its turn ended, and what it had used then.
    mark: Option<(Instant, Duration)>,
    searched: Instant,
    /// When its turn began.
    turn: Instant,
    /// What it had used when the game began.
    before: Duration,
    /// What it has used in its opponent's turns of this game.
    other: Duration,
    memory_kb: u64,
}

impl Meter {
    /// For the process `root`, which is a bot, or the supervisor of one with so many `helpers` in
    /// between.
    pub(super) fn new(root: Pid, helpers: Option<usize>) -> Self {
        Self {
            clocks: clocks::Clocks::new(root, helpers),
            mark: None,
            searched: Instant::now(),
            turn: Instant::now(),
            before: Duration::ZERO,
            other: Duration::ZERO,
            memory_kb: 0,
        }
    }

    /// What it has used, after a turn that began at `since`.
    fn read(&mut self, since: Instant, now: Instant) -> Duration {
        if now.saturating_duration_since(since) >= LONG
            || now.saturating_duration_since(self.searched) >= SEARCHING
        {
            self.search(now);
        }
        self.clocks.read()
    }

    fn search(&mut self, now: Instant) {
        self.searched = now;
        self.clocks.search();
        self.memory_kb = self.memory_kb.max(self.clocks.memory_kb());
    }

    /// The bot runs. What its supervisor has used until now does not count.
    pub(super) fn started(&mut self, supervised: bool) {
        if supervised {
            self.search(Instant::now());
        }
        self.begin();
    }

    /// A game begins.
    pub(super) fn begin(&mut self) {
        let now = Instant::now();
        self.before = match self.mark {
            // The last game has just ended.
            Some((at, used)) if now.saturating_duration_since(at) < READING => used,
            Some((at, _)) => self.read(at, now),
            None => self.clocks.read(),
        };
        self.mark = Some((now, self.before));
        self.other = Duration::ZERO;
    }

    /// Its turn begins.
    pub(super) fn asked(&mut self, now: Instant) {
        self.turn = now;
        if let Some((at, used)) = self.mark
            && now.saturating_duration_since(at) >= READING * 2
        {
            let more = self.read(at, now).saturating_sub(used);
            self.other += more;
        }
    }

    /// Its turn has ended.
    pub(super) fn answered(&mut self, now: Instant) {
        let fresh = |(at, _): (Instant, _)| now.saturating_duration_since(at) < READING;
        if !self.mark.is_some_and(fresh) {
            self.mark = Some((now, self.read(self.turn, now)));
        }
    }

    /// The game has ended; `total` is what the bot used altogether, and its memory in KiB, if it has
    /// ended, too, and that is known. `waiting` says that it was not its turn.
    pub(super) fn end(&mut self, total: Option<(Duration, u64)>, waiting: bool) -> Usage {
        let now = Instant::now();
        if waiting {
            self.asked(now);
        }
        let fresh = self
            .mark
            .filter(|&(at, _)| now.saturating_duration_since(at) < READING);
        let used = match total {
            Some((used, memory_kb)) => {
                self.memory_kb = self.memory_kb.max(memory_kb);
                used
            }
            None => fresh.map_or_else(|| self.read(self.turn, now), |(_, used)| used),
        };
        self.mark = Some((now, used));
        let milliseconds = |time: Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
        Usage {
            cpu_ms: milliseconds(used.saturating_sub(self.before)),
            cpu_other_ms: milliseconds(self.other),
            memory_kb: self.memory_kb,
        }
    }
}

#[cfg(target_os = "linux")]
mod clocks {
    #![expect(unsafe_code, reason = "each block says why it is sound")]

    use std::mem::MaybeUninit;
    use std::time::Duration;

    use rustix::process::Pid;

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
        (unsafe { libc::clock_getcpuclockid(pid.as_raw_pid(), &raw mut clock) } == 0)
            .then_some(clock)
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
}

#[cfg(not(target_os = "linux"))]
mod clocks {
    use std::time::Duration;

    use rustix::process::Pid;

    /// Clocks of a system that does not show them.
    #[derive(Debug)]
    pub(super) struct Clocks;

    #[expect(clippy::unused_self, reason = "as on Linux")]
    impl Clocks {
        pub(super) const fn new(_: Pid, _: Option<usize>) -> Self {
            Self
        }

        pub(super) const fn read(&mut self) -> Duration {
            Duration::ZERO
        }

        pub(super) const fn search(&mut self) {}

        pub(super) const fn memory_kb(&self) -> u64 {
            0
        }
    }
}
