//! All that this program prints: results to standard output, everything else to standard error.
//!
//! A write never blocks in the kernel: it is made when the stream takes it, and what is printed waits in memory meanwhile.
//! - Results are never dropped: they are waited for between games ([`caught_up`]), elsewhere where they are printed
//!   ([`Stdout`]), until a signal comes.
//! - Text for people waits for a reader at most [`UNREAD`]; what does not fit into memory then is dropped and counted.
//! - Where both streams lead to the same place (a terminal, `2>&1`) they share a queue, which keeps their order.

mod bar;
#[cfg(unix)]
#[path = "unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows.rs"]
mod platform;
mod queue;

use std::fmt;
use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use same_file::Handle;

pub(in crate::cli) use self::bar::{ProgressBar, ProgressLine};
pub(in crate::cli) use self::platform::Pipe;
use self::queue::Queue;
use super::failure::{Failure, Unread};
use super::signals;
use crate::log_target::OUTPUT as OUTPUT_LOG;
use crate::text::escape_controls;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// For programs and people.
    Results,
    /// For people.
    Notes,
    /// What bots write to stderr.
    BotLines,
}

/// A stream that takes nothing for so long is not read.
const UNREAD: Duration = Duration::from_millis(250);

/// How long an interrupted program waits for a reader that takes nothing.
const LAST_READ: Duration = Duration::from_millis(500);

/// How long an interrupted program goes on writing to a reader that is slow.
const SLOW_READ: Duration = Duration::from_secs(2);

/// How often a wait looks whether it should go on.
const LOOK: Duration = Duration::from_millis(20);

struct Output {
    results: Mutex<Queue>,
    /// `None` where both streams lead to the same place.
    notes: Option<Mutex<Queue>>,
}

static OUTPUT: OnceLock<Output> = OnceLock::new();

/// Whether the program is about to exit.
static ENDING: AtomicBool = AtomicBool::new(false);

fn output() -> &'static Output {
    OUTPUT.get_or_init(|| Output {
        results: Mutex::default(),
        notes: (!is_one_place()).then(Mutex::default),
    })
}

impl Output {
    fn results(&self) -> MutexGuard<'_, Queue> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notes(&self) -> MutexGuard<'_, Queue> {
        let notes = self.notes.as_ref().unwrap_or(&self.results);
        notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn push(kind: Kind, bytes: &[u8]) -> io::Result<()> {
    let mut queue = match kind {
        Kind::Results => output().results(),
        Kind::Notes | Kind::BotLines => output().notes(),
    };
    let pushed = queue.push(kind, bytes);
    let change = queue.reader_change();
    // The log may be printed.
    drop(queue);
    match change {
        None => {}
        Some((true, waiting_bytes)) => {
            tracing::info!(target: OUTPUT_LOG, waiting_bytes, "somebody reads again");
        }
        Some((false, waiting_bytes)) => {
            tracing::info!(target: OUTPUT_LOG, waiting_bytes, "nobody reads what is printed");
        }
    }
    pushed
}

/// Whether the order of the two streams can be seen.
fn is_one_place() -> bool {
    if io::stdout().is_terminal() && io::stderr().is_terminal() {
        return true;
    }
    matches!(
        (Handle::stdout(), Handle::stderr()),
        (Ok(out), Ok(err)) if out == err
    )
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
        push(Kind::Results, bytes)?;
        Ok(bytes.len())
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
        let _ = push(Kind::Notes, bytes);
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
    let _ = push(Kind::BotLines, line.as_bytes());
}

/// Waits until all results have been written. The error is that of a write, or [`Unread`].
pub(in crate::cli) fn wait_for_results() -> io::Result<()> {
    wait(|| output().results(), |queue| queue.waiting_results() == 0)?;
    output().results().result()
}

/// A game is over: waits for its results, and for the text for people as long as it is read.
pub(in crate::cli) fn caught_up() -> io::Result<()> {
    wait_for_results()?;
    wait(
        || output().notes(),
        |queue| queue.is_empty() || queue.is_stuck(UNREAD),
    )
}

/// Writes what waits until it is enough; after a signal no longer than a reader may take.
fn wait(
    queue: impl Fn() -> MutexGuard<'static, Queue>,
    is_enough: impl Fn(&Queue) -> bool,
) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        let mut queue = queue();
        let patience = if is_enough(&queue) {
            Duration::ZERO
        } else {
            LOOK
        };
        queue.write(patience);
        if is_enough(&queue) {
            return Ok(());
        }
        if let Some(since) = signals::since_first() {
            if queue.is_stuck(LAST_READ) || since.min(begun.elapsed()) >= SLOW_READ {
                return Err(Unread.into());
            }
            drop(queue);
            // Another thread may want to say something.
            thread::sleep(LOOK / 20);
        }
    }
}

/// Ends the program: waits until everything has been written, prints the failure, and returns the exit status. After a
/// signal the wait is short, and what could not be written is said. `end_log` is given the status while it can still
/// print something.
pub(in crate::cli) fn finish(result: Result<(), Failure>, end_log: fn(u8)) -> ExitCode {
    let _heeded = signals::heed();
    if ENDING.swap(true, Ordering::Relaxed) {
        park();
    }
    ExitCode::from(end(result, end_log))
}

/// Waits for another thread to end the program.
fn park() -> ! {
    loop {
        thread::park();
    }
}

/// Ends the program after a signal that its command does not heed.
pub(in crate::cli) fn exit_interrupted(end_log: fn(u8)) {
    if ENDING.swap(true, Ordering::Relaxed) {
        return;
    }
    let status = end(Err(Failure::Interrupted), end_log);
    std::process::exit(i32::from(status));
}

fn end(mut result: Result<(), Failure>, end_log: fn(u8)) -> u8 {
    let mut unwritten = 0;
    if OUTPUT.get().is_some() {
        match wait_for_results() {
            Err(error) if Unread::is(&error) => {
                unwritten = output().results().waiting_results();
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
    end_log(status);
    if OUTPUT.get().is_some() {
        let begun = Instant::now();
        let _ = wait(
            || output().notes(),
            |queue| {
                let is_over = begun.elapsed() >= LAST_READ && queue.is_stuck(LAST_READ);
                queue.is_empty() || is_over
            },
        );
    }
    status
}
