//! Starts a bot inside its sandbox.

use std::convert::Infallible;
use std::env;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Pid, chdir};

use super::kept_box::{KeptBox, NOT_BUILT};
use super::message::{BUILDING, INSIDE, REFEREE_FD, Restrictions, STATUS_FD, SpawnRequest};
use super::removal::Watched;
use super::start::{Entry, Report};
use super::supervise::Scratch;
use super::{kept_box, message, own_view, start, sys};
use crate::backend::bubblewrap::SCRATCH;
use crate::backend::{Backend, landlock};
use crate::cgroup::Groups;
use crate::session;

/// Sent from inside bubblewrap when everything is prepared.
const PREPARED: u8 = b'+';

pub(super) struct RunningBot {
    /// Its process, or bubblewrap's above it; leads a group and a session.
    pub(super) pid: Pid,
    pub(super) scratch: Scratch,
    pub(super) groups: Groups,
    /// A new box, to be kept for the next process.
    pub(super) built: Option<KeptBox>,
    /// Readable when the bot tries the network, or asks to remove a file; the kernel waits for an
    /// answer.
    pub(super) calls: OwnedFd,
}

/// Starts a bot that reads from `input`, in these groups and in the box of the last process if
/// any. Its standard output and error are this process's.
pub(super) fn spawn(
    request: &SpawnRequest,
    input: OwnedFd,
    kept: Option<&KeptBox>,
    groups: Groups,
) -> io::Result<RunningBot> {
    let entry = Entry::new(&groups)?;
    let Restrictions { limits, user, .. } = request.restrictions;
    let mut built = None;
    let (pid, calls, scratch) = match &request.backend {
        Backend::Landlock {
            scratch,
            own_view: true,
            closed,
            ..
        } => {
            // A place common to all views: making and removing a directory on a disk takes a sixth
            // of the start.
            let command = command(request, input, scratch)?;
            own_view::prepare(user.is_some())?;
            let (pid, calls) = start_process(entry, |entry, report, supervisor| {
                own_view::make(scratch, &limits, user, closed)?;
                own_view::run_below(report, || {
                    become_bot(request, command, scratch, entry, supervisor)
                })
            })?;
            (pid, calls, Scratch::Bounded)
        }
        // Where the scratch directories of all processes of the bot are.
        Backend::Landlock { scratch, .. } => {
            let own = Watched::new(scratch, user)?;
            let command = command(request, input, own.path())?;
            let (pid, calls) = start_process(entry, |entry, _, supervisor| {
                session::note(scratch)?;
                become_bot(request, command, own.path(), entry, supervisor)
            })?;
            (pid, calls, Scratch::Watched(own))
        }
        Backend::Bwrap {
            program,
            arguments,
            kept: Some(shown),
        } => {
            let kept = match kept {
                Some(kept) => kept,
                None => &*built.insert(KeptBox::build(program, arguments)?),
            };
            let scratch = Path::new(SCRATCH);
            let command = command(request, input, scratch)?;
            let (pid, calls) = start_process(entry, |entry, report, supervisor| {
                kept_box::enter(kept, user.is_some())?;
                report.continue_instead()?;
                entry.lead()?;
                kept_box::renew_scratch(scratch, shown, &limits, user)?;
                own_view::mount_processes()?;
                own_view::run_below(report, || {
                    become_bot(request, command, scratch, entry, supervisor)
                })
            })?;
            (pid, calls, Scratch::Inside)
        }
        Backend::Bwrap {
            program, arguments, ..
        } => {
            let (pid, calls) = spawn_in_bubblewrap(request, input, (program, arguments), entry)?;
            (pid, calls, Scratch::Inside)
        }
    };
    Ok(RunningBot {
        pid,
        scratch,
        groups,
        built,
        calls,
    })
}

fn command(request: &SpawnRequest, input: OwnedFd, scratch: &Path) -> io::Result<Command> {
    let [name, arguments @ ..] = &request.argv[..] else {
        return Err(io::Error::other("an empty command"));
    };
    let is_landlock = matches!(request.backend, Backend::Landlock { .. });
    let mut command = if is_landlock && env::current_exe()? == Path::new(name) {
        // The install directory may be closed to another user.
        let mut command = Command::new("/proc/self/exe");
        command.arg0(name);
        command
    } else {
        Command::new(name)
    };
    command.args(arguments);
    prepare(&mut command, request, scratch, input);
    Ok(command)
}

