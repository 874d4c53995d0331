//! The fork server: a process that forks for every supervisor the referee needs.
//!
//! Loading the referee's program takes as long as most of a supervisor's work. It is loaded once,
//! and holds what a bot's processes use one after the other: their box. Supervisors are children of
//! the referee.
//!
//! It serves until the referee's end of its socket closes, and then removes the control groups.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open, setpgid};

use super::kept_box::BoxSlot;
use super::message::SpawnRequest;
use super::{message, sys};
use crate::backend::Backend;
use crate::cgroup::Groups;
use crate::limits::games_at_once;

/// The first argument of the program when it is to be the fork server, or another part of a
/// supervisor.
pub const COMMAND: &str = "supervisor";

/// How long it may take to answer: it forks, and makes and removes control groups.
const ANSWERING: Duration = Duration::from_secs(10);

/// How long it may take to exit.
const ENDING: Timespec = Timespec {
    tv_sec: 5,
    tv_nsec: 0,
};

/// The most bytes of a request or an answer.
const MAX_LINE: usize = 1 << 20;

/// The most boxes of bubblewrap kept without a process in them, four descriptors each.
const MOST_BOXES: usize = 48;

/// How an error about control groups starts.
pub const NO_GROUP: &str = "no control group can be made";

/// Running fork servers.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Whether a child of this process is a fork server, which belongs to no bot.
pub fn is_fork_server(pid: Pid) -> bool {
    running().contains(&pid)
}

fn running() -> MutexGuard<'static, Vec<Pid>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The supervisor's process id; or the cause for people, and the system's error number.
type Answer = Result<i32, (String, Option<i32>)>;

/// The referee's side: started on first use, stopped when dropped.
#[derive(Debug)]
pub struct ForkServer {
    referee: PathBuf,
    server: Mutex<Option<Server>>,
}

#[derive(Debug)]
struct Server {
    child: Child,
    pid: Pid,
    socket: UnixStream,
}

impl ForkServer {
    /// Starts nothing yet.
    pub const fn new(referee: PathBuf) -> Self {
        Self {
            referee,
            server: Mutex::new(None),
        }
    }

    /// Starts a supervisor: a child of this process, which the caller waits for. The descriptors are
    /// its socket to the caller and the bot's standard streams. [`io::ErrorKind::ConnectionAborted`]
    /// means that the server died meanwhile.
    pub(super) fn fork(
        &self,
        request: &SpawnRequest,
        descriptors: &[BorrowedFd<'_>; 4],
    ) -> io::Result<Pid> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        if line.len() > MAX_LINE {
            return Err(io::Error::new(
                io::ErrorKind::ArgumentListTooLong,
                "the command, its environment and the exposed paths are too long together",
            ));
        }
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        let send = |server: &Server| message::send_descriptors(&server.socket, &line, descriptors);
        // A killed server is replaced.
        if server.as_ref().is_none_or(|running| send(running).is_err()) {
            *server = None;
            send(server.insert(Server::start(&self.referee)?))?;
        }
        let answer = server.as_ref().map(Server::answer).transpose();
        match answer.ok().flatten() {
            Some(Ok(pid)) if let Some(pid) = Pid::from_raw(pid) => Ok(pid),
            Some(Err((_, Some(number)))) => Err(io::Error::from_raw_os_error(number)),
            Some(Err((cause, None))) => Err(io::Error::other(cause)),
            _ => {
                *server = None;
                let cause = "the process that starts supervisors has ended";
                Err(io::Error::new(io::ErrorKind::ConnectionAborted, cause))
            }
        }
    }
}

impl Server {
    fn start(referee: &Path) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        socket.set_read_timeout(Some(ANSWERING))?;
        socket.set_write_timeout(Some(ANSWERING))?;
        let child = Command::new(referee)
            .arg(COMMAND)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C is for the referee, which then stops its supervisors.
            .process_group(0)
            .spawn()?;
        let pid = Pid::from_child(&child);
        running().push(pid);
        Ok(Self { child, pid, socket })
    }

    fn answer(&self) -> io::Result<Answer> {
        let (line, _) = message::receive(&self.socket, MAX_LINE, is_whole)?;
        Ok(serde_json::from_slice(&line)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        if let Ok(end) = pidfd_open(self.pid, PidfdFlags::empty()) {
            let _ = poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&ENDING));
        }
        // Exited by now, unless it hangs.
        let _ = self.child.kill();
        let _ = self.child.wait();
        running().retain(|&pid| pid != self.pid);
    }
}

fn is_whole(line: &[u8]) -> bool {
    line.last() == Some(&b'\n')
}

