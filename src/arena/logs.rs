//! What bots write to stderr, in a file each.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::bot::stderr::Tap;

/// The most that is kept of a bot, in bytes; a bot that writes more is not worth the disk.
pub const MOST_BYTES: u64 = 8 << 20;

/// A bot's file. It is made when the first line comes.
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
    /// The log in this file, which may hold something from before.
    pub fn new(path: PathBuf) -> Self {
        let bytes = fs::metadata(&path).map_or(0, |meta| meta.len());
        let state = Mutex::new(State { file: None, bytes });
        Self { path, state }
    }

    /// A tap that writes lines down, each with the number of the pair that is played.
    pub fn tap(self: &Arc<Self>, pair: Arc<AtomicU64>) -> Tap {
        let log = Arc::clone(self);
        Arc::new(move |line| log.write(pair.load(Ordering::Relaxed), line))
    }

    /// Lines are escaped. A log that cannot be written is no reason to stop a tournament.
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
                    tracing::warn!("{}: {error}", self.path.display());
                    state.bytes = MOST_BYTES;
                    return;
                }
            }
        }
        if let Some(file) = &mut state.file
            && let Err(error) = file.write_all(text.as_bytes())
        {
            tracing::warn!("{}: {error}", self.path.display());
            state.bytes = MOST_BYTES;
        }
    }
}
