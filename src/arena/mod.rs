//! Runs a tournament: many games at once, a journal that loses no game, and a directory from which
//! the tournament is resumed however it ended.
//!
//! The [`Plan`] lists the games. The [`scheduler`] hands out pairs of games, [`worker`]s play them,
//! each on its own thread, and the journal's writer syncs their records to disk. Only then are they
//! added to the [`results`] and shown to the [observer](TournamentObserver).
//!
//! - [`entrants`], [`identical`], [`entry_check`], [`preparation`]: from the named bots to a plan
//! - [`plan`]: which games are played, and how
//! - [`directory`], [`results`], [`elimination`], [`ranking`], [`course`], [`logs`], [`slug`]: what is kept in files, and what follows from it
//! - [`scheduler`], [`worker`], `capacity`, `event_loop`, `progress`: the games
//! - [`shard`], [`merge`]: a tournament played in parts, and the parts put together
//! - [`comparison`]: the games that compare two versions of a bot
//! - [`analysing`]: the analysis after the last game

pub mod analysing;
mod capacity;
pub mod comparison;
pub mod course;
pub mod directory;
pub mod elimination;
pub mod entrants;
pub mod entry_check;
mod event_loop;
mod forfeit_streak;
pub mod identical;
pub mod logs;
pub mod merge;
pub mod plan;
pub mod preparation;
mod progress;
pub mod ranking;
pub mod results;
pub mod scheduler;
pub mod seeding;
pub mod shard;
pub mod slug;
mod unplayed;
pub mod worker;

use std::io;
use std::sync::Arc;

pub use self::unplayed::write_unplayed;

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

/// Observes a tournament.
pub trait TournamentObserver {
    /// A game has ended, and its record is on disk.
    fn game(&mut self, plan: &Plan, results: &Results, game: &FinishedRecord) {
        let _ = (plan, results, game);
    }

    /// A round begins.
    fn round(&mut self, plan: &Plan, number: usize) {
        let _ = (plan, number);
    }

    /// A clock ran out for which the referee may be to blame. The game is void and played `again`,
    /// or it counts because it has been void too often.
    fn stalled(&mut self, id: GameId, why: &str, again: bool) {
        let _ = (id, why, again);
    }

    /// From now on fewer games are played at once, because the machine has too few processes for all.
    fn fewer_games(&mut self, why: &str) {
        let _ = why;
    }

    /// A bot is benched.
    fn benched(&mut self, plan: &Plan, benched: &Benched) {
        let _ = (plan, benched);
    }

    /// The tournament was asked to stop; the games being played are finished.
    fn stopping(&mut self) {}
}

/// Observes nothing.
impl TournamentObserver for () {}

/// How a tournament ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All games were played.
    Complete,
    /// All games were played, and this entrant won the knockout.
    Won(EntrantId),
    /// The sequential test was decided.
    Decided(Decision),
    /// It was asked to stop.
    Interrupted,
}

/// Why a tournament cannot continue. Its journal keeps what was written, and it can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A bot can no longer be started, or the referee failed.
    #[error(transparent)]
    Game(#[from] GameError),
    /// The journal cannot be written.
    #[error("cannot write the journal: {}", cause(.0))]
    NotWritten(io::Error),
    /// The directory cannot be written.
    #[error(transparent)]
    TournamentDirectory(#[from] DirectoryError),
    /// The plan and the games played contradict each other.
    #[error(transparent)]
    Next(#[from] NextError),
    /// The parameters of the plan's sequential test are invalid.
    #[error(transparent)]
    Sprt(#[from] SprtError),
    /// The system provides no runtime or thread.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A tournament that can be started or resumed by [`Arena::run`].
#[derive(Debug)]
pub struct Arena {
    /// The game and its rules.
    pub ruleset: Arc<dyn Ruleset>,
    /// Which games are played.
    pub plan: Plan,
    /// The games played so far.
    pub results: Results,
    /// The bots, in the order of the plan.
    pub entrants: Vec<LoggedEntrant>,
    /// Path of the piece set's file, for the bots, when it is not the built-in set.
    pub pieces_path: Option<String>,
    /// Games at once.
    pub jobs: usize,
    /// The part of the tournament to play; `None` for all of it.
    pub shard: Option<Shard>,
    /// Where those who watch see the games that are being played.
    pub stage: Option<Stage>,
}

/// The sequential test of a plan.
pub fn sprt(plan: &SprtPlan) -> Result<Sprt, SprtError> {
    Sprt::new(plan.elo0, plan.elo1, plan.alpha, plan.beta)
}

impl Arena {
    /// A new tournament by this plan, one game at a time, with the built-in pieces.
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
