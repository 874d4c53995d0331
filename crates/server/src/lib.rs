//! Serves the report's page while games are played, by default to this machine: read only, but for a person who plays there.
//!
//! A [`Feed`] takes records from any thread. A [`Server`] serves a page without data and a stream of server-sent events.
//!
//! Clients have no queues: the feed holds the entries once, and each client has a position in them.

mod connections;
mod events;
mod http;
mod live_page;
mod origin;
mod proxy;
mod server;
mod stage;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use serde_json::{Value, json};
use tokio::sync::watch;

pub use self::connections::{Connection, Connections};
pub use self::http::{Body, is_own_name};
pub use self::live_page::LivePage;
pub use self::origin::origin;
pub use self::proxy::Proxy;
pub use self::server::Server;

use self::stage::WatchedGames;
use referee_games::game::Ruleset;
use referee_host::threads::locked;
use referee_match::bot::human::Inbox;
use referee_match::play::stage::Stage;
use referee_match::record::Record;
use referee_report::html::{RecordError, ReportPage, ReportPageOptions};
use referee_stats::standings::Ranking;
use referee_tournament::overview::TournamentOverview;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LiveState {
    /// The bot of this number is checked, of so many.
    Checking(usize, usize),
    /// For other games, which come first.
    Waiting,
    #[default]
    Playing,
    Stopping,
    Finished,
    /// Stopped, resumable.
    Interrupted,
    /// Stopped for good before all was played; why, as a sentence.
    Ended(Arc<str>),
}

impl LiveState {
    /// As pages are told it.
    fn to_json(&self) -> Value {
        let state = match self {
            Self::Checking(number, of) => {
                return json!({ "state": "checking", "checked": [number, of] });
            }
            Self::Waiting => "waiting",
            Self::Playing => "playing",
            Self::Stopping => "stopping",
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
            Self::Ended(why) => return json!({ "state": "ended", "why": **why }),
        };
        json!({ "state": state })
    }
}

/// Of all that a page shows, what it is told when that changes.
#[derive(Clone, Debug, Default)]
struct Now {
    /// Another one begins when the games so far are forgotten.
    sequence: u32,
    games: u64,
    /// Changes with all that the figures are computed of.
    revision: u64,
    state: LiveState,
    /// JSON, as last computed; empty before.
    figures: Arc<str>,
    /// JSON of the games in play; empty when there is nothing to tell.
    tables: Arc<str>,
    last: bool,
}

/// Collects finished games for a [`Server`] and a page.
#[derive(Debug)]
pub struct Feed {
    options: ReportPageOptions,
    report: Mutex<ReportPage>,
    now: watch::Sender<Now>,
    /// Games in play, if shown.
    watched: OnceLock<Arc<WatchedGames>>,
}

impl Feed {
    pub fn new(options: ReportPageOptions) -> Arc<Self> {
        Arc::new(Self {
            report: Mutex::new(ReportPage::new(options.clone())),
            options,
            now: watch::Sender::default(),
            watched: OnceLock::new(),
        })
    }

    /// Ignores poisoning: a panic loses at most the game being added.
    pub fn report(&self) -> MutexGuard<'_, ReportPage> {
        locked(&self.report)
    }

    pub fn publish(&self, record: &Record) -> Result<(), RecordError> {
        let mut report = self.report();
        report.add(record)?;
        // Still locked: no sequence may begin in between.
        self.tell(|now| {
            now.games = report.games;
            now.revision += 1;
        });
        drop(report);
        Ok(())
    }

    /// Shows games of this ruleset while they are played. Call before the server is bound.
    pub fn stage(&self, ruleset: &Arc<dyn Ruleset>) -> Stage {
        let new = || Arc::new(WatchedGames::new(Arc::clone(ruleset)));
        self.watched.get_or_init(new).stage.clone()
    }

    /// Takes answers of the person who plays at the page, once the games of a ruleset are shown.
    pub fn seat(&self, inbox: Inbox) {
        if let Some(watched) = self.watched() {
            let _ = watched.inbox.set(inbox);
        }
    }

    /// Announces this many games besides those already played.
    pub fn expect(&self, games: u64) {
        if let Some(watched) = self.watched() {
            watched.expect(games, self.games());
        }
    }

    /// Of a run that has been [announced](Self::expect): that there are so many games in all.
    pub fn expect_instead(&self, games: u64) {
        if let Some(watched) = self.watched() {
            watched.expect_instead(games);
        }
    }

    pub fn set_state(&self, state: LiveState) {
        self.tell(|now| now.state = state);
    }

    /// Browsers forget the games shown so far.
    pub fn begin_again(&self) {
        self.set_state(LiveState::Playing);
        let mut report = self.report();
        *report = ReportPage::new(self.options.clone());
        self.tell(|now| {
            now.sequence = now.sequence.wrapping_add(1);
            now.games = 0;
            now.revision += 1;
        });
        drop(report);
    }

    pub fn set_ranking(&self, ranking: Ranking, overview: Option<TournamentOverview>) {
        self.report().set_ranking(ranking, overview);
        self.tell(|now| now.revision += 1);
    }

    fn tell(&self, change: impl FnOnce(&mut Now)) {
        self.now.send_modify(change);
    }

    pub fn games(&self) -> u64 {
        self.now.borrow().games
    }

    fn sequence(&self) -> u32 {
        self.now.borrow().sequence
    }

    fn watched(&self) -> Option<&Arc<WatchedGames>> {
        self.watched.get()
    }

    /// A sequence's next entries and position; `None` when another one has begun.
    fn entries(&self, sequence: u32, from: usize, bytes: usize) -> Option<(String, usize)> {
        let report = self.report();
        (self.sequence() == sequence).then(|| report.entries(from, bytes))
    }
}
