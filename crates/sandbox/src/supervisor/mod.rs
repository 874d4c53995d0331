//! The supervisor: a small process between the referee and a sandboxed bot.
//!
//! The referee starts its own program as `referee supervisor` for every process of a bot, connected
//! by a socket. The supervisor starts the bot, and reports that it runs, how it ended and what it
//! used. When the referee's end of the socket closes it kills the bot with all its processes. The
//! bot's pipes lead straight to the referee: an exchange needs no further system call.
//!
//! A supervisor has one thread. It adopts orphans, and no process of a bot can leave its process
//! group: none escapes.

pub mod client;
mod descendants;
mod kept_box;
mod kept_boxes;
mod message;
mod mounts;
mod namespaces;
mod private_view;
mod scratch;
pub mod self_test;
mod spawn;
mod start;
mod supervise;
mod sys;
mod usage_meter;
pub mod watch;
mod watched_scratch;

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use rustix::process::{getpid, set_child_subreaper};

use self::descendants::end_all;
use self::kept_box::KeptBox;
pub(super) use self::kept_boxes::KeptBoxes;
pub use self::message::COMMAND;
pub(super) use self::message::SupervisorEvent;
use self::message::{HOLD, INSIDE, SELF_TEST, WATCH};
use self::supervise::supervise;
use crate::cgroup::{BotGroups, GroupController};
use crate::spawn_request::SpawnRequest;
use crate::trouble::{SandboxTrouble, described};

/// Runs this process as a supervisor. `arguments` are those after the word [`COMMAND`].
pub fn run(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let done = match arguments.next().as_deref() {
        None => serve(),
        Some(INSIDE) => spawn::inside(arguments),
        Some(HOLD) => kept_box::hold(),
        Some(WATCH) => watch::run(arguments),
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

fn serve() -> io::Result<()> {
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    set_child_subreaper(Some(getpid()))?;
    let (line, descriptors) = message::receive(&control, |line| line.ends_with(b"\n"))?;
    if line.is_empty() {
        // The referee is gone.
        return Ok(());
    }
    let request: SpawnRequest = serde_json::from_slice(&line)?;
    let mut descriptors = descriptors.into_iter();
    let missing = || io::Error::other("a request without its descriptors");
    let input = descriptors.next().ok_or_else(missing)?;
    let kept = KeptBox::of(descriptors.collect());
    let started = BotGroups::new(&request.groups, request.allowance)
        .map_err(|error| {
            let words = format!("no control group can be made: {error}");
            described(words, Some(SandboxTrouble::NoGroup), &error)
        })
        .and_then(|groups| spawn::spawn(&request, input, kept.as_ref(), groups));
    // From here only the bot holds its streams: their end can be noticed.
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    let mut bot = match started {
        Ok(bot) => bot,
        Err(error) => {
            end_all(None);
            return report(&control, &SupervisorEvent::Failed((&error).into()), None);
        }
    };
    // An error means that the referee is gone, which is noticed again below.
    let account = bot.groups.with(GroupController::Account);
    let used = account.and_then(|account| account.open_account().ok()?);
    let ready = SupervisorEvent::Ready {
        pid: bot.pid.as_raw_pid(),
        freezer: bot.groups.with(GroupController::Freezer).cloned(),
        account: account.cloned(),
        memory: bot.groups.with(GroupController::Memory).cloned(),
    };
    let _ = report(&control, &ready, bot.built.take());
    let ended = supervise(&request, &mut bot, used.as_ref(), &control)?;
    let _ = report(&control, &SupervisorEvent::Ended(ended), None);
    Ok(())
}

/// A new box is for the referee to keep.
fn report(
    mut control: &UnixStream,
    event: &SupervisorEvent,
    built: Option<KeptBox>,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    match built.map(|built| built.send(control, &line)) {
        Some(Ok(())) => Ok(()),
        // The next process gets another one.
        Some(Err(_)) | None => control.write_all(&line),
    }
}
