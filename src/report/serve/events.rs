//! The event stream of a page.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::channel::Sender;
use hyper::body::Bytes;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::server::StreamVisit;
use super::stage::Watched;
use super::{Feed, State};
use crate::bot::exhaustion::start_thread;
use crate::report::html::Served;
use crate::system;

pub(super) const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// Approximate, of entries.
pub(super) const EVENT_BYTES: usize = 64 * 1024;
/// Games that finish within it share an event.
const BATCH_INTERVAL: Duration = Duration::from_millis(150);
/// After this time without data, a comment is sent.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Begins a sequence of games.
const BEGIN: &str = "retry: 2000\nevent: begin\ndata: {}\n\n";

/// By all connections.
pub(super) struct Shared {
    pub(super) feed: Feed,
    pub(super) served: Served,
    /// Part of event ids: tells servers apart.
    pub(super) run: u32,
    pub(super) figures: watch::Receiver<CurrentFigures>,
    pub(super) shutdown: watch::Receiver<bool>,
    pub(super) blocks: Blocks,
}

/// As last computed.
#[derive(Clone, Default)]
pub(super) struct CurrentFigures {
    pub(super) json: Arc<str>,
    /// None will follow.
    pub(super) last: bool,
}

/// The client left or does not accept data.
struct Disconnected;

/// A client's request.
pub(super) struct Wanted {
    /// First position; `None` for all, with the `BEGIN` event.
    pub(super) from: Option<usize>,
    /// Whether it wants the games in play.
    pub(super) stage: bool,
    /// Whether it can unpack blocks.
    pub(super) packed: bool,
}

/// From an event's id; `None` for another server's.
pub(super) fn position_of(id: &str, run: u32) -> Option<usize> {
    let (id_run, position) = id.split_once('-')?;
    (id_run.parse() == Ok(run)).then(|| position.parse().ok())?
}

async fn send(sender: &mut Sender<Bytes>, text: impl Into<Bytes>) -> Result<(), Disconnected> {
    match timeout(SEND_TIMEOUT, sender.send_data(text.into())).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(Disconnected),
    }
}

/// In pieces, with time for each.
async fn send_long(sender: &mut Sender<Bytes>, mut text: Bytes) -> Result<(), Disconnected> {
    while !text.is_empty() {
        let piece = text.split_to(EVENT_BYTES.min(text.len()));
        send(sender, piece).await?;
    }
    Ok(())
}

pub(super) async fn stream_events(
    mut sender: Sender<Bytes>,
    shared: Arc<Shared>,
    wanted: Wanted,
    visit: StreamVisit,
) {
    // The client left.
    let _ = send_events(&mut sender, &shared, wanted).await;
    drop(visit);
}

/// The stage's next text; never for a client without stage.
async fn changed(
    tables: &mut Option<watch::Receiver<Arc<str>>>,
) -> Result<(), watch::error::RecvError> {
    match tables {
        Some(tables) => tables.changed().await,
        None => std::future::pending().await,
    }
}

/// Sends a sequence's entries from a position on, in blocks if wanted and while patience lasts; of a new sequence if
/// one begins. Returns sequence and position.
async fn send_entries(
    sender: &mut Sender<Bytes>,
    shared: &Shared,
    patience: &mut Option<Duration>,
    (mut sequence, mut position): (u32, usize),
    games: &mut watch::Receiver<(u32, u64)>,
) -> Result<(u32, usize), Disconnected> {
    loop {
        let run = shared.run.wrapping_add(sequence);
        if let Some(patience) = patience {
            let blocks = &shared.blocks;
            let block = blocks.at(&shared.feed, sequence, run, position, patience);
            if let Some((event, next)) = block.await {
                send_long(sender, event).await?;
                position = next;
                continue;
            }
        }
        let Some((entries, next)) = shared.feed.entries(sequence, position, EVENT_BYTES) else {
            send(sender, BEGIN.to_owned()).await?;
            (sequence, position) = (games.borrow_and_update().0, 0);
            continue;
        };
        if next == position {
            return Ok((sequence, position));
        }
        position = next;
        send(
            sender,
            format!("id: {run}-{position}\nevent: entries\ndata: [{entries}]\n\n"),
        )
        .await?;
    }
}

async fn send_events(
    sender: &mut Sender<Bytes>,
    shared: &Shared,
    wanted: Wanted,
) -> Result<(), Disconnected> {
    let mut games = shared.feed.watch();
    let mut figures = shared.figures.clone();
    let mut state = shared.feed.state();
    let watched = shared.feed.watched().filter(|_| wanted.stage);
    let watching = watched.map(Watched::watch);
    let mut tables = watched.map(|watched| watched.tables.subscribe());
    let mut told = State::Playing;
    let mut sent: Arc<str> = Arc::default();
    let mut shown: Arc<str> = Arc::default();
    if wanted.from.is_none() {
        send(sender, BEGIN.to_owned()).await?;
    }
    if let Some(watched) = watched {
        send(
            sender,
            format!("event: edition\ndata: {}\n\n", watched.edition()),
        )
        .await?;
    }
    let mut position = wanted.from.unwrap_or(0);
    let mut patience = wanted.packed.then_some(PATIENCE);
    let mut sequence = games.borrow().0;
    loop {
        games.mark_unchanged();
        let sent_until = (sequence, position);
        (sequence, position) =
            send_entries(sender, shared, &mut patience, sent_until, &mut games).await?;
        let current = figures.borrow_and_update().clone();
        if !current.json.is_empty() && !Arc::ptr_eq(&current.json, &sent) {
            send(
                sender,
                format!("event: figures\ndata: {}\n\n", current.json),
            )
            .await?;
            sent = current.json;
        }
        if let (Some(watched), Some(tables)) = (watched, &mut tables) {
            let text = Arc::clone(&tables.borrow_and_update());
            if !text.is_empty() && !Arc::ptr_eq(&text, &shown) {
                let now = watched.now();
                send(sender, format!("event: tables\ndata: [{now},{text}]\n\n")).await?;
                shown = text;
            }
        }
        let now = *state.borrow_and_update();
        if now != told {
            told = now;
            send(
                sender,
                format!("event: state\ndata: \"{}\"\n\n", now.name()),
            )
            .await?;
        }
        if current.last {
            drop(watching);
            return Ok(());
        }
        tokio::select! {
            changed = games.changed() => {
                if changed.is_err() {
                    return Ok(());
                }
                sleep(BATCH_INTERVAL).await;
            }
            changed = figures.changed() => {
                if changed.is_err() {
                    return Ok(());
                }
            }
            changed = state.changed() => {
                if changed.is_err() {
                    return Ok(());
                }
            }
            changed = changed(&mut tables) => {
                if changed.is_err() {
                    return Ok(());
                }
            }
            () = sleep(KEEP_ALIVE_INTERVAL) => send(sender, ": keep-alive\n\n".to_owned()).await?,
        }
    }
}

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
