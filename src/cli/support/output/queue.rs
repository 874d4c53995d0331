//! A queue between this program and a stream that perhaps nobody reads. A thread of its own writes, so
//! that whoever fills the queue goes on at once, and can be ended by a signal while the stream is stuck.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::timeout;

use super::Kind;
use super::platform::{Streams, WriteError, write_at_once, write_some};
use crate::log_target::OUTPUT;
use crate::text::grouped;

/// Who takes nothing for so long does not read.
const UNREAD: Duration = Duration::from_millis(250);

/// The most that waits for people, in bytes.
const MOST_FOR_PEOPLE: u64 = 8 << 20;

/// The most that waits once a bot's lines are among it: a bot that floods its stderr leaves room for what
/// the referee says.
const MOST_WITH_BOTS: u64 = 4 << 20;

/// Text that goes the same way is put together up to this size.
const CHUNK: usize = 64 * 1024;

/// Text is gathered for this long before it is written, unless somebody waits for it: with quick bots a
/// thread would have to be woken for every turn otherwise.
const GATHERED: Duration = Duration::from_millis(2);

/// How often a thread that waits looks whether it should go on waiting.
const LOOK: Duration = Duration::from_millis(20);

/// A queue and its thread, which starts with the first text. Clones share them.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Queue(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    streams: Streams,
    state: Mutex<State>,
    /// Wakes the thread that writes.
    filled: Condvar,
    /// Wakes those that wait for it: threads, and tasks.
    moved: Condvar,
    moved_for_tasks: Notify,
}

#[derive(Debug)]
struct Chunk {
    kind: Kind,
    bytes: Vec<u8>,
}

/// Positions are counts of bytes since the queue was made.
#[derive(Debug)]
struct State {
    chunks: VecDeque<Chunk>,
    pushed: u64,
    /// The end of the last result.
    results_end: u64,
    /// Up to where text is written, or given up.
    done: u64,
    /// When something was last written, or pushed to an empty queue.
    moved: Instant,
    dropped_lines: u64,
    /// Whether it has been logged that nobody reads.
    is_unread_logged: bool,
    /// Why results can no longer be written.
    failure: Option<WriteError>,
    thread: Writing,
    /// Whether somebody waits for what has been pushed.
    is_urgent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    NotStarted,
    /// It waits for text.
    Idle,
    /// It lets more text come.
    Gathering,
    Busy,
    /// There can be no thread: who pushes text writes it.
    Here,
}

impl State {
    /// Whether text waits for a stream that nobody reads.
    fn is_unread(&self) -> bool {
        self.done < self.pushed && self.moved.elapsed() >= UNREAD
    }

    /// Whether text cannot be written any more.
    fn is_lost(&self, chunk: &Chunk) -> bool {
        chunk.kind == Kind::Results && self.failure.is_some()
    }

    /// Notes that text was written, or, after an error, is given up; returns how much of these `rest`
    /// bytes is dealt with.
    fn written(&mut self, chunk: &Chunk, written: Result<usize, WriteError>, rest: usize) -> usize {
        let count = written.unwrap_or_else(|errno| {
            if chunk.kind == Kind::Results {
                self.failure = Some(errno);
            }
            rest
        });
        self.done += count as u64;
        self.moved = Instant::now();
        count
    }

    fn result(&self) -> io::Result<()> {
        self.failure.map_or(Ok(()), |errno| Err(errno.into()))
    }

    fn add(&mut self, kind: Kind, bytes: &[u8]) {
        self.pushed += bytes.len() as u64;
        if kind == Kind::Results {
            self.results_end = self.pushed;
        }
        match self.chunks.back_mut() {
            Some(last) if last.kind == kind && last.bytes.len() < CHUNK => {
                last.bytes.extend_from_slice(bytes);
            }
            _ => self.chunks.push_back(Chunk {
                kind,
                bytes: bytes.to_vec(),
            }),
        }
    }

    /// Says how many lines are missing here, if any are.
    fn add_notice(&mut self) {
        let notice = match std::mem::take(&mut self.dropped_lines) {
            0 => return,
            1 => "referee: 1 line was not shown, since the terminal did not read it\n".to_owned(),
            lines => format!(
                "referee: {} lines were not shown, since the terminal did not read them\n",
                grouped(lines)
            ),
        };
        self.add(Kind::Notes, notice.as_bytes());
    }
}

