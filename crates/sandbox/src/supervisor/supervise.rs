//! Watches a running bot until it has exited or must be killed.

use std::io;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, WaitStatus, pidfd_open};
use tempfile::TempDir;

use super::descendants::{end_all, reap_orphans};
use super::message::{Exceeded, ExitReport, SpawnRequest};
use super::removal::Remover;
use super::spawn::RunningBot;
use super::sys;
use super::watch::{self, Watch};
use crate::backend::Backend;
use crate::cgroup::{Bound, Controller, Groups, OpenAccount};
use crate::session;

/// The status of a killed bot that hangs in the kernel.
const KILLED: i32 = 9;

/// Waits until the bot has exited, the referee is gone, or a limit is exceeded; afterwards only the
/// bot's directories are left. `account` counts its CPU time.
pub(super) fn supervise(
    request: &SpawnRequest,
    mut bot: RunningBot,
    account: Option<&OpenAccount>,
    control: &UnixStream,
) -> io::Result<(ExitReport, Vec<TempDir>)> {
    let pidfd = pidfd_open(bot.pid, PidfdFlags::empty())?;
    let by_kernel = bot.groups.has(Controller::Memory);
    let mut watch = Watch::new(request.limits, bot.pid, bot.scratch, bot.helpers, by_kernel);
    let mut exceeded: Option<Exceeded> = None;
    let interval = watch::interval(by_kernel);
    let mut next_check = Instant::now() + interval;
    let mut network = false;
    let mut asking = true;
    loop {
        let mut events = [
            PollFd::new(&pidfd, PollFlags::IN),
            PollFd::new(control, PollFlags::IN),
            PollFd::new(&bot.calls, PollFlags::IN),
        ];
        let wait = next_check.saturating_duration_since(Instant::now());
        let wait = Timespec::try_from(wait).map_err(io::Error::other)?;
        let asked = if asking { 3 } else { 2 };
        let ready = poll(&mut events[..asked], Some(&wait));
        // Even when it keeps asking for the network.
        if Instant::now() >= next_check {
            reap_orphans(bot.pid);
            if let Some(remover) = &bot.remover {
                remover.clear();
            }
            exceeded = met(&bot.groups, || watch.check()).or_else(|| watch.check());
            if exceeded.is_some() {
                break;
            }
            next_check = Instant::now() + interval;
        }
        match ready {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) if events[..2].iter().all(|event| event.revents().is_empty()) => {
                if events[2].revents().contains(PollFlags::IN) {
                    if let Ok(call) = sys::waiting_call(&bot.calls) {
                        network |= call.number == libc::SYS_socket;
                        let remove = |remover: &mut Remover| remover.remove(&call);
                        let answer = bot.remover.as_mut().map_or(Err(Errno::PERM), remove);
                        sys::answer_call(&bot.calls, &call, answer);
                    }
                } else {
                    // No process is left that could ask; the exit is about to be reported.
                    asking = false;
                }
            }
            Ok(_) => break,
            Err(error) => return Err(error.into()),
        }
    }
    bot.groups.thaw();
    // If it exited by itself, this is its status.
    let status = end_all(Some(bot.pid)).map_or(KILLED, WaitStatus::as_raw);
    if let Backend::Landlock {
        scratch,
        own_view: false,
        ..
    } = &request.backend
    {
        session::forget(scratch, bot.pid);
    }
    let exceeded = exceeded.or_else(|| met(&bot.groups, || None));
    let (waited_for, largest) = sys::used_by_children();
    let cpu = account.and_then(OpenAccount::read).unwrap_or(waited_for);
    let report = ExitReport {
        status: decode_bwrap_status(status, bot.helpers > 0),
        cpu_ms: cpu.as_secs_f64() * 1e3,
        memory_kb: largest.max(watch.peak()),
        exceeded,
        network,
    };
    Ok((report, bot.directories))
}

/// The kernel bound that the bot met. `check` tells processes from threads, which the kernel counts
/// together.
fn met(groups: &Groups, check: impl FnOnce() -> Option<Exceeded>) -> Option<Exceeded> {
    match groups.exceeded()? {
        Bound::Memory => Some(Exceeded::Memory),
        Bound::OthersMemory => Some(Exceeded::OthersMemory),
        Bound::Tasks => check().or(Some(Exceeded::Threads)),
    }
}

/// The bot's own status: bubblewrap in between exits with 128 and the signal's number when a signal
/// killed the bot.
fn decode_bwrap_status(status: i32, bwrap: bool) -> i32 {
    match ExitStatus::from_raw(status).code() {
        Some(code @ 129..=192) if bwrap => code - 128,
        _ => status,
    }
}
