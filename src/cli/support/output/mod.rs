//! All that this program prints: results to standard output, everything else to standard error.
//!
//! Each stream has a thread that writes, so no game waits for a reader.
//! - Results are never dropped: they are waited for between games ([`caught_up`]), elsewhere where they are printed
//!   ([`Channel::Stdout`]), until a signal comes.
//! - Text for people waits for a reader at most [`UNREAD`]; what does not fit into memory then is dropped and counted.
//! - A reader of results that goes away is not a failure: [`outlive_reader`] says what becomes of the command.
//! - Where both streams lead to the same place (a terminal, `2>&1`) all goes to standard output, which keeps the order.

mod bar;
mod stream;

use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use std::{fmt, thread};

use same_file::Handle;

use self::stream::{LAST_READ, Stream, UNREAD};
use super::{logging, signals};
use crate::cli::support::failure::{Failure, Result};
use crate::cli::support::setup::palette;
use referee::report::terminal::Palette;
use referee::text::{escape_controls, escape_json};

pub(crate) use self::Channel::{GameText, Notes, Stdout};
pub(crate) use self::bar::{ProgressBar, ProgressLine};

const MOST_FOR_PEOPLE: usize = 8 << 20;

/// The most to which a bot's lines are added: a bot that floods its stderr leaves room for what the referee says.
const MOST_WITH_BOTS: usize = 4 << 20;

/// The most that may wait while the next game begins, in bytes.
const MOST_BEHIND: usize = 4 << 10;

struct Output {
    results: Arc<Stream>,
    /// `None` where both streams lead to the same place.
    notes: Option<Arc<Stream>>,
}

static OUTPUT: OnceLock<Output> = OnceLock::new();

static ENDING: AtomicBool = AtomicBool::new(false);

static OUTLIVES_READER: AtomicBool = AtomicBool::new(false);

/// Ctrl-C ends this program and its reader in any order.
const SIGNAL_FOLLOWS: Duration = Duration::from_millis(100);

fn output() -> &'static Output {
    OUTPUT.get_or_init(|| {
        let handles = (Handle::stdout(), Handle::stderr());
        let is_one_place = matches!(handles, (Ok(out), Ok(err)) if out == err);
        Output {
            results: Stream::new(Box::new(io::stdout())),
            notes: (!is_one_place).then(|| Stream::new(Box::new(io::stderr()))),
        }
    })
}

fn results() -> &'static Stream {
    &output().results
}

fn notes() -> &'static Stream {
    let Output { results, notes } = output();
    notes.as_ref().unwrap_or(results)
}

