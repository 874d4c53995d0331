//! The bots' stderr, a file each.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::bot::stderr::Tap;

/// Kept for a bot, in bytes.
pub const MOST_BYTES: u64 = 8 << 20;

/// Created with the first line.
#[derive(Debug)]
pub struct StderrLog {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: Option<File>,
    bytes: u64,
}

impl StderrLog {
    /// A log that appends to this file.
    pub fn new(path: PathBuf) -> Self {
        let bytes = fs::metadata(&path).map_or(0, |meta| meta.len());
        let state = Mutex::new(State { file: None, bytes });
        Self { path, state }
    }

    /// Writes each line after the number of the pair in play.
    pub fn tap(self: &Arc<Self>, pair: Arc<AtomicU64>) -> Tap {
        let log = Arc::clone(self);
        Arc::new(move |line| log.write(pair.load(Ordering::Relaxed), line))
    }

    /// `line` is escaped. If the log cannot be written, the tournament continues without it.
    fn write(&self, pair: u64, line: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.bytes >= MOST_BYTES {
            return;
        }
        let mut text = format!("p{pair:06} {line}\n");
        state.bytes += text.len() as u64;
        if state.bytes >= MOST_BYTES {
            text.push_str("... the rest is left out: the log is full\n");
        }
        if state.file.is_none() {
            if let Some(folder) = self.path.parent() {
                let _ = fs::create_dir_all(folder);
            }
            let opened = OpenOptions::new()
                .append(true)
                .create(true)
                .open(&self.path);
            match opened {
                Ok(file) => state.file = Some(file),
                Err(error) => {
                    tracing::warn!(
                        "{}: {error}",
                        self.path.display(),
                        error = crate::text::cause(&error)
                    );
                    state.bytes = MOST_BYTES;
                    return;
                }
            }
        }
        if let Some(file) = &mut state.file
            && let Err(error) = file.write_all(text.as_bytes())
        {
            tracing::warn!(
                "{}: {error}",
                self.path.display(),
                error = crate::text::cause(&error)
            );
            state.bytes = MOST_BYTES;
        }
    }
}
