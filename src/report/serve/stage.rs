//! Games in play, for pages that show them move by move.
//!
//! A thread looks at the tables ten times a second. Changes become one text, whatever the number of moves and
//! watchers; each watcher gets the newest when its connection has room. Nothing is written while no page watches.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::watch;

use super::Feed;
use crate::game::Side;
use crate::play::stage::{GameNow, Stage, TableNow};
use crate::report::html;
use crate::session::Ruleset;
use crate::text::escape_controls;

/// Between two looks.
const INTERVAL: Duration = Duration::from_millis(100);

/// A watcher, times the number of watchers, between texts: at most 500 are sent a second.
const TIME_PER_WATCHER: Duration = Duration::from_millis(2);

/// Most tables: a page has no room for more.
const TABLES: usize = 64;

/// With its watchers.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) stage: Stage,
    ruleset: Arc<dyn Ruleset>,
    watchers: AtomicUsize,
    /// JSON; empty before the first text.
    pub(super) tables: watch::Sender<Arc<str>>,
    /// Times in the text are milliseconds from here.
    epoch: Instant,
    expected: Mutex<Option<Expected>>,
}

#[derive(Clone, Copy, Debug)]
struct Expected {
    games: u64,
    /// This run's start, and games played before it.
    begun: Instant,
    before: u64,
}

/// Counts until dropped.
pub(super) struct Watching(Arc<Watched>);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.watchers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Of a table.
struct Shown {
    number: usize,
    /// When its side was first seen thinking.
    since: u128,
    drawing: Value,
}

impl Watched {
    pub(super) fn new(ruleset: Arc<dyn Ruleset>) -> Self {
        Self {
            stage: Stage::new(ruleset.program().is_some()),
            ruleset,
            watchers: AtomicUsize::new(0),
            tables: watch::Sender::new(Arc::default()),
            epoch: Instant::now(),
            expected: Mutex::new(None),
        }
    }

    pub(super) fn watch(self: &Arc<Self>) -> Watching {
        self.watchers.fetch_add(1, Ordering::Relaxed);
        Watching(Arc::clone(self))
    }

    pub(super) fn now(&self) -> u128 {
        self.epoch.elapsed().as_millis()
    }

    pub(super) fn edition(&self) -> String {
        html::edition(&*self.ruleset).to_string()
    }

    fn expected(&self) -> MutexGuard<'_, Option<Expected>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `before` were played already.
    pub(super) fn expect(&self, games: u64, before: u64) {
        *self.expected() = Some(Expected {
            games,
            begun: Instant::now(),
            before,
        });
    }

    pub(super) fn run(&self, feed: &Feed, stop: &AtomicBool) {
        let mut seen: Vec<TableNow> = Vec::new();
        let mut shown: Vec<Shown> = Vec::new();
        let mut told = None;
        let mut is_told = false;
        while !stop.load(Ordering::Relaxed) {
            let now = self.now();
            let watchers = self.watchers.load(Ordering::Relaxed);
            let any = self.stage.look(&mut seen, |table| {
                match shown.iter_mut().find(|shown| shown.number == table.number) {
                    Some(shown) => {
                        shown.since = now;
                        shown.drawing = Value::Null;
                    }
                    None => shown.push(Shown {
                        number: table.number,
                        since: now,
                        drawing: Value::Null,
                    }),
                }
            });
            let progress = self.progress(feed.number_of_games());
            is_told &= !any && told == Some(progress.0);
            if watchers == 0 && !is_told && told.take().is_some() {
                // Later watchers must not see old games.
                self.tables.send_replace(Arc::default());
            }
            let mut pause = INTERVAL;
            if watchers > 0 && !is_told {
                let tables = seen.iter().filter(|table| !table.game.id.is_empty());
                let tables: Vec<Value> = tables
                    .take(TABLES)
                    .filter_map(|table| {
                        let mut shown = shown.iter_mut();
                        let shown = shown.find(|shown| shown.number == table.number)?;
                        Some(self.packed(table, shown))
                    })
                    .collect();
                let (played, expected, left) = progress;
                let text =
                    json!({"played": played, "expected": expected, "left": left, "tables": tables});
                self.tables.send_replace(text.to_string().into());
                told = Some(played);
                is_told = true;
                let all = u32::try_from(watchers).unwrap_or(u32::MAX);
                pause = pause.max(TIME_PER_WATCHER.saturating_mul(all));
            }
            thread::park_timeout(pause);
        }
    }

    /// Games played, total, seconds left at this run's pace.
    fn progress(&self, played: u64) -> (u64, Option<u64>, Option<u64>) {
        let Some(expected) = *self.expected() else {
            return (played, None, None);
        };
        let of_run = u128::from(played.saturating_sub(expected.before));
        let left = u128::from(expected.games.saturating_sub(played));
        let seconds = expected.begun.elapsed().as_millis() * left;
        let seconds = seconds.checked_div(of_run * 1000);
        let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok());
        (played, Some(expected.games), seconds)
    }

    /// `t`: number; `b`: names; `s`: start; `m`: turns; `n`: their number; `by`: side of the last one; `to`: side to
    /// move; by side `left` (of the game), `limit` (of a move) and `last` turn in milliseconds; `d`: a program's
    /// drawing.
    fn packed(&self, table: &TableNow, shown: &mut Shown) -> Value {
        let game = &table.game;
        let ms = |times: [Option<Duration>; 2]| times.map(|time| time.map(|time| time.as_millis()));
        let turns: Vec<String> = game.turns.lines().map(escape_controls).collect();
        if shown.drawing.is_null() && !game.position.is_empty() {
            shown.drawing = self.drawing(game).unwrap_or(json!({}));
        }
        json!({
            "t": table.number,
            "id": escape_controls(&game.id),
            "b": game.names.each_ref().map(|name| html::shown_name(name)),
            "s": escape_controls(&game.start),
            "m": turns,
            "n": game.count,
            "by": game.by.map(Side::index),
            "to": game.to_move.map(Side::index),
            "since": shown.since,
            "left": ms(game.left),
            "limit": ms(game.limit),
            "last": ms(game.last),
            "d": shown.drawing,
        })
    }

    fn drawing(&self, game: &GameNow) -> Option<Value> {
        let session = self.ruleset.start_from(&game.position).ok()?;
        Some(html::drawing(&*session))
    }
}
