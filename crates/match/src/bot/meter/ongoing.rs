//! Waits that the kernel does not count, found by looking: one for a CPU that is not over, whose length shows only by
//! looking twice, those of exited processes, and those for the disk, estimated from all looks.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The wait of each thread since it started, after its process.
pub(super) type Waits = BTreeMap<i32, (i32, Duration)>;

/// How often each runnable thread was given a CPU.
pub(super) type Runnable = BTreeMap<i32, u64>;

/// The bot's wait since `before`: in each process the thread that waited longest, summed over
/// processes, because one that waits for another's answer waits after it.
pub(super) fn waited_since(waits: &Waits, before: &Waits) -> Duration {
    let mut longest: BTreeMap<i32, Duration> = BTreeMap::new();
    for (thread, &(process, waited)) in waits {
        let earlier = before
            .get(thread)
            .map_or(Duration::ZERO, |&(_, waited)| waited);
        let longest = longest.entry(process).or_default();
        *longest = waited.saturating_sub(earlier).max(*longest);
    }
    longest.values().sum()
}

/// The longest that it may have waited: threads, too, wait for each other, as the main one of a virtual machine for one
/// that compiles or collects.
pub(super) fn waited_at_most(waits: &Waits, before: &Waits) -> Duration {
    let waited = |(thread, &(_, waited)): (&i32, &(i32, Duration))| {
        let earlier = before.get(thread).map(|&(_, waited)| waited);
        waited.saturating_sub(earlier.unwrap_or_default())
    };
    waits.iter().map(waited).sum()
}

/// Nothing is estimated of a longer time between two looks.
const LONGEST: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct OngoingWait {
    pub(super) at: Instant,
    cpu: Duration,
    runnable: Runnable,
    /// The least it has lasted.
    pub(super) certain: Duration,
    /// The most it may have lasted.
    most: Duration,
    /// How long the bot was runnable without a CPU in this turn: the time between two looks, or
    /// half if it was runnable at one of them only. Looks are random: a bot cannot be ready for
    /// them.
    pub(super) sampled: Duration,
    /// The sum of the squares of what [`Self::sampled`] may be wrong by between two looks, in square microseconds.
    sampled_variance: u64,
    /// What it leaves out: longer times between two looks.
    not_sampled: Duration,
    could_run: bool,
    /// The same for waits for the disk, or for pages of its program that have to be read from it.
    pub(super) disk: Duration,
    /// By how much [`Self::disk`] may be wrong: the times between two looks of which one found such a wait, or between
    /// which something was read.
    disk_error: Duration,
    /// The longest time between two looks of which neither found such a wait, although there were others: one that began
    /// after the first of them and was over before the second is not seen.
    unseen: Duration,
    on_disk: bool,
    /// What had been read for it at the last look; `None` if that is not known.
    read: Option<u64>,
}

/// What a look finds.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) at: Instant,
    /// CPU time of the turn by then.
    pub(super) cpu: Duration,
    pub(super) runnable: Runnable,
    /// Whether a thread waits for the disk.
    pub(super) on_disk: bool,
    /// Grows with all that is read from the disk for it.
    pub(super) read: u64,
}

impl OngoingWait {
    /// The state before the first look, in a turn that began at `turn`; `first` if it is that of a new process.
    pub(super) fn unseen(turn: Instant, first: bool) -> Self {
        Self {
            at: turn,
            cpu: Duration::ZERO,
            runnable: Runnable::new(),
            certain: Duration::ZERO,
            most: Duration::ZERO,
            sampled: Duration::ZERO,
            sampled_variance: 0,
            not_sampled: Duration::ZERO,
            // A bot that sleeps from its first look on has waited for nothing.
            could_run: false,
            disk: Duration::ZERO,
            disk_error: Duration::ZERO,
            unseen: Duration::ZERO,
            on_disk: false,
            read: first.then_some(0),
        }
    }

