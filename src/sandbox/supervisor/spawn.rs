//! Starting a bot inside its sandbox.

use std::env;
use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd, RawFd};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{
    Pid, PidfdFlags, Signal, chdir, getpid, pidfd_open, set_parent_process_death_signal, setsid,
};
use tempfile::TempDir;

use super::message::{COMMAND, INSIDE, Restrictions, SpawnRequest};
use super::removal::Remover;
use super::restrictions::Counted;
use super::watch::Scratch;
use super::{own_view, restrictions, sys, wire};
use crate::sandbox::backend::{Backend, landlock};
use crate::sandbox::cgroup::Groups;
use crate::sandbox::seccomp;
use crate::sandbox::session;

/// The program inside bubblewrap reports no more than this, in bytes.
const MAX_REPORT: usize = 1 << 20;

/// Sent by the program inside bubblewrap when all is prepared.
const PREPARED: u8 = b'+';

/// The descriptor of the program inside bubblewrap that leads to the supervisor.
const STATUS_FD: RawFd = 3;

/// The descriptor by which bubblewrap starts that program.
const REFEREE_FD: RawFd = 4;

/// How long bubblewrap may take to build a sandbox.
const BUILDING: Duration = Duration::from_secs(10);

/// A bot that runs.
pub(super) struct RunningBot {
    /// Its process, or bubblewrap's above it; leads a group and a session.
    pub(super) pid: Pid,
    pub(super) scratch: Scratch,
    /// Processes between the supervisor and the bot.
    pub(super) helpers: usize,
    /// The scratch directory and what belongs to it, to be removed at the end.
    pub(super) directories: Vec<TempDir>,
    /// Removes files in it, when the bot itself cannot.
    pub(super) remover: Option<Remover>,
    /// Its control groups; removed at the end, too.
    pub(super) groups: Groups,
    /// Becomes readable when the bot tries the network, or asks to remove a file; the kernel waits for an
    /// answer.
    pub(super) calls: OwnedFd,
}

/// Starts a bot that reads from `input`. Its standard output and error are this process's.
pub(super) fn spawn(request: &SpawnRequest, input: OwnedFd) -> io::Result<RunningBot> {
    let groups = Groups::new(&request.groups, request.allowance)
        .map_err(|error| io::Error::other(format!("no control group can be made: {error}")))?;
    let entry = Entry {
        supervisor: pidfd_open(getpid(), PidfdFlags::empty())?,
        procs_files: groups.procs_files()?,
    };
    match &request.backend {
        Backend::Landlock {
            read,
            scratch,
            own_view,
        } => spawn_in_landlock(request, input, read, scratch, *own_view, entry, groups),
        Backend::Bwrap { program, arguments } => {
            spawn_in_bubblewrap(request, input, (program, arguments), entry, groups)
        }
    }
}

/// What a new process does first when it is to become the bot.
struct Entry {
    supervisor: OwnedFd,
    /// Of its control groups.
    procs_files: Vec<File>,
}

impl Entry {
    /// A session and group of its own, without a terminal; an end with its supervisor's; and
    /// the control groups.
    fn enter(&mut self) -> io::Result<()> {
        setsid()?;
        set_parent_process_death_signal(Some(Signal::KILL))?;
        self.check()?;
        let mut files = self.procs_files.iter_mut();
        files.try_for_each(|file| file.write_all(b"0"))
    }

    /// An error when the supervisor has ended before this process was to end with it.
    fn check(&self) -> io::Result<()> {
        let mut end = [PollFd::new(&self.supervisor, PollFlags::IN)];
        match poll(&mut end, Some(&Timespec::default()))? {
            0 => Ok(()),
            _ => Err(io::Error::other("the supervisor has ended")),
        }
    }
}

