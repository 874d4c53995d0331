//! Compressed blocks of entries for clients that have none.
//!
//! A low-priority thread makes each once, when the first client wants it. What is not made in time is sent
//! uncompressed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use tokio::sync::watch;
use tokio::time::timeout;

use super::Feed;
use crate::bot::exhaustion::start_thread;
use crate::system;

/// For all blocks of a client.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// Clones share the blocks.
#[derive(Clone)]
pub(super) struct Blocks {
    made: Arc<Mutex<Made>>,
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct Made {
    sequence: u32,
    /// By first position: the block's event, and the position after it.
    events: HashMap<usize, (Bytes, usize)>,
    /// Whether a thread is making more.
    is_busy: bool,
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            made: Arc::default(),
            changed: watch::Sender::new(()),
        }
    }
}

impl Blocks {
    /// Forgets blocks of other sequences.
    fn of(&self, sequence: u32) -> MutexGuard<'_, Made> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.sequence != sequence {
            made.sequence = sequence;
            made.events.clear();
        }
        made
    }

    fn found(&self, sequence: u32, from: usize) -> Option<(Bytes, usize)> {
        self.of(sequence).events.get(&from).cloned()
    }

    /// The event of the block at this position, and the position after it; `None` if no full block begins there or
    /// it is not made within `patience`, which shrinks. `run` begins its id.
    pub(super) async fn at(
        &self,
        feed: &Feed,
        sequence: u32,
        run: u32,
        from: usize,
        patience: &mut Duration,
    ) -> Option<(Bytes, usize)> {
        if let Some(found) = self.found(sequence, from) {
            return Some(found);
        }
        if !feed.has_block(sequence, from) {
            return None;
        }
        let began = Instant::now();
        let mut changed = self.changed.subscribe();
        self.start(feed, sequence, run, from);
        let wait = async {
            loop {
                let found = self.found(sequence, from);
                if found.is_some() || changed.changed().await.is_err() {
                    return found;
                }
            }
        };
        let found = timeout(*patience, wait).await.ok().flatten();
        *patience = patience.saturating_sub(began.elapsed());
        found
    }

    /// Starts a thread for this block and those after it, unless one is running.
    fn start(&self, feed: &Feed, sequence: u32, run: u32, from: usize) {
        let mut made = self.of(sequence);
        if made.is_busy {
            return;
        }
        let (blocks, feed) = (self.clone(), feed.clone());
        let thread = start_thread("packing", move || {
            system::give_way();
            blocks.make(&feed, sequence, run, from);
        });
        made.is_busy = thread.is_ok();
    }

    fn make(&self, feed: &Feed, sequence: u32, run: u32, mut from: usize) {
        while let Some((block, next)) = feed.block(sequence, from) {
            if self.found(sequence, from).is_none() {
                let Ok(packed) = block.packed() else { break };
                let event = format!("id: {run}-{next}\nevent: packed\ndata: {packed}\n\n");
                let event = (Bytes::from(event), next);
                self.of(sequence).events.insert(from, event);
                self.changed.send_replace(());
            }
            from = next;
        }
        let made = self.made.lock();
        made.unwrap_or_else(PoisonError::into_inner).is_busy = false;
    }
}
