//! A bubblewrap box that is kept for one bot: its mounts, and an empty network.
//!
//! Bubblewrap takes about ten milliseconds to build a box. No program ever runs in a kept one:
//! descriptors alone hold it. Every process of the bot inside gets anew whatever could hold state:
//! process ids, a view of files with an empty scratch directory, users, System V IPC, control
//! groups. Two processes are never in one box at the same time.
//!
//! A supervisor builds the first one and sends it to the referee, which keeps it when the bot has
//! exited and sends it with the next request.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::process::{getgid, getuid};
use rustix::thread::move_into_link_name_space;

use super::fork_server::COMMAND;
use super::message::{BUILD, BUILDING, HOLD, REFEREE_FD, STATUS_FD};
use super::own_view::Shown;
use super::{message, own_view, sys};
use crate::backend::Backend;
use crate::limits::ResourceLimits;

/// In the order in which a process enters them, with the rights that the first gives.
const SPACES: [&str; 4] = ["user", "mnt", "net", "uts"];

/// The most boxes kept, four descriptors each.
const MOST: usize = 48;

/// Boxes kept now.
static KEPT: AtomicUsize = AtomicUsize::new(0);

/// The namespaces of a box.
#[derive(Debug)]
pub(super) struct KeptBox(Vec<OwnedFd>);

/// The free boxes of one bot.
#[derive(Clone, Debug, Default)]
pub struct Boxes(Arc<Free>);

/// Boxes, each with the bubblewrap arguments that built it.
#[derive(Debug, Default)]
struct Free(Mutex<Vec<(Vec<String>, KeptBox)>>);

/// A box that a process is in.
#[derive(Debug)]
pub struct UsedBox {
    owner: Boxes,
    arguments: Vec<String>,
    state: State,
}

#[derive(Debug)]
enum State {
    Built(KeptBox),
    /// By the process's supervisor, which then sends the descriptors.
    BeingBuilt(UnixStream),
}

impl Boxes {
    /// A box for a process, if the backend keeps any; if none is free, a socket for its supervisor
    /// to send the one it builds.
    pub(super) fn take(
        &self,
        backend: &Backend,
    ) -> io::Result<(Option<UsedBox>, Option<UnixStream>)> {
        let Backend::Bwrap {
            arguments,
            kept: Some(_),
            ..
        } = backend
        else {
            return Ok((None, None));
        };
        let mut free = self.0.lock();
        let same = free.iter().position(|(built, _)| built == arguments);
        let found = same.map(|at| free.swap_remove(at).1);
        drop(free);
        let (state, way) = if let Some(kept) = found {
            KEPT.fetch_sub(1, Ordering::Relaxed);
            (State::Built(kept), None)
        } else {
            let (ours, theirs) = UnixStream::pair()?;
            (State::BeingBuilt(ours), Some(theirs))
        };
        let used = UsedBox {
            owner: self.clone(),
            arguments: arguments.clone(),
            state,
        };
        Ok((Some(used), way))
    }

    /// Drops all boxes.
    pub fn clear(&self) {
        self.0.clear();
    }
}

impl Free {
    fn lock(&self) -> MutexGuard<'_, Vec<(Vec<String>, KeptBox)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clear(&self) {
        let free = std::mem::take(&mut *self.lock());
        KEPT.fetch_sub(free.len(), Ordering::Relaxed);
    }
}

impl Drop for Free {
    fn drop(&mut self) {
        self.clear();
    }
}

