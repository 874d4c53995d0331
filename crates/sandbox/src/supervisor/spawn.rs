//! Starts a bot inside its sandbox.

use std::env;
use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Pid, chdir};
use seccompiler::BpfProgram;
use tempfile::TempDir;

use super::fork_server::COMMAND;
use super::kept_box::KeptBox;
use super::message::{BUILDING, INSIDE, REFEREE_FD, Restrictions, STATUS_FD, SpawnRequest};
use super::removal::Remover;
use super::start::{Counted, Entry};
use super::supervise::Scratch;
use super::{kept_box, message, own_view, start, sys};
use crate::backend::bubblewrap::SCRATCH;
use crate::backend::{Backend, landlock};
use crate::cgroup::Groups;
use crate::closed::ClosedDirectory;
use crate::seccomp;
use crate::session;

/// The most bytes of a report from inside bubblewrap.
const MAX_REPORT: usize = 1 << 20;

/// Sent from inside bubblewrap when everything is prepared.
const PREPARED: u8 = b'+';

pub(super) struct RunningBot {
    /// Its process, or bubblewrap's above it; leads a group and a session.
    pub(super) pid: Pid,
    pub(super) scratch: Scratch,
    /// Helper processes between the supervisor and the bot.
    pub(super) helpers: usize,
    /// The scratch directory and what belongs to it, removed at the end.
    pub(super) directories: Vec<TempDir>,
    /// Removes files in it for a bot that may not.
    pub(super) remover: Option<Remover>,
    /// Removed at the end.
    pub(super) groups: Groups,
    /// Readable when the bot tries the network, or asks to remove a file; the kernel waits for an
    /// answer.
    pub(super) calls: OwnedFd,
}

/// Starts a bot that reads from `input`, in these groups, in the kept box that `spaces` lead to if
/// any. Its standard output and error are this process's.
pub(super) fn spawn(
    request: &SpawnRequest,
    input: OwnedFd,
    spaces: Vec<OwnedFd>,
    filter: &BpfProgram,
    groups: Groups,
) -> io::Result<RunningBot> {
    let entry = Entry::new(&groups)?;
    match &request.backend {
        Backend::Landlock {
            read,
            scratch,
            own_view,
            closed,
        } => {
            let view = own_view.then_some(&closed[..]);
            let landlock = (&read[..], scratch.as_path(), view);
            spawn_in_landlock(request, input, landlock, filter, entry, groups)
        }
        Backend::Bwrap {
            program,
            arguments,
            kept: Some(shown),
        } => {
            let kept = KeptBox::of(spaces, program, arguments)?;
            spawn_in_kept_box(request, input, (&kept, shown), filter, entry, groups)
        }
        Backend::Bwrap {
            program, arguments, ..
        } => spawn_in_bubblewrap(request, input, (program, arguments), entry, groups),
    }
}

fn spawn_in_landlock(
    request: &SpawnRequest,
    input: OwnedFd,
    (read, scratch, view): (&[PathBuf], &Path, Option<&[ClosedDirectory]>),
    filter: &BpfProgram,
    entry: Entry,
    groups: Groups,
) -> io::Result<RunningBot> {
    let own_view = view.is_some();
    let mut directories = Vec::new();
    let mut remover = None;
    // A view mounts its scratch directory over a place common to all views: making and removing a
    // directory on a disk takes a sixth of the start.
    let mut directory = scratch.to_owned();
    if !own_view {
        let own = private_directory("scratch-", scratch)?;
        if let Some(user) = request.user {
            chown(own.path(), Some(user), Some(user))?;
        }
        let place = private_directory("removed-", scratch)?;
        remover = Some(Remover::new(own.path(), place.path())?);
        own.path().clone_into(&mut directory);
        directories.extend([own, place]);
    }
    let (ours, theirs) = UnixStream::pair()?;
    let restrictions = request.restrictions();
    let [name, arguments @ ..] = &request.argv[..] else {
        return Err(io::Error::other("an empty command"));
    };
    let itself = env::current_exe()?;
    let mut command = if itself == Path::new(name) {
        // The install directory may be closed to another user.
        let mut command = Command::new("/proc/self/exe");
        command.arg0(name);
        command
    } else {
        Command::new(name)
    };
    command.args(arguments);
    prepare_command(&mut command, request, &directory, input);
    let start = request.directory.as_deref().unwrap_or(&directory);
    if own_view {
        own_view::prepare(request.user.is_some())?;
    }
    let pid = entry.start(|entry, report| {
        if let Some(closed) = view {
            let Restrictions { limits, user, .. } = &restrictions;
            own_view::make(&directory, limits, *user, closed)?;
        } else {
            session::note(scratch)?;
        }
        let counted = match restrictions.user {
            Some(_) => Counted::WithItsGames,
            None if own_view => Counted::Alone,
            None => Counted::WithOthers,
        };
        let mut become_it = || {
            chdir(start)?;
            landlock::restrict_self(landlock::ruleset(read, &directory, own_view)?)?;
            start::restrict_self(restrictions, filter, counted, &theirs)?;
            entry.check()?;
            Err(command.exec())
        };
        if own_view {
            own_view::run_below(report, become_it)
        } else {
            become_it()
        }
    })?;
    drop(command);
    // If it was killed by then, nothing was sent.
    drop(theirs);
    let (_, calls) = message::receive(&ours, 1, |bytes| !bytes.is_empty())?;
    Ok(RunningBot {
        pid,
        scratch: if own_view {
            Scratch::Bounded
        } else {
            let paths = directories
                .iter()
                .map(|directory| directory.path().to_owned());
            Scratch::Directories(paths.collect())
        },
        helpers: request.backend.helpers(),
        directories,
        remover,
        groups,
        calls: listener(calls)?,
    })
}

