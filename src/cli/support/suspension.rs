//! Ctrl-Z: the program stops, and goes on with `fg`.

use rustix::process::{Pid, Signal, getpgid, getppid, getsid};
use tokio::signal::unix::{SignalKind, signal};

use super::failure::Result;
use super::runtime::runtime;
use referee::bot::exhaustion::start_thread;
use referee::bot::pause::stop_between_starts;
use referee::sandbox::procfs::ProcessStat;
use referee::system::is_ignored;

/// Ctrl-Z stops the program only when no bot is being started. Not for commands at which a person types: a line editor
/// has to restore the terminal first.
pub(crate) fn start() -> Result<()> {
    let stop = SignalKind::from_raw(Signal::TSTP.as_raw());
    if is_ignored(stop.as_raw_value()) {
        return Ok(());
    }
    let runtime = runtime()?;
    let mut stops = runtime.block_on(async { signal(stop) })?;
    start_thread("suspension", move || {
        runtime.block_on(async {
            while stops.recv().await.is_some() {
                // As the kernel does: else nothing could continue it.
                if has_job_control() {
                    stop_between_starts();
                }
            }
        });
    })?;
    Ok(())
}

/// A shell outside of this process group could continue it.
fn has_job_control() -> bool {
    let (Ok(group), Ok(session)) = (getpgid(None), getsid(None)) else {
        return false;
    };
    let mut ancestor = getppid();
    while let Some(pid) = ancestor {
        if getsid(Some(pid)) != Ok(session) {
            return false;
        }
        if getpgid(Some(pid)) != Ok(group) {
            return true;
        }
        ancestor = parent(pid);
    }
    // Where only the parent is known: a session's leader is usually the shell.
    getpgid(Some(session)).is_ok_and(|of_leader| of_leader != group)
}

fn parent(pid: Pid) -> Option<Pid> {
    ProcessStat::read(pid)?.parent()
}
