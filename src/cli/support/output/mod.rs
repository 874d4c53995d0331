//! All that this program prints: results to standard output, everything else to standard error.
//!
//! A write never blocks in the kernel: it is made when the stream takes it, and what is printed waits in memory meanwhile.
//! - Results are never dropped: they are waited for between games ([`caught_up`]), elsewhere where they are printed
//!   ([`Stdout`]), until a signal comes.
//! - Text for people waits for a reader at most [`UNREAD`]; what does not fit into memory then is dropped and counted.
//! - Where both streams lead to the same place (a terminal, `2>&1`) all goes to standard output, which keeps the order.

mod bar;
#[cfg(unix)]
#[path = "unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows.rs"]
mod platform;

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use same_file::Handle;

pub(in crate::cli) use self::bar::{ProgressBar, ProgressLine};
pub(in crate::cli) use self::platform::Pipe;
use self::platform::write_some;
use super::failure::{Failure, Unread};
use super::{logging, signals};
use crate::log_target::OUTPUT as OUTPUT_LOG;
use crate::text::{escape_controls, grouped};

/// A stream that takes nothing for so long is not read.
const UNREAD: Duration = Duration::from_millis(250);

/// How long an interrupted program waits for a reader that takes nothing.
const LAST_READ: Duration = Duration::from_millis(500);

/// How long an interrupted program goes on writing to a reader that is slow.
const SLOW_READ: Duration = Duration::from_secs(2);

/// How often a wait looks whether it should go on.
const LOOK: Duration = Duration::from_millis(20);

/// The most that waits for people, in bytes.
const MOST_FOR_PEOPLE: usize = 8 << 20;

/// The most to which a bot's lines are added: a bot that floods its stderr leaves room for what the referee says.
const MOST_WITH_BOTS: usize = 4 << 20;

struct Output {
    results: Mutex<Stream>,
    /// `None` where both streams lead to the same place.
    notes: Option<Mutex<Stream>>,
}

static OUTPUT: OnceLock<Output> = OnceLock::new();

/// Whether the program is about to exit.
static ENDING: AtomicBool = AtomicBool::new(false);

fn output() -> &'static Output {
    OUTPUT.get_or_init(|| {
        let handles = (Handle::stdout(), Handle::stderr());
        let is_one_place = matches!(handles, (Ok(out), Ok(err)) if out == err);
        Output {
            results: Mutex::new(Stream::new(true)),
            notes: (!is_one_place).then(|| Mutex::new(Stream::new(false))),
        }
    })
}

impl Output {
    fn results(&self) -> MutexGuard<'_, Stream> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notes(&self) -> MutexGuard<'_, Stream> {
        let notes = self.notes.as_ref().unwrap_or(&self.results);
        notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds text as [`Stream::push`] does, and logs when nobody reads the stream, or somebody does again.
fn push(mut stream: MutexGuard<'_, Stream>, bytes: &[u8], most: usize) -> io::Result<()> {
    stream.push(bytes, most);
    let (result, waiting_bytes) = (stream.result(), stream.waiting.len());
    let is_unread = stream.is_stuck(UNREAD);
    let was_unread = std::mem::replace(&mut stream.is_unread_told, is_unread);
    // The log may be printed.
    drop(stream);
    if is_unread && !was_unread {
        tracing::info!(target: OUTPUT_LOG, waiting_bytes, "nobody reads what is printed");
    } else if was_unread && !is_unread {
        tracing::info!(target: OUTPUT_LOG, waiting_bytes, "somebody reads again");
    }
    result
}

/// What has been printed and not yet been written.
struct Stream {
    is_stdout: bool,
    waiting: VecDeque<u8>,
    /// Since when the stream has taken nothing.
    stuck: Option<Instant>,
    dropped_lines: u64,
    is_unread_told: bool,
    failure: Option<io::Error>,
}

impl Stream {
    const fn new(is_stdout: bool) -> Self {
        Self {
            is_stdout,
            waiting: VecDeque::new(),
            stuck: None,
            dropped_lines: 0,
            is_unread_told: false,
            failure: None,
        }
    }

    /// Adds text unless more than `most` bytes would wait, and writes what the stream takes without waiting.
    fn push(&mut self, bytes: &[u8], most: usize) {
        if self.waiting.len().saturating_add(bytes.len()) > most {
            self.dropped_lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
            return;
        }
        self.add_notice();
        self.waiting.extend(bytes);
        self.write(Duration::ZERO);
    }

    /// The error of the last write that failed.
    fn result(&self) -> io::Result<()> {
        match &self.failure {
            None => Ok(()),
            Some(error) => Err(match error.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => error.kind().into(),
            }),
        }
    }

    /// Whether the stream has taken nothing for so long.
    fn is_stuck(&self, time: Duration) -> bool {
        self.stuck.is_some_and(|since| since.elapsed() >= time)
    }

    /// Writes what waits, until the stream takes nothing for `wait`.
    fn write(&mut self, wait: Duration) {
        while !self.waiting.is_empty() {
            match write_some(self.is_stdout, self.waiting.as_slices().0, wait) {
                Ok(0) => {
                    self.stuck.get_or_insert_with(Instant::now);
                    return;
                }
                Ok(count) => drop(self.waiting.drain(..count)),
                Err(error) => {
                    self.failure = Some(error);
                    self.waiting.clear();
                }
            }
            self.stuck = None;
            if self.waiting.is_empty() && self.failure.is_none() {
                self.add_notice();
            }
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
        self.waiting.extend(notice.as_bytes());
    }
}

/// Standard output, for results. Waits for a reader.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        GameText.write(bytes)?;
        wait_for_results()?;
        Ok(bytes.len())
    }

    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        self.write_all(fmt::format(text).as_bytes())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Standard output during a game: nothing waits for a reader, until the game is over.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct GameText;

impl Write for GameText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if ENDING.load(Ordering::Relaxed) {
            // Another thread waits for what has been printed so far.
            park();
        }
        push(output().results(), bytes, usize::MAX).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Standard error, for people. It never fails and nothing waits for it: a closed or full stderr, or one that nobody reads,
/// must not stop the games. What is written in one call appears as a whole or not at all.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Notes;

impl Write for Notes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = push(output().notes(), bytes, MOST_FOR_PEOPLE);
        Ok(bytes.len())
    }

    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        self.write_all(fmt::format(text).as_bytes())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Prints a line on stderr.
