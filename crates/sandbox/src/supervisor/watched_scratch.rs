//! Removes files for a Landlock bot without its own file system.
//!
//! A removed file that is still open takes space, but no directory shows it: the bot itself may
//! remove nothing. The kernel asks its supervisor instead, which moves the file to its own
//! directory (counted as the bot's) and removes it once it is not open any more. Empty directories
//! and links are removed immediately.

use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use libc::seccomp_notif;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, ResolveFlags, openat, openat2,
    renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use super::sys;
use crate::private_directory::remove_tree;

/// The most bytes of memory read at a time; divides a page.
const PART: usize = 256;

/// The longest path, in bytes.
const MAX_PATH: usize = 4096;

/// A scratch directory on a file system of others, both removed at the end.
#[derive(Debug)]
pub(super) struct WatchedScratch {
    scratch: PathBuf,
    /// Where files wait until they are not open.
    place: PathBuf,
    removed: OwnedFd,
    /// Files moved there so far.
    count: u64,
}

impl Drop for WatchedScratch {
    fn drop(&mut self) {
        for directory in self.directories() {
            // What cannot be removed now is removed with all that the referee has of the bot.
            let _ = remove_tree(directory);
        }
    }
}

impl WatchedScratch {
    /// Two directories in `scratches`; the user of the bot owns the scratch directory.
    pub(super) fn new(scratches: &Path, user: Option<u32>) -> io::Result<Self> {
        let private = |prefix| -> io::Result<PathBuf> {
            let mut builder = tempfile::Builder::new();
            let builder = builder
                .prefix(prefix)
                .permissions(Permissions::from_mode(0o700));
            builder.tempdir_in(scratches)?.keep().canonicalize()
        };
        let scratch = private("scratch-")?;
        if let Some(user) = user {
            chown(&scratch, Some(user), Some(user))?;
        }
        let place = private("removed-")?;
        Ok(Self {
            removed: File::open(&place)?.into(),
            scratch,
            place,
            count: 0,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.scratch
    }

    pub(super) fn directories(&self) -> [&Path; 2] {
        [&self.scratch, &self.place]
    }

    /// Does what a call asks for, for the bot's own files; else an error number.
    pub(super) fn remove(&mut self, call: &seccomp_notif) -> Result<(), Errno> {
        let arguments = &call.data.args;
        let (at, path, is_directory) = match libc::c_long::from(call.data.nr) {
            libc::SYS_unlinkat => {
                let is_directory = int(arguments[2]) & libc::AT_REMOVEDIR != 0;
                (int(arguments[0]), arguments[1], is_directory)
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_unlink => (libc::AT_FDCWD, arguments[0], false),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rmdir => (libc::AT_FDCWD, arguments[0], true),
            _ => return Err(Errno::PERM),
        };
        let path = read_path(call.pid, path)?;
        let (parent, name) = self.find(call.pid, at, &path)?;
        if is_directory {
            return unlinkat(&parent, &name, AtFlags::REMOVEDIR);
        }
        let meta = statat(&parent, &name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(meta.st_mode) {
            FileType::Directory => Err(Errno::ISDIR),
            FileType::RegularFile => {
                self.count += 1;
                let free = self.count.to_string();
                renameat_with(&parent, &name, &self.removed, &free, RenameFlags::NOREPLACE)?;
                self.remove_unless_open(&free);
                Ok(())
            }
            _ => unlinkat(&parent, &name, AtFlags::empty()),
        }
    }

    /// The directory that a path of the bot's leads to, and the name in it.
    fn find(&self, thread: u32, at: libc::c_int, path: &Path) -> Result<(OwnedFd, CString), Errno> {
        let name = path.file_name().ok_or(Errno::BUSY)?;
        let name = CString::new(name.as_bytes()).map_err(|_| Errno::INVAL)?;
        let base = match at {
            _ if path.is_absolute() => "/".to_owned(),
            libc::AT_FDCWD => format!("/proc/{thread}/cwd"),
            descriptor => format!("/proc/{thread}/fd/{descriptor}"),
        };
        let base = openat(CWD, base, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        let parent = openat2(
            &base,
            above.unwrap_or(Path::new(".")),
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
            ResolveFlags::NO_MAGICLINKS,
        )?;
        // Its place now: the bot cannot move directories.
        let place = fs::read_link(format!("/proc/self/fd/{}", parent.as_raw_fd()));
        if place.is_ok_and(|place| place.starts_with(&self.scratch)) {
            Ok((parent, name))
        } else {
            Err(Errno::ACCESS)
        }
    }

    /// Removes the files that are not open any more.
    pub(super) fn clear(&self) {
        for entry in fs::read_dir(&self.place).into_iter().flatten().flatten() {
            self.remove_unless_open(entry.file_name());
        }
    }

    /// Removes a file unless it is open elsewhere.
    fn remove_unless_open(&self, name: impl AsRef<OsStr>) {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        // A file its owner closed waits until the bot exits.
        let opened = openat(&self.removed, name.as_ref(), flags, Mode::empty());
        if let Ok(file) = opened
            && sys::has_nobody_else(file.as_fd())
        {
            let _ = unlinkat(&self.removed, name.as_ref(), AtFlags::empty());
        }
    }
}

fn int(argument: u64) -> libc::c_int {
    let low = u32::try_from(argument & u64::from(u32::MAX));
    low.unwrap_or_default().cast_signed()
}

/// Reads a path from a waiting thread's memory. The bot may change it at any time, which does not
/// help: it is resolved here, once.
fn read_path(thread: u32, address: u64) -> Result<PathBuf, Errno> {
    let memory = File::open(format!("/proc/{thread}/mem")).map_err(|_| Errno::PERM)?;
    let mut bytes = Vec::new();
    let mut page = [0; PART];
    while bytes.len() < MAX_PATH {
        let at = address
            .checked_add(bytes.len() as u64)
            .ok_or(Errno::FAULT)?;
        // No read crosses a page, which may be the last one.
        let left = page.len() - usize::try_from(at % PART as u64).unwrap_or(0);
        let count = memory
            .read_at(&mut page[..left], at)
            .map_err(|_| Errno::FAULT)?;
        let read = &page[..count];
        if let Some(end) = read.iter().position(|&byte| byte == 0) {
            bytes.extend_from_slice(&read[..end]);
            let path = Some(bytes).filter(|path| !path.is_empty());
            return path
                .map(|path| OsString::from_vec(path).into())
                .ok_or(Errno::NOENT);
        }
        if count == 0 {
            return Err(Errno::FAULT);
        }
        bytes.extend_from_slice(read);
    }
    Err(Errno::NAMETOOLONG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_a_start_that_fails() {
        let place = tempfile::tempdir().expect("a directory");
        let watched = WatchedScratch::new(place.path(), None).expect("directories");
        let entries = || fs::read_dir(place.path()).expect("a directory").count();
        assert_eq!(entries(), 2);
        fs::write(watched.path().join("file"), "x").expect("a file");
        drop(watched);
        assert_eq!(entries(), 0);
    }
}
