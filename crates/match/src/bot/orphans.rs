//! Processes that bots left behind.
//!
//! A bot's process group is killed with it, but not a daemon that left the group. On Linux the
//! referee adopts orphans as a subreaper. Exited ones are reaped soon; live ones are killed once
//! they are older than every running bot, and all of them when all bots have stopped. Children that
//! this process had before (of a shell that exec'ed the referee) and their process groups are left
//! alone.

use super::children;
use referee_host::system::{Pid, forced_end};
use referee_text::escape_controls;

/// A sentence about each process of a bot that survived everything done to kill it.
fn survivors(pids: impl IntoIterator<Item = Pid>) -> Vec<String> {
    let given_up = children::given_up();
    let sentence = |process: Pid| {
        let pid = process.as_raw_pid();
        // It has a name when it is the bot's first process.
        let named = given_up.iter().find(|(given_up, _)| *given_up == process);
        let name = named.map_or_else(
            || "a process that a bot has left behind".to_owned(),
            |(_, name)| escape_controls(name),
        );
        format!(
            "{name} (process {pid}) could not be killed: it may have the rights of another user, or hang \
             in the kernel, or start others faster than they can be killed; kill it with: {}",
            forced_end(process)
        )
    };
    pids.into_iter().map(sentence).collect()
}

#[cfg(all(target_os = "linux", not(portable)))]
mod linux {
    use std::collections::HashSet;
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};

    use rustix::io::Errno;
    use rustix::process::{
        Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
    };
    use tokio::signal::unix::{SignalKind, signal};

    use super::{children, survivors};
    use crate::log_target::PROCESS;
    use referee_sandbox::procfs::{self, ProcessStat};
    use referee_sandbox::supervisor::watch;

    /// How long the last process may take to exit; only one that hangs in the kernel takes long.
    const ENDING: Duration = Duration::from_secs(2);

    /// Least time between searches for exited processes.
    const SEARCHING: Duration = Duration::from_millis(20);

    const TOLD: usize = 10;

    /// Processes that existed before the first bot.
    #[derive(Debug, Default)]
    struct Before {
        /// Processes by id and start time.
        processes: HashSet<(Pid, u64)>,
        groups: HashSet<Pid>,
    }

    static BEFORE: OnceLock<Before> = OnceLock::new();

    impl Before {
        fn note() -> Self {
            let mut before = Self::default();
            let mut waiting = procfs::children("self");
            while let Some(pid) = waiting.pop() {
                waiting.extend(procfs::children(pid));
                let Some(stat) = ProcessStat::read(pid) else {
                    continue;
                };
                before.processes.extend(stat.started().map(|at| (pid, at)));
                // A group of another namespace has number 0 here, which rustix's `getpgid` cannot
                // express.
                before.groups.extend(stat.group());
            }
            before
        }

        /// Whether this child is not a bot's.
        fn spares(&self, pid: Pid) -> bool {
            let is_from_before = |at| self.processes.contains(&(pid, at));
            let is_from_group = |group| self.groups.contains(&group);
            !self.processes.is_empty()
                && ProcessStat::read(pid).is_some_and(|stat| {
                    stat.started().is_some_and(is_from_before)
                        || stat.group().is_some_and(is_from_group)
                })
        }
    }

    fn started(pid: Pid) -> Option<u64> {
        ProcessStat::read(pid)?.started()
    }

    /// Children that bots may have left, and the bots' own processes.
    fn children_of_bots() -> Vec<Pid> {
        let mut children = procfs::children("self");
        let watcher = watch::watcher();
        children.retain(|&pid| Some(pid) != watcher);
        if let Some(before) = BEFORE.get() {
            children.retain(|&pid| !before.spares(pid));
        }
        children
    }

    /// Makes orphaned descendants children of this process, and starts a task that reaps them. Must
    /// be called within a tokio runtime, before the first bot starts.
    pub fn adopt() {
        BEFORE.get_or_init(Before::note);
        watch::enable();
        // Without it daemons survive, as on systems without subreapers.
        if let Err(error) = set_child_subreaper(Some(getpid())) {
            tracing::warn!(target: PROCESS, %error, "cannot adopt orphans");
        }
        let mut ended = match signal(SignalKind::child()) {
            Ok(ended) => ended,
            Err(error) => {
                tracing::warn!(target: PROCESS, %error, "cannot reap orphans before the end");
                return;
            }
        };
        tokio::spawn(async move {
            while ended.recv().await.is_some() {
                reap();
                // However many exit at a time, games go on.
                tokio::time::sleep(SEARCHING).await;
            }
        });
    }

    /// Reaps exited orphans, and kills those whose bot has exited: they are older than every
    /// running bot.
    fn reap() {
        let _no_starts = children::no_starts();
        let owned = children::owned_pids();
        let mut living = children_of_bots();
        living.retain(|&pid| {
            !owned.contains(&pid) && matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None))
        });
        if living.is_empty() {
            return;
        }
        let oldest = owned.into_iter().filter_map(started).min();
        for pid in living {
            let is_older = |oldest| started(pid).is_some_and(|started| started < oldest);
            if oldest.is_none_or(is_older) {
                tracing::debug!(target: PROCESS, pid = pid.as_raw_pid(), "killing an orphan");
                // It may have exited.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }

    /// Kills and reaps all that bots have left; returns what could not be killed. Only call it when
    /// every bot has stopped.
    pub fn sweep() -> Vec<String> {
        let deadline = Instant::now() + ENDING;
        for round in 0.. {
            let mut left = children_of_bots();
            let mut permitted = false;
            left.retain(|&pid| {
                tracing::debug!(target: PROCESS, pid = pid.as_raw_pid(), "killing an orphan");
                // It may have exited.
                permitted |= kill_process(pid, Signal::KILL) != Err(Errno::PERM);
                matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None))
            });
            if left.is_empty() && children_of_bots().is_empty() {
                return Vec::new();
            }
            if Instant::now() > deadline || !(permitted || left.is_empty()) {
                left.truncate(TOLD);
                return survivors(left);
            }
            if round > 2 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        Vec::new()
    }
}

#[cfg(all(target_os = "linux", not(portable)))]
pub use linux::{adopt, sweep};

/// Nothing: this system has no subreapers.
#[cfg(any(not(target_os = "linux"), portable))]
pub fn adopt() {}

/// Bots' processes that could not be killed. Without subreapers, those they started are not known.
#[cfg(any(not(target_os = "linux"), portable))]
pub fn sweep() -> Vec<String> {
    survivors(children::given_up().into_iter().map(|(pid, _)| pid))
}
