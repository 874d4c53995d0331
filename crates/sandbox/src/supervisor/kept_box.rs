//! A bubblewrap box that is kept for one bot: its mounts, and an empty network.
//!
//! Bubblewrap takes about ten milliseconds to build a box. No program ever runs in a kept one:
//! descriptors alone hold it. Every process of the bot inside gets anew whatever could hold state:
//! process ids, a view of files with an empty scratch directory, users, System V IPC, control
//! groups. Two processes are never in one box at the same time.
//!
//! The first supervisor builds it, and leaves it in a `BoxSlot` of the fork server for the next.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::process::{WaitOptions, getgid, getuid, waitpid};
use rustix::thread::move_into_link_name_space;

use super::fork_server::COMMAND;
use super::message::{BUILDING, HOLD, REFEREE_FD, STATUS_FD};
use super::own_view::Shown;
use super::{message, own_view, sys};
use crate::limits::ResourceLimits;

/// In the order in which a process enters them, with the rights that the first gives.
const SPACES: [&str; 4] = ["user", "mnt", "net", "uts"];

/// The namespaces of a box.
#[derive(Debug)]
pub(super) struct KeptBox(Vec<OwnedFd>);

/// Where a box waits between two processes of its bot: a pair of sockets that leads its descriptors
/// from one supervisor to the next. Empty until a supervisor has built one.
#[derive(Debug)]
pub(super) struct BoxSlot(UnixStream, UnixStream);

impl BoxSlot {
    pub(super) fn new() -> io::Result<Self> {
        let (end, other) = UnixStream::pair()?;
        end.set_nonblocking(true)?;
        other.set_nonblocking(true)?;
        Ok(Self(end, other))
    }

    /// Takes the box, or has bubblewrap build one.
    pub(super) fn take(&self, program: &Path, arguments: &[String]) -> io::Result<KeptBox> {
        KeptBox::receive(&self.0).or_else(|_| KeptBox::build(program, arguments))
    }

    /// Keeps a box for the next process. On an error another one is built.
    pub(super) fn put(&self, kept: &KeptBox) {
        let _ = kept.send(&self.1);
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

    /// Has bubblewrap build a box, and exit. Standard error is for its messages.
    fn build(program: &Path, arguments: &[String]) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(BUILDING))?;
        let mut command = bubblewrap(program, arguments, HOLD);
        command
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let Some(child) = sys::fork()? else {
            // An error shows by the box that is missing.
            let _ = pass(&theirs).map(|()| command.exec());
            sys::exit(1)
        };
        // Its own end of the socket must be the only one.
        drop(theirs);
        let built = Self::receive(&ours);
        waitpid(Some(child), WaitOptions::empty())?;
        built
    }
}

/// Bubblewrap that starts this part of this program inside; by a descriptor, so that the bot has no
/// path to it.
pub(super) fn bubblewrap(program: &Path, arguments: &[String], part: &str) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .arg("--")
        .args([&format!("/proc/self/fd/{REFEREE_FD}"), COMMAND, part]);
    command
}

/// Passes bubblewrap nothing but this program and a socket for it, before it is executed. This
/// program's exec closes the descriptor again.
pub(super) fn pass(status: &impl AsFd) -> io::Result<()> {
    let referee = open(CWD, "/proc/self/exe", OFlags::PATH)?;
    sys::close_on_exec_from(3)?;
    sys::pass_as([(status.as_fd(), STATUS_FD), (referee.as_fd(), REFEREE_FD)])?;
    // Not closed: it may have had one of these numbers.
    let _ = referee.into_raw_fd();
    Ok(())
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
