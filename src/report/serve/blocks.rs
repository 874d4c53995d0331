//! Blocks of entries, compressed: for clients that have none of them yet. Each is made once, when the first client wants
//! it, by a thread that gives way to others; who is up to date never needs one.

use hyper::body::Bytes;
use std::collections::HashMap;
use tokio::sync::{Mutex, oneshot};

use super::Feed;
use crate::bot::exhaustion::start_thread;
use crate::system;

/// The blocks that have been made.
#[derive(Default)]
pub(super) struct Blocks(Mutex<Made>);

#[derive(Default)]
struct Made {
    sequence: u32,
    /// The event of a block, and the position behind it, by the position at which it begins.
    events: HashMap<usize, (Bytes, usize)>,
}

impl Blocks {
    /// The event with the block of a sequence that begins at this position, and the position behind it; `None` where no
    /// full block begins, or none can be made. `run` is what its id begins with.
    pub(super) async fn at(
        &self,
        feed: &Feed,
        sequence: u32,
        run: u32,
        from: usize,
    ) -> Option<(Bytes, usize)> {
        // Locked while one is made: others wait for the same, and two are never made at once.
        let mut made = self.0.lock().await;
        if made.sequence != sequence {
            *made = Made {
                sequence,
                ..Made::default()
            };
        }
        if let Some(found) = made.events.get(&from) {
            return Some(found.clone());
        }
        let (block, next) = feed.block(sequence, from)?;
        let (done, packed) = oneshot::channel();
        let thread = start_thread("packing", move || {
            system::give_way();
            // Whoever wanted it may be gone.
            let _ = done.send(block.packed());
        });
        drop(thread.ok()?);
        let packed = packed.await.ok()?.ok()?;
        let event = format!("id: {run}-{next}\nevent: packed\ndata: {packed}\n\n");
        let found = (Bytes::from(event), next);
        made.events.insert(from, found.clone());
        Some(found)
    }
}
