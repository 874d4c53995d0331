//! Starts a bot inside its sandbox.

use std::convert::Infallible;
use std::env;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Pid, chdir};

use super::kept_box::{KeptBox, NOT_BUILT};
use super::message::{BUILDING, INSIDE, REFEREE_FD, STATUS_FD, SupervisorFailure};
use super::mounts::mount_processes;
use super::scratch::ScratchDirectory;
use super::start::{ProcessEntry, StartReport};
use super::watched_scratch::WatchedScratch;
use super::{kept_box, message, private_view, start, sys};
use crate::backend::bubblewrap::SCRATCH;
use crate::backend::{SandboxBackend, landlock};
use crate::cgroup::BotGroups;
use crate::closed::ClosedDirectory;
use crate::session;
use crate::spawn_request::{BotRestrictions, SpawnRequest};

/// Sent from inside bubblewrap when everything is prepared.
const PREPARED: u8 = b'+';

pub(super) struct RunningBot {
    /// Its process, or bubblewrap's above it; leads a group and a session.
    pub(super) pid: Pid,
    pub(super) scratch: ScratchDirectory,
    pub(super) groups: BotGroups,
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
    groups: BotGroups,
) -> io::Result<RunningBot> {
    let entry = ProcessEntry::new(&groups)?;
    let mut built = None;
    let started = match &request.backend {
        SandboxBackend::Landlock {
            scratch,
            private_view: true,
            closed,
            ..
        } => spawn_in_private_view(request, input, entry, scratch, closed)?,
        SandboxBackend::Landlock { scratch, .. } => {
            spawn_in_shared_view(request, input, entry, scratch)?
        }
        SandboxBackend::Bwrap {
            program,
            arguments,
            kept: Some(visible),
        } => {
            let kept = match kept {
                Some(kept) => kept,
                None => &*built.insert(KeptBox::build(program, arguments)?),
            };
            spawn_in_kept_box(request, input, entry, kept, visible)?
        }
        SandboxBackend::Bwrap {
            program, arguments, ..
        } => spawn_in_bubblewrap(request, input, (program, arguments), entry)?,
    };
    Ok(RunningBot {
        pid: started.pid,
        scratch: started.scratch,
        groups,
        built,
        calls: started.calls,
    })
}

/// `scratch`: a place common to all views. Making and removing a directory on a disk takes a sixth
/// of the start.
fn spawn_in_private_view(
    request: &SpawnRequest,
    input: OwnedFd,
    entry: ProcessEntry,
    scratch: &Path,
    closed: &[ClosedDirectory],
) -> io::Result<StartedProcess<ScratchDirectory>> {
    let BotRestrictions { limits, user, .. } = request.restrictions;
    let command = command(request, input, scratch)?;
    private_view::prepare(user.is_some())?;
    let started = start_process(entry, |entry, report, supervisor| {
        private_view::make(scratch, &limits, user, closed)?;
        private_view::run_below(report, || {
            become_bot(request, command, scratch, entry, supervisor)
        })
    })?;
    Ok(started.in_scratch(ScratchDirectory::Bounded))
}

/// `scratches`: where the scratch directories of all processes of the bot are.
fn spawn_in_shared_view(
    request: &SpawnRequest,
    input: OwnedFd,
    entry: ProcessEntry,
    scratches: &Path,
) -> io::Result<StartedProcess<ScratchDirectory>> {
    let scratch = WatchedScratch::new(scratches, request.restrictions.user)?;
    let command = command(request, input, scratch.path())?;
    let started = start_process(entry, |entry, _, supervisor| {
        session::note(scratches)?;
        become_bot(request, command, scratch.path(), entry, supervisor)
    })?;
    Ok(started.in_scratch(|_| ScratchDirectory::Watched(scratch)))
}

/// `visible`: what is to be seen within the scratch directory.
fn spawn_in_kept_box(
    request: &SpawnRequest,
    input: OwnedFd,
    entry: ProcessEntry,
    kept: &KeptBox,
    visible: &[PathBuf],
) -> io::Result<StartedProcess<ScratchDirectory>> {
    let BotRestrictions { limits, user, .. } = request.restrictions;
    let scratch = Path::new(SCRATCH);
    let command = command(request, input, scratch)?;
    let started = start_process(entry, |entry, report, supervisor| {
        kept_box::enter(kept, user.is_some())?;
        report.continue_instead()?;
        entry.lead()?;
        kept_box::renew_scratch(scratch, visible, &limits, user)?;
        mount_processes()?;
        private_view::run_below(report, || {
            become_bot(request, command, scratch, entry, supervisor)
        })
    })?;
    Ok(started.in_scratch(ScratchDirectory::Bounded))
}

