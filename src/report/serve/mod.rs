//! Serves the report's page while games are played, by default to this machine: read only, but for a person who plays there.
//!
//! A [`Feed`] takes records from any thread. A [`Server`] serves a page without data and a stream of server-sent events.
//!
//! Clients have no queues: the feed holds the entries once, and each client has a position in them.

mod events;
mod http;
mod server;
mod stage;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use tokio::sync::watch;

pub use server::Server;

use self::stage::Watched;
use crate::arena::course::Course;
use crate::bot::human::Inbox;
use crate::game::Game;
use crate::play::stage::Stage;
use crate::record::Record;
use crate::report::html::{Options, Report};
use crate::threads::locked;
use crate::tournament::standings::Ranking;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// The bot of this number is checked, of so many.
    Checking(usize, usize),
    #[default]
    Playing,
    Stopping,
    Finished,
    /// Stopped, resumable.
    Interrupted,
}

impl State {
    fn in_words(self) -> String {
        match self {
            Self::Checking(number, of) => return format!("checking {number} of {of}"),
            Self::Playing => "playing",
            Self::Stopping => "stopping",
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
        }
        .to_owned()
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
    state: State,
    /// JSON, as last computed; empty before.
    figures: Arc<str>,
    /// JSON of the games in play; empty when there is nothing to tell.
    tables: Arc<str>,
    last: bool,
}

/// Collects finished games for a [`Server`] and a page.
#[derive(Debug)]
pub struct Feed {
    options: Options,
    report: Mutex<Report>,
    now: watch::Sender<Now>,
    /// Games in play, if shown.
    watched: OnceLock<Arc<Watched>>,
}

impl Feed {
    pub fn new(options: Options) -> Arc<Self> {
        Arc::new(Self {
            report: Mutex::new(Report::new(options.clone())),
            options,
            now: watch::Sender::default(),
            watched: OnceLock::new(),
        })
    }

    /// Ignores poisoning: a panic loses at most the game being added.
    pub fn report(&self) -> MutexGuard<'_, Report> {
        locked(&self.report)
    }

    /// The error says what is wrong with the record.
    pub fn publish(&self, record: &Record) -> Result<(), String> {
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
    pub fn stage(&self, ruleset: &Arc<dyn Game>) -> Stage {
        let new = || Arc::new(Watched::new(Arc::clone(ruleset)));
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

    pub fn set_state(&self, state: State) {
        self.tell(|now| now.state = state);
    }

    /// Browsers forget the games shown so far.
    pub fn begin_again(&self) {
        self.set_state(State::Playing);
        let mut report = self.report();
        *report = Report::new(self.options.clone());
        self.tell(|now| {
            now.sequence = now.sequence.wrapping_add(1);
            now.games = 0;
            now.revision += 1;
        });
        drop(report);
    }

    pub fn set_ranking(&self, ranking: Ranking, course: Option<Course>) {
        self.report().set_ranking(ranking, course);
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

    fn watched(&self) -> Option<&Arc<Watched>> {
        self.watched.get()
    }

    /// A sequence's next entries and position; `None` when another one has begun.
    fn entries(&self, sequence: u32, from: usize, bytes: usize) -> Option<(String, usize)> {
        let report = self.report();
        (self.sequence() == sequence).then(|| report.entries(from, bytes))
    }
}
