//! Streams on Windows.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

/// The most of one write: its end shows that somebody reads.
const MOST: usize = 16 * 1024;

/// Writes some bytes; waits for as long as it takes. A console gets them as characters, which is what the standard
/// library's streams are for.
pub(super) fn write_some(is_stdout: bool, bytes: &[u8], _: Duration) -> io::Result<usize> {
    let bytes = &bytes[..bytes.len().min(MOST)];
    if is_stdout {
        let mut stream = io::stdout().lock();
        stream.write_all(bytes).and_then(|()| stream.flush())?;
    } else {
        io::stderr().lock().write_all(bytes)?;
    }
    Ok(bytes.len())
}

/// Pipes in the file system: none exist.
#[derive(Debug)]
pub(in crate::cli) enum Pipe {}

impl Pipe {
    pub(in crate::cli) const fn is_at(_: &Path) -> bool {
        false
    }

    pub(in crate::cli) fn open(_: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in crate::cli) const fn write(&self, _: &[u8]) -> io::Result<()> {
        match *self {}
    }
}
