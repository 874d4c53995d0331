//! Temporary directories that only this user reaches. Removed whatever a bot left in them; after a
//! kill the next referee removes them.

use std::env;
use std::ffi::CString;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FlockOperation, Mode, OFlags, RenameFlags, chmodat, flock, openat,
    renameat_with, unlinkat,
};
use rustix::io::Errno;
use rustix::process::{Pid, getuid, test_kill_process};

use super::paths::escaped_path;
use super::session;
use crate::trouble::{SandboxTrouble, described, troubled};
use referee_text::cause;

/// How their names start, before the process id of their maker; those of control groups, too.
pub(super) const PREFIX: &str = "referee-";

const SCRATCHES: &str = "scratch";

#[derive(Debug)]
pub(super) struct PrivateDirectory {
    path: PathBuf,
    /// Locked while in use: process ids mean nothing to a referee in another namespace that shares
    /// the temporary directory.
    _lock: File,
}

impl PrivateDirectory {
    /// With `passable`, other users may pass through it to what belongs to them, and see nothing
    /// else.
    ///
    /// An error names the temporary directory.
    pub(super) fn new(passable: bool) -> io::Result<Self> {
        let place = env::temp_dir();
        if place.to_str().is_none() {
            // Requests to supervisors and environments are text.
            let words = format!(
                "{PLACE}, {}, has a name that is not UTF-8",
                escaped_path(&place)
            );
            return Err(troubled(SandboxTrouble::NameOfTemporaryDirectory, words));
        }
        Self::make(passable).map_err(|error| unusable(&error))
    }

    fn make(passable: bool) -> io::Result<Self> {
        let mode = || Permissions::from_mode(if passable { 0o711 } else { 0o700 });
        // The name has this process's id, in case it is killed.
        let directory = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-", std::process::id()))
            .permissions(Permissions::from_mode(0o700))
            .tempdir()?;
        let path = directory.path().canonicalize()?;
        let lock = File::open(&path)?;
        flock(&lock, FlockOperation::LockShared)?;
        fs::create_dir(path.join(SCRATCHES))?;
        for directory in [&path, &path.join(SCRATCHES)] {
            fs::set_permissions(directory, mode())?;
        }
        let _ = directory.keep();
        Ok(Self { path, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn scratches(&self) -> PathBuf {
        self.path.join(SCRATCHES)
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        // The next referee retries.
        let _ = remove_tree(&self.path);
    }
}

pub(super) fn unusable(error: &io::Error) -> io::Error {
    let (place, cause) = (escaped_path(&env::temp_dir()), cause(error));
    let words = format!("{place}: {PLACE} cannot be used: {cause}");
    described(words, Some(SandboxTrouble::TemporaryDirectory), error)
}

/// The name of that directory in all its errors.
const PLACE: &str = "the directory for temporary files";

/// Removes the directories of killed referees, and kills the bots they left behind.
pub(super) fn remove_left_behind() {
    let entries = fs::read_dir(env::temp_dir()).into_iter().flatten();
    for entry in entries.flatten() {
        let ours = |meta: fs::Metadata| meta.is_dir() && meta.uid() == getuid().as_raw();
        if entry.metadata().is_ok_and(ours) && is_left_behind(&entry) {
            session::end_left_behind(&entry.path().join(SCRATCHES));
            // Another run may be removing it.
            let _ = remove_tree(&entry.path());
        }
    }
}

/// Whether the process that made a directory, whose id is in its name, is gone; and no other in
/// another process id namespace holds it.
pub(super) fn is_left_behind(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name();
    let maker = name.to_str().and_then(|name| {
        Pid::from_raw(name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok()?)
    });
    let lock = FlockOperation::NonBlockingLockExclusive;
    maker.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
        && File::open(entry.path()).is_ok_and(|directory| flock(directory, lock).is_ok())
}

/// Removes a directory tree of any depth: nested directories are first moved up, so that paths stay
/// short and few descriptors are needed.
pub(super) fn remove_tree(path: &Path) -> io::Result<()> {
    let top = open(CWD, path)?;
    let mut moved = 0_u64;
    loop {
        let names = names(&top)?;
        if names.is_empty() {
            break;
        }
        for name in names {
            if is_removed_as_file(&top, &name)? {
                continue;
            }
            let directory = open(&top, &name)?;
            for inner in self::names(&directory)? {
                if !is_removed_as_file(&directory, &inner)? {
                    move_up(&directory, &inner, &top, &mut moved)?;
                }
            }
            gone(unlinkat(&top, &name, AtFlags::REMOVEDIR))?;
        }
    }
    Ok(gone(unlinkat(CWD, path, AtFlags::REMOVEDIR))?)
}

/// Removes an entry unless it is a directory.
fn is_removed_as_file(directory: &OwnedFd, name: &CString) -> io::Result<bool> {
    match unlinkat(directory, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => Ok(false),
        removed => Ok(gone(removed).map(|()| true)?),
    }
}

/// Moves a directory to `top`, under an unused name.
fn move_up(from: &OwnedFd, name: &CString, top: &OwnedFd, moved: &mut u64) -> io::Result<()> {
    loop {
        *moved += 1;
        let free = format!("moved-{moved}");
        match renameat_with(from, name, top, &free, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => {}
            // Its `..` entry changes: its owner must be able to write to it.
            Err(Errno::ACCESS) => {
                chmodat(from, name, Mode::RWXU, AtFlags::empty())?;
                renameat_with(from, name, top, &free, RenameFlags::NOREPLACE)?;
                return Ok(());
            }
            done => return Ok(gone(done)?),
        }
    }
}

/// Opens a directory, even one that a bot has closed.
fn open(at: impl AsFd, path: impl rustix::path::Arg + Copy) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(&at, path, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            chmodat(&at, path, Mode::RWXU, AtFlags::empty())?;
            Ok(openat(&at, path, flags, Mode::empty())?)
        }
        opened => Ok(opened?),
    }
}

fn names(directory: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let name = entry?.file_name().to_owned();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    Ok(names)
}

/// Another process may have removed it.
fn gone(done: rustix::io::Result<()>) -> rustix::io::Result<()> {
    match done {
        Err(Errno::NOENT) => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_that_is_deep_closed_and_has_taken_names() {
        let directory = tempfile::tempdir().expect("a directory").keep();
        let top = open(CWD, &directory).expect("a directory");
        let mut at = open(CWD, &directory).expect("a directory");
        fs::write(directory.join("moved-1"), "x").expect("a file");
        fs::create_dir(directory.join("moved-2")).expect("a directory");
        for _ in 0..3000 {
            rustix::fs::mkdirat(&at, "d", Mode::RWXU).expect("a directory");
            at = open(&at, c"d").expect("a directory");
        }
        rustix::fs::mkdirat(&at, "closed", Mode::empty()).expect("a directory");
        std::os::unix::fs::symlink("/", directory.join("link")).expect("a link");
        drop((top, at));
        remove_tree(&directory).expect("it is removed");
        assert!(!directory.exists());
    }
}
