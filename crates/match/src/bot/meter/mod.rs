//! A bot's usage: CPU time of all its processes, with that in the opponent's turns apart, memory,
//! and waits for a CPU and for the disk, which are not its fault. Linux only.
//!
//! CPU time is that of the bot's control group, else of all processes found: then processes that
//! exited unnoticed and unwaited for are missing. A bot seen to lose time so is excused for no
//! wait, and charged for all time on a CPU clock.
//!
//! A ply may take microseconds: clocks are read at most every 500 µs; new processes are searched
//! for after turns of 10 ms, else every 100 ms at most. All of this happens while no clock runs. A
//! search through many processes takes milliseconds and is limited to a tenth of the time.

#[cfg(all(target_os = "linux", not(portable)))]
mod clocks;
#[cfg(any(not(target_os = "linux"), portable))]
#[path = "no_clocks.rs"]
mod clocks;
mod ongoing;
#[cfg(all(target_os = "linux", not(portable)))]
pub mod stolen;
#[cfg(any(not(target_os = "linux"), portable))]
#[path = "nothing_stolen.rs"]
pub mod stolen;

use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use self::clocks::Clocks;
use self::ongoing::{Look, OngoingWait, Waits, waited_at_most, waited_since};
use crate::bot::player::ClockKind;
use referee_host::system::Pid;
use referee_sandbox::cgroup::OpenAccount;
use referee_text::milliseconds;

/// A bot's usage in a game, as records hold it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// CPU time of all its processes, in milliseconds.
    pub cpu_ms: f64,
    /// The part of it in the opponent's turns.
    pub cpu_other_ms: f64,
    /// Peak memory since its process started, in KiB: of all its processes together where a control
    /// group counts it, with pages of files, else of the largest; 0 if unknown.
    pub memory_kb: u64,
    /// Processes of it that the kernel has killed for want of memory since it started.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub oom_kills: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnUsage {
    pub cpu: Duration,
    /// Time it was runnable without a CPU: in each process the thread that waited longest, summed
    /// over processes. `None` where the system does not report it.
    pub waited: Option<Duration>,
    /// Time it waited for the disk, such as for pages of its program, estimated from random looks at its state. Zero in a
    /// turn that was over before the first look.
    pub disk: Duration,
    /// How much longer it may have waited: the kernel counts a wait for a CPU only at its end, threads may wait for each
    /// other, between two looks a wait for the disk may have been longer than estimated, and the host of a virtual machine
    /// may have taken the CPU from it. Unless asked for, only what is known of threads.
    pub uncertain: Duration,
    /// The part of `cpu` that it may owe to others, who have the machine. Unless asked for, zero.
    pub cpu_in_doubt: Duration,
    /// At least 1.
    pub threads: usize,
    /// Whether processes of it exited unwaited for: it used more than is known.
    pub has_lost: bool,
}

impl TurnUsage {
    /// The part of the wall time `elapsed` that is not charged: waits for a CPU and for the disk, but only as far as it had
    /// less than one CPU all the time.
    pub fn excused(&self, elapsed: Duration) -> Duration {
        if self.has_lost {
            return Duration::ZERO;
        }
        let waited = self.waited.unwrap_or_default() + self.disk;
        waited.min(elapsed.saturating_sub(self.cpu))
    }

    /// [`Self::excused`] if its waits were as long as possible, and its CPU time as little.
    pub fn excused_at_most(&self, elapsed: Duration) -> Duration {
        let disk = self.disk + self.uncertain + self.cpu_in_doubt;
        let cpu = self.least_cpu();
        Self { cpu, disk, ..*self }.excused(elapsed)
    }

    /// The CPU time that it would have had on a machine of its own, at least.
    pub fn least_cpu(&self) -> Duration {
        self.cpu.saturating_sub(self.cpu_in_doubt)
    }

