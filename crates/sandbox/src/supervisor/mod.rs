//! The supervisor: a small process between the referee and a sandboxed bot.
//!
//! The referee starts its own program once as the fork server (`referee supervisor`), which forks a
//! supervisor for every request, a child of the referee connected by a socket. The supervisor starts
//! the bot, and reports that it runs, how it ended and what it used. When the
//! referee's end of the socket closes it kills the bot with all its processes. The bot's pipes lead
//! straight to the referee: a ply needs no further system call.
//!
//! A supervisor has one thread. It adopts orphans, and no process of a bot can leave its process
//! group: none escapes.

pub mod client;
mod descendants;
pub mod fork_server;
pub mod kept_box;
pub mod message;
mod own_view;
mod removal;
pub mod self_test;
mod spawn;
mod start;
mod supervise;
mod sys;

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use rustix::process::{getpid, set_child_subreaper};

use self::descendants::end_all;
pub use self::fork_server::COMMAND;
use self::fork_server::Job;
use self::message::{HOLD, INSIDE, SELF_TEST, SupervisorEvent};
use self::supervise::{Scratch, supervise};
use crate::private_directory::remove_tree;

/// Runs this process as a supervisor. `arguments` are those after the word [`COMMAND`].
pub fn run(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let done = match arguments.next().as_deref() {
        None => fork_server::serve().and_then(|double| double.map_or(Ok(()), serve)),
        Some(INSIDE) => spawn::inside(arguments),
        Some(HOLD) => kept_box::hold(),
        Some(SELF_TEST) => self_test::run(arguments),
        Some(_) => Err(io::Error::other(
            "this command is for the referee itself; see `referee doctor` for what a sandbox does",
        )),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error is the bot's, and the referee quotes it.
            let _ = writeln!(io::stderr(), "referee {COMMAND}: {error}");
            ExitCode::from(2)
        }
    }
}

fn serve(job: Job) -> io::Result<()> {
    let Job {
        request,
        mut control,
        input,
        groups,
        slot,
    } = job;
    set_child_subreaper(Some(getpid()))?;
    let started = spawn::spawn(&request, input, slot.as_ref(), groups);
    // From here only the bot holds its streams: their end can be noticed.
    let nothing = File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    let mut bot = match started {
        Ok(bot) => bot,
        Err(error) => {
            end_all(None);
            let failed = SupervisorEvent::Failed {
                cause: error.to_string(),
                errno: error.raw_os_error(),
            };
            return report(&mut control, &failed);
        }
    };
    let pid = bot.pid.as_raw_pid();
    // An error means that the referee is gone, which is noticed again below.
    let account = bot.groups.account();
    let used = account.as_ref().and_then(|account| account.open().ok());
    let ready = SupervisorEvent::Ready {
        pid,
        freezer: bot.groups.freezer(),
        account,
    };
    let _ = report(&mut control, &ready);
    let kept = bot.kept.take();
    let (ended, scratch) = supervise(&request, bot, used.as_ref(), &control)?;
    // Descriptors in a socket count against the limit of every process of this user: no longer than needed.
    if let (Some(slot), Some(kept)) = (&slot, &kept) {
        slot.put(kept);
    }
    let _ = report(&mut control, &SupervisorEvent::Ended(ended));
    if let Scratch::Watched(scratch) = scratch {
        for directory in scratch.directories() {
            // What cannot be removed now is removed with all that the referee has of the bot.
            let _ = remove_tree(directory);
        }
    }
    Ok(())
}

fn report(control: &mut UnixStream, event: &SupervisorEvent) -> io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    control.write_all(&line)
}
