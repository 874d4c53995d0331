//! A view of the system of a bot's own, in which it has process ids of its own, everything but its scratch
//! directory is read-only, and that is a file system of fixed size: for Landlock, where this process may
//! make name spaces, as root or in a name space of users.
//!
//! The supervisor's next child is the first process of the new process ids. It makes the view, starts
//! the bot's first process, and waits for its end; when it ends itself, by whatever cause, the kernel ends
//! all others.

use std::fs;
use std::io;
use std::path::Path;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{
    DumpableBehavior, Pid, WaitOptions, WaitStatus, getgid, getuid, set_dumpable_behavior, wait,
};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use super::sys;
use crate::sandbox::limits::ResourceLimits;

/// Added to the number of the signal that ended a bot, for an exit status: as bubblewrap does.
const SIGNALLED: i32 = 128;

/// Has the next child of this process begin new process ids. With `root` this process has the right to
/// do so; otherwise it gets it in a name space of users.
pub(super) fn prepare(root: bool) -> io::Result<()> {
    if !root {
        let (user, group) = (getuid().as_raw(), getgid().as_raw());
        sys::unshare(libc::CLONE_NEWUSER)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    sys::unshare(libc::CLONE_NEWPID)
}

/// Makes the view, in the first process of new process ids. `user` is the number of the bot's user.
pub(super) fn make(scratch: &Path, limits: &ResourceLimits, user: Option<u32>) -> io::Result<()> {
    sys::unshare(libc::CLONE_NEWNS)?;
    // What is mounted here stays here.
    let own = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", own)?;
    sys::make_read_only(c"/")?;
    let safe = MountFlags::NOSUID | MountFlags::NODEV;
    let uid = user.unwrap_or_else(|| getuid().as_raw());
    let gid = user.unwrap_or_else(|| getgid().as_raw());
    let (size, files) = (limits.scratch, ResourceLimits::SCRATCH_FILES + 1);
    let options = format!("size={size},nr_inodes={files},mode=700,uid={uid},gid={gid}\0");
    let options =
        std::ffi::CStr::from_bytes_with_nul(options.as_bytes()).map_err(io::Error::other)?;
    mount("tmpfs", scratch, "tmpfs", safe, options)?;
    // Its own processes only; read-only, for its files are also settings of the kernel.
    let settings = safe | MountFlags::NOEXEC | MountFlags::RDONLY;
    mount("proc", "/proc", "proc", settings, None)?;
    Ok(())
}

/// Continues in a new process, while this one waits for its end and then ends as it did.
pub(super) fn continue_below() -> io::Result<()> {
    match sys::fork()? {
        None => Ok(()),
        Some(bot) => sys::exit(wait_for(bot).unwrap_or(1)),
    }
}

/// Waits for the end of the bot, and of whatever else ends before it: the exit status for it.
fn wait_for(bot: Pid) -> io::Result<i32> {
    sys::close_all()?;
    let none = CapabilitySet::empty();
    let none = CapabilitySets {
        effective: none,
        permitted: none,
        inheritable: none,
    };
    set_capabilities(None, none)?;
    // Its memory is not for a bot of the same user.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    loop {
        if let Some((pid, status)) = wait(WaitOptions::empty())?
            && pid == bot
        {
            return Ok(exit_status(status));
        }
    }
}

fn exit_status(status: WaitStatus) -> i32 {
    let signalled = || status.terminating_signal().map(|signal| SIGNALLED + signal);
    status.exit_status().or_else(signalled).unwrap_or(1)
}
