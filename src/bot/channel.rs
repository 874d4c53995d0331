//! One line out, one line back, before a deadline, over any pair of streams.
//!
//! Memory is bounded whatever the other side writes: a line has a cap, and whatever is
//! written beyond one line is an error. There is one deadline for an exchange, set once; no
//! byte that arrives moves it. An exchange without errors needs one write and one read of the
//! kernel, and allocates nothing.

use std::future::poll_fn;
use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::protocol::MAX_LINE_BYTES;

/// The buffer: a line of the longest length and its newline.
const BUFFER: usize = MAX_LINE_BYTES + 1;

/// How much of output that was not asked for is kept, to quote it.
const EARLY: usize = 256;

/// How much is read at once of a program that answers many questions.
const FED: usize = 1 << 16;

/// How an exchange failed, as far as the streams show it.
#[derive(Debug, PartialEq, Eq)]
pub enum ExchangeError {
    /// It wrote before it was asked.
    Early {
        /// The answer before, empty at the start.
        previous: Vec<u8>,
        /// What it wrote.
        output: Vec<u8>,
    },
    /// There was more than one line.
    Extra {
        /// The first line.
        first: Vec<u8>,
        /// What followed it, at most one buffer.
        rest: Vec<u8>,
    },
    /// The deadline passed.
    Timeout {
        /// What had arrived by then: nothing, or the beginning of a line.
        partial: Vec<u8>,
    },
    /// A whole line arrived, but after the deadline: see [`Channel::line`].
    Late(Exchange),
    /// More bytes without a newline than a line may have.
    TooLong {
        /// The beginning.
        start: Vec<u8>,
    },
    /// Its output ended.
    Eof {
        /// The beginning of a line, if any.
        partial: Vec<u8>,
    },
    /// It no longer reads: the write failed with a broken pipe.
    InputClosed,
}

/// A line-by-line conversation over two streams.
#[derive(Debug)]
pub struct Channel<R, W> {
    reader: R,
    writer: Option<W>,
    buffer: Box<[u8; BUFFER]>,
    /// Length of the latest answer, which lies in the buffer until the next one is read.
    previous: usize,
    /// The answer before the latest, to recognise a line that was sent twice.
    before: Box<[u8; BUFFER]>,
    before_length: usize,
    /// Bytes of the current answer in the buffer.
    filled: usize,
    /// Bytes of the current request that have been written.
    written: usize,
    /// Fires at or before the deadline. It is only set again when it has fired, or
    /// when the deadline moved before it: quick answers never touch it.
    timer: Pin<Box<Sleep>>,
}

/// An answer from the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Length of the line that [`Channel::line`] now gives.
    pub length: usize,
    /// From just before the write until the line was read.
    pub elapsed: Duration,
}

