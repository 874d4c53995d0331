//! A program's standard error: always read to its end, so that the program never blocks, and partly
//! kept.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::sync::{Arc, Mutex};

#[cfg(unix)]
pub use tokio::net::unix::pipe::Receiver as Pipe;
#[cfg(windows)]
pub use tokio::net::windows::named_pipe::NamedPipeServer as Pipe;
use tokio::task::yield_now;

use super::info::{self, Info};
use referee_host::threads::locked;
use referee_text::escape_said;

pub const KEPT_BYTES: usize = 64 * 1024;

/// A longer line is shown in pieces while the game goes on.
const LIVE_LINE: usize = 4096;

/// Gets each whole line, escaped, without newline. Must return immediately: clocks run.
pub type Tap = Arc<dyn Fn(&str) + Send + Sync>;

/// Shared with the task that reads it.
#[derive(Clone)]
pub struct Stderr(Arc<(Pipe, Mutex<Output>)>);

impl Stderr {
    pub fn new(pipe: Pipe, tap: Option<Tap>) -> Self {
        let output = Output {
            buffer: Box::new([0; 4096]),
            lines: Lines {
                tap,
                ..Lines::default()
            },
        };
        Self(Arc::new((pipe, Mutex::new(output))))
    }

    pub async fn drain(self) {
        while self.0.0.readable().await.is_ok() && self.read().is_ok() {
            // A program that floods its stderr must not delay another's answer.
            yield_now().await;
        }
        locked(&self.0.1).lines.end();
    }

    pub fn end(&self, count: usize) -> Vec<u8> {
        let output = locked(&self.0.1);
        let kept = &output.lines.kept;
        kept.range(kept.len().saturating_sub(count)..)
            .copied()
            .collect()
    }

    /// How much the program has written since [`take_info`](Self::take_info) was last called, in bytes, as far as it has been
    /// read.
    pub fn since_asked(&self) -> u64 {
        locked(&self.0.1).lines.since_asked
    }

    /// What the program has said of its thinking since this was last called, which is before a question and after its
    /// answer.
    ///
    /// After its answer has been read, that is all it wrote before: the kernel reports what is there to read in the
    /// order of the writing, and this runtime has seen the answer. Without output it takes no system call.
    pub fn take_info(&self) -> Info {
        let _ended = self.read();
        let lines = &mut locked(&self.0.1).lines;
        lines.since_asked = 0;
        mem::take(&mut lines.info)
    }

    /// Reads what is there, at most a full pipe.
    fn read(&self) -> io::Result<()> {
        let (pipe, output) = &*self.0;
        let Output { buffer, lines } = &mut *locked(output);
        for _ in 0..KEPT_BYTES / buffer.len() {
            match pipe.try_read(&mut buffer[..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => lines.push(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

struct Output {
    buffer: Box<[u8; 4096]>,
    lines: Lines,
}

#[derive(Default)]
struct Lines {
    kept: VecDeque<u8>,
    since_asked: u64,
    line: Vec<u8>,
    /// Whether the line began before [`Self::line`].
    is_continued: bool,
    info: Info,
    tap: Option<Tap>,
}

impl Lines {
    fn push(&mut self, bytes: &[u8]) {
        self.since_asked += bytes.len() as u64;
        self.kept.extend(bytes);
        let surplus = self.kept.len().saturating_sub(KEPT_BYTES);
        self.kept.drain(..surplus);
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            for part in part.chunks(LIVE_LINE) {
                if self.line.len() + part.len() > LIVE_LINE + 1 {
                    self.show();
                    self.is_continued = true;
                }
                self.line.extend(part);
            }
            if self.line.pop_if(|byte| *byte == b'\n').is_some() {
                self.show();
                self.is_continued = false;
            }
        }
    }

    fn show(&mut self) {
        let text = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        if !self.is_continued && text.starts_with(info::PREFIX) {
            info::add(&mut self.info, &escape_said(&text[info::PREFIX.len()..]));
        }
        if let Some(tap) = &self.tap {
            tap(&escape_said(text));
        }
        self.line.clear();
    }

    fn end(&mut self) {
        if !self.line.is_empty() {
            self.show();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept() {
        let mut lines = Lines::default();
        let bytes: Vec<u8> = (0..300_000u32).map(|i| (i % 251) as u8).collect();
        for chunk in bytes.chunks(1000) {
            lines.push(chunk);
        }
        assert_eq!(Vec::from(lines.kept), bytes[bytes.len() - KEPT_BYTES..]);
    }

    #[test]
    fn lines_are_shown_whole_and_long_ones_in_pieces() {
        let shown = Arc::new(Mutex::new(Vec::new()));
        let tap = {
            let shown = Arc::clone(&shown);
            move |line: &str| locked(&shown).push(line.to_owned())
        };
        let mut lines = Lines {
            tap: Some(Arc::new(tap)),
            ..Lines::default()
        };
        let long = "x".repeat(10_000);
        let text = format!("info depth 1\r\n\n{long}\ninfo depth 2 of\ntail");
        for chunk in text.as_bytes().chunks(7) {
            lines.push(chunk);
        }
        lines.end();
        let shown = locked(&shown).clone();
        let whole: Vec<&str> = shown
            .iter()
            .map(String::as_str)
            .filter(|line| !line.starts_with('x'))
            .collect();
        assert_eq!(whole, ["info depth 1", "", "info depth 2 of", "tail"]);
        let pieces = shown.iter().filter(|line| line.starts_with('x'));
        assert_eq!(pieces.map(String::len).sum::<usize>(), 10_000);
        assert_eq!(lines.info["depth"], 2);
        let hidden = format!("{}info depth 9\n", "y".repeat(LIVE_LINE));
        lines.push(hidden.as_bytes());
        assert_eq!(lines.info["depth"], 2);
    }
}
