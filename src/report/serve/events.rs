//! The stream of events that a page reads.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::channel::Sender;
use hyper::body::Bytes;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::blocks::{Blocks, PATIENCE};
use super::stage::Watched;
use super::visitors::StreamVisit;
use super::{Feed, State};
use crate::report::html::Served;

/// How long a client may take to accept what is sent to it.
pub(super) const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// The approximate size of an event with entries, in bytes.
pub(super) const EVENT_BYTES: usize = 64 * 1024;
/// Games that end within this time are sent in one event.
const BATCH_INTERVAL: Duration = Duration::from_millis(150);
/// A client to which nothing was sent for this time is sent a comment.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// The event with which a sequence of games begins.
const BEGIN: &str = "retry: 2000\nevent: begin\ndata: {}\n\n";

/// The state shared by all connections.
pub(super) struct Shared {
    pub(super) feed: Feed,
    pub(super) served: Served,
    /// Distinguishes this server's event ids from those of an earlier one.
    pub(super) run: u32,
    pub(super) figures: watch::Receiver<CurrentFigures>,
    pub(super) shutdown: watch::Receiver<bool>,
    pub(super) blocks: Blocks,
}

/// Figures as they were calculated last.
#[derive(Clone, Default)]
pub(super) struct CurrentFigures {
    pub(super) json: Arc<str>,
    /// No others will follow.
    pub(super) last: bool,
}

/// The client has disconnected or does not accept data.
struct Disconnected;

/// What a client asked for.
pub(super) struct Wanted {
    /// The position in the entries from which it wants them; `None` for all, and to be told so.
    pub(super) from: Option<usize>,
    /// Whether it wants the games that are being played, too.
    pub(super) stage: bool,
    /// Whether it can unpack blocks of entries.
    pub(super) packed: bool,
}

/// The position in the entries of an event's id; `None` for an id of another server.
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

/// Sends a long text in pieces, for each of which the client has time.
async fn send_long(sender: &mut Sender<Bytes>, mut text: Bytes) -> Result<(), Disconnected> {
    while !text.is_empty() {
        let piece = text.split_to(EVENT_BYTES.min(text.len()));
        send(sender, piece).await?;
    }
    Ok(())
}

/// Sends a client events until it disconnects or the server is stopped.
pub(super) async fn stream_events(
    mut sender: Sender<Bytes>,
    shared: Arc<Shared>,
    wanted: Wanted,
    visit: StreamVisit,
) {
    // The client has disconnected: nothing is left to do.
    let _ = send_events(&mut sender, &shared, wanted).await;
    drop(visit);
}

/// Waits for another text of the stage; for ever where the client does not want it.
async fn changed(
    tables: &mut Option<watch::Receiver<Arc<str>>>,
) -> Result<(), watch::error::RecvError> {
    match tables {
        Some(tables) => tables.changed().await,
        None => std::future::pending().await,
    }
}

/// Sends a client all entries of a sequence from a position on, in blocks if it can unpack them and for as long as it has
/// patience, those of another one if it has begun meanwhile. Returns the
/// sequence and the position behind them.
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

/// Sends a client the entries from its position on, and new ones, figures and the games being played until shutdown.
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
