//! How long the threads of a bot have waited for a CPU.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::system::Pid;

use crate::sandbox::procfs;

/// By thread, since it started.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// Sorted by thread; thread, process, wait.
    by_thread: Vec<(Pid, Pid, Duration)>,
}

impl Waits {
    /// `None` where the kernel does not report it.
    pub(super) fn read(processes: impl Iterator<Item = Pid>) -> Option<Self> {
        let of = |process| {
            let waits = procfs::processor_waits(process).into_iter();
            waits.map(move |(thread, waited)| (thread, process, waited))
        };
        let mut by_thread: Vec<_> = processes.flat_map(of).collect();
        by_thread.sort_unstable_by_key(|&(thread, ..)| thread.as_raw_pid());
        (!by_thread.is_empty()).then_some(Self { by_thread })
    }

    pub(super) const fn threads(&self) -> usize {
        self.by_thread.len()
    }

    /// The bot's wait since `before`: in each process the thread that waited longest, summed over
    /// processes, because one that waits for another's answer waits after it.
    pub(super) fn since(&self, before: &Self) -> Duration {
        let mut longest: BTreeMap<i32, Duration> = BTreeMap::new();
        for &(thread, process, waited) in &self.by_thread {
            let before = &before.by_thread;
            let earlier = before
                .binary_search_by_key(&thread.as_raw_pid(), |&(thread, ..)| thread.as_raw_pid());
            let waited =
                waited.saturating_sub(earlier.map_or(Duration::ZERO, |place| before[place].2));
            let longest = longest.entry(process.as_raw_pid()).or_default();
            *longest = waited.max(*longest);
        }
        longest.values().sum()
    }
}

/// The runnable threads of a bot.
#[derive(Debug, Default)]
pub(super) struct Runnable {
    /// How often each was given a CPU.
    threads: BTreeMap<i32, u64>,
}

impl Runnable {
    pub(super) fn read(processes: impl Iterator<Item = Pid>) -> Self {
        let threads = processes.flat_map(procfs::runnable_threads);
        let threads = threads.map(|(thread, times)| (thread.as_raw_pid(), times));
        Self {
            threads: threads.collect(),
        }
    }

    #[cfg(test)]
    pub(super) fn of(threads: impl IntoIterator<Item = (i32, u64)>) -> Self {
        Self {
            threads: threads.into_iter().collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// Whether one of them has been runnable since `before` without being given a CPU.
    pub(super) fn goes_on_from(&self, before: &Self) -> bool {
        let mut threads = self.threads.iter();
        threads.any(|(thread, times)| before.threads.get(thread) == Some(times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thread, process, wait in milliseconds.
    fn waits(threads: &[(i32, i32, u64)]) -> Waits {
        let id = |id| Pid::from_raw(id).unwrap();
        let thread = |&(process, thread, ms)| (id(thread), id(process), Duration::from_millis(ms));
        Waits {
            by_thread: threads.iter().map(thread).collect(),
        }
    }

    #[test]
    fn the_longest_wait_of_one_thread_of_a_process_counts() {
        let before = waits(&[(3, 3, 100), (3, 5, 40)]);
        let after = waits(&[(3, 3, 110), (3, 5, 70), (3, 9, 20)]);
        assert_eq!(after.since(&before), Duration::from_millis(30));
        assert_eq!(after.threads(), 3);
    }

    #[test]
    fn processes_wait_one_after_the_other() {
        let before = waits(&[(3, 3, 100), (5, 5, 40)]);
        let after = waits(&[(3, 3, 110), (5, 5, 70), (5, 9, 20)]);
        assert_eq!(after.since(&before), Duration::from_millis(40));
    }

    #[test]
    fn a_new_thread_has_waited_since_it_was_started() {
        let after = waits(&[(9, 9, 20)]);
        assert_eq!(after.since(&waits(&[])), Duration::from_millis(20));
        assert_eq!(waits(&[]).since(&after), Duration::ZERO);
    }

    #[test]
    fn a_wait_goes_on_until_the_thread_is_given_a_processor() {
        let runnable = |threads: &[(i32, u64)]| Runnable::of(threads.iter().copied());
        let before = runnable(&[(3, 7), (5, 1)]);
        assert!(runnable(&[(3, 7)]).goes_on_from(&before));
        assert!(runnable(&[(3, 9), (5, 1)]).goes_on_from(&before));
        assert!(!runnable(&[(3, 8), (9, 1)]).goes_on_from(&before));
        assert!(!runnable(&[]).goes_on_from(&before) && runnable(&[]).is_empty());
    }
}