    pub(super) fn next(&self, look: Look) -> Self {
        let Look {
            at,
            cpu,
            runnable,
            on_disk,
            read,
        } = look;
        let passed = at.saturating_duration_since(self.at);
        let idle = passed.saturating_sub(cpu.saturating_sub(self.cpu));
        // A thread that had the CPU all the time was given it once, too.
        let mut threads = runnable.iter();
        let is_waiting = threads.any(|(thread, times)| self.runnable.get(thread) == Some(times));
        let goes_on = is_waiting && idle * 2 > passed;
        let (certain, most) = if goes_on {
            (self.certain + idle, self.most + idle)
        } else if runnable.is_empty() {
            (Duration::ZERO, Duration::ZERO)
        } else {
            (Duration::ZERO, idle)
        };
        let could_run = !runnable.is_empty();
        let looks = u32::from(self.could_run) + u32::from(could_run);
        // What was not runnable at either look, and has not run between them, has slept.
        let may_have_waited = looks > 0 || cpu > self.cpu;
        let (sampled, wrong_by, not_sampled) = if passed > LONGEST {
            let all = if may_have_waited {
                idle
            } else {
                Duration::ZERO
            };
            (Duration::ZERO, Duration::ZERO, all)
        } else if may_have_waited {
            (idle * looks / 2, idle / 2, Duration::ZERO)
        } else {
            (Duration::ZERO, Duration::ZERO, Duration::ZERO)
        };
        let wrong_by = u64::try_from(wrong_by.as_micros()).unwrap_or(u64::MAX);
        let mut unseen = self.unseen;
        let has_read = self.read.is_some_and(|before| before < read);
        let (disk, disk_error) = match (self.on_disk, on_disk) {
            // It has waited for what was read, from both looks unseen.
            (false, false) if has_read => (Duration::ZERO, idle),
            (false, false) => {
                unseen = unseen.max(idle);
                (Duration::ZERO, Duration::ZERO)
            }
            (true, true) => (idle, Duration::ZERO),
            _ => (idle / 2, idle / 2),
        };
        Self {
            at,
            cpu,
            runnable,
            certain,
            most,
            sampled: self.sampled + sampled,
            sampled_variance: self
                .sampled_variance
                .saturating_add(wrong_by.saturating_mul(wrong_by)),
            not_sampled: self.not_sampled + not_sampled,
            could_run,
            disk: self.disk + disk,
            disk_error: self.disk_error + disk_error,
            unseen,
            on_disk,
            read: Some(read),
        }
    }

    /// Whether a thread was runnable, or waited for the disk, at the last look.
    pub(super) fn can_run(&self) -> bool {
        self.could_run || self.on_disk
    }

    /// How much longer than [`Self::sampled`] the bot may have waited: by three standard deviations, as looks are independent.
    pub(super) fn sampling_error(&self) -> Duration {
        self.not_sampled + Duration::from_micros(3 * self.sampled_variance.isqrt())
    }

