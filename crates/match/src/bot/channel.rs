//! One line out, one line back, before a deadline, over any pair of streams.
//!
//! Memory is bounded: a line has a cap, and anything beyond one line is an error. An exchange has
//! one deadline, which no arriving byte moves. Without errors it takes one write and one read, and
//! allocates nothing.

use std::future::poll_fn;
use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::yield_now;
use tokio::time::{Instant, Sleep, sleep_until};

use super::fault::Fault;
use crate::protocol::MAX_LINE_BYTES;

const BUFFER: usize = MAX_LINE_BYTES + 1;

/// How much unasked output is kept, to quote it.
const EARLY: usize = 256;

/// Read size for a program that answers many questions.
const FED: usize = 1 << 16;

#[derive(Debug, PartialEq, Eq)]
pub enum ExchangeError {
    /// More than one line, or more bytes without a newline than a line may have.
    Fault(Fault),
    Timeout {
        /// What had arrived: nothing, or the start of a line.
        partial: Vec<u8>,
    },
    /// A whole line, after the deadline: see [`Channel::line`].
    Late(Exchange),
    Eof {
        partial: Vec<u8>,
    },
    InputClosed,
}

#[derive(Debug)]
pub struct Channel<R, W> {
    reader: R,
    writer: Option<W>,
    buffer: Box<[u8; BUFFER]>,
    /// Length of the last answer, which is in the buffer until the next is read.
    previous: usize,
    /// The last answer but one, to recognise a line sent twice.
    before: Box<[u8; BUFFER]>,
    before_length: usize,
    /// Bytes of the current answer in the buffer.
    filled: usize,
    written: usize,
    /// When the whole request had been written.
    sent: Option<Instant>,
    /// Fires at or before the deadline. Only set again when it has fired, or the deadline moved
    /// before it: quick answers never touch it.
    timer: Pin<Box<Sleep>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Length of the line that [`Channel::line`] gives.
    pub length: usize,
    /// From just before the write until the line was read.
    pub elapsed: Duration,
}

