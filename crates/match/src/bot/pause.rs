//! Stops the referee itself (Ctrl-Z) while it starts bots.
//!
//! A terminal stops the referee's whole process group. A bot that is just being started is still in
//! it, and the referee waits for it: neither would continue. The referee therefore completes its
//! starts first.

use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_current_process_group, kill_process};

use super::children;

/// Between two looks at processes being started.
const STEP: Duration = Duration::from_millis(1);

/// A usual start takes fewer steps.
const USUAL: u32 = 20;

/// Stops this process, until it is continued, when no bot is being started. If starts take unusually
/// long, they are stopped: the whole process group is continued, and stopped again.
pub fn stop_between_starts() {
    let mut steps = 0;
    let no_starts = loop {
        if let Some(no_starts) = children::try_no_starts() {
            break no_starts;
        }
        steps += 1;
        if steps > USUAL {
            // This process is in its own group: it exists.
            let _ = kill_current_process_group(Signal::CONT);
        }
        thread::sleep(STEP);
    };
    // A process can always stop itself.
    let _ = if steps > USUAL {
        kill_current_process_group(Signal::STOP)
    } else {
        kill_process(getpid(), Signal::STOP)
    };
    drop(no_starts);
}
