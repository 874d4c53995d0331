#![doc = include_str!("../README.md")]

pub mod analysing;
pub mod benching;
pub mod bot_files;
pub mod checkup;
pub mod comparison;
pub mod directory;
pub mod elimination;
pub mod entrants;
mod error;
pub mod experiment;
pub mod fair_order;
pub mod merge;
pub mod openings;
pub mod overview;
pub mod plan;
pub mod preparation;
pub mod results;
mod run;
pub mod scheduler;
pub mod seeding;
pub mod shard;
pub mod worker;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

pub use self::error::TournamentError;
pub use self::run::until;

use self::benching::Benched;
use self::directory::TournamentDirectory;
use self::entrants::{Entrant, StderrLog};
use self::plan::Plan;
use self::results::Results;
use self::shard::Shard;
use referee_games::game::Ruleset;
use referee_match::play::game_runner::GameError;
use referee_match::play::stage::Stage;
use referee_match::record::FinishedRecord;
use referee_match::record::journal::Journal;
use referee_stats::schedule::{EntrantId, GameId};
use referee_stats::sprt::Decision;

/// In a run; reported by workers and the journal's writer.
#[derive(Debug)]
pub enum Event {
    Written(Arc<FinishedRecord>),
    /// A clock ran out, perhaps because of the referee.
    Stalled {
        id: GameId,
        /// A sentence.
        why: String,
        /// It is void and played again; otherwise it counts because it was void too often.
        again: bool,
    },
    FewerGames(String),
    /// The plan has another round: its pairings, or tie-break games, followed from the results.
    RoundAdded,
    Benched(Benched),
    Stopping,
    NotWritten(io::Error),
    WorkerEnded(Result<(), GameError>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Complete,
    Won(EntrantId),
    Decided(Decision),
    Stopped,
    TimeUp,
    Interrupted,
}

/// By which rules games are played, and how many at a time.
#[derive(Clone, Debug)]
pub struct GameSettings {
    pub ruleset: Arc<dyn Ruleset>,
    pub jobs: usize,
    /// The piece set's file, for the bots, unless it is built in.
    pub pieces_path: Option<String>,
}

impl GameSettings {
    /// Writes the piece set into the directory, unless it is built in.
    pub fn new(
        ruleset: Arc<dyn Ruleset>,
        jobs: usize,
        directory: &TournamentDirectory,
    ) -> Result<Self, TournamentError> {
        let write = |pieces| {
            directory.write("pieces.csv", pieces)?;
            let path = directory.path().join("pieces.csv");
            let absolute = std::path::absolute(&path).map_err(TournamentError::io(&path))?;
            Ok::<_, TournamentError>(absolute.to_string_lossy().into_owned())
        };
        Ok(Self {
            pieces_path: ruleset.pieces().map(write).transpose()?,
            ruleset,
            jobs,
        })
    }
}

#[derive(Debug)]
pub struct Arena<'a> {
    pub settings: GameSettings,
    pub directory: &'a TournamentDirectory,
    pub journal: Journal,
    pub journal_file: &'a Path,
    pub plan: Plan,
    pub results: Results,
    /// In the plan's order, with the logs of their stderr.
    pub entrants: Vec<(Entrant, Arc<StderrLog>)>,
    /// `None`: the whole tournament.
    pub shard: Option<Shard>,
    pub stage: Option<Stage>,
    /// Games being played then do not count.
    pub deadline: Option<Instant>,
    /// The bots that have played least play first, so that a useful table stands early. The games are the same.
    pub is_fair: bool,
}

impl<'a> Arena<'a> {
    /// With the games in the journal. No deadline.
    pub fn open(
        settings: &GameSettings,
        directory: &'a TournamentDirectory,
        journal: Journal,
        journal_file: &'a Path,
        plan: Plan,
        entrants: Vec<Entrant>,
    ) -> Result<Self, TournamentError> {
        let results = TournamentDirectory::read_journal(journal_file, &plan)?;
        let with_log = |entrant: Entrant| {
            let folder = directory.path().join("bots").join(&entrant.plan.slug);
            let log = StderrLog::new(folder.join("stderr.log"));
            (entrant, Arc::new(log))
        };
        Ok(Self {
            settings: settings.clone(),
            directory,
            journal,
            journal_file,
            plan,
            results,
            entrants: entrants.into_iter().map(with_log).collect(),
            shard: None,
            stage: None,
            deadline: None,
            is_fair: false,
        })
    }

    pub fn expected(&self) -> u64 {
        games_expected(&self.plan, self.shard)
    }
}

/// The games of a tournament or a shard, as far as they are known: tie-break games are not before their round.
pub fn games_expected(plan: &Plan, shard: Option<Shard>) -> u64 {
    shard.map_or(2 * plan.pairs_expected(), |shard| {
        let pairs = shard.pairs(plan);
        2 * (pairs.end - pairs.start)
    })
}
