//! The fork server: a process that forks for every supervisor the referee needs.
//!
//! Loading the referee's program takes as long as most of a supervisor's work. It is loaded once,
//! and has prepared what all bots share: the compiled filters, and control groups ready for reuse.
//! Supervisors are children of the referee.
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
use seccompiler::BpfProgram;
use serde::{Deserialize, Serialize};

use super::{message, sys};
use crate::cgroup::{Allowance, Groups, ParentGroups};
use crate::limits::games_at_once;
use crate::seccomp::{self, Situation};

/// The first argument of the program when it is to be the fork server, or another part of a
/// supervisor.
pub const COMMAND: &str = "supervisor";

/// How long it may take to answer: it forks, and sometimes removes control groups.
const ANSWERING: Duration = Duration::from_secs(10);

/// How long it may take to exit.
const ENDING: Timespec = Timespec {
    tv_sec: 5,
    tv_nsec: 0,
};

/// The most bytes of an order or an answer.
const MAX_LINE: usize = 1 << 16;

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

/// What a supervisor needs. Three descriptors are sent along: the socket to the referee, standard
/// output and standard error.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) situation: Situation,
    pub(super) groups: ParentGroups,
    pub(super) allowance: Allowance,
}

#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    /// The supervisor's process id.
    Started(i32),
    /// The cause for people, and the system's error number.
    Failed(String, Option<i32>),
}

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

    /// Starts a supervisor: a child of this process, which the caller waits for.
    /// [`io::ErrorKind::ConnectionAborted`] means that the server died meanwhile.
    pub(super) fn fork(&self, order: &Order, descriptors: &[BorrowedFd<'_>; 3]) -> io::Result<Pid> {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        let send = |server: &Server| message::send_descriptors(&server.socket, &line, descriptors);
        // A killed server is replaced.
        if server.as_ref().is_none_or(|running| send(running).is_err()) {
            *server = None;
            send(server.insert(Server::start(&self.referee)?))?;
        }
        let answer = server.as_ref().map(Server::answer).transpose();
        match answer.ok().flatten() {
            Some(Answer::Started(pid)) if let Some(pid) = Pid::from_raw(pid) => Ok(pid),
            Some(Answer::Failed(_, Some(number))) => Err(io::Error::from_raw_os_error(number)),
            Some(Answer::Failed(cause, None)) => Err(io::Error::other(cause)),
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
pub(super) struct Prepared {
    /// The socket to the referee.
    pub(super) control: UnixStream,
    pub(super) filters: BpfProgram,
    pub(super) groups: Groups,
}

/// What the server keeps between supervisors.
#[derive(Default)]
struct Stock {
    filters: Vec<(Situation, BpfProgram)>,
    slots: Vec<Slot>,
}

/// Control groups and their current user.
struct Slot {
    parents: ParentGroups,
    allowance: Allowance,
    groups: Groups,
    user: Option<OwnedFd>,
}

impl Slot {
    /// Whether the supervisor that used them has exited.
    fn is_free(&self) -> bool {
        self.user.as_ref().is_none_or(|user| {
            let mut end = [PollFd::new(user, PollFlags::IN)];
            matches!(poll(&mut end, Some(&Timespec::default())), Ok(1..))
        })
    }
}

impl Stock {
    /// The indices of the filters and of the groups for a supervisor.
    fn prepare(&mut self, order: &Order) -> io::Result<(usize, usize)> {
        let known = |(situation, _): &(Situation, BpfProgram)| *situation == order.situation;
        let filters = if let Some(at) = self.filters.iter().position(known) {
            at
        } else {
            let filters = seccomp::filter(order.situation)?;
            self.filters.push((order.situation, filters));
            self.filters.len() - 1
        };
        // Groups with a bound met, or with processes left, are not reused.
        self.slots.retain(|slot| {
            let stays = !slot.is_free() || slot.groups.renew().is_ok_and(|renewed| renewed);
            if !stays {
                slot.groups.kill();
            }
            stays
        });
        let fits = |slot: &Slot| {
            slot.parents == order.groups && slot.allowance == order.allowance && slot.is_free()
        };
        if let Some(at) = self.slots.iter().position(fits) {
            return Ok((filters, at));
        }
        let groups = Groups::new(&order.groups, order.allowance)
            .map_err(|error| io::Error::other(format!("{NO_GROUP}: {error}")))?;
        self.slots.push(Slot {
            parents: order.groups.clone(),
            allowance: order.allowance,
            groups,
            user: None,
        });
        Ok((filters, self.slots.len() - 1))
    }
}

/// Serves until the referee is gone: then `None`. Returns in every forked supervisor, which leads a
/// process group and has the bot's standard output and error.
pub(super) fn serve() -> io::Result<Option<Prepared>> {
    let referee = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    let mut stock = Stock::default();
    // Cached before forking.
    games_at_once();
    loop {
        let (line, descriptors) = message::receive(&referee, MAX_LINE, is_whole)?;
        if !is_whole(&line) {
            // The referee is gone. Supervisors that still run kill their bots too.
            stock.slots.iter().for_each(|slot| slot.groups.kill());
            return Ok(None);
        }
        let doubled = serde_json::from_slice(&line)
            .map_err(io::Error::from)
            .and_then(|order| stock.prepare(&order))
            .and_then(|(filters, slot)| Ok((filters, slot, sys::fork_beside()?)));
        let answer = match doubled {
            Ok((filters, slot, None)) => {
                drop(referee);
                let filters = stock.filters.swap_remove(filters).1;
                let groups = stock.slots.swap_remove(slot).groups;
                return become_supervisor(descriptors, filters, groups).map(Some);
            }
            Ok((_, slot, Some(pid))) => {
                stock.slots[slot].user = Some(pidfd_open(pid, PidfdFlags::empty())?);
                Answer::Started(pid.as_raw_pid())
            }
            Err(error) => Answer::Failed(error.to_string(), error.raw_os_error()),
        };
        let mut line = serde_json::to_vec(&answer)?;
        line.push(b'\n');
        (&referee).write_all(&line)?;
    }
}

/// Runs in the forked child.
fn become_supervisor(
    descriptors: Vec<OwnedFd>,
    filters: BpfProgram,
    groups: Groups,
) -> io::Result<Prepared> {
    setpgid(None, None)?;
    let Ok([control, output, errors]) = <[OwnedFd; 3]>::try_from(descriptors) else {
        return Err(io::Error::other("an order without its descriptors"));
    };
    rustix::stdio::dup2_stdout(&output)?;
    rustix::stdio::dup2_stderr(&errors)?;
    Ok(Prepared {
        control: UnixStream::from(control),
        filters,
        groups,
    })
}