/// What a forked supervisor finds ready.
pub(super) struct Job {
    pub(super) request: SpawnRequest,
    /// The socket to the referee.
    pub(super) control: UnixStream,
    /// The bot's standard input.
    pub(super) input: OwnedFd,
    pub(super) groups: Groups,
    pub(super) slot: Option<BoxSlot>,
}

/// What a supervisor uses that outlives it.
#[derive(Default)]
struct Slot {
    groups: Groups,
    /// With the arguments of bubblewrap that built the box.
    kept: Option<(Vec<String>, BoxSlot)>,
    user: Option<OwnedFd>,
}

impl Slot {
    /// Whether the supervisor that used it has exited.
    fn is_free(&self) -> bool {
        self.user.as_ref().is_none_or(|user| {
            let mut end = [PollFd::new(user, PollFlags::IN)];
            matches!(poll(&mut end, Some(&Timespec::default())), Ok(1..))
        })
    }
}

/// Makes a slot for a supervisor the last one. Those that were used last are the last ones.
fn prepare(slots: &mut Vec<Slot>, request: &SpawnRequest) -> io::Result<()> {
    slots.retain_mut(|slot| {
        if !slot.is_free() {
            return true;
        }
        slot.user = None;
        // Whatever is left in them belongs to no supervisor any more.
        std::mem::take(&mut slot.groups).kill();
        slot.kept.is_some()
    });
    let kept = match &request.backend {
        Backend::Bwrap {
            arguments,
            kept: Some(_),
            ..
        } => Some(arguments),
        _ => None,
    };
    let is_same = |slot: &Slot| {
        let built = slot.kept.as_ref().map(|(built, _)| built);
        built.is_some() && built == kept && slot.is_free()
    };
    let mut slot = match slots.iter().position(is_same) {
        Some(at) => slots.remove(at),
        None => Slot::default(),
    };
    let free = slots.iter().filter(|slot| slot.is_free());
    if free.count() >= MOST_BOXES
        && let Some(at) = slots.iter().position(Slot::is_free)
    {
        slots.remove(at);
    }
    if let (None, Some(arguments)) = (&slot.kept, kept) {
        slot.kept = Some((arguments.clone(), BoxSlot::new()?));
    }
    slot.groups = Groups::new(&request.groups, request.allowance)
        .map_err(|error| io::Error::other(format!("{NO_GROUP}: {error}")))?;
    slots.push(slot);
    Ok(())
}

/// Serves until the referee is gone: then `None`. Returns in every forked supervisor, which leads a
/// process group and has the bot's standard output and error.
pub(super) fn serve() -> io::Result<Option<Job>> {
    let referee = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    let mut slots: Vec<Slot> = Vec::new();
    // Cached before forking.
    games_at_once();
    loop {
        let (line, descriptors) = message::receive(&referee, MAX_LINE, is_whole)?;
        if !is_whole(&line) {
            // The referee is gone. Supervisors that still run kill their bots too.
            for slot in &slots {
                slot.groups.kill();
            }
            return Ok(None);
        }
        let doubled = serde_json::from_slice(&line)
            .map_err(io::Error::from)
            .and_then(|request| prepare(&mut slots, &request).map(|()| request))
            .and_then(|request| Ok((request, sys::fork_beside()?)));
        let answer: Answer = match doubled {
            Ok((request, None)) => {
                drop(referee);
                let slot = slots.pop().unwrap_or_default();
                return become_supervisor(slot, request, descriptors).map(Some);
            }
            Ok((_, Some(pid))) => {
                if let Some(slot) = slots.last_mut() {
                    slot.user = Some(pidfd_open(pid, PidfdFlags::empty())?);
                }
                Ok(pid.as_raw_pid())
            }
            Err(error) => Err((error.to_string(), error.raw_os_error())),
        };
        let mut line = serde_json::to_vec(&answer)?;
        line.push(b'\n');
        (&referee).write_all(&line)?;
    }
}

/// Runs in the forked child.
fn become_supervisor(
    slot: Slot,
    request: SpawnRequest,
    descriptors: Vec<OwnedFd>,
) -> io::Result<Job> {
    setpgid(None, None)?;
    let Ok([control, input, output, errors]) = <[OwnedFd; 4]>::try_from(descriptors) else {
        return Err(io::Error::other("a request without its descriptors"));
    };
    rustix::stdio::dup2_stdout(&output)?;
    rustix::stdio::dup2_stderr(&errors)?;
    Ok(Job {
        request,
        control: UnixStream::from(control),
        input,
        groups: slot.groups,
        slot: slot.kept.map(|(_, slot)| slot),
    })
}