/// Whether people read both streams at the same terminal.
pub(crate) fn is_one_terminal() -> bool {
    output().notes.is_none() && io::stdout().is_terminal()
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Channel {
    /// Standard output; it waits until all is written.
    Stdout,
    /// Standard output during a game: nothing waits for a reader, until the game is over.
    GameText,
    /// Standard error, for people. It never fails and nothing waits for it: a closed or full stderr, or one without a
    /// reader, must not stop the games. What is written in one call appears as a whole or not at all.
    Notes,
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if matches!(self, Notes) {
            let _ = notes().push(bytes, MOST_FOR_PEOPLE);
            return Ok(bytes.len());
        }
        if ENDING.load(Ordering::Relaxed) {
            // Another thread waits for what has been printed so far.
            park();
        }
        unless_outlived(results().push(bytes, usize::MAX))?;
        if matches!(self, Stdout) {
            wait_for_results()?;
        }
        Ok(bytes.len())
    }

    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        self.write_all(fmt::format(text).as_bytes())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a command has found: JSON for programs, or text for people.
pub(crate) fn print_found<J: fmt::Display>(
    as_json: bool,
    json: impl FnOnce() -> J,
    text: impl FnOnce(&Palette) -> String,
) -> Result<()> {
    print(&if as_json {
        json_line(json())
    } else {
        text(&palette(&io::stdout()))
    })
}

/// A JSON document, or a line of several, as it is printed.
pub(crate) fn json_line(json: impl fmt::Display) -> String {
    escape_json(&json.to_string()) + "\n"
}

pub(crate) fn print(text: &str) -> Result<()> {
    Ok(Stdout.write_all(text.as_bytes())?)
}

pub(crate) fn print_stderr(text: &str) {
    // Paths and quoted lines of files are in it, which others have named and written.
    let lines: Vec<String> = text.split('\n').map(escape_controls).collect();
    let _ = writeln!(Notes, "{}", lines.join("\n"));
}

/// Prints `referee: …` to standard error.
macro_rules! note {
    ($($text:tt)*) => {
        $crate::cli::support::output::print_stderr(&format!("referee: {}", format_args!($($text)*)))
    };
}

pub(crate) use note;

pub(crate) fn print_bot_line(bot: &str, line: &str) {
    let line = format!("{bot}| {line}\n");
    let _ = notes().push(line.as_bytes(), MOST_WITH_BOTS);
}

/// The command goes on when the reader of its results goes away: it writes files, or its exit status says what it found.
/// Others end then, since all that they do is print.
pub(crate) fn outlive_reader() {
    OUTLIVES_READER.store(true, Ordering::Relaxed);
}

pub(super) fn outlives_reader() -> bool {
    OUTLIVES_READER.load(Ordering::Relaxed)
}

fn unless_outlived(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe && outlives_reader() => Ok(()),
        written => written,
    }
}

pub(crate) fn wait_for_results() -> io::Result<()> {
    unless_outlived(results().written())
}

/// A game is over: waits until its results are read, or nearly, and for the text for people as long as it is read.
pub(crate) fn caught_up() -> io::Result<()> {
    unless_outlived(results().wait(|results| results.len() <= MOST_BEHIND))?;
    notes().wait(|notes| notes.len() <= MOST_BEHIND || notes.is_stuck(UNREAD))
}

/// Ends the program: waits until everything has been written, prints the failure, and returns the exit status. After a
/// signal the wait is short, and what could not be written is said.
pub(crate) fn finish(result: Result<()>) -> ExitCode {
    let _heeded = signals::heed();
    if ENDING.swap(true, Ordering::Relaxed) {
        park();
    }
    ExitCode::from(end(result))
}

fn park() -> ! {
    loop {
        thread::park();
    }
}

pub(crate) fn exit_interrupted() {
    if ENDING.swap(true, Ordering::Relaxed) {
        return;
    }
    let status = end(Err(Failure::Interrupted));
    std::process::exit(i32::from(status));
}

fn end(mut result: Result<()>) -> u8 {
    let mut unwritten = 0;
    if OUTPUT.get().is_some()
        && let Err(failure) = wait_for_results().map_err(Failure::from)
    {
        if matches!(failure, Failure::Interrupted) {
            unwritten = results().unwritten();
            result = Err(failure);
        } else if result.is_ok() {
            // When something went wrong before, that is more important.
            result = Err(failure);
        }
    }
    if matches!(result, Err(Failure::NoReader)) {
        let begun = Instant::now();
        while signals::since_first().is_none() && begun.elapsed() < SIGNAL_FOLLOWS {
            thread::sleep(SIGNAL_FOLLOWS / 10);
        }
        if signals::since_first().is_some() {
            result = Err(Failure::Interrupted);
        }
    }
    let status = match &result {
        Ok(()) => 0,
        Err(failure) => {
            if let Some(message) = failure.message(unwritten) {
                note!("{message}");
            }
            failure.status()
        }
    };
    logging::finish(status);
    if OUTPUT.get().is_some() {
        let begun = Instant::now();
        let _ = notes().wait(|notes| {
            let is_over = begun.elapsed() >= LAST_READ && notes.is_stuck(LAST_READ);
            notes.is_empty() || is_over
        });
    }
    status
}