    /// `elapsed` after the question, with what is in doubt of its CPU time. On a CPU that it shares with others a bot takes
    /// longer for the same work: it finds its caches overwritten whenever it is given the CPU again, another process
    /// computes on the same core, and the pages of its program are read and mapped one by one.
    ///
    /// That others have the CPU or the disk shows where the bot waited for most of the time and ran for little of it. No
    /// bot makes that look so with threads or processes of its own: one of them would run.
    ///
    /// `error`: by how much its waits are estimated too low at most, since processes of it have exited. Elsewhere that counts
    /// against a bot, which may have started and ended them so that nothing is known of its waits.
    fn crowded(self, elapsed: Duration, fresh: bool, error: Duration) -> Self {
        // What a program reads is read when it starts.
        let disk = if fresh { self.disk } else { Duration::ZERO };
        let waited = self.waited.unwrap_or_default() + disk;
        let is_crowded = waited * 2 >= elapsed && self.cpu * 3 <= elapsed;
        let cpu_in_doubt = if is_crowded && !self.has_lost {
            self.cpu.saturating_sub(self.cpu / CROWDED)
        } else {
            Duration::ZERO
        };
        let error = if is_crowded { error } else { Duration::ZERO };
        Self {
            cpu_in_doubt,
            uncertain: self.uncertain.saturating_add(error),
            ..self
        }
    }

    /// What it waited for, as far as that is known: `a CPU`, `the disk` or both.
    pub fn waited_for(&self) -> &'static str {
        match (
            self.waited.unwrap_or_default() * 10 >= self.disk,
            self.disk.is_zero(),
        ) {
            (_, true) => "a CPU",
            (false, false) => "the disk",
            (true, false) => "a CPU or the disk",
        }
    }

    /// The charge on a CPU clock, `elapsed` after the question.
    pub fn charged_cpu(&self, elapsed: Duration) -> Duration {
        if self.has_lost {
            self.cpu.max(elapsed)
        } else {
            self.cpu
        }
    }
}

/// How many times the CPU time a bot may take on a crowded machine. The first answer of a Python program takes 0.18 to 0.27 s
/// on an idle one of two CPUs, and 0.21 to 0.32 s beside twelve busy loops and two programs that write to the disk, when
/// nothing of it is in memory.
const CROWDED: u32 = 2;

const READING: Duration = Duration::from_micros(500);

/// After a longer turn new processes are searched for; a search takes about 0.1 ms.
pub(super) const LONG: Duration = Duration::from_millis(10);

/// Least time between searches while turns are short.
const SEARCHING: Duration = Duration::from_millis(100);

/// Mean time between looks in a turn of a bot whose processes may be missed.
const LOOKING: Duration = Duration::from_millis(25);

/// The first look at what a bot waits for: most answers have come by then, and cost no look.
const FIRST_LOOK: Duration = Duration::from_millis(100);

/// The mean time between further such looks is this part of the turn so far, but not less than [`LOOKING`].
const LOOKS: u32 = 8;

/// Searches through more processes are limited.
const MANY: usize = 16;

/// Such a search is followed by a pause of this multiple of its length.
const SEARCH_SHARE: u32 = 10;

/// The account of a process and its descendants.
#[derive(Debug)]
pub(super) struct Meter {
    clocks: Clocks,
    /// The end of its last turn, and its usage then.
    mark: Option<(Instant, Duration)>,
    searched: Instant,
    /// No search before this, unless something depends on it.
    rest: Instant,
    turn: Instant,
    turn_used: Duration,
    turn_waits: Waits,
    /// What others had taken from this machine when its turn began.
    turn_stolen: Duration,
    waits_read: Instant,
    /// A wait of this turn that is not over, once asked for.
    ongoing: Option<OngoingWait>,
    before: Duration,
    /// Usage in the opponent's turns of this game.
    other: Duration,
    memory_kb: u64,
}

impl Meter {
    /// `root` is a bot, or its supervisor with so many `helpers` in between.
    pub(super) fn new(root: Pid, helpers: Option<usize>) -> Self {
        let now = Instant::now();
        Self {
            clocks: Clocks::new(root, helpers),
            mark: None,
            searched: now,
            rest: now,
            turn: now,
            turn_used: Duration::ZERO,
            turn_waits: Waits::default(),
            turn_stolen: stolen::known(),
            waits_read: now,
            ongoing: None,
            before: Duration::ZERO,
            other: Duration::ZERO,
            memory_kb: 0,
        }
    }

