//! Linux, macOS and the BSDs.
#![expect(unsafe_code, reason = "each block says why it is sound")]

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::ptr::{null, null_mut};

pub use std::os::fd::AsFd as AsStream;
pub use std::os::unix::fs::symlink;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;
use rustix::process::{Resource, WaitId, WaitIdOptions, getrlimit, waitid};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

pub use rustix::process::Pid;

use super::{EntryKind, Shortage};

/// Whether this is a child that has not been reaped.
pub fn is_child(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(pid), options).is_ok()
}

/// Whether this is a child stopped by a signal.
pub fn is_stopped(pid: Pid) -> bool {
    let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::Pid(pid), options).ok().flatten();
    status.is_some_and(|status| status.stopped())
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether a signal was ignored when this process started, and still is.
pub fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: the pointer outlives the call, which only fills the struct.
    let done = unsafe { libc::sigaction(signal, null(), action.as_mut_ptr()) };
    // SAFETY: all-zero bytes are valid.
    done == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
}

/// Holds signals back from this thread while it exists: those that come meanwhile are delivered when it is dropped. Others
/// threads may be given them.
pub struct HeldSignals {
    /// Those that were held back before.
    before: libc::sigset_t,
}

impl HeldSignals {
    pub fn hold(signals: &[i32]) -> Self {
        let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
        let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: both pointers outlive the calls, which only fill the sets; all-zero bytes are valid.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for &signal in signals {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), before.as_mut_ptr());
            Self {
                before: before.assume_init(),
            }
        }
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        // SAFETY: the set outlives the call, which only reads it.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, null_mut()) };
    }
}

/// The command with which a person may kill a process that could not be killed.
pub fn forced_end(pid: Pid) -> String {
    format!("sudo kill -KILL {}", pid.as_raw_pid())
}

/// Whether a file belongs to this process's user or root.
pub fn is_own(meta: &Metadata) -> bool {
    meta.uid() == 0 || meta.uid() == rustix::process::geteuid().as_raw()
}

/// Whether any user may execute a file. The path does not matter here.
pub fn is_executable(_: &Path, meta: &Metadata) -> bool {
    meta.is_file() && meta.permissions().mode() & 0o111 != 0
}

/// The fix for a file that is not executable; the path is quoted for a shell.
pub fn make_executable(path: &str) -> String {
    format!("make it executable (chmod +x {path})")
}

/// The paths of a command of this name in a directory.
pub fn command_files(directory: &Path, command: &str) -> Vec<PathBuf> {
    vec![directory.join(command)]
}

/// Whether a word names a file by path, not by name in `PATH`.
pub fn is_path(word: &str) -> bool {
    word.contains('/')
}

/// Splits a command line as a POSIX shell does.
pub fn split_command(line: &str) -> Result<Vec<String>, shell_words::ParseError> {
    shell_words::split(line)
}

/// The names under which an interpreter may be installed, the best first.
pub fn names_of_command(command: &str) -> Vec<&str> {
    vec![command]
}

/// The word that starts the first program of its name in `PATH`.
pub fn command_word(command: &str, _: &Path) -> String {
    command.to_owned()
}

/// Gives a temporary file, renamed later, the mode of any new file: the umask decides.
pub fn open_to_all(builder: &mut tempfile::Builder<'_, '_>) {
    builder.permissions(Permissions::from_mode(0o666));
}

/// Makes a finished file readable for all, and executable on request.
pub fn protect(file: &File, executable: bool) -> io::Result<()> {
    let mode = if executable { 0o555 } else { 0o444 };
    file.set_permissions(Permissions::from_mode(mode))
}

/// Makes a directory that all may read, whatever the umask.
pub fn create_directory(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

/// The bytes of a relative path, with slashes between its parts.
pub fn slashed(path: &Path) -> Cow<'_, [u8]> {
    path.as_os_str().as_encoded_bytes().into()
}

/// Makes a new file executable, or not.
pub fn create_executable(options: &mut OpenOptions, executable: bool) {
    options.mode(if executable { 0o777 } else { 0o666 });
}

