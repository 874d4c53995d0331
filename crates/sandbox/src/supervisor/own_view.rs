//! A bot's own view of the system for Landlock: own process ids, everything read-only except a
//! scratch file system of fixed size. Needs namespaces, as root or in a user namespace.
//!
//! The supervisor's next child is the first process of the new process ids. It makes the view,
//! starts the bot's first process and waits for it; when it exits for any reason, the kernel kills
//! all others.

use std::convert::Infallible;
use std::ffi::{CStr, CString};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags, mount, move_mount, open_tree};
use rustix::process::{
    DumpableBehavior, Pid, WaitOptions, WaitStatus, getgid, getuid, set_dumpable_behavior, umask,
    wait,
};
use rustix::thread::CapabilitySet;

use super::start::{Report, keep};
use super::{kept_box, sys};
use crate::closed::ClosedDirectory;
use crate::limits::ResourceLimits;

/// Added to the signal number in an exit status, as bubblewrap does.
const SIGNALLED: i32 = 128;

/// For every file system mounted for a bot.
const SAFE: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV);

/// The next child of this process starts new process ids. Unless `root`, this process gets the
/// right for that in a user namespace.
pub(super) fn prepare(root: bool) -> io::Result<()> {
    if !root {
        kept_box::unshare_user(&kept_box::open_processes()?, 0)?;
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
    let files = ResourceLimits::SCRATCH_FILES + 1;
    let own = format!("nr_inodes={files},mode=700,");
    mount_scratch(scratch, limits, user, &own)?;
    mount_processes()
}

/// Covers a directory that the bot may not enter with a mount that shows only what it must see there.
fn open_way(closed: &ClosedDirectory) -> io::Result<()> {
    let shown = Shown::find(&closed.shown)?;
    mount("tmpfs", &closed.path, "tmpfs", SAFE, c"mode=755")?;
    shown.put()?;
    let path = CString::new(closed.path.as_os_str().as_bytes()).map_err(io::Error::other)?;
    sys::make_read_only(&path, false)
}

/// `more` are further options, each with a comma.
pub(super) fn mount_scratch(
    place: &Path,
    limits: &ResourceLimits,
    user: Option<u32>,
    more: &str,
) -> io::Result<()> {
    let uid = user.unwrap_or_else(|| getuid().as_raw());
    let gid = user.unwrap_or_else(|| getgid().as_raw());
    let options = format!("{more}size={},uid={uid},gid={gid}\0", limits.scratch);
    let options = CStr::from_bytes_with_nul(options.as_bytes()).map_err(io::Error::other)?;
    Ok(mount("tmpfs", place, "tmpfs", SAFE, options)?)
}

/// Shows only processes of this process's namespace; read-only, because `/proc` has kernel
/// settings.
pub(super) fn mount_processes() -> io::Result<()> {
    let flags = SAFE | MountFlags::NOEXEC | MountFlags::RDONLY;
    Ok(mount("proc", "/proc", "proc", flags, None)?)
}

/// Runs this in a child, which reports failures; waits for it and exits as it did.
pub(super) fn run_below(
    report: &Report,
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

/// Files, directories and links, each with its path.
pub(super) struct Shown<'a>(Vec<(&'a Path, What)>);

enum What {
    /// A directory, if that is so, or a file.
    Tree(OwnedFd, bool),
    Link(PathBuf),
}

impl<'a> Shown<'a> {
    /// Opens what is there now. None of the paths lies in another.
    pub(super) fn find(paths: &'a [PathBuf]) -> io::Result<Self> {
        let tree = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE;
        let find = |path: &'a PathBuf| {
            let what = match fs::read_link(path) {
                Ok(target) => What::Link(target),
                Err(_) => What::Tree(open_tree(CWD, path, tree)?, path.is_dir()),
            };
            Ok((path.as_path(), what))
        };
        paths.iter().map(find).collect::<io::Result<_>>().map(Self)
    }

    /// Shows everything at its path, making parent directories that all users may enter and list.
    pub(super) fn put(self) -> io::Result<()> {
        // The referee's umask may keep others out.
        let usual = umask(Mode::WGRP | Mode::WOTH);
        let done = self
            .0
            .into_iter()
            .try_for_each(|(path, what)| put(path, what));
        umask(usual);
        done
    }
}

fn put(path: &Path, what: What) -> io::Result<()> {
    let mut directories = DirBuilder::new();
    directories.recursive(true).mode(0o755);
    if let Some(above) = path.parent() {
        directories.create(above)?;
    }
    let tree = match what {
        What::Link(target) => return symlink(target, path),
        What::Tree(tree, true) => directories.create(path).map(|()| tree)?,
        What::Tree(tree, false) => File::create_new(path).map(|_| tree)?,
    };
    let here = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    Ok(move_mount(tree, "", CWD, path, here)?)
}
