//! The event stream of a page.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::channel::Sender;
use hyper::body::Bytes;
use tokio::time::{Instant, interval_at, sleep, timeout};

use super::{Feed, Now};

pub(super) const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// Approximate, of entries.
pub(super) const EVENT_BYTES: usize = 64 * 1024;
/// Games that finish within it share an event.
const BATCH_INTERVAL: Duration = Duration::from_millis(150);
/// Between two comments, without which a proxy might end a silent connection.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

const BEGIN: &str = "retry: 2000\nevent: begin\ndata: {}\n\n";

pub(super) struct SharedEvents {
    pub(super) feed: Arc<Feed>,
    /// The page, and its policy.
    pub(super) served: [String; 2],
    /// Part of event ids: tells servers apart.
    pub(super) run: u32,
}

pub(super) struct WantedEvents {
    /// First position; `None` for all, with the `BEGIN` event.
    pub(super) from: Option<usize>,
    pub(super) stage: bool,
}

/// From an event's id; `None` for another server's.
pub(super) fn position_of(id: &str, run: u32) -> Option<usize> {
    let (id_run, position) = id.split_once('-')?;
    (id_run.parse() == Ok(run)).then(|| position.parse().ok())?
}

/// `None`: the client left or does not accept data.
async fn send(sender: &mut Sender<Bytes>, text: impl Into<Bytes>) -> Option<()> {
    let sent = timeout(SEND_TIMEOUT, sender.send_data(text.into())).await;
    sent.ok()?.ok()
}

fn event(kind: &str, data: &str) -> String {
    format!("event: {kind}\ndata: {data}\n\n")
}

/// Sends a sequence's entries from a position on; of a new sequence if one begins. Returns sequence and position.
async fn send_entries(
    sender: &mut Sender<Bytes>,
    shared: &SharedEvents,
    (mut sequence, mut position): (u32, usize),
) -> Option<(u32, usize)> {
    loop {
        let run = shared.run.wrapping_add(sequence);
        let Some((entries, next)) = shared.feed.entries(sequence, position, EVENT_BYTES) else {
            send(sender, BEGIN.to_owned()).await?;
            (sequence, position) = (shared.feed.sequence(), 0);
            continue;
        };
        if next == position {
            return Some((sequence, position));
        }
        position = next;
        let event = format!("id: {run}-{position}\nevent: entries\ndata: [{entries}]\n\n");
        send(sender, event).await?;
    }
}

/// Until the page ends or the client leaves.
pub(super) async fn send_events(
    sender: &mut Sender<Bytes>,
    shared: &SharedEvents,
    wanted: WantedEvents,
) -> Option<()> {
    let mut changes = shared.feed.now.subscribe();
    let watched = shared.feed.watched().filter(|_| wanted.stage);
    let _watching = watched.map(|watched| Arc::clone(&watched.watchers));
    let mut told = Now::default();
    let mut keep_alive = interval_at(Instant::now() + KEEP_ALIVE_INTERVAL, KEEP_ALIVE_INTERVAL);
    if wanted.from.is_none() {
        send(sender, BEGIN.to_owned()).await?;
    }
    if let Some(watched) = watched {
        send(sender, event("edition", &watched.edition())).await?;
    }
    let mut sent = (shared.feed.sequence(), wanted.from.unwrap_or(0));
    loop {
        let now = changes.borrow_and_update().clone();
        if (now.sequence, now.games) != (told.sequence, told.games) {
            sent = send_entries(sender, shared, sent).await?;
        }
        if !now.figures.is_empty() && !Arc::ptr_eq(&now.figures, &told.figures) {
            send(sender, event("figures", &now.figures)).await?;
        }
        if let Some(watched) = watched
            && !now.tables.is_empty()
            && !Arc::ptr_eq(&now.tables, &told.tables)
        {
            let time = watched.epoch.elapsed().as_millis();
            let tables = format!("[{time},{}]", now.tables);
            send(sender, event("tables", &tables)).await?;
        }
        if now.state != told.state {
            let state = now.state.to_json().to_string();
            send(sender, event("state", &state)).await?;
        }
        if now.last {
            return None;
        }
        told = now;
        tokio::select! {
            new = changes.changed() => {
                new.ok()?;
                let games = changes.borrow().games;
                if games != told.games {
                    sleep(BATCH_INTERVAL).await;
                }
            }
            _ = keep_alive.tick() => send(sender, ": keep-alive\n\n".to_owned()).await?,
        }
    }
}
