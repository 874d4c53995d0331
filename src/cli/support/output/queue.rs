//! What has been printed and not yet been written.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use super::platform::write_some;
use super::{Kind, UNREAD};
use crate::text::grouped;

/// The most that waits for people, in bytes.
const MOST_FOR_PEOPLE: usize = 8 << 20;

/// The most that waits once a bot's lines are among it: a bot that floods its stderr leaves room for what the referee says.
const MOST_WITH_BOTS: usize = 4 << 20;

/// Text that goes the same way is put together up to this size.
const CHUNK: usize = 64 * 1024;

#[derive(Debug, Default)]
pub(super) struct Queue {
    chunks: VecDeque<Chunk>,
    waiting: usize,
    waiting_results: usize,
    /// Since when the stream has taken nothing.
    stuck: Option<Instant>,
    dropped_lines: u64,
    is_unread_told: bool,
    /// Why results can no longer be written.
    failure: Option<(Option<i32>, io::ErrorKind)>,
}

#[derive(Debug)]
struct Chunk {
    kind: Kind,
    bytes: Vec<u8>,
    written: usize,
}

impl Queue {
    /// Adds text, and writes what the stream takes without waiting. The error is that of writing results, now or earlier.
    pub(super) fn push(&mut self, kind: Kind, bytes: &[u8]) -> io::Result<()> {
        if kind == Kind::Results {
            self.result()?;
        }
        let most = match kind {
            Kind::Results => usize::MAX,
            Kind::Notes => MOST_FOR_PEOPLE,
            Kind::BotLines => MOST_WITH_BOTS,
        };
        if self.waiting.saturating_add(bytes.len()) > most {
            self.dropped_lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
            return Ok(());
        }
        self.add_notice();
        self.add(kind, bytes);
        self.write(Duration::ZERO);
        if kind == Kind::Results {
            self.result()?;
        }
        Ok(())
    }

    pub(super) fn result(&self) -> io::Result<()> {
        match self.failure {
            None => Ok(()),
            Some((Some(code), _)) => Err(io::Error::from_raw_os_error(code)),
            Some((None, kind)) => Err(kind.into()),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// In bytes.
    pub(super) const fn waiting_results(&self) -> u64 {
        self.waiting_results as u64
    }

    /// Whether the stream has taken nothing for so long.
    pub(super) fn is_stuck(&self, time: Duration) -> bool {
        self.stuck.is_some_and(|since| since.elapsed() >= time)
    }

    /// Writes what waits, until the stream takes nothing for `wait`.
    pub(super) fn write(&mut self, wait: Duration) {
        while let Some(chunk) = self.chunks.front_mut() {
            let rest = &chunk.bytes[chunk.written..];
            let is_lost = chunk.kind == Kind::Results && self.failure.is_some();
            let count = if is_lost {
                rest.len()
            } else {
                match write_some(chunk.kind, rest, wait) {
                    Ok(0) => {
                        self.stuck.get_or_insert_with(Instant::now);
                        return;
                    }
                    Ok(count) => count,
                    Err(error) => {
                        if chunk.kind == Kind::Results {
                            self.failure = Some((error.raw_os_error(), error.kind()));
                        }
                        rest.len()
                    }
                }
            };
            self.stuck = None;
            chunk.written += count;
            self.waiting -= count;
            if chunk.kind == Kind::Results {
                self.waiting_results -= count;
            }
            if chunk.written == chunk.bytes.len() {
                self.chunks.pop_front();
            }
            if self.chunks.is_empty() {
                self.add_notice();
            }
        }
    }

    fn add(&mut self, kind: Kind, bytes: &[u8]) {
        self.waiting += bytes.len();
        if kind == Kind::Results {
            self.waiting_results += bytes.len();
        }
        match self.chunks.back_mut() {
            Some(last) if last.kind == kind && last.bytes.len() < CHUNK => {
                last.bytes.extend_from_slice(bytes);
            }
            _ if bytes.is_empty() => {}
            _ => self.chunks.push_back(Chunk {
                kind,
                bytes: bytes.to_vec(),
                written: 0,
            }),
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
        self.add(Kind::Notes, notice.as_bytes());
    }

    /// Where that has changed: whether the stream is read, and how many bytes wait.
    pub(super) fn reader_change(&mut self) -> Option<(bool, usize)> {
        let is_unread = self.is_stuck(UNREAD);
        let has_changed = is_unread != self.is_unread_told;
        self.is_unread_told = is_unread;
        has_changed.then_some((!is_unread, self.waiting))
    }
}
