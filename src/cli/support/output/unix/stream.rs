//! Where text goes, and one write to there.

#[cfg(all(target_os = "linux", not(portable)))]
use std::io::IoSlice;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use rustix::stdio;

use crate::cli::support::output::Kind;

/// Why text could not be written.
pub(in crate::cli::support::output) use rustix::io::Errno as WriteError;

/// The most that is written at once: the end of each write shows that somebody reads.
const WRITE: usize = 16 * 1024;

/// Where text goes.
#[derive(Debug)]
pub(in crate::cli::support::output) enum Streams {
    /// Results to standard output, everything else to standard error.
    Standard,
    /// All of it to one file.
    One(OwnedFd),
}

impl Streams {
    pub(in crate::cli::support::output) fn of(&self, kind: Kind) -> BorrowedFd<'_> {
        match (self, kind) {
            (Self::One(file), _) => file.as_fd(),
            (Self::Standard, Kind::Results) => stdio::stdout(),
            (Self::Standard, Kind::Notes | Kind::BotLines) => stdio::stderr(),
        }
    }
}

/// Writes some bytes; waits for as long as it takes, also for a stream that somebody has made non-blocking.
pub(in crate::cli::support::output) fn write_some(
    stream: BorrowedFd<'_>,
    bytes: &[u8],
) -> Result<usize, Errno> {
    loop {
        match rustix::io::write(stream, &bytes[..bytes.len().min(WRITE)]) {
            Ok(0) => return Err(Errno::IO),
            Ok(count) => return Ok(count),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let mut polled = [PollFd::new(&stream, PollFlags::OUT)];
                match poll(&mut polled, None) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(errno) => return Err(errno),
                }
            }
            Err(errno) => return Err(errno),
        }
    }
}

/// Writes what a stream takes at once; `None` when that is nothing, or when it is unknown. A file takes
/// everything; a pipe what fits into it, where the kernel (6.4) knows such a write; a terminal is left to
/// those that may wait.
pub(in crate::cli::support::output) fn write_at_once(
    stream: BorrowedFd<'_>,
    bytes: &[u8],
) -> Option<Result<usize, Errno>> {
    let is_file = fstat(stream).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file());
    let written = if is_file {
        write_some(stream, bytes)
    } else {
        write_what_fits(stream, bytes)
    };
    match written {
        Ok(0)
        | Err(Errno::AGAIN | Errno::INTR | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => None,
        written => Some(written),
    }
}

#[cfg(all(target_os = "linux", not(portable)))]
fn write_what_fits(stream: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Errno> {
    use rustix::io::{ReadWriteFlags, pwritev2};
    // At the stream's own position.
    pwritev2(
        stream,
        &[IoSlice::new(bytes)],
        u64::MAX,
        ReadWriteFlags::NOWAIT,
    )
}

#[cfg(any(not(target_os = "linux"), portable))]
fn write_what_fits(_: BorrowedFd<'_>, _: &[u8]) -> Result<usize, Errno> {
    Err(Errno::OPNOTSUPP)
}
