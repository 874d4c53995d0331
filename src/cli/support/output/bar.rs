//! A line of progress on standard error, where that is a terminal.

use std::cell::{Cell, RefCell};
use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use super::{Notes, notes};
use crate::cli::support::output::note;
use crate::cli::support::setup::terminal_width;
use crate::cli::support::values::in_short;
use referee::report::terminal::shortened;

const WIDTH: usize = 80;

/// The least width that has room for a bar before the text.
const WIDTH_WITH_BAR: usize = 72;

pub(crate) struct ProgressLine {
    pub(crate) is_terminal: bool,
    /// Empty while nothing is shown.
    text: RefCell<String>,
    /// The time at which the bar was last due.
    due: Cell<Instant>,
}

impl ProgressLine {
    pub(crate) fn new() -> Self {
        Self {
            is_terminal: io::stderr().is_terminal(),
            text: RefCell::default(),
            due: Cell::new(Instant::now()),
        }
    }

    /// Whether it is time for the next text: every 200 ms on a terminal, every ten seconds elsewhere.
    pub(crate) fn is_due(&self) -> bool {
        let interval = Duration::from_millis(if self.is_terminal { 200 } else { 10_000 });
        let is_due = self.due.get().elapsed() >= interval;
        if is_due {
            self.due.set(Instant::now());
        }
        is_due
    }

    pub(crate) fn report(&self, text: String) {
        if self.is_terminal {
            self.show(text);
        } else {
            note!("{text}");
        }
    }

    pub(crate) fn show(&self, text: String) {
        if self.is_terminal {
            // A line that fills the last column would be wrapped. Without a reader nothing is drawn: the next text
            // replaces it.
            let shown = shortened(&text, width().saturating_sub(1));
            if !notes().is_unread() {
                let _ = write!(Notes, "\r\x1b[2K{shown}");
            }
            self.text.replace(text);
        }
    }

    pub(crate) fn with_bar(&self, done: u64, of: u64, text: &str) -> String {
        if !self.is_terminal || width() < WIDTH_WITH_BAR {
            return text.to_owned();
        }
        let full = (0..24).take_while(|part| part * of < 24 * done).count();
        format!("{}{} {text}", "█".repeat(full), "░".repeat(24 - full))
    }

    pub(crate) fn clear(&self) {
        if !self.text.borrow().is_empty() {
            self.show(String::new());
        }
    }

    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        let text = self.text.borrow().clone();
        self.clear();
        let printed = print();
        if !text.is_empty() {
            self.show(text);
        }
        printed
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.clear();
    }
}

fn width() -> usize {
    terminal_width(&io::stderr()).unwrap_or(WIDTH)
}

pub(crate) struct ProgressBar {
    pub(crate) line: ProgressLine,
    done: Cell<u64>,
    count: u64,
    things: &'static str,
    begun: Instant,
    message: RefCell<String>,
}

impl ProgressBar {
    pub(crate) fn new(count: u64, things: &'static str) -> Self {
        Self {
            line: ProgressLine::new(),
            done: Cell::new(0),
            count,
            things,
            begun: Instant::now(),
            message: RefCell::default(),
        }
    }

    pub(crate) fn inc(&self) {
        self.set_done(self.done.get() + 1);
    }

    pub(crate) fn set_done(&self, done: u64) {
        self.done.set(done);
        if self.line.is_due() {
            self.show();
        }
    }

    pub(crate) fn set_message(&self, message: String) {
        self.message.replace(message);
        self.show();
    }

    fn show(&self) {
        let (done, count, things) = (self.done.get(), self.count, self.things);
        let (elapsed, message) = (self.begun.elapsed(), self.message.borrow());
        let left = time_left(elapsed, done, count);
        let left = left.map_or_else(String::new, |left| {
            format!(", about {} left", in_short(left))
        });
        let separator = if message.is_empty() { "" } else { ", " };
        let elapsed = in_short(elapsed);
        let text = format!("{done}/{count} {things}, {elapsed}{left}{separator}{message}");
        self.line.show(self.line.with_bar(done, count, &text));
    }
}

/// Before this, little is known of how long it takes.
const LEAST: Duration = Duration::from_secs(2);

/// As long for each of the rest as for each that is done; `None` where that says little.
fn time_left(elapsed: Duration, done: u64, count: u64) -> Option<Duration> {
    let rest = count.checked_sub(done).filter(|rest| *rest > 0)?;
    if done == 0 || elapsed < LEAST {
        return None;
    }
    let nanoseconds = elapsed.as_nanos() * u128::from(rest) / u128::from(done);
    Some(Duration::from_nanos(u64::try_from(nanoseconds).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_takes_as_long_as_what_was_done() {
        let seconds = Duration::from_secs;
        for (elapsed, done, count, left) in [
            (10, 5, 10, Some(10)),
            (10, 1, 4, Some(30)),
            (1, 1, 4, None),
            (10, 0, 4, None),
            (10, 4, 4, None),
            (10, 5, 4, None),
        ] {
            let found = time_left(seconds(elapsed), done, count);
            assert_eq!(found, left.map(seconds), "{elapsed} s, {done} of {count}");
        }
    }
}
