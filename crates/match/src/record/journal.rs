//! A file of records that survives crashes: one line a game, one write a line, and a line counts once it is synced.
//!
//! When the file is opened again, an incomplete last line, as a crash leaves it, is moved to another file.

use std::convert::Infallible;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::reader::without_mark;
use crate::log_target::JOURNAL;
use referee_text::cause;

/// A referee that has just been killed may still hold its lock, by the programs that it was starting.
pub const LINGERING_LOCK: Duration = Duration::from_secs(1);

/// Longer pauses between two syncs make nothing quicker (docs/internals/benchmarks.md).
pub const SYNC_INTERVAL: Duration = Duration::from_millis(5);

const NEXT_TRY: Duration = Duration::from_millis(10);

/// Where lines are written: a file, or in tests something that fails.
pub trait Storage: Send {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// The bytes written so far then survive a loss of power.
    fn sync(&mut self) -> io::Result<()>;

    /// In bytes.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
}

impl Storage for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{path}: {}", cause(.error))]
    Io { path: String, error: io::Error },
    #[error("{path}: another referee is writing to it; wait for it to end, or choose another file")]
    Locked { path: String },
    /// It holds something else, which is left as it is.
    #[error("{path}: it is not a file of records: it does not begin with {{; choose another file")]
    Foreign { path: String },
}

/// The bytes after the last complete line, which were moved to another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornTail {
    pub bytes: u64,
    pub kept_in: PathBuf,
}

#[derive(Debug)]
pub struct Journal<S = File> {
    storage: S,
    /// Up to the last complete line; `None` for what cannot be truncated, such as a pipe.
    length: Option<u64>,
    /// Set by a failure. Nothing more is written then, because the end of the file is unknown.
    broken: bool,
}

impl Journal<File> {
    /// Opens or creates a file, locks it, and moves an incomplete last line to `FILE.cut`.
    pub fn open(path: &Path) -> Result<(Self, Option<TornTail>), OpenError> {
        Self::open_within(path, Duration::ZERO)
    }

    /// Waits this long for a lock that another process holds.
    pub fn open_within(path: &Path, wait: Duration) -> Result<(Self, Option<TornTail>), OpenError> {
        let named = || path.display().to_string();
        let failed = |error| OpenError::Io {
            path: named(),
            error,
        };
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        if !meta.is_file() {
            return Ok((Self::over(file, None), None));
        }
        // Before the lock: waiting for it would change nothing.
        if !may_be_records(&file).map_err(failed)? {
            return Err(OpenError::Foreign { path: named() });
        }
        lock(&file, wait).map_err(|error| match error {
            TryLockError::WouldBlock => OpenError::Locked { path: named() },
            TryLockError::Error(error) => failed(error),
        })?;
        // Another process may have written between opening and locking.
        let found = file.metadata().map_err(failed)?.len();
        let length = complete_length(&mut file, found).map_err(failed)?;
        let torn = (length < found).then(|| move_tail(path, &mut file, length));
        let torn = torn.transpose().map_err(failed)?;
        Ok((Self::over(file, length), torn))
    }
}

impl<S: Storage> Journal<S> {
    /// `storage` holds `length` bytes of complete lines, if it can be truncated.
    pub fn over(storage: S, length: impl Into<Option<u64>>) -> Self {
        Self {
            storage,
            length: length.into(),
            broken: false,
        }
    }

    /// Appends a line, with its newline, in one write: as a whole or not at all.
    pub fn append(&mut self, line: &str) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("an earlier write failed"));
        }
        if let Err(error) = self.storage.append(line.as_bytes()) {
            self.broken = true;
            if let Some(length) = self.length {
                // A part of the line may have been written. When it cannot be removed now, it is removed when the
                // journal is opened again.
                let _ = self.storage.truncate(length);
            }
            return Err(error);
        }
        if let Some(length) = &mut self.length {
            *length += line.len() as u64;
        }
        Ok(())
    }

    /// All complete lines then survive a loss of power.
    pub fn sync(&mut self) -> io::Result<()> {
        // After a failed sync it is unknown what is on disk, and a second one may succeed without having written it.
        self.storage.sync().inspect_err(|_| self.broken = true)
    }
}

fn lock(file: &File, wait: Duration) -> Result<(), TryLockError> {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if begun.elapsed() < wait => thread::sleep(NEXT_TRY),
            done => return done,
        }
    }
}

