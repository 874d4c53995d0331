//! A bot's private view of the system for Landlock: process ids of its own, everything read-only except a
//! scratch file system of fixed size. Needs namespaces, as root or in a user namespace.
//!
//! The supervisor's next child is the first process of the new process ids. It makes the view,
//! starts the bot's first process and waits for it; when it exits for any reason, the kernel kills
//! all others.

use std::convert::Infallible;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::io::Errno;
use rustix::mount::{mount, mount_bind};
use rustix::process::{
    DumpableBehavior, Pid, WaitOptions, WaitStatus, set_dumpable_behavior, wait,
};
use rustix::thread::CapabilitySet;

use super::mounts::{PathMounts, SAFE, mount_processes, mount_scratch};
use super::namespaces::{open_processes, unshare_user};
use super::start::{StartReport, keep};
use super::sys;
use crate::closed::ClosedDirectory;
use crate::limits::ResourceLimits;

/// Added to the signal number in an exit status, as bubblewrap does.
const SIGNALLED: i32 = 128;

/// The next child of this process starts new process ids. Unless `root`, this process gets the
/// right for that in a user namespace.
pub(super) fn prepare(root: bool) -> io::Result<()> {
    if !root {
        unshare_user(&open_processes()?, 0)?;
    }
    sys::unshare(libc::CLONE_NEWPID)
}

/// Makes the view, in the first process of new process ids. Some directories are `closed` to
/// `user`.
pub(super) fn make(
    scratch: &Path,
    limits: &ResourceLimits,
    user: Option<u32>,
    closed: &[ClosedDirectory],
) -> io::Result<()> {
    sys::unshare(libc::CLONE_NEWNS)?;
    // Mounts made here stay here.
    sys::make_read_only(c"/", true)?;
    closed.iter().try_for_each(open_way)?;
    mount_scratch(scratch, limits, user, (0, "700"))?;
    share_memory_in(scratch)?;
    mount_processes()
}

/// Memory that processes share by name, as semaphores do, counts as what they write.
fn share_memory_in(scratch: &Path) -> io::Result<()> {
    match mount_bind(scratch, "/dev/shm") {
        // A system without it.
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(()),
        done => Ok(done?),
    }
}

/// Covers a directory that the bot may not enter with a mount that shows only what it must see there.
fn open_way(closed: &ClosedDirectory) -> io::Result<()> {
    let mounts = PathMounts::find(&closed.visible)?;
    mount("tmpfs", &closed.path, "tmpfs", SAFE, c"mode=755")?;
    mounts.put()?;
    let path = CString::new(closed.path.as_os_str().as_bytes()).map_err(io::Error::other)?;
    sys::make_read_only(&path, false)
}

/// Runs this in a child, which reports failures; waits for it and exits as it did.
pub(super) fn run_below(
    report: &StartReport,
    become_it: impl FnOnce() -> io::Result<Infallible>,
) -> io::Result<Infallible> {
    // Its memory is not for a bot of the same user.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let Some(bot) = sys::fork(0)? else {
        let Err(error) = become_it();
        report.failed(&error);
        sys::exit(1)
    };
    sys::exit(wait_for(bot).unwrap_or(1))
}

/// Waits for the bot, and reaps everything else: the bot's exit status.
fn wait_for(bot: Pid) -> io::Result<i32> {
    // Their owners are never dropped: this process only waits and exits.
    sys::close_range(0, 0)?;
    // The bot may have another user.
    keep(CapabilitySet::KILL)?;
    let mut ended = None;
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == bot => ended = Some(exit_status(status)),
            Ok(_) | Err(Errno::INTR) => {}
            // None are left.
            Err(_) => return Ok(ended.unwrap_or(1)),
        }
        if ended.is_some() {
            // The kernel would kill the others anyway, but their usage would be lost.
            let _ = sys::kill_all_others();
        }
    }
}

fn exit_status(status: WaitStatus) -> i32 {
    let signalled = || status.terminating_signal().map(|signal| SIGNALLED + signal);
    status.exit_status().or_else(signalled).unwrap_or(1)
}
