//! The report's page while games go on: served on this machine, read only.
//!
//! A [`Feed`] takes records from any thread. A [`Server`] shows them to browsers, on a thread of
//! its own: one page without data, and a stream of server-sent events that brings the data.
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
//! Nothing is queued for anybody. The feed holds the report's entries once; every client has a
//! place in them and takes the next few when its connection has room. So many clients, slow ones
//! and late ones cost the games nothing but a short lock, and a client that comes back goes on
//! where it was.

mod http;
mod server;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

pub use server::Server;

use crate::record::Record;
use crate::report::html::{Figures, Options, Report};

/// Games as they end, for a [`Server`] to show and for a page in the end.
#[derive(Clone, Debug)]
pub struct Feed {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    options: Options,
    report: Mutex<Report>,
    /// Number of games; watched by those who show them.
    games: watch::Sender<u64>,
}

impl Feed {
    /// No games yet.
    pub fn new(options: Options) -> Self {
        Self {
            shared: Arc::new(Shared {
                report: Mutex::new(Report::new(options.clone())),
                options,
                games: watch::Sender::new(0),
            }),
        }
    }

    /// A panic elsewhere while a game was added leaves a report that lacks that game at most.
    fn report(&self) -> MutexGuard<'_, Report> {
        let report = self.shared.report.lock();
        report.unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a game. Takes some microseconds, however many watch. The error is a sentence.
    pub fn publish(&self, record: &Record) -> Result<(), String> {
        let mut report = self.report();
        report.add(record)?;
        let games = report.games();
        drop(report);
        self.shared.games.send_replace(games);
        Ok(())
    }

    /// Number of games so far.
    pub fn games(&self) -> u64 {
        self.report().games()
    }

    /// Number of bots that have played.
    pub fn bots(&self) -> usize {
        self.report().bots()
    }

    /// The page of all games so far, to be opened from a file. The error is a sentence.
    pub fn page(&self) -> Result<String, String> {
        self.report().page().map_err(|error| error.to_string())
    }

    fn options(&self) -> &Options {
        &self.shared.options
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.shared.games.subscribe()
    }

    fn entries(&self, from: usize, bytes: usize) -> (String, usize) {
        self.report().entries(from, bytes)
    }

    /// A copy, so that no game waits for what is calculated from it.
    fn figures(&self) -> Figures {
        self.report().figures().clone()
    }
}
