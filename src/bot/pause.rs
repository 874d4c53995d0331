//! Stopping the referee itself (Ctrl-Z) while it starts bots.
//!
//! A terminal stops all processes of the referee's group. A bot that is just being started is still one of
//! them, and stops before it has become the bot, while the referee waits for that: neither would ever
//! go on. So the referee first completes what it has begun to start.

use std::thread;
use std::time::Duration;

#[cfg(any(not(target_os = "linux"), portable))]
use rustix::process::kill_current_process_group;
use rustix::process::{Signal, getpid, kill_process};

use super::children;

/// Time between two looks at processes that are being started.
const STEP: Duration = Duration::from_millis(1);

/// Stops this process, until somebody continues it, at a moment when no bot is being started.
pub fn stop_between_starts() {
    let mut starts = Starts::none();
    let no_starts = loop {
        if let Some(no_starts) = children::try_no_starts() {
            break no_starts;
        }
        starts.go_on();
        thread::sleep(STEP);
    };
    starts.stop();
    drop(no_starts);
}

/// What is being started, and was stopped with the referee's process group.
#[cfg(all(target_os = "linux", not(portable)))]
struct Starts;

#[cfg(all(target_os = "linux", not(portable)))]
#[expect(clippy::unused_self, reason = "as on other systems")]
impl Starts {
    const fn none() -> Self {
        Self
    }

    /// Lets those go on that are stopped.
    fn go_on(&mut self) {
        use crate::sandbox::procfs::{self, Stat};
        let owned = children::owned_pids();
        let stopped = |pid: &rustix::process::Pid| {
            let state = Stat::read(*pid).and_then(|stat| stat.state());
            !owned.contains(pid) && state == Some('T')
        };
        for pid in procfs::own_children().into_iter().filter(stopped) {
            // It may have ended by itself in between.
            let _ = kill_process(pid, Signal::CONT);
        }
    }

    /// Stops the referee.
    fn stop(self) {
        // This process can always be stopped by itself.
        let _ = kill_process(getpid(), Signal::STOP);
    }
}

/// Which processes are being started is not known here. So, where that takes longer than it does
/// otherwise, the whole process group goes on, and is stopped again.
#[cfg(any(not(target_os = "linux"), portable))]
struct Starts {
    /// How often they were waited for.
    steps: u32,
}

#[cfg(any(not(target_os = "linux"), portable))]
impl Starts {
    /// A start takes less than this many steps.
    const USUAL: u32 = 20;

    const fn none() -> Self {
        Self { steps: 0 }
    }

    /// Lets all go on, if they have not by themselves.
    fn go_on(&mut self) {
        self.steps += 1;
        if self.steps > Self::USUAL {
            // This process is in its own group, so there is one.
            let _ = kill_current_process_group(Signal::CONT);
        }
    }

    /// Stops the referee; also the rest of its group, if that goes on.
    fn stop(self) {
        // Both can always be stopped by themselves.
        let _ = if self.steps > Self::USUAL {
            kill_current_process_group(Signal::STOP)
        } else {
            kill_process(getpid(), Signal::STOP)
        };
    }
}
