//! A program's standard error: always read to its end, so that the program never blocks, and partly
//! kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::yield_now;

/// Bytes kept of each end of the output.
pub const KEPT_BYTES: usize = 64 * 1024;

/// A longer line is shown in pieces while the game goes on.
const LIVE_LINE: usize = 4096;

/// Gets each whole line, escaped, without newline. Must return immediately: clocks run.
pub type Tap = Arc<dyn Fn(&str) + Send + Sync>;

/// The first and the last bytes of an output.
#[derive(Debug, Default)]
pub struct Kept {
    head: Vec<u8>,
    /// The last [`KEPT_BYTES`] after the head.
    tail: VecDeque<u8>,
    /// All bytes seen.
    total: u64,
}

impl Kept {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = KEPT_BYTES - self.head.len();
        let (head, rest) = bytes.split_at(bytes.len().min(room));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(KEPT_BYTES)..];
        let surplus = (self.tail.len() + rest.len()).saturating_sub(KEPT_BYTES);
        self.tail.drain(..surplus);
        self.tail.extend(rest);
    }

    /// The kept head, the number of bytes left out, the kept tail.
    pub fn parts(&self) -> (Vec<u8>, u64, Vec<u8>) {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let left_out = self.total - self.head.len() as u64 - tail.len() as u64;
        (self.head.clone(), left_out, tail)
    }

    pub fn end(&self, count: usize) -> Vec<u8> {
        let (mut all, _, tail) = self.parts();
        all.extend_from_slice(&tail);
        all.split_off(all.len().saturating_sub(count))
    }
}

/// Shared with the task that reads.
#[derive(Clone, Debug, Default)]
pub struct Shared(Arc<Mutex<Kept>>);

impl Shared {
    pub fn with<T>(&self, access: impl FnOnce(&mut Kept) -> T) -> T {
        access(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Reads a program's stderr to its end.
pub async fn drain(mut stream: impl AsyncRead + Unpin, kept: Shared, tap: Option<Tap>) {
    let mut buffer = [0; 4096];
    let mut line = Vec::new();
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        let bytes = &buffer[..count];
        kept.with(|kept| kept.push(bytes));
        if let Some(tap) = &tap {
            for &byte in bytes {
                if byte == b'\n' || line.len() >= LIVE_LINE {
                    show(tap, &mut line);
                }
                if byte != b'\n' {
                    line.push(byte);
                }
            }
        }
        if count == buffer.len() {
            // A program that floods its stderr must not delay another's answer.
            yield_now().await;
        }
    }
    if let Some(tap) = tap
        && !line.is_empty()
    {
        show(&tap, &mut line);
    }
}

fn show(tap: &Tap, line: &mut Vec<u8>) {
    let text = line.strip_suffix(b"\r").unwrap_or(line);
    tap(&crate::text::escape(text));
    line.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_kept() {
        let mut kept = Kept::default();
        let bytes: Vec<u8> = (0..300_000u32).map(|i| (i % 251) as u8).collect();
        for chunk in bytes.chunks(1000) {
            kept.push(chunk);
        }
        let (head, left_out, tail) = kept.parts();
        assert_eq!(head, bytes[..KEPT_BYTES]);
        assert_eq!(tail, bytes[bytes.len() - KEPT_BYTES..]);
        assert_eq!(left_out, (bytes.len() - 2 * KEPT_BYTES) as u64);
        assert_eq!(kept.end(10), bytes[bytes.len() - 10..]);
    }
}
