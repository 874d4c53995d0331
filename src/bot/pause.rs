//! Stops the referee itself (Ctrl-Z) while it starts bots.
//!
//! A terminal stops the referee's whole process group. A bot that is just being started is still in
//! it, and the referee waits for it: neither would continue. The referee therefore completes its
//! starts first.

use std::thread;
use std::time::Duration;

#[cfg(any(not(target_os = "linux"), portable))]
use rustix::process::kill_current_process_group;
use rustix::process::{Signal, getpid, kill_process};

use super::children;

/// Between two looks at processes being started.
const STEP: Duration = Duration::from_millis(1);

/// Stops this process, until it is continued, when no bot is being started.
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

/// Processes being started, stopped with the referee's process group.
#[cfg(all(target_os = "linux", not(portable)))]
struct Starts;

#[cfg(all(target_os = "linux", not(portable)))]
#[expect(clippy::unused_self, reason = "as on other systems")]
impl Starts {
    const fn none() -> Self {
        Self
    }

    /// Continues those that are stopped.
    fn go_on(&mut self) {
        use crate::sandbox::procfs::{self, Stat};
        let owned = children::owned_pids();
        let stopped = |pid: &rustix::process::Pid| {
            let state = Stat::read(*pid).and_then(|stat| stat.state());
            !owned.contains(pid) && state == Some('T')
        };
        for pid in procfs::own_children().into_iter().filter(stopped) {
            let _ = kill_process(pid, Signal::CONT);
        }
    }

    fn stop(self) {
        let _ = kill_process(getpid(), Signal::STOP);
    }
}

/// The processes being started are not known here: if starts take unusually long, the whole process
/// group is continued, and stopped again.
#[cfg(any(not(target_os = "linux"), portable))]
struct Starts {
    /// Waits so far.
    steps: u32,
}

#[cfg(any(not(target_os = "linux"), portable))]
impl Starts {
    /// A usual start takes fewer steps.
    const USUAL: u32 = 20;

    const fn none() -> Self {
        Self { steps: 0 }
    }

    /// Continues all, if they have not by themselves.
    fn go_on(&mut self) {
        self.steps += 1;
        if self.steps > Self::USUAL {
            // This process is in its own group: it exists.
            let _ = kill_current_process_group(Signal::CONT);
        }
    }

    /// Stops the referee, and the rest of its group if that was continued.
    fn stop(self) {
        // A process can always stop itself.
        let _ = if self.steps > Self::USUAL {
            kill_current_process_group(Signal::STOP)
        } else {
            kill_process(getpid(), Signal::STOP)
        };
    }
}
