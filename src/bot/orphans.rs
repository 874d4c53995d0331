//! Processes that bots left behind.
//!
//! A bot's process group is killed with it, but a daemon (a child that left the
//! group) is not in it. On Linux the referee therefore adopts orphans: it declares
//! itself their reaper, and when all bots have been stopped, whatever children it
//! still has were a bot's. A program that forks faster than it is found needs the sandbox.

#[cfg(target_os = "linux")]
mod linux {
    use std::time::Duration;

    use rustix::process::{
        Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
    };

    use crate::sandbox::procfs;

    /// How many times the children are searched for before giving up.
    const ROUNDS: usize = 200;

    /// Makes orphaned descendants children of this process.
    pub fn adopt() {
        // Without it daemons survive, as on systems that have no reapers.
        if let Err(error) = set_child_subreaper(Some(getpid())) {
            tracing::warn!(%error, "cannot adopt orphans");
        }
    }

    /// Kills and reaps all children. Only call it when every bot has been stopped.
    pub fn sweep() {
        for round in 0..ROUNDS {
            let children = procfs::own_children();
            if children.is_empty() {
                return;
            }
            for pid in children {
                tracing::debug!(pid = pid.as_raw_pid(), "killing an orphan");
                // It may have ended by itself in between.
                let _ = kill_process(pid, Signal::KILL);
                let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            }
            if round > 2 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        tracing::warn!("a bot's processes fork faster than they can be killed; use a sandbox");
    }
}

#[cfg(target_os = "linux")]
pub use linux::{adopt, sweep};

/// Nothing: this system has no reapers.
#[cfg(not(target_os = "linux"))]
pub fn adopt() {}

/// Nothing: this system has no reapers.
#[cfg(not(target_os = "linux"))]
pub fn sweep() {}
