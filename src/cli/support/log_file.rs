//! The file of `--log-file`: a thread writes it, so that no game waits for it.
//!
//! Lines wait in a bounded queue; one that finds it full is lost, and counted. An error of the file
//! is said once, on stderr, and the games go on.
//!
//! `tracing-appender` does most of this, but says nothing of a full disk, prints on standard output
//! when the queue is full at the end, and brings a calendar along for files by date.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread;
use std::time::{Duration, Instant};

use super::failure::Failure;
use super::output::print_stderr;
use crate::bot::exhaustion::start_thread;
use crate::system::{is_unread_pipe, open_without_waiting};
use crate::text::{counted, unreadable};

/// How many lines may wait.
const WAITING_LINES: usize = 16 * 1024;

/// Lines that wait are written together, up to this many bytes.
const BATCH_BYTES: usize = 64 * 1024;

/// How long lines are collected before they are written: the thread is not to be woken for each.
const COLLECTING: Duration = Duration::from_millis(5);

/// How long the end of the program may wait for the file.
const AT_THE_END: Duration = Duration::from_secs(1);

/// Something for the thread.
enum Message {
    Line(Vec<u8>),
    /// Everything before it is to be written; then the sender is dropped.
    End(SyncSender<()>),
}

/// Where lines wait for the thread. Each is one call of `write`.
#[derive(Debug)]
pub(super) struct Queue {
    messages: SyncSender<Message>,
    lost: AtomicU64,
}

impl Queue {
    fn new() -> (Arc<Self>, Receiver<Message>) {
        let (messages, received) = mpsc::sync_channel(WAITING_LINES);
        let lost = AtomicU64::new(0);
        (Arc::new(Self { messages, lost }), received)
    }
}

impl io::Write for &Queue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let line_length = line.len();
        if self
            .messages
            .try_send(Message::Line(line.to_vec()))
            .is_err()
        {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line_length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An open log file.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    queue: Arc<Queue>,
}

impl LogFile {
    /// Opens or creates the file, and starts the thread. What is in the file stays.
    pub(super) fn open(path: &Path) -> Result<(Self, Arc<Queue>), Failure> {
        let file = open(path)?;
        let (queue, received) = Queue::new();
        let writer = Writer {
            path: path.to_owned(),
            file,
            queue: Arc::clone(&queue),
            is_torn: false,
            has_failed: false,
        };
        start_thread("log", move || writer.run(&received))?;
        let log = Self {
            path: path.to_owned(),
            queue: Arc::clone(&queue),
        };
        Ok((log, queue))
    }

    /// Waits until all lines are written, but not long, and says how many are missing.
    pub(super) fn finish(&self) {
        let deadline = Instant::now() + AT_THE_END;
        let (done, written) = mpsc::sync_channel(0);
        let mut end = Message::End(done);
        while let Err(TrySendError::Full(message)) = self.queue.messages.try_send(end) {
            if Instant::now() >= deadline {
                break;
            }
            end = message;
            thread::sleep(Duration::from_millis(2));
        }
        // Nothing is ever sent: the error is the end of the wait, for one reason or the other.
        let _ = written.recv_timeout(deadline.saturating_duration_since(Instant::now()));
        let lost = self.queue.lost.load(Ordering::Relaxed);
        if lost > 0 {
            print_stderr(&format!(
                "referee: {}: {} of the log could not be written",
                self.path.display(),
                counted(lost, "line", "lines")
            ));
        }
    }
}

/// Opens the file for appending. It may be anything but a file of records: a pipe without a reader is
/// an error instead of a wait.
fn open(path: &Path) -> Result<File, Failure> {
    let unreadable = |error: io::Error| {
        let text = unreadable(path, &error);
        Failure::Usage(format!("--log-file {text}"))
    };
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    open_without_waiting(&mut options);
    let file = options.open(path).map_err(|error| {
        if is_unread_pipe(&error) {
            return Failure::Usage(format!(
                "--log-file {}: nobody reads from this pipe; start its reader first",
                path.display()
            ));
        }
        unreadable(error)
    })?;
    let is_file = file.metadata().map_err(unreadable)?.is_file();
    if is_file {
        // Those who write records have the file for themselves; any number may log into one.
        match file.try_lock_shared() {
            // A file system without locks cannot be asked.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::Usage(format!(
                    "--log-file {}: a referee is writing records to it; choose another file",
                    path.display()
                )));
            }
        }
        if holds_records(path) {
            return Err(Failure::Usage(format!(
                "--log-file {}: it is a file of records; choose another file",
                path.display()
            )));
        }
    }
    Ok(file)
}

/// Whether a file begins with a record.
fn holds_records(path: &Path) -> bool {
    let mut start = [0; 64];
    let read = File::open(path).and_then(|mut file| io::Read::read(&mut file, &mut start));
    let start = &start[..read.unwrap_or(0)];
    let text = String::from_utf8_lossy(start);
    let compact: String = text.split_ascii_whitespace().collect();
    compact.starts_with("{\"v\":")
}

/// The thread's side.
struct Writer {
    path: PathBuf,
    file: File,
    queue: Arc<Queue>,
    /// Whether the file ends within a line.
    is_torn: bool,
    has_failed: bool,
}

impl Writer {
    /// Writes what comes, until the end is asked for.
    fn run(mut self, received: &Receiver<Message>) {
        let mut batch = Vec::with_capacity(BATCH_BYTES);
        let mut lines = 0;
        while let Ok(first) = received.recv() {
            for message in std::iter::once(first).chain(received.try_iter()) {
                match message {
                    Message::Line(line) => {
                        batch.extend_from_slice(&line);
                        lines += 1;
                        if batch.len() >= BATCH_BYTES {
                            self.write(&mut batch, &mut lines);
                        }
                    }
                    Message::End(_done) => {
                        self.write(&mut batch, &mut lines);
                        return;
                    }
                }
            }
            self.write(&mut batch, &mut lines);
            thread::sleep(COLLECTING);
        }
    }

    fn write(&mut self, batch: &mut Vec<u8>, lines: &mut u64) {
        if let Err(error) = self.write_all(batch) {
            self.queue.lost.fetch_add(*lines, Ordering::Relaxed);
            if !self.has_failed {
                self.has_failed = true;
                print_stderr(&format!(
                    "referee: {}: the log cannot be written: {error}; the games go on without it",
                    self.path.display(),
                    error = crate::text::cause(&error)
                ));
            }
        }
        batch.clear();
        *lines = 0;
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        if self.is_torn && !bytes.is_empty() {
            self.file.write_all(b"\n")?;
            self.is_torn = false;
        }
        while let [.., _] = bytes {
            match self.file.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.is_torn = bytes[count - 1] != b'\n';
                    bytes = &bytes[count..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_loses_lines_and_counts_them() {
        let (queue, received) = Queue::new();
        for _ in 0..WAITING_LINES + 3 {
            (&*queue).write_all(b"a line\n").unwrap();
        }
        assert_eq!(queue.lost.load(Ordering::Relaxed), 3);
        assert_eq!(received.try_iter().count(), WAITING_LINES);
    }

    #[test]
    fn what_is_in_the_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "a shopping list\n").unwrap();
        let (log, queue) = LogFile::open(&path).unwrap();
        (&*queue).write_all(b"one\n").unwrap();
        (&*queue).write_all(b"two\n").unwrap();
        log.finish();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "a shopping list\none\ntwo\n");
    }
}