impl UsedBox {
    /// The descriptors, if it exists already.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let spaces = match &self.state {
            State::Built(kept) => &kept.0[..],
            State::BeingBuilt(_) => &[],
        };
        spaces.iter().map(AsFd::as_fd)
    }

    /// Keeps it for the next process; all in it have exited.
    pub(super) fn give_back(self) {
        let kept = match self.state {
            State::Built(kept) => kept,
            State::BeingBuilt(supervisor) => {
                // It was sent before the process started, or never will be.
                let sent = supervisor
                    .set_nonblocking(true)
                    .and_then(|()| KeptBox::receive(&supervisor));
                match sent {
                    Ok(kept) => kept,
                    Err(_) => return,
                }
            }
        };
        if KEPT.fetch_add(1, Ordering::Relaxed) < MOST {
            self.owner.0.lock().push((self.arguments, kept));
        } else {
            KEPT.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl KeptBox {
    fn receive(from: &UnixStream) -> io::Result<Self> {
        let (_, spaces) = message::receive(from, 1, |bytes| !bytes.is_empty())?;
        if spaces.len() == SPACES.len() {
            Ok(Self(spaces))
        } else {
            Err(io::Error::other("bubblewrap could not build the sandbox"))
        }
    }

    fn send(&self, to: &UnixStream) -> io::Result<()> {
        let spaces: Vec<BorrowedFd<'_>> = self.0.iter().map(AsFd::as_fd).collect();
        message::send_descriptors(to, b"", &spaces)
    }

    /// The box for a process, in its supervisor: received with the request, or built and sent to
    /// the socket that was.
    pub(super) fn of(sent: Vec<OwnedFd>, program: &Path, arguments: &[String]) -> io::Result<Self> {
        if sent.len() == SPACES.len() {
            return Ok(Self(sent));
        }
        let built = Self::build(program, arguments)?;
        if let Some(wanted) = sent.into_iter().next() {
            // An error means that the referee is gone, which is noticed later.
            let _ = built.send(&UnixStream::from(wanted));
        }
        Ok(built)
    }

    /// Has bubblewrap build a box, and exit. Standard error is for its messages.
    fn build(program: &Path, arguments: &[String]) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(BUILDING))?;
        let mut command = Command::new("/proc/self/exe");
        command
            .args([COMMAND, BUILD])
            .arg(program)
            .args(arguments)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null());
        let mut child = command.spawn()?;
        // Its own end of the socket must be the only one.
        drop(command);
        let built = Self::receive(&ours);
        child.wait()?;
        built
    }
}

/// Becomes bubblewrap, which builds a box; standard input is the socket to send it to.
pub(super) fn build(mut arguments: impl Iterator<Item = String>) -> io::Result<()> {
    let program = arguments.next().unwrap_or_default();
    let wanted = io::stdin().as_fd().try_clone_to_owned()?;
    let nothing = File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    let referee = openat(
        CWD,
        "/proc/self/exe",
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    sys::close_on_exec_from(3)?;
    sys::pass_as([(wanted.as_fd(), STATUS_FD), (referee.as_fd(), REFEREE_FD)])?;
    Err(Command::new(program)
        .args(arguments)
        .arg("--")
        .args([&format!("/proc/self/fd/{REFEREE_FD}"), COMMAND, HOLD])
        .exec())
}

/// Sends the descriptors of the box that this process is in.
pub(super) fn hold() -> io::Result<()> {
    let wanted = UnixStream::from(sys::take(STATUS_FD)?);
    let open = |name| Ok(File::open(format!("/proc/self/ns/{name}"))?.into());
    let spaces = SPACES.into_iter().map(open);
    KeptBox(spaces.collect::<io::Result<_>>()?).send(&wanted)
}

/// Enters a box. The next child starts new process ids, and its mounts are private. `own_user`:
/// root's bot has its own user; otherwise the process gets a user namespace below the box's.
pub(super) fn enter(kept: &KeptBox, own_user: bool) -> io::Result<()> {
    // Inside, no `/proc` shows this process's ids.
    let processes = open(CWD, "/proc", OFlags::PATH | OFlags::DIRECTORY)?;
    for (space, name) in kept.0.iter().zip(SPACES) {
        // Root is in the box's already.
        if !(own_user && name == "user") {
            move_into_link_name_space(space.as_fd(), None)?;
        }
    }
    let mut new = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
    // Kernels may lack it.
    if open(&processes, "self/ns/cgroup", OFlags::PATH).is_ok() {
        new |= libc::CLONE_NEWCGROUP;
    }
    if own_user {
        return sys::unshare(new);
    }
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    sys::unshare(new | libc::CLONE_NEWUSER)?;
    write(&processes, "self/setgroups", "deny")?;
    write(&processes, "self/uid_map", &format!("{user} {user} 1"))?;
    write(&processes, "self/gid_map", &format!("{group} {group} 1"))?;
    // As bubblewrap does with --disable-userns.
    write(&processes, "sys/user/max_user_namespaces", "0")
}

/// Mounts an empty scratch directory over the box's, with these paths still visible.
pub(super) fn renew_scratch(
    place: &Path,
    shown: &[PathBuf],
    limits: &ResourceLimits,
    user: Option<u32>,
) -> io::Result<()> {
    let shown = Shown::find(shown)?;
    own_view::mount_scratch(place, limits, user, "mode=1777,")?;
    shown.put()
}

fn open(at: impl AsFd, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    Ok(openat(at, path, flags | OFlags::CLOEXEC, Mode::empty())?)
}

fn write(directory: &OwnedFd, name: &str, text: &str) -> io::Result<()> {
    let file = File::from(open(directory, name, OFlags::WRONLY)?);
    (&file)
        .write_all(text.as_bytes())
        .map_err(|error| io::Error::other(format!("/proc/{name}: {error}")))
}
