//! Waits for a CPU that the kernel does not count: one that is not over, whose length shows only by
//! looking twice, and those of exited processes, estimated from all looks.

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

/// Nothing is estimated of a longer time between two looks.
const LONGEST: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct OngoingWait {
    at: Instant,
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
    could_run: bool,
}

impl OngoingWait {
    /// The state before the first look, in a turn that began at `turn`.
    pub(super) fn unseen(turn: Instant) -> Self {
        Self {
            at: turn,
            cpu: Duration::ZERO,
            runnable: Runnable::new(),
            certain: Duration::ZERO,
            most: Duration::ZERO,
            sampled: Duration::ZERO,
            // A bot that sleeps from its first look on has waited for nothing.
            could_run: false,
        }
    }

    pub(super) fn next(&self, at: Instant, cpu: Duration, runnable: Runnable) -> Self {
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
        let sampled = if passed <= LONGEST {
            idle * looks / 2
        } else {
            Duration::ZERO
        };
        Self {
            at,
            cpu,
            runnable,
            certain,
            most,
            sampled: self.sampled + sampled,
            could_run,
        }
    }

    /// How much longer it may have lasted than is certain.
    pub(super) fn uncertain(&self) -> Duration {
        self.most.saturating_sub(self.certain)
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
        let mut wait = OngoingWait::unseen(turn);
        for &(at, cpu, times) in looks {
            let runnable = times.into_iter().map(|times| (7, times)).collect();
            wait = wait.next(turn + ms(at), ms(cpu), runnable);
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

    #[test]
    fn what_exited_had_waited_while_the_bot_could_run() {
        let turn = Instant::now();
        let sampled = |looks: &[(u64, u64, Option<i32>)]| {
            let mut wait = OngoingWait::unseen(turn);
            for &(at, cpu, process) in looks {
                let runnable = process.into_iter().map(|process| (process, 1)).collect();
                wait = wait.next(turn + ms(at), ms(cpu), runnable);
            }
            wait.sampled.as_millis()
        };
        assert_eq!(sampled(&[(20, 5, Some(3)), (50, 10, Some(4))]), 32);
        // It slept.
        assert_eq!(sampled(&[(20, 2, None), (50, 2, None)]), 0);
        // It was not looked at until its time was over.
        assert_eq!(sampled(&[(2000, 2, None)]), 0);
        assert_eq!(sampled(&[(20, 20, Some(3)), (50, 50, Some(4))]), 0);
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
