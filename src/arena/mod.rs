//! A tournament as it is played: many games at once, a journal that loses nothing, and a folder
//! from which it goes on after any end.
//!
//! The [`Plan`] says which games there are. The [`scheduler`] hands out pairs of games,
//! [`worker`]s on threads of their own play them, the journal's writer puts their records on the
//! disk, and only then are they entered in the [`results`], shown to the
//! [observer](TournamentObserver), and counted.

pub mod analysing;
pub mod directory;
pub mod entrant;
pub mod entrants;
pub mod entry_check;
mod forfeit_streak;
pub mod logs;
pub mod merge;
pub mod plan;
pub mod preparation;
pub mod results;
pub mod scheduler;
pub mod shard;
pub mod slug;
pub mod worker;

use std::io;
use std::sync::Arc;
use std::thread;

use tokio::sync::{mpsc, watch};

use self::directory::{DirectoryError, TournamentDirectory};
use self::entrant::LoggedEntrant;
use self::plan::{Plan, SprtPlan};
use self::results::{Next, Results};
use self::scheduler::{Benched, Scheduler};
use self::shard::Shard;
use self::worker::{ArenaContext, Worker};
use crate::bot::process::GracePeriods;
use crate::play::game_runner::{GameError, GameRunner};
use crate::play::setup::{GameSetup, bot_entry};
use crate::record::journal::{Journal, Writer};
use crate::record::{BotIndex, FinishedRecord};
use crate::session::Ruleset;
use crate::tournament::openings;
use crate::tournament::schedule::knockout::KnockoutError;
use crate::tournament::schedule::{EntrantId, GameId, Round};
use crate::tournament::sprt::{Decision, Scale, Sprt, SprtError};

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    /// The record of a game is on the disk.
    Written(Arc<FinishedRecord>),
    /// A clock ran out for which the referee may be to blame.
    Stalled {
        /// The game.
        id: GameId,
        /// What happened.
        why: String,
        /// Whether it is played again; otherwise it counts.
        again: bool,
    },
    /// A bot plays no more.
    Benched(Benched),
    /// The journal cannot be written.
    NotWritten(io::Error),
    /// A worker has ended.
    WorkerEnded(Result<(), GameError>),
}

/// Observes a tournament.
pub trait TournamentObserver {
    /// A game is done, and its record is on the disk.
    fn game(&mut self, plan: &Plan, results: &Results, game: &FinishedRecord) {
        let _ = (plan, results, game);
    }

    /// A round begins.
    fn round(&mut self, plan: &Plan, number: usize) {
        let _ = (plan, number);
    }

    /// A clock ran out for which the referee may be to blame; with `again` the game is void.
    fn stalled(&mut self, id: GameId, why: &str, again: bool) {
        let _ = (id, why, again);
    }

    /// A bot is benched.
    fn benched(&mut self, plan: &Plan, benched: &Benched) {
        let _ = (plan, benched);
    }

    /// Somebody wants the tournament to end; the games in hand are finished.
    fn stopping(&mut self) {}
}

/// Nobody observes.
impl TournamentObserver for () {}

/// How a tournament came to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All games are done.
    Complete,
    /// All games are done, and this one has won the knockout.
    Won(EntrantId),
    /// The sequential test has decided.
    Decided(Decision),
    /// Somebody stopped it.
    Interrupted,
}

