//! The processes below this one: finding them, counting what they use, ending them.

use std::fs;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpid};

/// How long the last process may take to end. Only one that hangs in the kernel takes long.
const ENDING: Duration = Duration::from_secs(5);

/// The children of a process, whichever of its threads started them.
pub(crate) fn children(pid: &str) -> Vec<Pid> {
    let mut found = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let list = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        found.extend(
            list.split_ascii_whitespace()
                .filter_map(|word| Pid::from_raw(word.parse().ok()?)),
        );
    }
    found
}

/// Ends everything below this process, and waits until it is gone. `group` is the process group
/// that a bot cannot leave.
pub(super) fn end(group: Option<Pid>) {
    let deadline = Instant::now() + ENDING;
    loop {
        if let Some(group) = group {
            // At once for all: nobody can fork away from it. ESRCH: it is empty.
            let _ = kill_process_group(group, Signal::KILL);
        }
        for pid in children("self") {
            // It may have ended by itself in between.
            let _ = kill_process(pid, Signal::KILL);
        }
        loop {
            match waitpid(None, WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                // There are none left.
                Err(_) => return,
            }
        }
        if Instant::now() > deadline {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
