//! User namespaces, and what is set through `/proc` in them.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::process::{getgid, getuid};

use super::sys;
use crate::trouble::described;

/// Gives this process a user namespace with its own user, and `more`; `processes` is `/proc`.
pub(super) fn unshare_user(processes: &OwnedFd, more: libc::c_int) -> io::Result<()> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    sys::unshare(more | libc::CLONE_NEWUSER)?;
    write_setting(processes, "self/setgroups", "deny")?;
    write_setting(processes, "self/uid_map", &format!("{user} {user} 1"))?;
    write_setting(processes, "self/gid_map", &format!("{group} {group} 1"))
}

pub(super) fn open_processes() -> io::Result<OwnedFd> {
    open_path(CWD, "/proc", OFlags::PATH | OFlags::DIRECTORY)
}

pub(super) fn open_path(at: impl AsFd, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    Ok(openat(at, path, flags | OFlags::CLOEXEC, Mode::empty())?)
}

/// Writes into a file below `/proc`.
pub(super) fn write_setting(directory: &OwnedFd, name: &str, text: &str) -> io::Result<()> {
    let file = File::from(open_path(directory, name, OFlags::WRONLY)?);
    (&file)
        .write_all(text.as_bytes())
        .map_err(|error| described(format!("/proc/{name}: {error}"), None, &error))
}