fn prepare(command: &mut Command, request: &SpawnRequest, scratch: &Path, input: OwnedFd) {
    let environment = request.environment.iter();
    command
        .env_clear()
        .envs(environment.map(|(name, value)| (name, value)))
        .envs(["HOME", "TMPDIR"].map(|name| (name, scratch)))
        .stdin(Stdio::from(input));
}

/// Starts a process that does this; its last argument is a socket for [`start::restrict_self`].
fn start_process(
    entry: Entry,
    become_it: impl FnOnce(&Entry, &Report, &UnixStream) -> io::Result<Infallible>,
) -> io::Result<(Pid, OwnedFd)> {
    let (ours, theirs) = UnixStream::pair()?;
    let pid = entry.start(|entry, report| become_it(entry, report, &theirs))?;
    // If it was killed by then, nothing was sent.
    drop(theirs);
    let (_, calls) = message::receive(&ours, |bytes| !bytes.is_empty())?;
    Ok((pid, listener(calls)?))
}

fn become_bot(
    request: &SpawnRequest,
    mut command: Command,
    scratch: &Path,
    entry: &Entry,
    supervisor: &UnixStream,
) -> io::Result<Infallible> {
    chdir(request.directory.as_deref().unwrap_or(scratch))?;
    if let Backend::Landlock { read, own_view, .. } = &request.backend {
        landlock::restrict_self(landlock::ruleset(read, scratch, *own_view)?)?;
    }
    start::restrict_self(request.restrictions, supervisor)?;
    entry.check()?;
    Err(command.exec())
}

fn spawn_in_bubblewrap(
    request: &SpawnRequest,
    input: OwnedFd,
    (program, arguments): (&Path, &[String]),
    entry: Entry,
) -> io::Result<(Pid, OwnedFd)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_read_timeout(Some(BUILDING))?;
    // Numbers up to this one are those of passed descriptors.
    let input = fcntl_dupfd_cloexec(input, REFEREE_FD + 1)?;
    let mut command = kept_box::bubblewrap(program, arguments, INSIDE);
    command
        .arg(serde_json::to_string(&request.restrictions)?)
        .args(&request.argv);
    prepare(&mut command, request, Path::new(SCRATCH), input);
    let pid = entry.start(|_, _| {
        kept_box::pass(&theirs)?;
        Err(command.exec())
    })?;
    drop(command);
    drop(theirs);
    let (report, calls) = message::receive(&ours, |_| false)?;
    // A mark was sent with the descriptor.
    match report.strip_prefix(b".").unwrap_or(&report).split_first() {
        Some((&PREPARED, [])) => Ok((pid, listener(calls)?)),
        Some((&PREPARED, cause)) => Err(io::Error::other(
            String::from_utf8_lossy(cause).into_owned(),
        )),
        _ => Err(io::Error::other(NOT_BUILT)),
    }
}

fn listener(received: Vec<OwnedFd>) -> io::Result<OwnedFd> {
    let none = || io::Error::other("seccomp gave no descriptor to listen at");
    received.into_iter().next().ok_or_else(none)
}

pub(super) fn inside(mut arguments: impl Iterator<Item = String>) -> io::Result<()> {
    let mut supervisor = UnixStream::from(sys::take(STATUS_FD)?);
    let restrictions = arguments.next().unwrap_or_default();
    let restrictions: Restrictions = serde_json::from_str(&restrictions)?;
    let done = start::restrict_self(restrictions, &supervisor)
        .and_then(|()| supervisor.write_all(&[PREPARED]));
    let error = match (done, arguments.next()) {
        (Ok(()), Some(name)) => Command::new(name).args(arguments).exec(),
        (Ok(()), None) => io::Error::other("an empty command"),
        (Err(error), _) => {
            supervisor.write_all(&[PREPARED])?;
            error
        }
    };
    supervisor.write_all(error.to_string().as_bytes())?;
    Err(error)
}
