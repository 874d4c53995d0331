//! A stream that a thread writes to.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::support::signals;
use referee::bot::exhaustion::start_thread;
use referee::text::grouped;
use referee::threads::locked;

pub(super) const UNREAD: Duration = Duration::from_millis(250);

pub(super) const LAST_READ: Duration = Duration::from_millis(500);

/// How long an interrupted program goes on writing to a reader that is slow.
const SLOW_READ: Duration = Duration::from_secs(2);

/// How often a wait looks whether it should go on.
const LOOK: Duration = Duration::from_millis(20);

/// How long text waits for more: a wake and a write for every quick game would take a hundredth of its time.
const GATHER: Duration = Duration::from_millis(10);

const MOST: usize = 16 * 1024;

pub(super) struct Stream {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    target: Mutex<Box<dyn Write + Send>>,
    /// Otherwise who adds text writes it.
    has_thread: AtomicBool,
}

#[derive(Default)]
pub(super) struct Waiting {
    bytes: VecDeque<u8>,
    /// How many wait for what was added.
    awaited: usize,
    /// Since when the thread is in a write: a thread that has not come to it says nothing about the reader.
    writing: Option<Instant>,
    dropped_lines: u64,
    failure: Option<io::Error>,
}

impl Waiting {
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn is_stuck(&self, time: Duration) -> bool {
        self.writing.is_some_and(|since| since.elapsed() >= time)
    }

    fn result(&self) -> io::Result<()> {
        match &self.failure {
            None => Ok(()),
            Some(error) => Err(match error.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => error.kind().into(),
            }),
        }
    }

    fn add_notice(&mut self) {
        let notice = match std::mem::take(&mut self.dropped_lines) {
            0 => return,
            1 => "referee: 1 line was not shown, since the terminal did not read it\n".to_owned(),
            lines => format!(
                "referee: {} lines were not shown, since the terminal did not read them\n",
                grouped(lines)
            ),
        };
        self.bytes.extend(notice.as_bytes());
    }
}

impl Stream {
    pub(super) fn new(target: Box<dyn Write + Send>) -> Arc<Self> {
        let stream = Arc::new(Self {
            waiting: Mutex::default(),
            changed: Condvar::new(),
            target: Mutex::new(target),
            has_thread: AtomicBool::new(true),
        });
        let own = Arc::clone(&stream);
        if start_thread("output", move || own.write_for_ever()).is_err() {
            // That no thread can be started has to be said.
            stream.has_thread.store(false, Ordering::Relaxed);
        }
        stream
    }

    fn write_some(&self) {
        let mut waiting = locked(&self.waiting);
        let part: Vec<u8> = waiting.bytes.iter().take(MOST).copied().collect();
        if part.is_empty() {
            return;
        }
        waiting.writing = Some(Instant::now());
        drop(waiting);
        let mut target = locked(&self.target);
        let written = patiently(|| target.write(&part));
        let written = written.and_then(|count| patiently(|| target.flush()).map(|()| count));
        drop(target);
        let mut waiting = locked(&self.waiting);
        waiting.writing = None;
        match written {
            Ok(count) => drop(waiting.bytes.drain(..count)),
            Err(error) => {
                waiting.failure = Some(error);
                waiting.bytes.clear();
            }
        }
        if waiting.is_empty() && waiting.failure.is_none() {
            waiting.add_notice();
        }
        drop(waiting);
        self.changed.notify_all();
    }

    fn write_for_ever(&self) {
        loop {
            let mut waiting = locked(&self.waiting);
            while waiting.is_empty() {
                let woken = self.changed.wait(waiting);
                waiting = woken.unwrap_or_else(PoisonError::into_inner);
            }
            let is_gathering = |waiting: &mut Waiting| waiting.awaited == 0 && waiting.len() < MOST;
            drop(
                self.changed
                    .wait_timeout_while(waiting, GATHER, is_gathering),
            );
            self.write_some();
        }
    }

    /// Adds text unless more than `most` bytes would wait. The error is that of an earlier write.
    pub(super) fn push(&self, bytes: &[u8], most: usize) -> io::Result<()> {
        let mut waiting = locked(&self.waiting);
        if waiting.bytes.len().saturating_add(bytes.len()) > most {
            waiting.dropped_lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
            return waiting.result();
        }
        let before = waiting.len();
        waiting.add_notice();
        waiting.bytes.extend(bytes);
        let is_news = before == 0 || before < MOST && waiting.len() >= MOST;
        let result = waiting.result();
        drop(waiting);
        if is_news {
            self.changed.notify_all();
        }
        while !self.has_thread.load(Ordering::Relaxed) && self.unwritten() > 0 {
            self.write_some();
        }
        result
    }

    pub(super) fn unwritten(&self) -> u64 {
        locked(&self.waiting).bytes.len() as u64
    }

    pub(super) fn is_unread(&self) -> bool {
        locked(&self.waiting).is_stuck(UNREAD)
    }

    /// Waits until all has been written. After a signal no longer than a reader may take:
    /// [`TimedOut`](ErrorKind::TimedOut).
    pub(super) fn written(&self) -> io::Result<()> {
        self.wait(Waiting::is_empty)?;
        locked(&self.waiting).result()
    }

    pub(super) fn wait(&self, is_enough: impl Fn(&Waiting) -> bool) -> io::Result<()> {
        let begun = Instant::now();
        let mut waiting = locked(&self.waiting);
        if is_enough(&waiting) {
            return Ok(());
        }
        waiting.awaited += 1;
        self.changed.notify_all();
        let mut result = Ok(());
        while !is_enough(&waiting) {
            if let Some(since) = signals::since_first()
                && (waiting.is_stuck(LAST_READ) || since.min(begun.elapsed()) >= SLOW_READ)
            {
                result = Err(ErrorKind::TimedOut.into());
                break;
            }
            let woken = self.changed.wait_timeout(waiting, LOOK);
            waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        waiting.awaited -= 1;
        result
    }
}

/// Another process may have made the stream non-blocking.
fn patiently<T>(mut write: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match write() {
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                thread::sleep(LOOK);
            }
            done => return done,
        }
    }
}
