//! Runs a tournament: many games at once, a journal that loses no game, and a directory from which it can be
//! resumed.
//!
//! The [`Plan`] lists the games. The [`scheduler`] hands out pairs, [`worker`]s play them on a thread each, and the
//! journal's writer syncs their records. Only then are they added to the [`results`] and shown to the
//! [observer](TournamentObserver).

pub mod analysing;
pub mod comparison;
pub mod course;
pub mod directory;
pub mod elimination;
pub mod entrants;
mod event_loop;
pub mod merge;
pub mod plan;
pub mod preparation;
pub mod results;
pub mod scheduler;
pub mod seeding;
pub mod shard;
pub mod worker;

use std::io;
use std::sync::Arc;

pub use self::worker::write_unplayed;

use self::directory::DirectoryError;
use self::entrants::LoggedEntrant;
use self::plan::{Plan, SprtPlan};
use self::results::{NextError, Results};
use self::scheduler::Benched;
use self::shard::Shard;
use crate::play::game_runner::GameError;
use crate::play::stage::Stage;
use crate::record::FinishedRecord;
use crate::session::Ruleset;
use crate::text::cause;
use crate::tournament::schedule::{EntrantId, GameId};
use crate::tournament::sprt::{Decision, Sprt, SprtError};

pub trait TournamentObserver {
    fn game(&mut self, plan: &Plan, results: &Results, game: &FinishedRecord) {
        let _ = (plan, results, game);
    }

    /// A round begins; `number` from 1.
    fn round(&mut self, plan: &Plan, number: usize) {
        let _ = (plan, number);
    }

    /// A clock ran out, perhaps because of the referee. The game is void and played `again`, or counts because it
    /// was void too often.
    fn stalled(&mut self, id: GameId, why: &str, again: bool) {
        let _ = (id, why, again);
    }

    fn fewer_games(&mut self, why: &str) {
        let _ = why;
    }

    fn benched(&mut self, plan: &Plan, benched: &Benched) {
        let _ = (plan, benched);
    }

    fn stopping(&mut self) {}
}

impl TournamentObserver for () {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Complete,
    /// This entrant won the knockout.
    Won(EntrantId),
    Decided(Decision),
    Interrupted,
}

/// The journal keeps what was written; the tournament can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Game(#[from] GameError),
    #[error("cannot write the journal: {}", cause(.0))]
    NotWritten(io::Error),
    #[error(transparent)]
    TournamentDirectory(#[from] DirectoryError),
    #[error(transparent)]
    Next(#[from] NextError),
    #[error(transparent)]
    Sprt(#[from] SprtError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

#[derive(Debug)]
pub struct Arena {
    pub ruleset: Arc<dyn Ruleset>,
    pub plan: Plan,
    /// So far.
    pub results: Results,
    pub entrants: Vec<LoggedEntrant>,
    /// The piece set's file, for the bots, unless it is built in.
    pub pieces_path: Option<String>,
    pub jobs: usize,
    /// `None`: the whole tournament.
    pub shard: Option<Shard>,
    pub stage: Option<Stage>,
}

/// Of a plan.
pub fn sprt(plan: &SprtPlan) -> Result<Sprt, SprtError> {
    Sprt::new(plan.elo0, plan.elo1, plan.alpha, plan.beta)
}

impl Arena {
    /// One game at a time, built-in pieces.
    pub fn new(ruleset: Arc<dyn Ruleset>, plan: Plan, entrants: Vec<LoggedEntrant>) -> Self {
        Self {
            ruleset,
            results: Results::new(&plan),
            plan,
            entrants,
            pieces_path: None,
            jobs: 1,
            shard: None,
            stage: None,
        }
    }
}
