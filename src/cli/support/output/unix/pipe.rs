//! Pipes with a name, as by `mkfifo` or `>(gzip >games.gz)`. Opening and writing one may take for ever, and a
//! signal ends both.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::stream::Streams;
use crate::cli::support::failure::Unread;
use crate::cli::support::output::queue::Queue;
use crate::cli::support::output::{Kind, patience, print_stderr};
use crate::cli::support::signals;

/// How long a reader may take to come before people are told that it is waited for.
const USUAL_WAIT: Duration = Duration::from_secs(1);

/// Time between two attempts to open a pipe.
const NEXT_TRY: Duration = Duration::from_millis(20);

/// How long a reader may take that reads.
const USUAL_READ: Duration = Duration::from_millis(20);

/// A pipe, open for writing.
#[derive(Debug)]
pub(in crate::cli) struct Pipe(Queue);

impl Pipe {
    /// Whether there is a pipe at this path.
    pub(in crate::cli) fn is_at(path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|meta| meta.file_type().is_fifo())
    }

    /// Opens it. It needs a reader, which is waited for; fails with [`Unread`] when a signal
    /// comes first.
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
                opened => return Ok(Self(Queue::new(Streams::One(opened?.into())))),
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
            thread::sleep(NEXT_TRY);
        }
    }

    /// Writes this, after all before. Goes on when the reader takes long. The error is that of this
    /// write or of an earlier one.
    pub(in crate::cli) fn push(&self, bytes: &[u8]) -> io::Result<()> {
        self.0.push(Kind::Results, bytes)?;
        let is_soon = |standstill| standstill < USUAL_READ;
        self.0.wait_for_results(0, is_soon).map(|_| ())
    }

    /// Waits until all has been written.
    pub(in crate::cli) async fn written(&self) -> io::Result<()> {
        self.0.reached(self.0.mark()).await
    }

    /// The same, on this thread; fails with [`Unread`] when a signal comes first.
    pub(in crate::cli) fn wait(&self) -> io::Result<()> {
        if self.0.wait_for_results(0, patience())? {
            Ok(())
        } else {
            Err(Unread.into())
        }
    }
}
