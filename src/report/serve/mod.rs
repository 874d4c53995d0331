//! Serves the report's page while games are played: read only, by default to this machine.
//!
//! A [`Feed`] takes records from any thread. A [`Server`] serves them to browsers on a thread of its
//! own: a page without data, and a stream of server-sent events with the data.
//!
//! ```no_run
//! use referee::report::serve::{Feed, Server};
//! use referee::report::html::Options;
//! # fn of_a_game() -> referee::record::Record { unreachable!() }
//!
//! let feed = Feed::new(Options { title: "Spring cup".to_owned(), ..Options::default() });
//! let server = Server::bind("127.0.0.1:4416".parse().unwrap(), feed.clone())?;
//! println!("watch at {}", server.url());
//! feed.publish(&of_a_game())?;
//! server.stop();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! There are no queues for clients. The feed holds the report's entries once; every client has a
//! position in them and is sent the next few when its connection has room; one that has none of many is sent them
//! compressed, in blocks that are the same for all. Many, slow and late clients
//! therefore cost the games no more than a short lock, and a client that reconnects resumes at its
//! position.

mod blocks;
mod events;
mod http;
mod server;
mod stage;
mod visitors;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::watch;

pub use server::Server;

use self::stage::Watched;
use crate::arena::course::Course;
use crate::play::stage::Stage;
use crate::record::Record;
use crate::report::html::{Block, Figures, Options, Report};
use crate::session::Ruleset;
use crate::tournament::standings::Ranking;

/// What browsers are told about the games: at the end of a page's data, and when it changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Games are being played, or will be.
    #[default]
    Playing,
    /// All have been played.
    Finished,
    /// They were stopped, and can be continued.
    Interrupted,
}

impl State {
    /// The word that the page's script knows.
    const fn name(self) -> &'static str {
        match self {
            Self::Playing => "playing",
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Collects games as they end, for a [`Server`] and for a page.
#[derive(Clone, Debug)]
pub struct Feed {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    options: Options,
    report: Mutex<Report>,
    /// Which sequence of games it is, and the number of games in it; servers watch it for changes.
    games: watch::Sender<(u32, u64)>,
    state: watch::Sender<State>,
    /// The games that are being played, if they are shown.
    watched: OnceLock<Arc<Watched>>,
}

impl Feed {
    /// A feed without games.
    pub fn new(options: Options) -> Self {
        Self {
            shared: Arc::new(Shared {
                report: Mutex::new(Report::new(options.clone())),
                options,
                games: watch::Sender::new((0, 0)),
                state: watch::Sender::new(State::Playing),
                watched: OnceLock::new(),
            }),
        }
    }

    /// Ignores poisoning: a panic while a game was added leaves a report that lacks at most that game.
    fn report(&self) -> MutexGuard<'_, Report> {
        let report = self.shared.report.lock();
        report.unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a game. Takes some microseconds, whatever the number of clients. The error says what is
    /// wrong with the record.
    pub fn publish(&self, record: &Record) -> Result<(), String> {
        let mut report = self.report();
        report.add(record)?;
        let games = report.games();
        // Locked until then: a sequence must not begin between the two.
        self.shared.games.send_modify(|now| now.1 = games);
        drop(report);
        Ok(())
    }

    /// The stage, on which the games of this ruleset are shown while they are played. Call it before the server is bound.
    pub fn stage(&self, ruleset: &Arc<dyn Ruleset>) -> Stage {
        let new = || Arc::new(Watched::new(Arc::clone(ruleset)));
        self.shared.watched.get_or_init(new).stage.clone()
    }

    /// Tells those who watch the stage that there will be so many games, with those that were played before.
    pub fn expect(&self, games: u64) {
        if let Some(watched) = self.watched() {
            watched.expect(games, self.games());
        }
    }

    /// Tells browsers how it stands.
    pub fn set_state(&self, state: State) {
        self.shared.state.send_replace(state);
    }

    /// Begins another sequence of games: browsers forget those that they have shown.
    pub fn begin_again(&self) {
        self.set_state(State::Playing);
        let mut report = self.report();
        *report = Report::new(self.shared.options.clone());
        self.shared
            .games
            .send_modify(|now| *now = (now.0.wrapping_add(1), 0));
        drop(report);
    }

    /// The rules of the table of standings.
    pub fn set_ranking(&self, ranking: Ranking) {
        self.report().set_ranking(ranking);
        self.figures_changed();
    }

    /// How the tournament goes: its rounds, groups and bracket.
    pub fn set_course(&self, course: Course) {
        self.report().set_course(course);
        self.figures_changed();
    }

    /// The figures are others although no game came: they are calculated and sent again.
    fn figures_changed(&self) {
        self.shared.games.send_modify(|_| {});
    }

    /// Number of games so far.
    pub fn games(&self) -> u64 {
        self.report().games()
    }

    /// Number of bots that have played.
    pub fn bots(&self) -> usize {
        self.report().bots()
    }

    /// Why games are shown without a board; `None` when none is.
    pub fn undrawn(&self) -> Option<String> {
        self.report().undrawn()
    }

    /// The page of all games so far, as a file. The error says why there are no ratings.
    pub fn page(&self) -> Result<String, String> {
        self.report().page().map_err(|error| error.to_string())
    }

    fn options(&self) -> &Options {
        &self.shared.options
    }

    fn watch(&self) -> watch::Receiver<(u32, u64)> {
        self.shared.games.subscribe()
    }

    fn watched(&self) -> Option<&Arc<Watched>> {
        self.shared.watched.get()
    }

    /// The number of games so far, without waiting for anybody who adds one.
    fn number_of_games(&self) -> u64 {
        self.shared.games.borrow().1
    }

    fn state(&self) -> watch::Receiver<State> {
        self.shared.state.subscribe()
    }

    /// The next entries of a sequence from a position on, and the position behind them; `None` when another sequence has begun.
    fn entries(&self, sequence: u32, from: usize, bytes: usize) -> Option<(String, usize)> {
        let report = self.report();
        let is_same = self.shared.games.borrow().0 == sequence;
        is_same.then(|| report.entries(from, bytes))
    }

    /// The block of entries of a sequence that begins at this position, and the position behind it; `None` where there is no
    /// full one, or when another sequence has begun.
    fn block(&self, sequence: u32, from: usize) -> Option<(Block, usize)> {
        let report = self.report();
        let is_same = self.shared.games.borrow().0 == sequence;
        is_same.then(|| report.block(from)).flatten()
    }

    /// Whether a full block of entries of a sequence begins at this position.
    fn has_block(&self, sequence: u32, from: usize) -> bool {
        let report = self.report();
        self.shared.games.borrow().0 == sequence && report.has_block(from)
    }

    /// A copy of the figures, so that no game waits for calculations on them.
    fn figures(&self) -> Figures {
        self.report().figures().clone()
    }
}
