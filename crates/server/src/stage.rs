//! Games in play, for pages that show them move by move.
//!
//! A task looks at the tables ten times a second. Changes become one text; nothing is written while no page watches.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::Feed;
use referee_games::game::Ruleset;
use referee_games::game::Side;
use referee_host::threads::locked;
use referee_match::bot::human::Inbox;
use referee_match::play::stage::{GameNow, Stage};
use referee_report::html;
use referee_text::escape_controls;

/// Between two looks.
const INTERVAL: Duration = Duration::from_millis(100);

/// A watcher, times the number of watchers, between texts: at most 500 are sent a second.
const TIME_PER_WATCHER: Duration = Duration::from_millis(2);

/// Most tables: a page has no room for more.
const TABLES: usize = 64;

#[derive(Debug)]
pub(super) struct WatchedGames {
    pub(super) stage: Stage,
    ruleset: Arc<dyn Ruleset>,
    /// Each watcher holds a copy.
    pub(super) watchers: Arc<()>,
    /// Times in the text are milliseconds from here.
    pub(super) epoch: Instant,
    expected: Mutex<Option<Expected>>,
    /// Of the person who plays at the page.
    pub(super) inbox: OnceLock<Inbox>,
}

#[derive(Clone, Copy, Debug)]
struct Expected {
    games: u64,
    /// This run's start, and games played before it.
    begun: Instant,
    before: u64,
}

/// By table: a position that its program has drawn.
type Drawings = HashMap<usize, (String, Value)>;

impl WatchedGames {
    pub(super) fn new(ruleset: Arc<dyn Ruleset>) -> Self {
        Self {
            stage: Stage::new(ruleset.program().is_some()),
            ruleset,
            watchers: Arc::new(()),
            epoch: Instant::now(),
            expected: Mutex::new(None),
            inbox: OnceLock::new(),
        }
    }

    /// Other games than those that were announced at the start.
    pub(super) fn expect_instead(&self, games: u64) {
        if let Some(expected) = &mut *locked(&self.expected) {
            expected.games = games;
        }
    }

    pub(super) fn edition(&self) -> String {
        let game = &self.ruleset;
        json!(html::edition(game.name(), game.rules(), game.pieces())).to_string()
    }

    /// `before` were played already.
    pub(super) fn expect(&self, games: u64, before: u64) {
        *locked(&self.expected) = Some(Expected {
            games,
            begun: Instant::now(),
            before,
        });
    }

    pub(super) async fn run(self: Arc<Self>, feed: Arc<Feed>) {
        let mut drawings = Drawings::new();
        let mut told = None;
        loop {
            let watchers = Arc::strong_count(&self.watchers) - 1;
            let found = (self.stage.version(), feed.games());
            if watchers == 0 {
                if told.is_some_and(|told| told != found) {
                    // Later watchers must not see old games.
                    told = None;
                    feed.tell(|now| now.tables = Arc::default());
                }
            } else if told != Some(found) {
                told = Some(found);
                let this = Arc::clone(&self);
                // A game that is a program draws its positions, and may take its time.
                let written = spawn_blocking(move || {
                    let text = this.text(found.1, &mut drawings);
                    (text, drawings)
                });
                let Ok((text, back)) = written.await else {
                    return;
                };
                drawings = back;
                feed.tell(|now| now.tables = text.into());
            }
            let all = u32::try_from(watchers).unwrap_or(u32::MAX);
            sleep(INTERVAL.max(TIME_PER_WATCHER.saturating_mul(all))).await;
        }
    }

    fn text(&self, played: u64, drawings: &mut Drawings) -> String {
        let games = self.stage.games();
        let tables = games.iter().take(TABLES);
        let packed = tables.map(|(number, game)| self.packed(*number, game, drawings));
        let tables: Vec<Value> = packed.collect();
        let (expected, left) = self.progress(played);
        json!({"played": played, "expected": expected, "left": left, "tables": tables}).to_string()
    }

    /// All games, and seconds left at this run's pace.
    fn progress(&self, played: u64) -> (Option<u64>, Option<u64>) {
        let Some(expected) = *locked(&self.expected) else {
            return (None, None);
        };
        let of_run = u128::from(played.saturating_sub(expected.before));
        let left = u128::from(expected.games.saturating_sub(played));
        let seconds = expected.begun.elapsed().as_millis() * left;
        let seconds = seconds.checked_div(of_run * 1000);
        let seconds = seconds.and_then(|seconds| u64::try_from(seconds).ok());
        (Some(expected.games), seconds)
    }

    /// `t`: number; `b`: names; `me`: side of the person at the page; `s`: start; `m`: turns; `n`: their number; `by`: side of the last one; `to`: side to
    /// move; by side `left` (of the game), `limit` (of a move) and `last` turn in milliseconds; `d`: a program's
    /// drawing.
    fn packed(&self, number: usize, game: &GameNow, drawings: &mut Drawings) -> Value {
        let ms = |times: [Option<Duration>; 2]| times.map(|time| time.map(|time| time.as_millis()));
        let turns: Vec<String> = game.turns.lines().map(escape_controls).collect();
        let since = game.since.unwrap_or(self.epoch);
        json!({
            "t": number,
            "id": escape_controls(&game.id),
            "b": game.names.each_ref().map(|name| html::page_name(name)),
            "me": self.inbox.get().and_then(|inbox| game.names.iter().position(|name| name == inbox.name())),
            "s": escape_controls(&game.start),
            "m": turns,
            "n": game.count,
            "by": game.by.map(Side::index),
            "to": game.to_move.map(Side::index),
            "since": since.saturating_duration_since(self.epoch).as_millis(),
            "left": ms(game.left),
            "limit": ms(game.limit),
            "last": ms(game.last),
            "d": self.drawing(number, game, drawings),
        })
    }

    fn drawing(&self, number: usize, game: &GameNow, drawings: &mut Drawings) -> Value {
        if game.position.is_empty() {
            return Value::Null;
        }
        let drawn = drawings.entry(number).or_default();
        if drawn.0 != game.position {
            let session = self.ruleset.start_from(&game.position).ok();
            let drawing = session.map_or_else(|| json!({}), |session| html::drawing(&*session));
            *drawn = (game.position.clone(), drawing);
        }
        drawn.1.clone()
    }
}