fn command(request: &SpawnRequest, input: OwnedFd, scratch: &Path) -> io::Result<Command> {
    let [name, arguments @ ..] = &request.argv[..] else {
        return Err(io::Error::other("an empty command"));
    };
    let is_landlock = matches!(request.backend, SandboxBackend::Landlock { .. });
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

struct StartedProcess<S> {
    pid: Pid,
    /// What it asks of its supervisor.
    calls: OwnedFd,
    scratch: S,
}

impl StartedProcess<OwnedFd> {
    fn in_scratch(
        self,
        scratch: impl FnOnce(OwnedFd) -> ScratchDirectory,
    ) -> StartedProcess<ScratchDirectory> {
        StartedProcess {
            pid: self.pid,
            calls: self.calls,
            scratch: scratch(self.scratch),
        }
    }
}

/// Starts a process that does this; its last argument is a socket for [`start::restrict_self`].
fn start_process(
    entry: ProcessEntry,
    become_it: impl FnOnce(&ProcessEntry, &StartReport, &UnixStream) -> io::Result<Infallible>,
) -> io::Result<StartedProcess<OwnedFd>> {
    let (ours, theirs) = UnixStream::pair()?;
    let pid = entry.start(|entry, report| become_it(entry, report, &theirs))?;
    // If it was killed by then, nothing was sent.
    drop(theirs);
    let (_, received) = message::receive(&ours, |bytes| !bytes.is_empty())?;
    started(pid, received)
}

fn become_bot(
    request: &SpawnRequest,
    mut command: Command,
    scratch: &Path,
    entry: &ProcessEntry,
    supervisor: &UnixStream,
) -> io::Result<Infallible> {
    chdir(request.directory.as_deref().unwrap_or(scratch))?;
    if let SandboxBackend::Landlock {
        read, private_view, ..
    } = &request.backend
    {
        landlock::restrict_self(landlock::ruleset(read, scratch, *private_view)?)?;
    }
    start::restrict_self(request.restrictions, scratch, supervisor)?;
    entry.check()?;
    Err(command.exec())
}

fn spawn_in_bubblewrap(
    request: &SpawnRequest,
    input: OwnedFd,
    (program, arguments): (&Path, &[String]),
    entry: ProcessEntry,
) -> io::Result<StartedProcess<ScratchDirectory>> {
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
    let (report, received) = message::receive(&ours, |_| false)?;
    // A mark was sent with the descriptor.
    match report.strip_prefix(b".").unwrap_or(&report).split_first() {
        Some((&PREPARED, [])) => {
            let started = started(pid, received)?;
            Ok(started.in_scratch(ScratchDirectory::Counted))
        }
        Some((&PREPARED, failure)) => {
            let failure: SupervisorFailure = serde_json::from_slice(failure)?;
            Err(failure.into())
        }
        _ => Err(io::Error::other(NOT_BUILT)),
    }
}

/// From what [`start::restrict_self`] has sent.
fn started(pid: Pid, received: Vec<OwnedFd>) -> io::Result<StartedProcess<OwnedFd>> {
    let [calls, scratch] = <[OwnedFd; 2]>::try_from(received)
        .map_err(|_| io::Error::other("the descriptors of a new process are missing"))?;
    Ok(StartedProcess {
        pid,
        calls,
        scratch,
    })
}

pub(super) fn inside(mut arguments: impl Iterator<Item = String>) -> io::Result<()> {
    let mut supervisor = UnixStream::from(sys::take(STATUS_FD)?);
    let restrictions = arguments.next().unwrap_or_default();
    let restrictions: BotRestrictions = serde_json::from_str(&restrictions)?;
    let done = start::restrict_self(restrictions, Path::new(SCRATCH), &supervisor)
        .and_then(|()| supervisor.write_all(&[PREPARED]));
    let error = match (done, arguments.next()) {
        (Ok(()), Some(name)) => Command::new(name).args(arguments).exec(),
        (Ok(()), None) => io::Error::other("an empty command"),
        (Err(error), _) => {
            supervisor.write_all(&[PREPARED])?;
            error
        }
    };
    serde_json::to_writer(&supervisor, &SupervisorFailure::from(&error))?;
    Err(error)
}