    /// Its usage, after a turn that began at `since`.
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

    /// Reads the waits of its threads, unless just done.
    fn update_waits(&mut self, now: Instant) {
        if now >= self.rest && now.saturating_duration_since(self.waits_read) >= LONG {
            self.waits_read = now;
            self.turn_waits = self.clocks.waits().unwrap_or_default();
            self.rest_after(now);
        }
    }

    /// Bounds the share of time spent on what began at `since`.
    fn rest_after(&mut self, since: Instant) {
        if self.clocks.count() <= MANY {
            return;
        }
        let end = Instant::now();
        let rest = end.saturating_duration_since(since) * SEARCH_SHARE;
        self.rest = self.rest.max(end.checked_add(rest).unwrap_or(end));
    }

    /// The bot runs; `account` counts its usage. Its supervisor's usage so far does not count.
    pub(super) fn started(&mut self, supervised: bool, account: Option<OpenAccount>) {
        self.clocks.started(account);
        if supervised {
            self.search(Instant::now());
        }
        self.begin();
    }

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

    /// Its turn begins. With `exactly`, usage so far is known to the microsecond.
    pub(super) fn asked(&mut self, now: Instant, exactly: bool) {
        self.turn = now;
        self.turn_stolen = stolen::known();
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

    /// Its turn ended. With `exactly`, its usage in it is known: [`Meter::charged_cpu`].
    pub(super) fn answered(&mut self, now: Instant, exactly: bool) {
        let fresh = |(at, _): (Instant, _)| now.saturating_duration_since(at) < READING;
        if exactly || !self.mark.is_some_and(fresh) {
            self.mark = Some((now, self.read(self.turn, now)));
            self.update_waits(now);
        }
    }

    /// The charge for the ended turn on a CPU clock, `elapsed` after the question.
    pub(super) fn charged_cpu(&self, elapsed: Duration) -> Duration {
        let used = self.mark.map(|(_, used)| used).unwrap_or_default();
        let cpu = used.saturating_sub(self.turn_used);
        self.usage(cpu).charged_cpu(elapsed)
    }

    /// Usage since its turn began, after a search, with what is known of a wait that is not over.
    /// `fresh`: it is the first turn of its process.
    pub(super) fn turn_usage_searched(&mut self, fresh: bool, has_answered: bool) -> TurnUsage {
        self.search(Instant::now());
        let mut usage = self.turn_usage();
        let before = self.ongoing.take();
        let before = before.unwrap_or_else(|| OngoingWait::unseen(self.turn, fresh));
        let ongoing = before.next(Look {
            at: Instant::now(),
            cpu: usage.cpu,
            runnable: self.clocks.runnable(),
            on_disk: self.clocks.waits_for_disk(),
            read: self.clocks.disk_reads(),
        });
        let loses_waits = self.loses_waits();
        if let Some(waited) = &mut usage.waited {
            *waited += ongoing.certain;
            if loses_waits {
                *waited = ongoing.sampled.max(*waited);
            }
        }
        usage.disk = ongoing.disk;
        usage.uncertain = usage.uncertain.saturating_add(ongoing.uncertain());
        // Perhaps from this bot; not from one that sleeps.
        if has_answered || ongoing.can_run() {
            usage.uncertain += stolen::read().saturating_sub(self.turn_stolen);
        }
        let elapsed = ongoing.at.saturating_duration_since(self.turn);
        let error = if loses_waits {
            ongoing.sampling_error()
        } else {
            Duration::ZERO
        };
        self.ongoing = Some(ongoing);
        usage.crowded(elapsed, fresh, error)
    }

    /// Usage since its turn began. Call before [`Meter::answered`].
    pub(super) fn turn_usage(&mut self) -> TurnUsage {
        let cpu = self.clocks.read().saturating_sub(self.turn_used);
        let waits = self.clocks.waits();
        let ongoing = self.ongoing.as_ref();
        let sampled = ongoing.filter(|_| self.loses_waits());
        let sampled = sampled.map_or(Duration::ZERO, |ongoing| ongoing.sampled);
        let before = &self.turn_waits;
        let waited = waits
            .as_ref()
            .map(|waits| waited_since(waits, before).max(sampled));
        let at_most = waits.as_ref().map(|waits| waited_at_most(waits, before));
        TurnUsage {
            waited,
            uncertain: at_most
                .unwrap_or_default()
                .saturating_sub(waited.unwrap_or_default()),
            disk: ongoing.map_or(Duration::ZERO, |ongoing| ongoing.disk),
            threads: waits.map_or(1, |waits| waits.len()),
            ..self.usage(cpu)
        }
    }

    fn usage(&self, cpu: Duration) -> TurnUsage {
        TurnUsage {
            cpu,
            has_lost: self.clocks.has_lost,
            ..TurnUsage::default()
        }
    }

    /// When to look next after `now`, in this turn: often where usage that counts is known only by looking, seldom to see
    /// what it waits for. Random but for the first of the seldom ones: bots must not know when.
    pub(super) fn next_look(
        &self,
        now: Instant,
        kind: ClockKind,
        is_counted: bool,
    ) -> Option<Duration> {
        let is_counted = is_counted || kind == ClockKind::Cpu;
        let often = self.loses_waits() || (is_counted && !self.clocks.is_complete());
        let mean = if often {
            LOOKING
        } else if kind == ClockKind::Cpu || !Clocks::SHOWS_STATES {
            return None;
        } else {
            let passed = now.saturating_duration_since(self.turn);
            if passed < FIRST_LOOK {
                return Some(FIRST_LOOK.saturating_sub(passed));
            }
            (passed / LOOKS).max(LOOKING)
        };
        let micros = u64::try_from(mean.as_micros()).unwrap_or(u64::MAX);
        let random = RandomState::new().hash_one(()) % micros;
        let next = mean / 2 + Duration::from_micros(random);
        Some(next.max(self.rest.saturating_duration_since(now)))
    }

    /// Whether a thread of it has a CPU at this moment, or waits for one or for the disk.
    pub(super) fn is_active(&self) -> bool {
        !self.clocks.runnable().is_empty() || self.clocks.waits_for_disk()
    }

    /// Whether processes of it exit, whose waits the kernel forgets.
    pub(super) const fn loses_waits(&self) -> bool {
        self.clocks.has_ended_children
    }

    /// The game ended. `total` is the bot's whole CPU time and its memory in KiB, if it exited and
    /// that is known. `waiting`: it was not its turn.
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
            oom_kills: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn in_doubt(elapsed: u64, cpu: u64, waited: u64, disk: u64, fresh: bool) -> u128 {
        let usage = TurnUsage {
            cpu: Duration::from_millis(cpu),
            waited: Some(Duration::from_millis(waited)),
            disk: Duration::from_millis(disk),
            threads: 1,
            ..TurnUsage::default()
        };
        let crowded = usage.crowded(Duration::from_millis(elapsed), fresh, Duration::ZERO);
        crowded.cpu_in_doubt.as_millis()
    }

    #[test]
    fn cpu_time_counts_for_less_where_others_have_the_machine() {
        assert_eq!(in_doubt(4000, 300, 3500, 0, false), 150);
        // Nothing is in its caches, nor its program in memory, when it starts.
        assert_eq!(in_doubt(4000, 300, 500, 3000, true), 150);
        assert_eq!(in_doubt(4000, 300, 500, 3000, false), 0);
        // It slept.
        assert_eq!(in_doubt(4000, 300, 500, 0, true), 0);
        // It had a CPU for half of the time.
        assert_eq!(in_doubt(4000, 2000, 2000, 0, true), 0);
    }

    proptest! {
        /// Threads that wait for each other run one after the other, on one CPU at the least.
        #[test]
        fn no_bot_crowds_itself(busy in 0_u64..10_000, asleep in 0_u64..10_000, threads in 2_u64..64) {
            let waited = busy - busy / threads;
            prop_assert_eq!(in_doubt(busy + asleep, busy, waited, 0, true), 0);
        }
    }
}
