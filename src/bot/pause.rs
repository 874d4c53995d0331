//! Stopping the referee itself (Ctrl-Z) while it starts bots.
//!
//! A terminal stops all processes of the referee's group. A bot that is just being started is still one of
//! them, and stops before it has become the bot, while the referee waits for that: neither would ever
//! go on. So the referee first completes what it has begun to start.

use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::children;
use crate::sandbox::procfs::{self, Stat};

/// Time between two looks at processes that are being started.
const STEP: Duration = Duration::from_millis(1);

/// Calls `stop` at a moment when no bot is being started, and lets none be started meanwhile.
pub fn between_starts(stop: impl FnOnce()) {
    let no_starts = loop {
        if let Some(no_starts) = children::try_no_starts() {
            break no_starts;
        }
        let owned = children::owned_pids();
        let stopped = |pid: &Pid| {
            let state = Stat::read(*pid).and_then(|stat| stat.state());
            !owned.contains(pid) && state == Some('T')
        };
        for pid in procfs::own_children().into_iter().filter(stopped) {
            // It may have ended by itself in between.
            let _ = kill_process(pid, Signal::CONT);
        }
        thread::sleep(STEP);
    };
    stop();
    drop(no_starts);
}