impl<R, W> Channel<R, W>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    /// A channel that reads answers from `reader` and writes requests to `writer`.
    ///
    /// Must be called within a tokio runtime that has a timer.
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
            timer: Box::pin(sleep_until(Instant::now())),
        }
    }

    /// The last answer, without its newline.
    pub fn line(&self, exchange: Exchange) -> &[u8] {
        &self.buffer[..exchange.length]
    }

    /// The answer before the latest one, without its newline; empty when there was none.
    pub fn answer_before(&self) -> &[u8] {
        &self.before[..self.before_length]
    }

    /// Whether the latest answer is the same line as the answer before it.
    pub fn repeats(&self) -> bool {
        self.before_length > 0 && self.buffer[..self.previous] == *self.answer_before()
    }

    /// The beginning of an answer that has not been completed.
    pub fn partial(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }

    /// The stream to the other side, until it is closed.
    pub fn writer(&self) -> Option<&W> {
        self.writer.as_ref()
    }

    /// Ends the other side's input.
    pub fn close_writer(&mut self) {
        self.writer = None;
    }

    /// Writes a request and reads one line, within `limit` altogether.
    ///
    /// The outer error is a failure of the referee's own side of the streams, the inner one a fault
    /// of the other side.
    pub async fn exchange(
        &mut self,
        request: &[u8],
        limit: Duration,
    ) -> io::Result<Result<Exchange, ExchangeError>> {
        self.exchange_from(Instant::now(), request, limit).await
    }

    /// As [`Channel::exchange`], with the time `asked` that has just been read from the clock.
    pub async fn exchange_from(
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
        self.exchange_on(asked, request, limit).await
    }

    /// Goes on with an exchange that ended in [`ExchangeError::Timeout`], as if its limit had been
    /// this one.
    pub async fn exchange_on(
        &mut self,
        asked: Instant,
        request: &[u8],
        limit: Duration,
    ) -> io::Result<Result<Exchange, ExchangeError>> {
        // A limit too large to be added to a clock is none.
        let deadline = asked.checked_add(limit);
        if let Some(deadline) = deadline
            && (self.timer.is_elapsed() || self.timer.deadline() > deadline)
        {
            self.timer.as_mut().reset(deadline);
        }
        poll_fn(|cx| {
            // What has arrived is read before the clock is.
            match self.poll_exchange(cx, request) {
                Poll::Ready(Ok(Ok(length))) => {
                    // The one decision about time: when the line had been read.
                    let elapsed = Instant::now() - asked;
                    let exchange = Exchange { length, elapsed };
                    if elapsed > limit {
                        return Poll::Ready(Ok(Err(ExchangeError::Late(exchange))));
                    }
                    return Poll::Ready(Ok(Ok(exchange)));
                }
                Poll::Ready(Ok(Err(error))) => return Poll::Ready(Ok(Err(error))),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {}
            }
            let Some(deadline) = deadline else {
                return Poll::Pending;
            };
            ready!(self.poll_deadline(cx, deadline));
            let partial = self.buffer[..self.filled].to_vec();
            Poll::Ready(Ok(Err(ExchangeError::Timeout { partial })))
        })
        .await
    }

    /// Reads on for at most `wait`, to the end of a line, of the stream or of the buffer: the
    /// bytes. For finding out more about a fault.
    pub async fn drain(&mut self, wait: Duration) -> Vec<u8> {
        let deadline = Instant::now() + wait;
        let mut bytes = vec![0; BUFFER];
        let mut length = 0;
        self.timer.as_mut().reset(deadline);
        poll_fn(|cx| {
            while length < bytes.len() {
                let mut target = ReadBuf::new(&mut bytes[length..]);
                match Pin::new(&mut self.reader).poll_read(cx, &mut target) {
                    Poll::Ready(Ok(())) if !target.filled().is_empty() => {
                        let end = target.filled().contains(&b'\n');
                        length += target.filled().len();
                        if end {
                            return Poll::Ready(());
                        }
                    }
                    Poll::Ready(_) => return Poll::Ready(()),
                    Poll::Pending => return self.poll_deadline(cx, deadline),
                }
            }
            Poll::Ready(())
        })
        .await;
        bytes.truncate(length);
        bytes
    }

    /// Writes on, which is no question, until the other side writes something or this time is over: the
    /// bytes that it took, and what it wrote. For finding out more about a fault.
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
            match Pin::new(&mut self.reader).poll_read(cx, &mut target) {
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

    /// Output that arrived although nothing was asked. Never waits.
    fn poll_early(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<ExchangeError>>> {
        let mut early = [0; EARLY];
        let mut target = ReadBuf::new(&mut early);
        match Pin::new(&mut self.reader).poll_read(cx, &mut target) {
            Poll::Pending => Poll::Ready(Ok(None)),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Ready(Ok(())) if target.filled().is_empty() => {
                let partial = Vec::new();
                Poll::Ready(Ok(Some(ExchangeError::Eof { partial })))
            }
            Poll::Ready(Ok(())) => Poll::Ready(Ok(Some(ExchangeError::Early {
                previous: self.buffer[..self.previous].to_vec(),
                output: target.filled().to_vec(),
            }))),
        }
    }

    /// Is ready at the deadline, not when the lazily set timer fires.
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
        loop {
            let mut target = ReadBuf::new(&mut self.buffer[self.filled..]);
            match ready!(Pin::new(&mut self.reader).poll_read(cx, &mut target)) {
                Ok(()) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
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
                    return Poll::Ready(Ok(Err(ExchangeError::TooLong { start })));
                }
                continue;
            };
            let end = newline + 1;
            let more = new.len() > end;
            let length = self.filled + newline;
            self.filled += new.len();
            if more {
                return Poll::Ready(Ok(Err(ExchangeError::Extra {
                    first: self.buffer[..length].to_vec(),
                    rest: self.buffer[length + 1..self.filled].to_vec(),
                })));
            }
            self.previous = length;
            return Poll::Ready(Ok(Ok(length)));
        }
    }
}
