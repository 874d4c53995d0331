//! Streams on Windows.

use std::io::{self, Write as _};
use std::path::Path;

use super::Kind;

/// The most that is written at once: the end of each write shows that somebody reads.
const WRITE: usize = 16 * 1024;

/// Where text goes: results to standard output, everything else to standard error.
#[derive(Debug)]
pub(super) enum Streams {
    Standard,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stream {
    Output,
    Error,
}

/// Why text could not be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteError(Option<i32>, io::ErrorKind);

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self(error.raw_os_error(), error.kind())
    }
}

impl From<WriteError> for io::Error {
    fn from(WriteError(code, kind): WriteError) -> Self {
        code.map_or_else(|| kind.into(), Self::from_raw_os_error)
    }
}

impl Streams {
    #[expect(clippy::unused_self, reason = "as on other systems")]
    pub(super) const fn of(&self, kind: Kind) -> Stream {
        match kind {
            Kind::Results => Stream::Output,
            Kind::Notes | Kind::BotLines => Stream::Error,
        }
    }
}

/// Writes some bytes; waits for as long as it takes. A console gets them as characters, which is what the
/// standard library's streams are for.
pub(super) fn write_some(stream: Stream, bytes: &[u8]) -> Result<usize, WriteError> {
    let bytes = &bytes[..bytes.len().min(WRITE)];
    let written = match stream {
        Stream::Output => {
            let mut stream = io::stdout().lock();
            stream.write_all(bytes).and_then(|()| stream.flush())
        }
        Stream::Error => io::stderr().lock().write_all(bytes),
    };
    written?;
    Ok(bytes.len())
}

/// What a stream takes at once is not known.
pub(super) const fn write_at_once(_: Stream, _: &[u8]) -> Option<Result<usize, WriteError>> {
    None
}

/// Pipes in the file system: none exist.
#[derive(Debug)]
pub(in crate::cli) enum Pipe {}

impl Pipe {
    pub(in crate::cli) const fn is_at(_: &Path) -> bool {
        false
    }

    /// Never called.
    pub(in crate::cli) fn open(_: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in crate::cli) const fn push(&self, _: &[u8]) -> io::Result<()> {
        match *self {}
    }

    #[expect(clippy::unused_async, reason = "its counterpart waits")]
    pub(in crate::cli) async fn written(&self) -> io::Result<()> {
        match *self {}
    }

    pub(in crate::cli) const fn wait(&self) -> io::Result<()> {
        match *self {}
    }
}