/// How far a queue must be written before the next game begins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    results: u64,
    all: u64,
}

impl Queue {
    /// A queue for standard output, standard error, or both.
    pub(super) fn standard() -> Self {
        Self::new(Streams::Standard)
    }

    /// A queue for these streams.
    pub(super) fn new(streams: Streams) -> Self {
        Self(Arc::new(Shared {
            streams,
            state: Mutex::new(State {
                chunks: VecDeque::new(),
                pushed: 0,
                results_end: 0,
                done: 0,
                moved: Instant::now(),
                dropped_lines: 0,
                is_unread_logged: false,
                failure: None,
                thread: Writing::NotStarted,
                is_urgent: false,
            }),
            filled: Condvar::new(),
            moved: Condvar::new(),
            moved_for_tasks: Notify::new(),
        }))
    }

    /// Adds text, without waiting. The error is that of an earlier write: results that cannot be
    /// written are reported, text for people is not.
    pub(super) fn push(&self, kind: Kind, bytes: &[u8]) -> io::Result<()> {
        self.log_reader();
        let mut state = self.0.lock();
        if kind == Kind::Results {
            state.result()?;
        }
        let waiting = state.pushed - state.done;
        let most = match kind {
            Kind::Results => u64::MAX,
            Kind::Notes => MOST_FOR_PEOPLE,
            Kind::BotLines => MOST_WITH_BOTS,
        };
        if waiting + bytes.len() as u64 > most {
            state.dropped_lines += bytes.split_inclusive(|&byte| byte == b'\n').count() as u64;
            return Ok(());
        }
        if waiting == 0 {
            state.moved = Instant::now();
        }
        state.add_notice();
        state.add(kind, bytes);
        match state.thread {
            Writing::Gathering | Writing::Busy | Writing::Here => {}
            Writing::Idle => self.0.filled.notify_one(),
            Writing::NotStarted => {
                let shared = Arc::clone(&self.0);
                let writer = thread::Builder::new().name("output".to_owned());
                state.thread = match writer.spawn(move || shared.write_for_ever()) {
                    // On a busy machine it may not run for a while.
                    Ok(_) => Writing::Gathering,
                    Err(_) => Writing::Here,
                };
            }
        }
        if state.thread == Writing::Here {
            while let Some(chunk) = state.chunks.pop_front() {
                state = self.0.write(state, &chunk);
            }
        }
        if kind == Kind::Results {
            state.result()?;
        }
        Ok(())
    }

    /// Logs that nobody reads, and that somebody reads again. The log may be printed, by this queue.
    fn log_reader(&self) {
        let mut state = self.0.lock();
        let is_unread = state.is_unread();
        if is_unread == state.is_unread_logged {
            return;
        }
        state.is_unread_logged = is_unread;
        let waiting_bytes = state.pushed - state.done;
        drop(state);
        if is_unread {
            tracing::info!(target: OUTPUT, waiting_bytes, "nobody reads what is printed");
        } else {
            tracing::info!(target: OUTPUT, waiting_bytes, "somebody reads again");
        }
    }

    /// How many bytes of results wait.
    pub(super) fn unwritten(&self) -> u64 {
        let state = self.0.lock();
        state.results_end.saturating_sub(state.done)
    }

    /// Whether text waits and nobody reads it.
    pub(super) fn is_unread(&self) -> bool {
        self.0.lock().is_unread()
    }

    /// Writes here what takes no waiting: on a busy machine, waking the thread takes longer than a quick
    /// game. The thread writes the rest.
    pub(super) fn write_at_once(&self) {
        let mut state = self.0.lock();
        while matches!(state.thread, Writing::Idle | Writing::Gathering)
            && let Some(mut chunk) = state.chunks.pop_front()
        {
            let stream = self.0.streams.of(chunk.kind);
            let at_once = if state.is_lost(&chunk) {
                Some(Ok(chunk.bytes.len()))
            } else {
                write_at_once(stream, &chunk.bytes)
            };
            let Some(written) = at_once else {
                state.chunks.push_front(chunk);
                break;
            };
            let count = state.written(&chunk, written, chunk.bytes.len());
            if count < chunk.bytes.len() {
                chunk.bytes.drain(..count);
                state.chunks.push_front(chunk);
            }
        }
        self.0.moved.notify_all();
        self.0.moved_for_tasks.notify_waiters();
    }