/// An open directory: what is reached by it is in it, whatever happens to its path. Follows no
/// links.
#[derive(Debug)]
pub struct OpenDirectory(OwnedFd);

impl OpenDirectory {
    /// The directory at an absolute path without links.
    pub fn at(path: &Path) -> io::Result<Self> {
        if cfg!(not(target_os = "linux")) {
            // Opening each parent would take the right to list it.
            return open_in(CWD, path.as_os_str(), DIRECTORY).map(Self);
        }
        let root = open_in(CWD, "/".as_ref(), DIRECTORY).map(Self);
        let parts = path.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        });
        parts.fold(root, |above, name| above?.directory(name))
    }

    pub fn directory(&self, name: &OsStr) -> io::Result<Self> {
        open_in(&self.0, name, DIRECTORY).map(Self)
    }

    /// A file in it, or anything but a link; never blocks.
    pub fn file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        open_in(&self.0, name, flags).map(File::from)
    }

    pub fn link(&self, name: &OsStr) -> io::Result<PathBuf> {
        let to = readlinkat(&self.0, name, Vec::new())?;
        Ok(OsString::from_vec(to.into_bytes()).into())
    }

    pub fn entries(&self) -> io::Result<Vec<(OsString, EntryKind)>> {
        let mut found = Vec::new();
        let listed = open_in(&self.0, ".".as_ref(), OFlags::DIRECTORY)?;
        for entry in Dir::new(listed)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let meta = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
                    FileType::from_raw_mode(meta.st_mode)
                }
                known => known,
            };
            let kind = match kind {
                FileType::Directory => EntryKind::Directory,
                FileType::RegularFile => EntryKind::File,
                FileType::Symlink => EntryKind::Link,
                _ => EntryKind::Other,
            };
            found.push((OsString::from_vec(name.to_bytes().to_vec()), kind));
        }
        Ok(found)
    }
}

/// `O_PATH` where it exists: directories may be passable and not listable.
#[cfg(target_os = "linux")]
const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::PATH);
#[cfg(not(target_os = "linux"))]
const DIRECTORY: OFlags = OFlags::DIRECTORY;

fn open_in(directory: impl AsFd, name: &OsStr, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(directory, name, flags, Mode::empty()) {
        Err(Errno::NOTDIR | Errno::LOOP) => Err(io::Error::other(
            "it has become a link, or something else, while it was read",
        )),
        opened => Ok(opened?),
    }
}

/// Makes a directory's entries survive a loss of power.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// The most files this process may have open; `None` when unlimited.
pub fn most_open_files() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

pub fn host_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

/// The mode of the terminal at standard input, to be restored.
#[derive(Debug)]
pub struct TerminalMode(Termios);

impl TerminalMode {
    /// `None` when there is no terminal.
    pub fn current() -> Option<Self> {
        tcgetattr(io::stdin()).ok().map(Self)
    }

    pub fn restore(&self) {
        // There may be no terminal any more.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

pub(super) const SHORTAGES: &[(Shortage, i32)] = &[
    (Shortage::Processes, libc::EAGAIN),
    (Shortage::Memory, libc::ENOMEM),
    (Shortage::OwnFiles, libc::EMFILE),
    (Shortage::Files, libc::ENFILE),
    (Shortage::Space, libc::ENOSPC),
    (Shortage::Space, libc::EDQUOT),
];

/// The release of the kernel, such as `6.1.0-18-amd64`.
pub fn kernel_release() -> String {
    let uname = rustix::system::uname();
    uname.release().to_string_lossy().into_owned()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn signals_are_held_back_for_as_long_as_wanted() {
        let is_held = || {
            let status = fs::read_to_string("/proc/thread-self/status").expect("the status");
            let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
            let mask = u64::from_str_radix(mask.expect("a mask").trim(), 16).expect("a number");
            mask & 1 << (libc::SIGINT - 1) != 0
        };
        assert!(!is_held());
        let held = HeldSignals::hold(&[libc::SIGINT, libc::SIGTERM]);
        assert!(is_held());
        drop(held);
        assert!(!is_held());
    }
}