/// A directory that only its owner reaches.
fn private_directory(prefix: &str, place: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new()
        .prefix(prefix)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(place)
}

/// Sets the bot's environment, scratch directory and input.
fn prepare_command(command: &mut Command, request: &SpawnRequest, scratch: &Path, input: OwnedFd) {
    let environment = request.environment.iter();
    command
        .env_clear()
        .envs(environment.map(|(name, value)| (name, value)))
        .envs(["HOME", "TMPDIR"].map(|name| (name, scratch)))
        .stdin(Stdio::from(input));
}

fn spawn_in_kept_box(
    request: &SpawnRequest,
    input: OwnedFd,
    (kept, shown): (&KeptBox, &[PathBuf]),
    filter: &BpfProgram,
    entry: Entry,
    groups: Groups,
) -> io::Result<RunningBot> {
    let (ours, theirs) = UnixStream::pair()?;
    let restrictions = request.restrictions();
    let [name, arguments @ ..] = &request.argv[..] else {
        return Err(io::Error::other("an empty command"));
    };
    let mut command = Command::new(name);
    command.args(arguments);
    prepare_command(&mut command, request, Path::new(SCRATCH), input);
    let scratch = Path::new(SCRATCH);
    let start = request.directory.as_deref().unwrap_or(scratch);
    let pid = entry.start(|entry, report| {
        kept_box::enter(kept, restrictions.user.is_some())?;
        report.continue_instead()?;
        entry.lead()?;
        kept_box::renew_scratch(scratch, shown, &restrictions.limits, restrictions.user)?;
        own_view::mount_processes()?;
        let counted = match restrictions.user {
            Some(_) => Counted::WithItsGames,
            None => Counted::Alone,
        };
        own_view::run_below(report, || {
            chdir(start)?;
            start::restrict_self(restrictions, filter, counted, &theirs)?;
            entry.check()?;
            Err(command.exec())
        })
    })?;
    drop(command);
    // If it was killed by then, nothing was sent.
    drop(theirs);
    let (_, calls) = message::receive(&ours, 1, |bytes| !bytes.is_empty())?;
    running_inside(request, pid, groups, calls)
}

fn spawn_in_bubblewrap(
    request: &SpawnRequest,
    input: OwnedFd,
    (program, arguments): (&Path, &[String]),
    entry: Entry,
    groups: Groups,
) -> io::Result<RunningBot> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_read_timeout(Some(BUILDING))?;
    // This program is started inside by a descriptor: the bot has no path to it, and exec closes
    // the descriptor.
    let referee = rustix::fs::open(
        "/proc/self/exe",
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let restrictions = request.restrictions();
    let mut command = Command::new(program);
    command
        .args(arguments)
        .arg("--")
        .args([&format!("/proc/self/fd/{REFEREE_FD}"), COMMAND, INSIDE])
        .arg(serde_json::to_string(&restrictions)?)
        .args(&request.argv);
    // Numbers up to this one are those of passed descriptors.
    let input = fcntl_dupfd_cloexec(input, REFEREE_FD + 1)?;
    prepare_command(&mut command, request, Path::new(SCRATCH), input);
    let pid = entry.start(|_, _| {
        sys::close_on_exec_from(3)?;
        sys::pass_as([(theirs.as_fd(), STATUS_FD), (referee.as_fd(), REFEREE_FD)])?;
        Err(command.exec())
    })?;
    drop(command);
    drop(theirs);
    let (report, calls) = message::receive(&ours, MAX_REPORT, |_| false)?;
    // A mark was sent with the descriptor.
    match report.strip_prefix(b".").unwrap_or(&report).split_first() {
        Some((&PREPARED, [])) => running_inside(request, pid, groups, calls),
        Some((&PREPARED, cause)) => Err(io::Error::other(
            String::from_utf8_lossy(cause).into_owned(),
        )),
        _ => Err(io::Error::other("bubblewrap could not build the sandbox")),
    }
}

/// A bot in a bubblewrap box, with the scratch directory inside.
fn running_inside(
    request: &SpawnRequest,
    pid: Pid,
    groups: Groups,
    calls: Vec<OwnedFd>,
) -> io::Result<RunningBot> {
    Ok(RunningBot {
        pid,
        scratch: Scratch::Inside,
        helpers: request.backend.helpers(),
        directories: Vec::new(),
        remover: None,
        groups,
        calls: listener(calls)?,
    })
}

fn listener(received: Vec<OwnedFd>) -> io::Result<OwnedFd> {
    let none = || io::Error::other("seccomp gave no descriptor to listen at");
    received.into_iter().next().ok_or_else(none)
}

/// Becomes the bot, inside bubblewrap.
pub(super) fn inside(mut arguments: impl Iterator<Item = String>) -> io::Result<()> {
    let mut supervisor = UnixStream::from(sys::take(STATUS_FD)?);
    let restrictions = arguments.next().unwrap_or_default();
    let restrictions: Restrictions = serde_json::from_str(&restrictions)?;
    let counted = match restrictions.user {
        Some(_) => Counted::WithItsGames,
        None => Counted::Alone,
    };
    let done = seccomp::filter(restrictions.situation)
        .and_then(|filter| start::restrict_self(restrictions, &filter, counted, &supervisor))
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
