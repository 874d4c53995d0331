//! A program's standard error: always read to its end, so that the program never blocks, and partly
//! kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::yield_now;

use crate::threads::locked;

/// Bytes kept of the end of the output.
pub const KEPT_BYTES: usize = 64 * 1024;

/// A longer line is shown in pieces while the game goes on.
const LIVE_LINE: usize = 4096;

/// Gets each whole line, escaped, without newline. Must return immediately: clocks run.
pub type Tap = Arc<dyn Fn(&str) + Send + Sync>;

/// The last [`KEPT_BYTES`] of an output, shared with the task that reads it.
#[derive(Clone, Debug, Default)]
pub struct Kept(Arc<Mutex<VecDeque<u8>>>);

impl Kept {
    fn push(&self, bytes: &[u8]) {
        let mut kept = locked(&self.0);
        kept.extend(bytes);
        let surplus = kept.len().saturating_sub(KEPT_BYTES);
        kept.drain(..surplus);
    }

    pub fn end(&self, count: usize) -> Vec<u8> {
        let kept = locked(&self.0);
        kept.range(kept.len().saturating_sub(count)..)
            .copied()
            .collect()
    }
}

/// Reads a program's stderr to its end.
pub async fn drain(mut stream: impl AsyncRead + Unpin, kept: Kept, tap: Option<Tap>) {
    let mut buffer = [0; 4096];
    let mut line = Vec::new();
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        let bytes = &buffer[..count];
        kept.push(bytes);
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
    fn the_end_is_kept() {
        let kept = Kept::default();
        let bytes: Vec<u8> = (0..300_000u32).map(|i| (i % 251) as u8).collect();
        for chunk in bytes.chunks(1000) {
            kept.push(chunk);
        }
        assert_eq!(kept.end(usize::MAX), bytes[bytes.len() - KEPT_BYTES..]);
        assert_eq!(kept.end(10), bytes[bytes.len() - 10..]);
    }
}