    /// How much longer it may have waited than is certain.
    pub(super) fn uncertain(&self) -> Duration {
        let unseen = if self.disk.is_zero() && self.disk_error.is_zero() {
            Duration::ZERO
        } else {
            self.unseen
        };
        self.most.saturating_sub(self.certain) + self.disk_error + unseen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    /// Looks: when, CPU time, and how often its thread was given a CPU if runnable. In
    /// milliseconds: how long its wait has lasted, and how much longer it may have.
    fn after(looks: &[(u64, u64, Option<u64>)]) -> (u128, u128) {
        let turn = Instant::now();
        let mut wait = OngoingWait::unseen(turn, false);
        for &(at, cpu, times) in looks {
            wait = wait.next(Look {
                at: turn + ms(at),
                cpu: ms(cpu),
                runnable: times.into_iter().map(|times| (7, times)).collect(),
                on_disk: false,
                read: 0,
            });
        }
        (wait.certain.as_millis(), wait.uncertain().as_millis())
    }

    /// Thread, process, wait in milliseconds.
    fn waits(threads: &[(i32, i32, u64)]) -> Waits {
        let threads = threads.iter();
        threads
            .map(|&(thread, process, wait)| (thread, (process, ms(wait))))
            .collect()
    }

    #[test]
    fn the_longest_wait_of_one_thread_of_a_process_counts() {
        let before = waits(&[(3, 3, 100), (5, 3, 40)]);
        let after = waits(&[(3, 3, 110), (5, 3, 70), (9, 3, 20)]);
        assert_eq!(waited_since(&after, &before), ms(30));
    }

    #[test]
    fn processes_wait_one_after_the_other() {
        let before = waits(&[(3, 3, 100), (5, 5, 40)]);
        let after = waits(&[(3, 3, 110), (5, 5, 70), (9, 5, 20)]);
        assert_eq!(waited_since(&after, &before), ms(40));
    }

    #[test]
    fn a_new_thread_has_waited_since_it_was_started() {
        let after = waits(&[(9, 9, 20)]);
        assert_eq!(waited_since(&after, &waits(&[])), ms(20));
        assert_eq!(waited_since(&waits(&[]), &after), Duration::ZERO);
    }

    /// After looks: when, CPU time, and which thread was runnable.
    fn looked(looks: &[(u64, u64, Option<i32>)]) -> OngoingWait {
        let turn = Instant::now();
        let mut wait = OngoingWait::unseen(turn, false);
        for &(at, cpu, thread) in looks {
            wait = wait.next(Look {
                at: turn + ms(at),
                cpu: ms(cpu),
                runnable: thread.into_iter().map(|thread| (thread, 1)).collect(),
                on_disk: false,
                read: 0,
            });
        }
        wait
    }

    #[test]
    fn what_exited_had_waited_while_the_bot_could_run() {
        let sampled = |looks| looked(looks).sampled.as_millis();
        assert_eq!(sampled(&[(20, 5, Some(3)), (50, 10, Some(4))]), 32);
        // It slept.
        assert_eq!(sampled(&[(20, 2, None), (50, 2, None)]), 0);
        // It was not looked at until its time was over.
        assert_eq!(sampled(&[(2000, 2, None)]), 0);
        assert_eq!(sampled(&[(20, 20, Some(3)), (50, 50, Some(4))]), 0);
    }

    #[test]
    fn an_estimate_of_waits_has_an_error() {
        let error = |looks| looked(looks).sampling_error().as_millis();
        // Half of 30 ms and half of 40 ms may be too little.
        assert_eq!(error(&[(30, 0, Some(3)), (70, 0, Some(4))]), 75);
        // It ran for a moment between two looks at which it did not.
        assert_eq!(error(&[(30, 10, None)]), 30);
        // It slept, or it computed.
        assert_eq!(error(&[(30, 0, None), (70, 0, None), (900, 0, None)]), 0);
        assert_eq!(error(&[(30, 30, Some(3)), (70, 70, Some(3))]), 0);
        // The referee was kept from looking.
        assert_eq!(error(&[(30, 30, Some(3)), (330, 40, Some(4))]), 290);
    }

    #[test]
    fn a_wait_for_the_disk_lasts_from_look_to_look() {
        let turn = Instant::now();
        let disk = |looks: &[(u64, u64, bool)]| {
            let mut wait = OngoingWait::unseen(turn, false);
            for &(at, cpu, on_disk) in looks {
                wait = wait.next(Look {
                    at: turn + ms(at),
                    cpu: ms(cpu),
                    runnable: Runnable::new(),
                    on_disk,
                    read: 0,
                });
            }
            (wait.disk.as_millis(), wait.uncertain().as_millis())
        };
        assert_eq!(disk(&[(100, 1, false), (200, 1, false)]), (0, 0));
        // It began between the first two looks; it computed for 20 ms after the third. Before the first look there may have
        // been another.
        let looks = [
            (100, 0, false),
            (200, 0, true),
            (400, 0, true),
            (500, 20, false),
        ];
        assert_eq!(disk(&looks), (50 + 200 + 40, 50 + 40 + 100));
        // A wait as long as the longest time in which none was found may have been missed.
        let looks = [
            (100, 0, false),
            (200, 0, true),
            (400, 0, false),
            (440, 0, false),
            (500, 10, false),
        ];
        assert_eq!(disk(&looks), (150, 150 + 100));
        // Nobody looked for seven seconds, in which it may have waited and slept.
        assert_eq!(disk(&[(7000, 0, true)]), (3500, 3500));
    }

    #[test]
    fn what_was_read_between_two_looks_was_waited_for() {
        let turn = Instant::now();
        let uncertain = |first, looks: &[(u64, u64, u64)]| {
            let mut wait = OngoingWait::unseen(turn, first);
            for &(at, cpu, read) in looks {
                wait = wait.next(Look {
                    at: turn + ms(at),
                    cpu: ms(cpu),
                    runnable: Runnable::new(),
                    on_disk: false,
                    read,
                });
            }
            assert_eq!(wait.disk, Duration::ZERO);
            wait.uncertain().as_millis()
        };
        let looks = [(100, 30, 4096), (150, 30, 4096), (250, 40, 8192)];
        assert_eq!(uncertain(true, &looks), 70 + 90 + 50);
        // What it had read before this turn is not known.
        assert_eq!(uncertain(false, &looks), 90 + 70);
        assert_eq!(uncertain(true, &[(100, 0, 0), (900, 0, 0)]), 0);
    }

    #[test]
    fn threads_may_wait_for_each_other() {
        let before = waits(&[(3, 3, 100), (5, 3, 40)]);
        let after = waits(&[(3, 3, 110), (5, 3, 70), (9, 3, 20)]);
        assert_eq!(waited_at_most(&after, &before), ms(60));
    }

    #[test]
    fn at_the_first_look_all_is_possible() {
        assert_eq!(after(&[]), (0, 0));
        assert_eq!(after(&[(150, 10, Some(3))]), (0, 140));
        assert_eq!(after(&[(150, 10, None)]), (0, 0));
        assert_eq!(after(&[(150, 150, Some(3))]), (0, 0));
    }

    #[test]
    fn a_wait_lasts_while_a_processor_is_not_given() {
        assert_eq!(
            after(&[(150, 10, Some(3)), (155, 10, Some(3)), (160, 10, Some(3))]),
            (10, 140)
        );
        // A helper of it used a little meanwhile.
        assert_eq!(after(&[(150, 10, Some(3)), (155, 11, Some(3))]), (4, 140));
    }

    #[test]
    fn with_a_processor_all_is_known_but_what_came_after() {
        assert_eq!(after(&[(150, 10, Some(3)), (155, 12, Some(4))]), (0, 3));
        assert_eq!(after(&[(150, 10, Some(3)), (155, 15, Some(3))]), (0, 0));
        assert_eq!(after(&[(150, 10, Some(3)), (155, 12, None)]), (0, 0));
    }
}