/// Whether a file is empty or its first character is that of a record.
fn may_be_records(mut file: &File) -> io::Result<bool> {
    let mut start = [0; 256];
    file.seek(SeekFrom::Start(0))?;
    let read = file.read(&mut start)?;
    let first = without_mark(&start[..read]).trim_ascii_start().first();
    Ok(first.is_none_or(|&first| first == b'{'))
}

/// Up to and including the last newline, of the first `end` bytes.
fn complete_length(file: &mut File, mut end: u64) -> io::Result<u64> {
    const BLOCK: u64 = 65_536;
    let mut block = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        file.seek(SeekFrom::Start(start))?;
        block.clear();
        (&*file).take(BLOCK).read_to_end(&mut block)?;
        if let Some(newline) = block.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + newline as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

fn move_tail(path: &Path, file: &mut File, length: u64) -> io::Result<TornTail> {
    let mut kept_in = path.as_os_str().to_owned();
    kept_in.push(".cut");
    let mut rest = Vec::new();
    file.seek(SeekFrom::Start(length))?;
    file.read_to_end(&mut rest)?;
    let mut target = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&kept_in)?;
    target.write_all(&rest)?;
    target.write_all(b"\n")?;
    target.sync_data()?;
    file.set_len(length)?;
    Ok(TornTail {
        bytes: rest.len() as u64,
        kept_in: kept_in.into(),
    })
}

struct WriteRequest {
    line: Arc<str>,
    written: Box<dyn FnOnce(io::Result<()>) + Send>,
}

/// Writes the lines of many games. A sync costs about half as much as the shortest game; so there is a pause after each,
/// and lines that arrive meanwhile are synced together.
#[derive(Debug)]
pub struct Writer<S = File> {
    requests: mpsc::Sender<WriteRequest>,
    /// Nothing is sent: it is dropped to end the pause.
    open: mpsc::Sender<Infallible>,
    thread: JoinHandle<Journal<S>>,
}

impl<S: Storage + 'static> Writer<S> {
    /// From the beginning of a sync to that of the next one it takes `interval` at least.
    pub fn start(mut journal: Journal<S>, interval: Duration) -> io::Result<Self> {
        let (requests, requested) = mpsc::channel::<WriteRequest>();
        let (open, closed) = mpsc::channel::<Infallible>();
        let thread = thread::Builder::new().name("journal".to_owned());
        let thread = thread.spawn(move || {
            while let Ok(first) = requested.recv() {
                let begun = Instant::now();
                let requests = std::iter::once(first).chain(requested.try_iter());
                commit(&mut journal, requests);
                // Returns when the time is over, or when the writer is to finish.
                let _ = closed.recv_timeout(interval.saturating_sub(begun.elapsed()));
            }
            journal
        })?;
        Ok(Self {
            requests,
            open,
            thread,
        })
    }

    /// `written` is called on the writer's thread, once the line survives a loss of power or may not.
    pub fn write(
        &self,
        line: impl Into<Arc<str>>,
        written: impl FnOnce(io::Result<()>) + Send + 'static,
    ) {
        let line = line.into();
        let written = Box::new(written);
        if let Err(mpsc::SendError(request)) = self.requests.send(WriteRequest { line, written }) {
            (request.written)(Err(io::Error::other("the journal's writer has ended")));
        }
    }

    pub fn finish(self) -> io::Result<Journal<S>> {
        drop(self.requests);
        drop(self.open);
        let journal = self.thread.join();
        journal.map_err(|_| io::Error::other("the journal's writer has panicked"))
    }
}

/// One write a line, one sync for all, then the callbacks.
fn commit<S: Storage>(journal: &mut Journal<S>, requests: impl Iterator<Item = WriteRequest>) {
    let mut waiting = Vec::new();
    for request in requests {
        match journal.append(&request.line) {
            Ok(()) => waiting.push(request.written),
            Err(error) => (request.written)(Err(error)),
        }
    }
    if waiting.is_empty() {
        return;
    }
    // Lines before a failed write are complete, so they are synced and counted nevertheless.
    let begun = Instant::now();
    let synced = journal.sync();
    tracing::debug!(
        target: JOURNAL,
        records = waiting.len(),
        ms = begun.elapsed().as_secs_f64() * 1e3,
        ok = synced.is_ok(),
        "synced"
    );
    for written in waiting {
        written(match &synced {
            Ok(()) => Ok(()),
            Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
        });
    }
}
