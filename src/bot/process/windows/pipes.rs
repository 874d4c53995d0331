//! The pipes of a bot: named ones, the only ones that can be waited for with a timer.

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

/// Room for unread output.
const ROOM: u32 = 64 * 1024;

#[derive(Debug)]
pub(in crate::bot::process) struct RequestPipe(NamedPipeServer);

#[derive(Debug)]
pub(in crate::bot::process) struct AnswerPipe(NamedPipeServer);

pub(in crate::bot::process) type ErrorPipe = AnswerPipe;

impl RequestPipe {
    /// Becomes the standard input of a command.
    pub(super) fn new(command: &mut Command) -> io::Result<Self> {
        let (server, end) = pipe(false)?;
        command.stdin(Stdio::from(end));
        Ok(Self(server))
    }

    /// Not known.
    #[expect(clippy::unused_self, reason = "as on other systems")]
    pub(in crate::bot::process) const fn has_unread(&self) -> bool {
        false
    }
}

impl AnswerPipe {
    pub(super) fn new<T>(give: impl FnOnce(Stdio) -> T) -> io::Result<Self> {
        let (server, end) = pipe(true)?;
        give(Stdio::from(end));
        Ok(Self(server))
    }
}

/// The referee's end of a new pipe, and the bot's, which the bot `writes` to or reads from.
fn pipe(writes: bool) -> io::Result<(NamedPipeServer, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let serial = NEXT.fetch_add(1, Ordering::Relaxed);
    // If another process made this name, creation fails; once the bot's end is open, no other can
    // open it.
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
    // It is connected: this is ready immediately.
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

/// The ways in which this system reports a closed other side.
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
            // End of stream, as elsewhere.
            Poll::Ready(Err(error)) if is_closed(&error) => Poll::Ready(Ok(())),
            result => result,
        }
    }
}
