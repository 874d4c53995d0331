//! What a bot uses: CPU time of all its processes, apart from that of its opponent's turns, and memory; and how long
//! it waits for a CPU, which is not its fault. On Linux; elsewhere nothing is known.
//!
//! CPU time is that of the bot's control group where it has one, else that of all processes that are found. Then what
//! exited in between is missing, unless its parent waited for it; a bot that is seen to lose time like this is excused
//! for no wait, and is charged for all time on a clock of CPU time, too.
//!
//! A ply takes microseconds when both bots are quick. So clocks are read at most every 500 µs, and
//! new processes are searched for after turns of 10 ms, and otherwise every 100 ms at most; what a
//! process used before it was found counts from then on. All of this is done while no clock runs:
//! before a question is written and after its answer has been read. A search through many processes takes
//! milliseconds; a tenth of the time is spent on those at most.

#[cfg(all(target_os = "linux", not(portable)))]
mod clocks;
#[cfg(any(not(target_os = "linux"), portable))]
#[path = "no_clocks.rs"]
mod clocks;
mod ongoing;
#[cfg(all(target_os = "linux", not(portable)))]
mod waits;
#[cfg(any(not(target_os = "linux"), portable))]
#[path = "no_waits.rs"]
mod waits;

use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, Instant};

use crate::system::Pid;

use ongoing::OngoingWait;
use waits::Waits;

use crate::sandbox::cgroup::OpenAccount;
use crate::text::milliseconds;

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

/// What a bot has used since its turn began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnUsage {
    /// Processor time of all its processes.
    pub cpu: Duration,
    /// How long it has waited for a processor while it could have run: in each process the thread that
    /// waited longest, and all processes together. `None` where the system does not report it.
    pub waited: Option<Duration>,
    /// How much longer a wait may have lasted that has not ended: how long is reported only when it has.
    /// Zero unless that was asked for.
    pub uncertain: Duration,
    /// The number of its threads, 1 at least.
    pub threads: usize,
    /// Whether processes of it exited and were not waited for, so that it used more than is known.
    pub has_lost: bool,
}

impl TurnUsage {
    /// How much of the wall time `elapsed` is not the bot's: the time in which it waited for a
    /// processor, but only as far as it has had less than one processor all the time.
    pub fn excused(&self, elapsed: Duration) -> Duration {
        if self.has_lost {
            return Duration::ZERO;
        }
        let waited = self.waited.unwrap_or_default();
        waited.min(elapsed.saturating_sub(self.cpu))
    }

    /// The same, if the wait that has not ended lasted for as long as it may have.
    pub fn excused_at_most(&self, elapsed: Duration) -> Duration {
        let waited = self.waited.map(|waited| waited + self.uncertain);
        Self { waited, ..*self }.excused(elapsed)
    }

    /// What a clock of CPU time is charged `elapsed` after the question.
    pub fn charged_cpu(&self, elapsed: Duration) -> Duration {
        if self.has_lost {
            self.cpu.max(elapsed)
        } else {
            self.cpu
        }
    }
}

/// Time between two readings of the clocks, at least.
const READING: Duration = Duration::from_micros(500);

/// After a turn of this length new processes are searched for; a search takes some 0.1 ms.
pub(super) const LONG: Duration = Duration::from_millis(10);

/// Time between two searches for new processes while all turns are shorter, at least.
const SEARCHING: Duration = Duration::from_millis(100);

/// Time between two searches in a turn of a bot whose processes may be missed otherwise, on average.
const LOOKING: Duration = Duration::from_millis(25);

/// Searches through more processes than this are limited.
const MANY: usize = 16;

/// Such a search is followed by this many times its own length without one.
const SEARCH_SHARE: u32 = 10;