/// Why a tournament cannot go on. What was written stays, and it can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A bot can no longer be started, or the referee failed.
    #[error(transparent)]
    Game(#[from] GameError),
    /// The journal cannot be written.
    #[error("cannot write the journal: {0}")]
    NotWritten(io::Error),
    /// The folder cannot be written.
    #[error(transparent)]
    TournamentDirectory(#[from] DirectoryError),
    /// The plan and what was played do not fit.
    #[error(transparent)]
    Knockout(#[from] KnockoutError),
    /// The plan's sequential test is none.
    #[error(transparent)]
    Sprt(#[from] SprtError),
    /// The system gives no runtime or thread.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A tournament that can begin, or go on.
#[derive(Debug)]
pub struct Arena {
    /// The game and its rules.
    pub ruleset: Arc<dyn Ruleset>,
    /// What is to be played.
    pub plan: Plan,
    /// What has been played.
    pub results: Results,
    /// The bots, in the order of the plan.
    pub entrants: Vec<LoggedEntrant>,
    /// Path of the piece set's file, for the bots, when it is not the built-in set.
    pub pieces_path: Option<String>,
    /// Games at once.
    pub jobs: usize,
    /// The part of the tournament that is played; all of it when there is none.
    pub shard: Option<Shard>,
}

/// The sequential test of a plan.
pub fn sprt(plan: &SprtPlan) -> Result<Sprt, SprtError> {
    Sprt::new(plan.elo0, plan.elo1, plan.alpha, plan.beta, Scale::Logistic)
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
        }
    }

    /// Plays what has not been played. The first message of `stops` ends the tournament after
    /// the games in hand, the second at once. Gives what was played in the end.
    pub async fn run(
        self,
        directory: &TournamentDirectory,
        journal: Journal,
        mut stops: mpsc::Receiver<()>,
        observer: &mut impl TournamentObserver,
    ) -> Result<(Ended, Plan, Results), RunError> {
        let mut progress = Progress {
            directory,
            test: self.plan.sprt.as_ref().map(sprt).transpose()?,
            plan: self.plan,
            results: self.results,
            last: None,
            shard: self.shard,
        };
        // A round may have been finished just before the referee ended.
        progress.next_round(observer)?;
        let (events, mut happened) = mpsc::unbounded_channel();
        let (abort, aborted) = watch::channel(false);
        let commands = self.entrants.iter().map(|bot| &bot.entrant.program.command);
        let commands: Vec<_> = commands.cloned().collect();
        let pairs = self
            .shard
            .map_or(1..u64::MAX, |shard| shard.pairs(&progress.plan));
        let scheduler = Scheduler::new(
            &progress.plan,
            pairs,
            progress.results.endings.clone(),
            self.jobs,
            progress.test,
            progress.more_rounds(),
            write_unplayed(Arc::clone(&self.ruleset), &progress.plan, &commands),
        );
        let context = Arc::new(ArenaContext {
            runner: GameRunner::new(self.ruleset, progress.plan.adjudicate),
            plan: progress.plan.clone(),
            entrants: self.entrants,
            pieces_path: self.pieces_path,
            scheduler,
            events,
        });
        let writer = Arc::new(Writer::start(journal));
        let workers = (0..self.jobs)
            .map(|_| {
                let (context, writer) = (Arc::clone(&context), Arc::clone(&writer));
                let aborted = aborted.clone();
                let builder = thread::Builder::new().name("worker".to_owned());
                builder.spawn(move || run_worker(&context, &writer, aborted))
            })
            .collect::<io::Result<Vec<_>>>()?;
        let mut working = workers.len();
        let mut failure = None;
        let mut interrupted = false;
        while working > 0 {
            let event = tokio::select! {
                biased;
                Some(()) = stops.recv() => {
                    if interrupted {
                        let _ = abort.send(true);
                    } else {
                        interrupted = true;
                        context.scheduler.stop();
                        observer.stopping();
                    }
                    continue;
                }
                Some(event) = happened.recv() => event,
            };
            match progress.happened(event, observer) {
                Ok(Then::GoOn) => {}
                Ok(Then::Round(round)) => context.scheduler.add_round(round, true),
                Ok(Then::NoMoreRounds) => context.scheduler.no_more_rounds(),
                Ok(Then::WorkerEnded) => working -= 1,
                Err(error) => {
                    context.scheduler.stop();
                    working -= usize::from(matches!(error, RunError::Game(_)));
                    failure.get_or_insert(error);
                }
            }
        }
        for worker in workers {
            let panicked = |_| io::Error::other("a worker's thread has panicked");
            worker.join().map_err(panicked)?;
        }
        if let Some(writer) = Arc::into_inner(writer) {
            writer.finish()?;
        }
        // What the disk has confirmed since.
        while let Ok(event) = happened.try_recv() {
            if let Err(error) = progress.happened(event, observer) {
                failure.get_or_insert(error);
            }
        }
        match failure {
            Some(failure) => Err(failure),
            None => Ok((progress.ended(), progress.plan, progress.results)),
        }
    }
}

/// What has been played, and what comes next.
struct Progress<'a> {
    directory: &'a TournamentDirectory,
    plan: Plan,
    results: Results,
    test: Option<Sprt>,
    /// Once no more rounds can come.
    last: Option<Ended>,
    shard: Option<Shard>,
}

/// What follows from an event.
enum Then {
    GoOn,
    Round(Round),
    NoMoreRounds,
    WorkerEnded,
}

impl Progress<'_> {
    fn happened(
        &mut self,
        event: Event,
        observer: &mut impl TournamentObserver,
    ) -> Result<Then, RunError> {
        match event {
            Event::Written(game) => {
                let added = self.results.add_finished(&self.plan, &game);
                added.map_err(|problem| {
                    io::Error::other(format!("a record that was just written: {problem}"))
                })?;
                observer.game(&self.plan, &self.results, &game);
                return self.next_round(observer);
            }
            Event::Stalled { id, why, again } => observer.stalled(id, &why, again),
            Event::Benched(benched) => observer.benched(&self.plan, &benched),
            Event::NotWritten(error) => return Err(RunError::NotWritten(error)),
            Event::WorkerEnded(Ok(())) => return Ok(Then::WorkerEnded),
            Event::WorkerEnded(Err(error)) => return Err(error.into()),
        }
        Ok(Then::GoOn)
    }

    fn more_rounds(&self) -> bool {
        self.last.is_none() && self.shard.is_none() && self.plan.format.depends_on_results()
    }

    /// When the rounds so far are done: the next one, written into the plan before it is played.
    fn next_round(&mut self, observer: &mut impl TournamentObserver) -> Result<Then, RunError> {
        if let Some(shard) = self.shard {
            let pairs = shard.pairs(&self.plan);
            if self.last.is_none() && self.results.games == 2 * (pairs.end - pairs.start) {
                self.last = Some(Ended::Complete);
            }
            return Ok(Then::GoOn);
        }
        if self.last.is_some() || !self.results.is_done(&self.plan) {
            return Ok(Then::GoOn);
        }
        self.last = match self.results.next(&self.plan)? {
            Next::Round(round) => {
                self.plan.rounds.push(round.clone());
                self.directory.write_plan(&mut self.plan)?;
                observer.round(&self.plan, self.plan.rounds.len());
                return Ok(Then::Round(round));
            }
            Next::Over => Some(Ended::Complete),
            Next::Winner(winner) => Some(Ended::Won(winner)),
        };
        Ok(Then::NoMoreRounds)
    }

    fn ended(&self) -> Ended {
        if let Some(test) = &self.test {
            match test.decide(&self.results.pentanomial) {
                Decision::Continue => {}
                decision => return Ended::Decided(decision),
            }
        }
        self.last.unwrap_or(Ended::Interrupted)
    }
}

