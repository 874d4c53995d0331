//! How long the threads of a bot have waited for a processor.

use std::time::Duration;

use crate::system::Pid;

use crate::sandbox::procfs;

/// How long each thread has waited for a processor since it was started.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// Sorted by thread.
    by_thread: Vec<(Pid, Duration)>,
}

impl Waits {
    /// Of all threads of these processes; `None` where the kernel does not report it.
    pub(super) fn read(processes: impl Iterator<Item = Pid>) -> Option<Self> {
        let mut by_thread: Vec<_> = processes.flat_map(procfs::processor_waits).collect();
        by_thread.sort_unstable_by_key(|&(thread, _)| thread.as_raw_pid());
        (!by_thread.is_empty()).then_some(Self { by_thread })
    }

    /// The number of threads.
    pub(super) const fn threads(&self) -> usize {
        self.by_thread.len()
    }

    /// How long the thread that waited longest has done so since `before`.
    pub(super) fn longest_since(&self, before: &Self) -> Duration {
        let since = |&(thread, waited): &(Pid, Duration)| {
            let before = &before.by_thread;
            let earlier = before
                .binary_search_by_key(&thread.as_raw_pid(), |&(thread, _)| thread.as_raw_pid());
            waited.saturating_sub(earlier.map_or(Duration::ZERO, |place| before[place].1))
        };
        self.by_thread.iter().map(since).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(threads: &[(i32, u64)]) -> Waits {
        let thread = |&(id, ms)| (Pid::from_raw(id).unwrap(), Duration::from_millis(ms));
        Waits {
            by_thread: threads.iter().map(thread).collect(),
        }
    }

    #[test]
    fn the_longest_wait_of_one_thread_counts() {
        let before = waits(&[(3, 100), (5, 40)]);
        let after = waits(&[(3, 110), (5, 70), (9, 20)]);
        assert_eq!(after.longest_since(&before), Duration::from_millis(30));
        assert_eq!(after.threads(), 3);
    }

    #[test]
    fn a_new_thread_has_waited_since_it_was_started() {
        let after = waits(&[(9, 20)]);
        assert_eq!(after.longest_since(&waits(&[])), Duration::from_millis(20));
        assert_eq!(waits(&[]).longest_since(&after), Duration::ZERO);
    }
}
