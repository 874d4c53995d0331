//! Streams and named pipes on Linux, macOS and the BSDs.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, OFlags, fstat};
use rustix::io::Errno;
use rustix::stdio;

use super::{LAST_READ, LOOK, print_stderr};
use crate::cli::support::failure::Unread;
use crate::cli::support::signals;

/// What a pipe with room takes without blocking: POSIX's least value.
const PIPE_BUF: usize = 512;

/// The most of one write: its end shows that somebody reads.
const MOST: usize = 16 * 1024;

/// How long a reader may take to come before people are told that it is waited for.
const USUAL_WAIT: Duration = Duration::from_secs(1);

/// Of this process; where they are pipes or terminals opened once more, non-blocking for this process alone.
static REOPENED: LazyLock<[Option<OwnedFd>; 2]> = LazyLock::new(|| {
    [stdio::stdout(), stdio::stderr()].map(|stream| {
        let kind = FileType::from_raw_mode(fstat(stream).ok()?.st_mode);
        let may_block = matches!(kind, FileType::Fifo | FileType::CharacterDevice);
        may_block.then(|| reopened(stream)).flatten()
    })
});

#[cfg(target_os = "linux")]
fn reopened(stream: BorrowedFd<'_>) -> Option<OwnedFd> {
    use std::os::fd::AsRawFd as _;

    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let path = format!("/proc/self/fd/{}", stream.as_raw_fd());
    let mut options = OpenOptions::new();
    options
        .write(true)
        .custom_flags(i32::from_ne_bytes(flags.bits().to_ne_bytes()));
    options.open(path).ok().map(OwnedFd::from)
}

#[cfg(not(target_os = "linux"))]
const fn reopened(_: BorrowedFd<'_>) -> Option<OwnedFd> {
    None
}

/// Writes some bytes to stdout or stderr; 0 when it takes nothing within `wait`.
pub(super) fn write_some(is_stdout: bool, bytes: &[u8], wait: Duration) -> io::Result<usize> {
    let [out, err] = &*REOPENED;
    let (own, inherited) = if is_stdout {
        (out, stdio::stdout())
    } else {
        (err, stdio::stderr())
    };
    if let Some(own) = own {
        return write_to(own.as_fd(), &bytes[..bytes.len().min(MOST)], wait);
    }
    if !is_writable(inherited, wait)? {
        return Ok(0);
    }
    write_to(inherited, &bytes[..bytes.len().min(PIPE_BUF)], wait)
}

/// The same for a descriptor that does not block.
fn write_to(fd: BorrowedFd<'_>, bytes: &[u8], wait: Duration) -> io::Result<usize> {
    loop {
        match rustix::io::write(fd, bytes) {
            Ok(0) if !bytes.is_empty() => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => return Ok(count),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                if wait.is_zero() || !is_writable(fd, wait)? {
                    return Ok(0);
                }
            }
            Err(errno) => return Err(errno.into()),
        }
    }
}

fn is_writable(fd: BorrowedFd<'_>, wait: Duration) -> io::Result<bool> {
    let mut polled = [PollFd::new(&fd, PollFlags::OUT)];
    let wait = wait.try_into().map_err(io::Error::other)?;
    match poll(&mut polled, Some(&wait)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// A pipe with a name, as by `mkfifo` or `>(gzip >games.gz)`, open for writing. Opening and writing one may take for ever,
/// and a signal ends both, with [`Unread`].
#[derive(Debug)]
pub(in crate::cli) struct Pipe(OwnedFd);

impl Pipe {
    /// Whether there is a pipe at this path.
    pub(in crate::cli) fn is_at(path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|meta| meta.file_type().is_fifo())
    }

    /// Opens it, which needs a reader.
    pub(in crate::cli) fn open(path: &Path) -> io::Result<Self> {
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
        let mut options = OpenOptions::new();
        options
            .write(true)
            .custom_flags(i32::from_ne_bytes(flags.to_ne_bytes()));
        let begun = Instant::now();
        let mut is_said = false;
        loop {
            match options.open(path) {
                Err(error) if Errno::from_io_error(&error) == Some(Errno::NXIO) => {}
                opened => return Ok(Self(opened?.into())),
            }
            if signals::since_first().is_some() {
                return Err(Unread.into());
            }
            if !is_said && begun.elapsed() >= USUAL_WAIT {
                print_stderr(&format!(
                    "referee: waiting for a reader of {}",
                    path.display()
                ));
                is_said = true;
            }
            thread::sleep(LOOK);
        }
    }

    pub(in crate::cli) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        let mut stuck = Instant::now();
        while !rest.is_empty() {
            let count = write_to(self.0.as_fd(), &rest[..rest.len().min(MOST)], LOOK)?;
            rest = &rest[count..];
            if count > 0 {
                stuck = Instant::now();
            } else if signals::since_first().is_some() && stuck.elapsed() >= LAST_READ {
                return Err(Unread.into());
            }
        }
        Ok(())
    }
}
