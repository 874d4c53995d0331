//! The pipes of a bot: named ones, since no others can be waited for together with a clock.

use std::fs::{File, OpenOptions};
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::process::{Stdio, id};
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::windows::named_pipe::{NamedPipeServer, PipeMode, ServerOptions};
use tokio::process::Command;

/// Room for what a bot writes that is not read at once.
const ROOM: u32 = 64 * 1024;

/// What a bot reads requests from.
#[derive(Debug)]
pub(in crate::bot::process) struct RequestPipe(NamedPipeServer);

/// What a bot writes answers to.
#[derive(Debug)]
pub(in crate::bot::process) struct AnswerPipe(NamedPipeServer);

/// What a bot writes beside.
pub(in crate::bot::process) type ErrorPipe = AnswerPipe;

impl RequestPipe {
    /// A pipe that becomes the standard input of a command.
    pub(super) fn new(command: &mut Command) -> io::Result<Self> {
        let (server, end) = pipe(false)?;
        command.stdin(Stdio::from(end));
        Ok(Self(server))
    }

    /// Whether the other side has not read all that was written: not known.
    #[expect(clippy::unused_self, reason = "as on other systems")]
    pub(in crate::bot::process) const fn has_unread(&self) -> bool {
        false
    }
}

impl AnswerPipe {
    /// A pipe whose other end is given away.
    pub(super) fn new<T>(give: impl FnOnce(Stdio) -> T) -> io::Result<Self> {
        let (server, end) = pipe(true)?;
        give(Stdio::from(end));
        Ok(Self(server))
    }
}

/// The referee's end of a new pipe, and the bot's, to which the bot `writes`, or from which it reads.
fn pipe(writes: bool) -> io::Result<(NamedPipeServer, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let serial = NEXT.fetch_add(1, Ordering::Relaxed);
    // If somebody else has made one of this name, making another is an error; and nobody can open it
    // once the bot's end is open.
    let name = format!(r"\\.\pipe\referee-{}-{serial}", id());
    let server = ServerOptions::new()
        .first_pipe_instance(true)
        .max_instances(1)
        .access_inbound(writes)
        .access_outbound(!writes)
        .pipe_mode(PipeMode::Byte)
        .in_buffer_size(ROOM)
        .out_buffer_size(ROOM)
        .create(&name)?;
    let end = OpenOptions::new().read(!writes).write(writes).open(&name)?;
    // It is connected, so that this is ready at once.
    let connected = pin!(server.connect()).poll(&mut Context::from_waker(Waker::noop()));
    match connected {
        Poll::Ready(connected) => connected?,
        Poll::Pending => {
            return Err(io::Error::other(
                "the pipe of a new process is not connected",
            ));
        }
    }
    Ok((server, end))
}

/// The other side has ended, in one of the ways in which this system says so.
fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

impl AsyncWrite for RequestPipe {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().0).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().0).poll_shutdown(cx)
    }
}

impl AsyncRead for AnswerPipe {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.get_mut().0).poll_read(cx, buffer) {
            // The end of a stream, as elsewhere.
            Poll::Ready(Err(error)) if is_closed(&error) => Poll::Ready(Ok(())),
            result => result,
        }
    }
}
