//! Progress bars on standard error, through its queue like all other text.

use std::io::{self, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::{ProgressDrawTarget, TermLike};

use super::{Notes, output};
use crate::cli::support::setup::terminal_width;

/// How often a bar is drawn in a second.
const RATE: u8 = 20;

/// The width of a terminal that does not say it.
const WIDTH: u16 = 80;

/// Where progress bars are drawn.
pub(in crate::cli) fn draw_target() -> ProgressDrawTarget {
    ProgressDrawTarget::term_like_with_hz(Box::new(Screen::default()), RATE)
}

/// The terminal at standard error. Frames are left out while nobody reads: the next one replaces
/// them anyway.
#[derive(Debug, Default)]
struct Screen {
    frame: Mutex<String>,
}

impl Screen {
    fn frame(&self) -> MutexGuard<'_, String> {
        self.frame.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the sequence that moves the cursor this way.
    fn control(&self, count: usize, way: char) -> io::Result<()> {
        if count > 0 {
            self.write_str(&format!("\x1b[{count}{way}"))?;
        }
        Ok(())
    }
}

impl TermLike for Screen {
    fn width(&self) -> u16 {
        terminal_width(&io::stderr())
            .and_then(|width| u16::try_from(width).ok())
            .unwrap_or(WIDTH)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.control(n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.control(n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.control(n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.control(n, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)?;
        self.write_str("\n")
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.frame().push_str(text);
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.write_str("\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        let mut frame = self.frame();
        if !output().notes.is_unread() {
            Notes.write_all(frame.as_bytes())?;
        }
        frame.clear();
        Ok(())
    }
}
