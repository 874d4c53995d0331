//! All that this program prints: results to standard output, everything else to standard error.
//!
//! Both are written by threads of their own, from [queues](queue), so that nothing that is printed for
//! people takes a bot's time, and a stream that nobody reads cannot keep a signal from ending the program.
//!
//! - Results are never dropped: a match waits for them between games ([`Pace`]), everything else where
//!   they are printed ([`Stdout`]), and [`finish`] at the end.
//! - Text for people is dropped while nobody reads, and the dropped lines are counted.
//! - Where both streams lead to the same place (a terminal, `2>&1`) they share a queue, which keeps
//!   their order. Elsewhere nobody could see it.

mod bar;
mod queue;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::fmt;
use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use same_file::Handle;

pub(in crate::cli) use self::bar::{ProgressBar, ProgressLine};
pub(in crate::cli) use self::platform::Pipe;
use self::queue::{Mark, Queue};
#[cfg(unix)]
use self::unix as platform;
#[cfg(windows)]
use self::windows as platform;
use super::failure::{Failure, Unread};
use super::signals;
use crate::text::escape_controls;

/// What text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// For programs and people: never dropped.
    Results,
    /// For people: dropped and counted while nobody reads.
    Notes,
    /// What bots write to stderr: the same, and sooner.
    BotLines,
}

/// How much of the results may wait while a command prints more.
const ROOM: u64 = 1 << 20;

/// How long the end of the program waits for a reader that takes nothing.
const LAST_READ: Duration = Duration::from_millis(500);

/// How long an interrupted program goes on writing to a reader that is slow.
const SLOW_READ: Duration = Duration::from_secs(2);

/// The queues of this process.
struct Output {
    results: Queue,
    notes: Queue,
}

static OUTPUT: OnceLock<Output> = OnceLock::new();

/// Whether the program is about to end.
static ENDING: AtomicBool = AtomicBool::new(false);

fn output() -> &'static Output {
    OUTPUT.get_or_init(|| {
        let results = Queue::standard();
        let notes = if is_one_place() {
            results.clone()
        } else {
            Queue::standard()
        };
        Output { results, notes }
    })
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

/// Standard output, for results. Waits for a reader when too much has been printed.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if ENDING.load(Ordering::Relaxed) {
            // Another thread waits for what has been printed so far.
            park();
        }
        let queue = &output().results;
        queue.push(Kind::Results, bytes)?;
        if queue.wait_for_results(ROOM, patience())? {
            Ok(bytes.len())
        } else {
            Err(Unread.into())
        }
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
        output().results.push(Kind::Results, bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Standard error, for people. It never fails and nothing waits for it: a closed or full stderr, or one
/// that nobody reads, must not stop the games. What is written at once appears as a whole or not at all.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Notes;

impl Write for Notes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = output().notes.push(Kind::Notes, bytes);
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
    let _ = output().notes.push(Kind::BotLines, line.as_bytes());
}

/// Waits until all results have been written.
pub(in crate::cli) fn wait_for_results() -> io::Result<()> {
    if output().results.wait_for_results(0, patience())? {
        Ok(())
    } else {
        Err(Unread.into())
    }
}

/// The same, in a task.
pub(in crate::cli) async fn results_written() -> io::Result<()> {
    let queue = &output().results;
    queue.reached(queue.mark()).await
}

/// Keeps a match no more than a game ahead of what has been written.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cli) struct Pace {
    results: Mark,
    notes: Mark,
}

impl Pace {
    /// A game is over. Waits until the results of the game before it have been written, and, if
    /// somebody reads it, the text for people.
    pub(in crate::cli) async fn caught_up(&mut self) -> io::Result<()> {
        let Output { results, notes } = output();
        results.write_at_once();
        notes.write_at_once();
        results.reached(self.results).await?;
        notes.reached(self.notes).await?;
        self.results = results.mark();
        self.notes = notes.mark();
        Ok(())
    }
}

/// Tells how long results are waited for when nothing was written for the given time: for ever, but in a
/// program that has been interrupted not long.
fn patience() -> impl Fn(Duration) -> bool {
    let begun = Instant::now();
    move |standstill| {
        signals::since_first()
            .is_none_or(|since| standstill < LAST_READ && since.min(begun.elapsed()) < SLOW_READ)
    }
}

/// Ends the program: waits until everything has been written, prints the failure, and returns the exit
/// status. After a signal the wait is short, and what could not be written is said. `end_log` is given
/// the status while it can still print something.
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
    if let Some(output) = OUTPUT.get() {
        match output.results.wait_for_results(0, patience()) {
            Ok(false) => {
                unwritten = output.results.unwritten();
                result = Err(Failure::Interrupted);
            }
            Err(error) if result.is_ok() => result = Err(error.into()),
            // When something went wrong before, that is more important.
            Ok(true) | Err(_) => {}
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
    if let Some(Output { notes, .. }) = OUTPUT.get() {
        notes.write_at_once();
        notes.wait_for_all(|standstill| standstill < LAST_READ);
    }
    status
}
