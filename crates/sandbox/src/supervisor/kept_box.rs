//! A bubblewrap box that is kept for one bot: its mounts, and an empty network.
//!
//! Bubblewrap takes about ten milliseconds to build a box. No program ever runs in a kept one:
//! descriptors alone hold it. Every process of the bot inside gets anew whatever could hold state:
//! process ids, a view of files with an empty scratch directory, users, System V IPC, control
//! groups. Two processes are never in one box at the same time.
//!
//! The first supervisor builds it; the referee keeps it, and sends it to one supervisor at a time.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{CWD, OFlags};
use rustix::process::{WaitOptions, waitpid};
use rustix::thread::move_into_link_name_space;

use super::message::{BUILDING, COMMAND, HOLD, REFEREE_FD, STATUS_FD};
use super::mounts::{PathMounts, mount_scratch};
use super::namespaces::{open_path, open_processes, unshare_user, write_setting};
use super::{message, sys};
use crate::limits::ResourceLimits;

/// In the order in which a process enters them, with the rights that the first gives.
const SPACES: [&str; 4] = ["user", "mnt", "net", "uts"];

/// The error when no box arrived; bubblewrap has said why.
pub(super) const NOT_BUILT: &str = "bubblewrap could not build the sandbox";

#[derive(Debug)]
pub(super) struct KeptBox(Vec<OwnedFd>);

impl KeptBox {
    /// From descriptors that the referee has kept, if any.
    pub(super) fn of(spaces: Vec<OwnedFd>) -> Option<Self> {
        (spaces.len() == SPACES.len()).then_some(Self(spaces))
    }

    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.0.iter().map(AsFd::as_fd)
    }

    /// Sends the descriptors of the box with these bytes.
    pub(super) fn send(&self, to: &UnixStream, bytes: &[u8]) -> io::Result<()> {
        message::send_descriptors(to, bytes, &self.descriptors().collect::<Vec<_>>())
    }

    /// Has bubblewrap build a box, and exit. Standard error is for its messages.
    pub(super) fn build(program: &Path, arguments: &[String]) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(BUILDING))?;
        let mut command = bubblewrap(program, arguments, HOLD);
        command
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let Some(child) = sys::fork(0)? else {
            // An error shows by the box that is missing.
            let _ = pass(&theirs).map(|()| command.exec());
            sys::exit(1)
        };
        // Its own end of the socket must be the only one.
        drop(theirs);
        let (_, spaces) = message::receive(&ours, |bytes| !bytes.is_empty())?;
        waitpid(Some(child), WaitOptions::empty())?;
        Self::of(spaces).ok_or_else(|| io::Error::other(NOT_BUILT))
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
    let referee = open_path(CWD, "/proc/self/exe", OFlags::PATH)?;
    sys::close_range(3, libc::CLOSE_RANGE_CLOEXEC)?;
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
    KeptBox(spaces.collect::<io::Result<_>>()?).send(&wanted, b".")
}

/// Enters a box. The next child starts new process ids, and its mounts are private. `has_user`:
/// root's bot has its own user; otherwise the process gets a user namespace below the box's.
pub(super) fn enter(kept: &KeptBox, has_user: bool) -> io::Result<()> {
    // Inside, no `/proc` shows this process's ids.
    let processes = open_processes()?;
    for (space, name) in kept.0.iter().zip(SPACES) {
        // Root is in the box's already.
        if !(has_user && name == "user") {
            move_into_link_name_space(space.as_fd(), None)?;
        }
    }
    let mut new = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
    // Kernels may lack it.
    if open_path(&processes, "self/ns/cgroup", OFlags::PATH).is_ok() {
        new |= libc::CLONE_NEWCGROUP;
    }
    if has_user {
        return sys::unshare(new);
    }
    unshare_user(&processes, new)?;
    // As bubblewrap does with --disable-userns.
    write_setting(&processes, "sys/user/max_user_namespaces", "0")
}

/// Mounts an empty scratch directory over the box's, with these paths still visible.
pub(super) fn renew_scratch(
    place: &Path,
    visible: &[PathBuf],
    limits: &ResourceLimits,
    user: Option<u32>,
) -> io::Result<()> {
    let mounts = PathMounts::find(visible)?;
    mount_scratch(place, limits, user, (mounts.files(), "1777"))?;
    mounts.put()
}