impl<R, W> Channel<R, W>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    /// Must be called within a tokio runtime with a timer.
    pub fn new(reader: R, writer: W) -> Self {
        Self {
            reader,
            writer: Some(writer),
            buffer: Box::new([0; BUFFER]),
            previous: 0,
            before: Box::new([0; BUFFER]),
            before_length: 0,
            filled: 0,
            written: 0,
            sent: None,
            timer: Box::pin(sleep_until(Instant::now())),
        }
    }

    /// The last answer, without its newline.
    pub fn line(&self, exchange: Exchange) -> &[u8] {
        &self.buffer[..exchange.length]
    }

    /// The last answer but one, without its newline; empty when there was none.
    pub fn answer_before(&self) -> &[u8] {
        &self.before[..self.before_length]
    }

    pub fn repeats(&self) -> bool {
        self.before_length > 0 && self.buffer[..self.previous] == *self.answer_before()
    }

    pub fn partial(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }

    /// How long after `asked` the last request had been written. On a busy machine the referee may be kept from the CPU between
    /// its look at the clock and the write: the other side waits then, for nothing that is its fault.
    pub fn sent_after(&self, asked: Instant) -> Duration {
        self.sent
            .map_or(Duration::ZERO, |sent| sent.saturating_duration_since(asked))
    }

    /// The input of the other side, until it is closed.
    pub fn writer(&self) -> Option<&W> {
        self.writer.as_ref()
    }

    pub fn close_writer(&mut self) {
        self.writer = None;
    }

    /// Writes a request and reads one line, within `limit` altogether from `asked`, which has just
    /// been read from the clock.
    ///
    /// The outer error is the referee's own, the inner one the other side's fault.
    pub async fn exchange(
        &mut self,
        asked: Instant,
        request: &[u8],
        limit: Duration,
    ) -> io::Result<Result<Exchange, ExchangeError>> {
        if let Some(error) = poll_fn(|cx| self.poll_early(cx)).await? {
            return Ok(Err(error));
        }
        mem::swap(&mut self.buffer, &mut self.before);
        self.before_length = self.previous;
        self.filled = 0;
        self.previous = 0;
        self.written = 0;
        self.sent = None;
        self.exchange_on(asked, request, limit).await
    }

    /// Continues an exchange that ended in [`ExchangeError::Timeout`], with this limit.
    pub async fn exchange_on(
        &mut self,
        asked: Instant,
        request: &[u8],
        limit: Duration,
    ) -> io::Result<Result<Exchange, ExchangeError>> {
        // Too large for the clock: no limit.
        let deadline = asked.checked_add(limit);
        if let Some(deadline) = deadline
            && (self.timer.is_elapsed() || self.timer.deadline() > deadline)
        {
            self.timer.as_mut().reset(deadline);
        }
        let exchanged: Result<Exchange, ExchangeError> = poll_fn(|cx| {
            // What has arrived is read before the clock is.
            if let Poll::Ready(read) = self.poll_exchange(cx, request)? {
                return Poll::Ready(io::Result::Ok(
                    read.and_then(|length| judged(length, asked, limit)),
                ));
            }
            let Some(deadline) = deadline else {
                return Poll::Pending;
            };
            ready!(self.poll_deadline(cx, deadline));
            let partial = self.buffer[..self.filled].to_vec();
            Poll::Ready(Ok(Err(ExchangeError::Timeout { partial })))
        })
        .await?;
        if !matches!(exchanged, Err(ExchangeError::Timeout { .. })) {
            return Ok(exchanged);
        }
        // The runtime looks at its pipes before it runs tasks. If this thread was kept from running in between, an answer
        // may be in a pipe that counts as empty: the runtime has to look once more.
        yield_now().await;
        poll_fn(|cx| {
            Poll::Ready(match self.poll_exchange(cx, request)? {
                Poll::Ready(read) => Ok(read.and_then(|length| judged(length, asked, limit))),
                Poll::Pending => {
                    let partial = self.buffer[..self.filled].to_vec();
                    Ok(Err(ExchangeError::Timeout { partial }))
                }
            })
        })
        .await
    }

    /// Reads on for at most `wait`, up to the end of a line, the stream or the buffer. To explain a
    /// fault.
    pub async fn drain(&mut self, wait: Duration) -> Vec<u8> {
        let deadline = Instant::now() + wait;
        let mut bytes = Vec::new();
        while bytes.len() < BUFFER && !bytes.contains(&b'\n') {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.feed(&[], left).await.1 {
                more if more.is_empty() => break,
                more => bytes.extend(more),
            }
        }
        bytes.truncate(BUFFER);
        bytes
    }

    /// Writes `bytes`, which are not a question, until there is output or `wait` is over: how many
    /// were taken, and the output. To explain a fault.
    pub async fn feed(&mut self, bytes: &[u8], wait: Duration) -> (usize, Vec<u8>) {
        let deadline = Instant::now() + wait;
        let mut output = vec![0; FED];
        let (mut taken, mut length) = (0, 0);
        self.timer.as_mut().reset(deadline);
        poll_fn(|cx| {
            while let Some(writer) = &mut self.writer
                && taken < bytes.len()
            {
                match Pin::new(writer).poll_write(cx, &bytes[taken..]) {
                    Poll::Ready(Ok(count)) => taken += count,
                    Poll::Ready(Err(_)) => return Poll::Ready(()),
                    Poll::Pending => break,
                }
            }
            let mut target = ReadBuf::new(&mut output);
            match read(&mut self.reader, cx, &mut target) {
                Poll::Ready(_) => {
                    length = target.filled().len();
                    Poll::Ready(())
                }
                Poll::Pending => self.poll_deadline(cx, deadline),
            }
        })
        .await;
        output.truncate(length);
        (taken, output)
    }

    /// Output that arrived unasked. Never waits.
    fn poll_early(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<ExchangeError>>> {
        let mut early = [0; EARLY];
        let mut target = ReadBuf::new(&mut early);
        if read(&mut self.reader, cx, &mut target)?.is_pending() {
            return Poll::Ready(Ok(None));
        }
        let output = target.filled().to_vec();
        Poll::Ready(Ok(Some(if output.is_empty() {
            ExchangeError::Eof { partial: output }
        } else {
            ExchangeError::Fault(Fault::ExtraOutput {
                first: self.buffer[..self.previous].to_vec(),
                second: output,
                early: true,
            })
        })))
    }

    /// Ready at the deadline, even if the lazy timer fires earlier.
    fn poll_deadline(&mut self, cx: &mut Context<'_>, deadline: Instant) -> Poll<()> {
        loop {
            ready!(self.timer.as_mut().poll(cx));
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(deadline);
        }
    }

    fn poll_exchange(
        &mut self,
        cx: &mut Context<'_>,
        request: &[u8],
    ) -> Poll<io::Result<Result<usize, ExchangeError>>> {
        while self.written < request.len() {
            let Some(writer) = &mut self.writer else {
                return Poll::Ready(Ok(Err(ExchangeError::InputClosed)));
            };
            match ready!(Pin::new(writer).poll_write(cx, &request[self.written..])) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    return Poll::Ready(Ok(Err(ExchangeError::InputClosed)));
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        self.sent.get_or_insert_with(Instant::now);
        loop {
            let mut target = ReadBuf::new(&mut self.buffer[self.filled..]);
            ready!(read(&mut self.reader, cx, &mut target))?;
            let new = target.filled();
            let Some(newline) = new.iter().position(|&byte| byte == b'\n') else {
                let count = new.len();
                self.filled += count;
                let line = &self.buffer[..self.filled];
                if count == 0 {
                    let partial = line.to_vec();
                    return Poll::Ready(Ok(Err(ExchangeError::Eof { partial })));
                }
                if self.filled == BUFFER {
                    let start = line.to_vec();
                    let fault = Fault::LineTooLong { start };
                    return Poll::Ready(Ok(Err(ExchangeError::Fault(fault))));
                }
                continue;
            };
            let end = newline + 1;
            let more = new.len() > end;
            let length = self.filled + newline;
            self.filled += new.len();
            if more {
                return Poll::Ready(Ok(Err(ExchangeError::Fault(Fault::ExtraOutput {
                    first: self.buffer[..length].to_vec(),
                    second: self.buffer[length + 1..self.filled].to_vec(),
                    early: false,
                }))));
            }
            self.previous = length;
            return Poll::Ready(Ok(Ok(length)));
        }
    }
}

/// The one decision about time: when the line had been read.
fn judged(length: usize, asked: Instant, limit: Duration) -> Result<Exchange, ExchangeError> {
    let elapsed = Instant::now() - asked;
    let exchange = Exchange { length, elapsed };
    if elapsed > limit {
        return Err(ExchangeError::Late(exchange));
    }
    Ok(exchange)
}

fn read(
    reader: &mut (impl AsyncRead + Unpin),
    cx: &mut Context<'_>,
    target: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    match Pin::new(reader).poll_read(cx, target) {
        // So Windows reports the end of a stream.
        Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => Poll::Ready(Ok(())),
        read => read,
    }
}
