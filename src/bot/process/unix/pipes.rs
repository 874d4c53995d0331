//! The pipes of a bot that shares one CPU with the referee.
//!
//! On a single CPU an asked bot cannot run before the referee yields. The referee yields
//! immediately, then reads: a quick bot has answered by then, and the referee need not sleep and be
//! woken.

use std::io;
use std::num::NonZero;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::thread::available_parallelism;

use rustix::io::Errno;
use rustix::thread::sched_yield;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::task::coop::poll_proceed;

/// Whether a question was written and the bot has not had the CPU since.
type Asked = Arc<AtomicBool>;

#[derive(Debug)]
pub(in crate::bot::process) struct RequestPipe {
    pipe: ChildStdin,
    asked: Option<Asked>,
}

#[derive(Debug)]
pub(in crate::bot::process) struct AnswerPipe {
    pipe: ChildStdout,
    asked: Option<Asked>,
}

pub(super) fn pipes(stdin: ChildStdin, stdout: ChildStdout) -> (RequestPipe, AnswerPipe) {
    // Read once: the number of CPUs is in files of control groups.
    static SHARED: LazyLock<bool> = LazyLock::new(|| is_shared(available_parallelism().ok()));
    let asked = SHARED.then(Asked::default);
    let requests = RequestPipe {
        pipe: stdin,
        asked: asked.clone(),
    };
    let answers = AnswerPipe {
        pipe: stdout,
        asked,
    };
    (requests, answers)
}

/// Whether the referee and its bots have only one CPU.
fn is_shared(processors: Option<NonZero<usize>>) -> bool {
    processors.is_some_and(|number| number.get() == 1)
}

impl RequestPipe {
    /// Whether the other side has unread input.
    pub(in crate::bot::process) fn has_unread(&self) -> bool {
        rustix::io::ioctl_fionread(&self.pipe).is_ok_and(|bytes| bytes > 0)
    }
}

impl AsyncWrite for RequestPipe {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.pipe).poll_write(cx, bytes));
        if let Some(asked) = &this.asked {
            asked.store(true, Ordering::Relaxed);
        }
        Poll::Ready(written)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().pipe).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().pipe).poll_shutdown(cx)
    }
}

impl AnswerPipe {
    /// Yields to the bot, and reads its answer if there is one.
    fn read_at_once(
        cx: &mut Context<'_>,
        pipe: &ChildStdout,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<bool>> {
        // Now and then the runtime needs its turn.
        let turn = ready!(poll_proceed(cx));
        sched_yield();
        match rustix::io::read(pipe, buffer.initialize_unfilled()) {
            Ok(count) => {
                turn.made_progress();
                buffer.advance(count);
                Poll::Ready(Ok(true))
            }
            Err(Errno::AGAIN | Errno::INTR) => Poll::Ready(Ok(false)),
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }
}

impl AsyncRead for AnswerPipe {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let Some(asked) = &this.asked
            && asked.load(Ordering::Relaxed)
        {
            let read = ready!(Self::read_at_once(cx, &this.pipe, buffer))?;
            asked.store(false, Ordering::Relaxed);
            if read {
                return Poll::Ready(Ok(()));
            }
        }
        Pin::new(&mut this.pipe).poll_read(cx, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_processor_is_shared() {
        assert!(is_shared(NonZero::new(1)));
        assert!(!is_shared(NonZero::new(2)));
        assert!(!is_shared(None));
    }
}
