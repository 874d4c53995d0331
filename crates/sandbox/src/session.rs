//! The session of a bot that shares the system's process ids, noted in a file beside its scratch
//! directory: when referee and supervisor are killed at the same moment, the next referee kills
//! what is left.
//!
//! No process of a bot can leave its session or process group. Both have the id of its first
//! process, which is not reused while there are processes in them.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, kill_process_group};

use super::procfs::{self, ProcessStat};

/// The prefix of the file name, before the session id.
const PREFIX: &str = "session-";

/// How long the last process may take to exit.
const ENDING: Duration = Duration::from_secs(5);

pub(super) fn note(directory: &Path) -> io::Result<()> {
    let pid = getpid();
    let started = ProcessStat::read(pid).and_then(|stat| stat.started());
    let text = format!("{} {}", identity()?, started.unwrap_or(0));
    fs::write(directory.join(file_name(pid)), text)
}

pub(super) fn forget(directory: &Path, leader: Pid) {
    let _ = fs::remove_file(directory.join(file_name(leader)));
}

fn file_name(leader: Pid) -> String {
    format!("{PREFIX}{}", leader.as_raw_pid())
}

/// This boot and process id namespace, to which the ids belong.
fn identity() -> io::Result<String> {
    let boot = procfs::kernel_setting("kernel/random/boot_id").unwrap_or_default();
    let space = fs::read_link("/proc/self/ns/pid")?;
    Ok(format!("{boot} {}", space.display()))
}

pub(super) fn end_left_behind(directory: &Path) {
    let Ok(identity) = identity() else { return };
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let leader = name
            .to_str()
            .and_then(|name| Pid::from_raw(name.strip_prefix(PREFIX)?.parse().ok()?));
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let started = text
            .strip_prefix(&identity)
            .and_then(|rest| rest.trim().parse().ok());
        if let (Some(leader), Some(started)) = (leader, started) {
            end(leader, started);
        }
    }
}

fn end(leader: Pid, started: u64) {
    let deadline = Instant::now() + ENDING;
    while Instant::now() < deadline {
        let members = procfs::confined_in_group(leader);
        // Another session may have the id by now.
        let same = |stat: &ProcessStat| stat.started() == Some(started);
        let later = |stat: &ProcessStat| stat.started() >= Some(started);
        let ours = match ProcessStat::read(leader) {
            Some(stat) => same(&stat),
            None => members.iter().all(later),
        };
        if members.iter().all(ProcessStat::has_ended) || !ours {
            return;
        }
        if kill_process_group(leader, Signal::KILL) == Err(Errno::SRCH) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