/// A thread: a worker and its runtime.
fn run_worker(context: &Arc<ArenaContext>, writer: &Writer, mut aborted: watch::Receiver<bool>) {
    let write = |game: Arc<FinishedRecord>| {
        let context = Arc::clone(context);
        writer.write(Arc::clone(game.line()), move |written| {
            context.scheduler.written();
            // Nobody listens any more when the tournament has failed.
            let _ = context.events.send(match written {
                Ok(()) => Event::Written(game),
                Err(error) => Event::NotWritten(error),
            });
        });
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let ended = runtime.map_err(GameError::Io).and_then(|runtime| {
        runtime.block_on(async {
            let mut worker = Worker::new(context);
            let abort = std::pin::pin!(async {
                if aborted.wait_for(|&aborted| aborted).await.is_err() {
                    // Nobody can stop this tournament any more.
                    std::future::pending::<()>().await;
                }
            });
            let worked = worker.run(write, abort).await;
            let grace = if context.scheduler.is_stopping() {
                GracePeriods::FAULT
            } else {
                GracePeriods::POLITE
            };
            let stopped = worker.stop(grace).await;
            worked.and(stopped.map_err(GameError::Io))
        })
    });
    let _ = context.events.send(Event::WorkerEnded(ended));
}

/// Writes records of games that are not played. `commands` are those of the bots, as records hold
/// them.
pub fn write_unplayed(
    ruleset: Arc<dyn Ruleset>,
    plan: &Plan,
    commands: &[Vec<String>],
) -> Box<scheduler::WriteUnplayed> {
    let (seed, openings) = (plan.seed, plan.openings.clone());
    let entries: Vec<_> = plan
        .bots
        .iter()
        .zip(commands)
        .map(|(bot, command)| bot_entry(&bot.name, command))
        .collect();
    Box::new(move |scheduled, benched| {
        let first = BotIndex::ALL[scheduled.id.half as usize];
        // The pairing's `a` comes first in a record, whoever begins.
        let [a, b] = [BotIndex::A, BotIndex::B].map(|bot| {
            let side = usize::from(bot != first);
            scheduled.seats[side]
        });
        let setup = GameSetup {
            number: 2 * scheduled.id.pair + scheduled.id.half as u64,
            id: scheduled.id.to_string(),
            seed,
            first,
            start: openings::at(&openings, scheduled.opening).unwrap_or_default(),
            // No process is started.
            process_seeds: [0, 0],
        };
        let players = [a, b].map(|bot| entries[bot.index()].clone());
        let by = if benched.bot == b {
            BotIndex::B
        } else {
            BotIndex::A
        };
        let why = format!(
            "it forfeited {} games in a row and is benched",
            benched.after
        );
        let record = setup.unplayed(&*ruleset, players, by, benched.reason, &why);
        Arc::new(FinishedRecord::new(record))
    })
}