/// The account of one process and all below it.
#[derive(Debug)]
pub(super) struct Meter {
    clocks: clocks::Clocks,
    /// When its turn ended, and what it had used then.
    mark: Option<(Instant, Duration)>,
    searched: Instant,
    /// No search before this time, unless something depends on it.
    rest: Instant,
    /// When its turn began.
    turn: Instant,
    /// What it had used then.
    turn_used: Duration,
    /// How long its threads had waited for a processor then, or not long before.
    turn_waits: Waits,
    /// When that was read.
    waits_read: Instant,
    /// A wait of this turn that has not ended, once that was asked for.
    ongoing: Option<OngoingWait>,
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
        let now = Instant::now();
        Self {
            clocks: clocks::Clocks::new(root, helpers),
            mark: None,
            searched: now,
            rest: now,
            turn: now,
            turn_used: Duration::ZERO,
            turn_waits: Waits::default(),
            waits_read: now,
            ongoing: None,
            before: Duration::ZERO,
            other: Duration::ZERO,
            memory_kb: 0,
        }
    }

    /// What it has used, after a turn that began at `since`.
    fn read(&mut self, since: Instant, now: Instant) -> Duration {
        if now >= self.rest
            && (now.saturating_duration_since(since) >= LONG
                || now.saturating_duration_since(self.searched) >= SEARCHING)
        {
            self.search(now);
        }
        self.clocks.read()
    }

    fn search(&mut self, now: Instant) {
        self.searched = now;
        self.clocks.search();
        self.memory_kb = self.memory_kb.max(self.clocks.memory_kb());
        self.rest_after(now);
    }

    /// Reads how long its threads have waited, unless that was done a moment ago.
    fn update_waits(&mut self, now: Instant) {
        if now >= self.rest && now.saturating_duration_since(self.waits_read) >= LONG {
            self.waits_read = now;
            self.turn_waits = self.clocks.waits().unwrap_or_default();
            self.rest_after(now);
        }
    }

    /// Bounds the share of the time that is spent on what began at `since`.
    fn rest_after(&mut self, since: Instant) {
        if self.clocks.count() <= MANY {
            return;
        }
        let end = Instant::now();
        let rest = end.saturating_duration_since(since) * SEARCH_SHARE;
        self.rest = self.rest.max(end.checked_add(rest).unwrap_or(end));
    }

    /// The bot runs, and `account` counts what it uses, where there is one. What its supervisor has used until now does
    /// not count.
    pub(super) fn started(&mut self, supervised: bool, account: Option<OpenAccount>) {
        self.clocks.started(account);
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

    /// Its turn begins. With `exactly`, what it has used by now is known to the microsecond.
    pub(super) fn asked(&mut self, now: Instant, exactly: bool) {
        self.turn = now;
        self.ongoing = None;
        if let Some((at, used)) = self.mark {
            self.turn_used = used;
            let idle = now.saturating_duration_since(at);
            if exactly || idle >= READING * 2 {
                self.turn_used = self.read(at, now);
                self.other += self.turn_used.saturating_sub(used);
                self.update_waits(now);
            }
        }
    }

    /// Its turn has ended. With `exactly`, what it used in it is then known: [`Meter::charged_cpu`].
    pub(super) fn answered(&mut self, now: Instant, exactly: bool) {
        let fresh = |(at, _): (Instant, _)| now.saturating_duration_since(at) < READING;
        if exactly || !self.mark.is_some_and(fresh) {
            self.mark = Some((now, self.read(self.turn, now)));
            self.update_waits(now);
        }
    }

    /// What the turn that has ended is charged on a clock of CPU time, `elapsed` after the question.
    pub(super) fn charged_cpu(&self, elapsed: Duration) -> Duration {
        let used = self.mark.map(|(_, used)| used).unwrap_or_default();
        let cpu = used.saturating_sub(self.turn_used);
        self.usage(cpu).charged_cpu(elapsed)
    }

    /// What it has used since its turn began, all its processes searched for, and what is known of a wait
    /// that has not ended.
    pub(super) fn turn_usage_searched(&mut self) -> TurnUsage {
        self.search(Instant::now());
        let mut usage = self.turn_usage();
        let Some(waited) = &mut usage.waited else {
            return usage;
        };
        let before = self.ongoing.take();
        let before = before.unwrap_or_else(|| OngoingWait::unseen(self.turn));
        let ongoing = before.next(Instant::now(), usage.cpu, self.clocks.runnable());
        *waited += ongoing.certain;
        if self.loses_waits() {
            *waited = ongoing.sampled.max(*waited);
        }
        usage.uncertain = ongoing.uncertain();
        self.ongoing = Some(ongoing);
        usage
    }

    /// What it has used since its turn began. Call it before [`Meter::answered`].
    pub(super) fn turn_usage(&mut self) -> TurnUsage {
        let cpu = self.clocks.read().saturating_sub(self.turn_used);
        let waits = self.clocks.waits();
        let ongoing = self.ongoing.as_ref();
        let sampled = ongoing.filter(|_| self.loses_waits());
        let sampled = sampled.map_or(Duration::ZERO, |ongoing| ongoing.sampled);
        let waited = |waits: &Waits| waits.since(&self.turn_waits).max(sampled);
        TurnUsage {
            waited: waits.as_ref().map(waited),
            threads: waits.map_or(1, |waits| waits.threads()),
            ..self.usage(cpu)
        }
    }

    /// A turn of which nothing but the CPU time is known.
    fn usage(&self, cpu: Duration) -> TurnUsage {
        TurnUsage {
            cpu,
            has_lost: self.clocks.has_lost(),
            ..TurnUsage::default()
        }
    }

    /// How long after a look at `now` at what it uses the next one is due, where some of that is known by looking only. At
    /// random, so that no bot knows when.
    pub(super) fn next_look(&self, now: Instant) -> Option<Duration> {
        if self.clocks.is_complete() && !self.loses_waits() {
            return None;
        }
        let random = RandomState::new().hash_one(()) % u64::from(LOOKING.subsec_micros());
        let next = LOOKING / 2 + Duration::from_micros(random);
        Some(next.max(self.rest.saturating_duration_since(now)))
    }

    /// Whether processes of it exit, whose waits for a processor the kernel forgets.
    pub(super) const fn loses_waits(&self) -> bool {
        self.clocks.has_ended_children()
    }

    /// The game has ended; `total` is what the bot used altogether, and its memory in KiB, if it has
    /// ended, too, and that is known. `waiting` says that it was not its turn.
    pub(super) fn end(&mut self, total: Option<(Duration, u64)>, waiting: bool) -> Usage {
        let now = Instant::now();
        if waiting {
            self.asked(now, false);
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
        Usage {
            cpu_ms: milliseconds(used.saturating_sub(self.before)),
            cpu_other_ms: milliseconds(self.other),
            memory_kb: self.memory_kb,
        }
    }
}