fn spawn_in_landlock(
    request: &SpawnRequest,
    input: OwnedFd,
    read: &[PathBuf],
    scratch: &Path,
    own_view: bool,
    mut entry: Entry,
    groups: Groups,
) -> io::Result<RunningBot> {
    let directory = tempfile::Builder::new()
        .prefix("scratch-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(scratch)?;
    if let Some(user) = request.user {
        chown(directory.path(), Some(user), Some(user))?;
    }
    let mut directories = vec![directory];
    let mut remover = None;
    if !own_view {
        let place = tempfile::Builder::new()
            .prefix("removed-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(scratch)?;
        remover = Some(Remover::new(directories[0].path(), place.path())?);
        directories.push(place);
    }
    let directory = directories[0].path().to_owned();
    let filters = seccomp::filters(request.situation())?;
    let (ours, theirs) = UnixStream::pair()?;
    let restrictions = request.restrictions();
    let [name, arguments @ ..] = &request.argv[..] else {
        return Err(io::Error::other("an empty command"));
    };
    let itself = env::current_exe()?;
    let mut command = if itself == Path::new(name) {
        // Where it is installed may be closed to another user.
        let mut command = Command::new("/proc/self/exe");
        command.arg0(name);
        command
    } else {
        Command::new(name)
    };
    command
        .args(arguments)
        .env_clear()
        .envs(
            request
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .envs(["HOME", "TMPDIR"].map(|name| (name, directory.as_path())))
        .stdin(Stdio::from(input));
    let start = request.directory.as_deref().unwrap_or(&directory);
    let (start, own, scratches) = (start.to_owned(), directory.clone(), scratch.to_owned());
    let read = read.to_vec();
    if own_view {
        own_view::prepare(request.user.is_some())?;
    }
    sys::before_exec(&mut command, move || {
        entry.enter()?;
        if own_view {
            own_view::make(&own, &restrictions.limits, restrictions.user)?;
            own_view::continue_below()?;
        } else {
            session::note(&scratches)?;
        }
        chdir(&start)?;
        landlock::restrict_self(landlock::ruleset(&read, &own, own_view)?)?;
        let counted = match restrictions.user {
            Some(_) => Counted::WithItsGames,
            None if own_view => Counted::Alone,
            None => Counted::WithOthers,
        };
        restrictions::restrict_self(restrictions, &filters, counted, &theirs)?;
        entry.check()
    });
    let child = command.spawn()?;
    drop(command);
    let (_, calls) = wire::receive(&ours, 1, |bytes| !bytes.is_empty())?;
    Ok(RunningBot {
        pid: Pid::from_child(&child),
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
        calls: calls.ok_or_else(no_listener)?,
    })
}

fn spawn_in_bubblewrap(
    request: &SpawnRequest,
    input: OwnedFd,
    (program, arguments): (&Path, &[String]),
    mut entry: Entry,
    groups: Groups,
) -> io::Result<RunningBot> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_read_timeout(Some(BUILDING))?;
    // This program, which is started inside by a descriptor: the bot has no path to it, and the
    // descriptor is closed when the bot's own program is loaded.
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
        .args(&request.argv)
        .env_clear()
        .envs(
            request
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .envs([("HOME", "/tmp"), ("TMPDIR", "/tmp")])
        .stdin(Stdio::from(input));
    let status = theirs.try_clone()?;
    sys::before_exec(&mut command, move || {
        entry.enter()?;
        sys::close_on_exec_from(3)?;
        sys::pass_as([(status.as_fd(), STATUS_FD), (referee.as_fd(), REFEREE_FD)])
    });
    let child = command.spawn()?;
    drop(command);
    drop(theirs);
    let (report, calls) = wire::receive(&ours, MAX_REPORT, |_| false)?;
    // A mark was sent with the descriptor.
    match report.strip_prefix(b".").unwrap_or(&report).split_first() {
        Some((&PREPARED, [])) => Ok(RunningBot {
            pid: Pid::from_child(&child),
            scratch: Scratch::Inside,
            helpers: request.backend.helpers(),
            directories: Vec::new(),
            remover: None,
            groups,
            calls: calls.ok_or_else(no_listener)?,
        }),
        Some((&PREPARED, cause)) => Err(io::Error::other(
            String::from_utf8_lossy(cause).into_owned(),
        )),
        _ => Err(io::Error::other("bubblewrap could not build the sandbox")),
    }
}

fn no_listener() -> io::Error {
    io::Error::other("seccomp gave no descriptor to listen at")
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
    let done = seccomp::filters(restrictions.situation)
        .and_then(|filters| {
            restrictions::restrict_self(restrictions, &filters, counted, &supervisor)
        })
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