    /// The end of what has been pushed so far, which is written at once.
    pub(super) fn mark(&self) -> Mark {
        let mut state = self.0.lock();
        self.0.urge(&mut state);
        Mark {
            results: state.results_end,
            all: state.pushed,
        }
    }

    /// Waits until all up to `mark` has been written; text for people only as long as somebody reads it.
    /// The error is that of a write.
    pub(super) async fn reached(&self, mark: Mark) -> io::Result<()> {
        loop {
            let mut moved = std::pin::pin!(self.0.moved_for_tasks.notified());
            moved.as_mut().enable();
            {
                let state = self.0.lock();
                state.result()?;
                let for_people = state.done < mark.all && !state.is_unread();
                if state.done >= mark.results && !for_people {
                    return Ok(());
                }
            }
            // A stream becomes unread by the mere passing of time.
            let _ = timeout(UNREAD, moved).await;
        }
    }

    /// Blocks this thread until at most `room` bytes of results wait, or, with 0, none; at most while
    /// `goes_on` says so, which is given the time since something was last written. Returns whether
    /// it came so far.
    pub(super) fn wait_for_results(
        &self,
        room: u64,
        goes_on: impl Fn(Duration) -> bool,
    ) -> io::Result<bool> {
        let is_enough = |state: &State| state.results_end.saturating_sub(state.done) <= room;
        let is_done = self.wait(is_enough, goes_on);
        self.0.lock().result()?;
        Ok(is_done)
    }

    /// The same until all has been written.
    pub(super) fn wait_for_all(&self, goes_on: impl Fn(Duration) -> bool) {
        let is_enough = |state: &State| state.done == state.pushed && state.dropped_lines == 0;
        self.wait(is_enough, goes_on);
    }

    fn wait(&self, is_enough: impl Fn(&State) -> bool, goes_on: impl Fn(Duration) -> bool) -> bool {
        let mut state = self.0.lock();
        self.0.urge(&mut state);
        loop {
            if is_enough(&state) || state.thread == Writing::Here {
                return true;
            }
            if !goes_on(state.moved.elapsed()) {
                return false;
            }
            let waited = self.0.moved.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has what waits written at once.
    fn urge(&self, state: &mut State) {
        if state.done < state.pushed && !state.is_urgent {
            state.is_urgent = true;
            self.filled.notify_one();
        }
    }

    /// The thread. It ends with the program, in the middle of a write if need be.
    fn write_for_ever(&self) {
        let mut state = self.lock();
        loop {
            while let Some(chunk) = state.chunks.pop_front() {
                state = self.write(state, &chunk);
                if state.chunks.is_empty() {
                    state.add_notice();
                }
            }
            state.is_urgent = false;
            state = self.gather(state);
            if state.chunks.is_empty() {
                state.thread = Writing::Idle;
                let filled = self.filled.wait(state);
                state = self.gather(filled.unwrap_or_else(PoisonError::into_inner));
            }
            state.thread = Writing::Busy;
        }
    }

    /// Lets text come for a moment.
    fn gather<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        if state.is_urgent {
            return state;
        }
        state.thread = Writing::Gathering;
        let gathered = self.filled.wait_timeout(state, GATHERED);
        gathered.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Writes text, with the state unlocked meanwhile.
    fn write<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        chunk: &Chunk,
    ) -> MutexGuard<'a, State> {
        let mut rest = &chunk.bytes[..];
        let is_lost = state.is_lost(chunk);
        while !rest.is_empty() {
            let written = if is_lost {
                Ok(rest.len())
            } else {
                drop(state);
                let written = write_some(self.streams.of(chunk.kind), rest);
                state = self.lock();
                written
            };
            let count = state.written(chunk, written, rest.len());
            rest = &rest[count..];
            self.moved.notify_all();
            self.moved_for_tasks.notify_waiters();
        }
        state
    }
}