pub(in crate::cli) fn print_stderr(text: &str) {
    // Paths and quoted lines of files are in it, which others have named and written.
    let lines: Vec<String> = text.split('\n').map(escape_controls).collect();
    let _ = writeln!(Notes, "{}", lines.join("\n"));
}

/// Prints a line of a bot's stderr.
pub(in crate::cli) fn print_bot_line(bot: &str, line: &str) {
    let line = format!("{bot}| {line}\n");
    let _ = push(output().notes(), line.as_bytes(), MOST_WITH_BOTS);
}

/// Waits until all results have been written. The error is that of a write, or [`Unread`].
pub(in crate::cli) fn wait_for_results() -> io::Result<()> {
    wait(|| output().results(), |results| results.waiting.is_empty())?;
    output().results().result()
}

/// A game is over: waits for its results, and for the text for people as long as it is read.
pub(in crate::cli) fn caught_up() -> io::Result<()> {
    wait_for_results()?;
    wait(
        || output().notes(),
        |notes| notes.waiting.is_empty() || notes.is_stuck(UNREAD),
    )
}

/// Writes what waits until it is enough; after a signal no longer than a reader may take.
fn wait(
    stream: impl Fn() -> MutexGuard<'static, Stream>,
    is_enough: impl Fn(&Stream) -> bool,
) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        let mut stream = stream();
        let patience = if is_enough(&stream) {
            Duration::ZERO
        } else {
            LOOK
        };
        stream.write(patience);
        if is_enough(&stream) {
            return Ok(());
        }
        if let Some(since) = signals::since_first() {
            if stream.is_stuck(LAST_READ) || since.min(begun.elapsed()) >= SLOW_READ {
                return Err(Unread.into());
            }
            drop(stream);
            // Another thread may want to say something.
            thread::sleep(LOOK / 20);
        }
    }
}

/// Ends the program: waits until everything has been written, prints the failure, and returns the exit status. After a
/// signal the wait is short, and what could not be written is said.
pub(in crate::cli) fn finish(result: Result<(), Failure>) -> ExitCode {
    let _heeded = signals::heed();
    if ENDING.swap(true, Ordering::Relaxed) {
        park();
    }
    ExitCode::from(end(result))
}

/// Waits for another thread to end the program.
fn park() -> ! {
    loop {
        thread::park();
    }
}

/// Ends the program after a signal that its command does not heed.
pub(in crate::cli) fn exit_interrupted() {
    if ENDING.swap(true, Ordering::Relaxed) {
        return;
    }
    let status = end(Err(Failure::Interrupted));
    std::process::exit(i32::from(status));
}

fn end(mut result: Result<(), Failure>) -> u8 {
    let mut unwritten = 0;
    if OUTPUT.get().is_some() {
        match wait_for_results() {
            Err(error) if Unread::is(&error) => {
                unwritten = output().results().waiting.len() as u64;
                result = Err(Failure::Interrupted);
            }
            Err(error) if result.is_ok() => result = Err(error.into()),
            // When something went wrong before, that is more important.
            Ok(()) | Err(_) => {}
        }
    }
    let status = match &result {
        Ok(()) => 0,
        Err(failure) => {
            if let Some(message) = failure.message(unwritten) {
                print_stderr(&format!("referee: {message}"));
            }
            failure.status()
        }
    };
    logging::finish(status);
    if OUTPUT.get().is_some() {
        let begun = Instant::now();
        let _ = wait(
            || output().notes(),
            |notes| {
                let is_over = begun.elapsed() >= LAST_READ && notes.is_stuck(LAST_READ);
                notes.waiting.is_empty() || is_over
            },
        );
    }
    status
}
