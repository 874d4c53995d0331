//! A tournament as it is played: many games at once, a journal that loses nothing, and a folder
//! from which it goes on after any end.
//!
//! The [`Plan`] says which games there are. The [`scheduler`] hands out pairs of
//! games, [`worker`]s on threads of their own play them, the journal's writer makes their records
//! last, and only then are they entered in the [`results`], told to whoever [follows](Follow), and
//! counted.

pub mod directory;
pub mod entry;
mod forfeit_streak;
pub mod logs;
pub mod merge;
pub mod plan;
pub mod results;
pub mod scheduler;
pub mod shard;
pub mod slug;
pub mod worker;

use std::io;
use std::sync::Arc;
use std::thread;

use jiff::Timestamp;
use tokio::sync::{mpsc, watch};

use self::directory::{DirectoryError, TournamentDirectory};
use self::plan::{Plan, SprtPlan};
use self::results::{Next, Results};
use self::scheduler::{Benched, Desk};
use self::shard::Shard;
use self::worker::{Hall, Ready, Table, TableError, work};
use crate::bot::process::Patience;
use crate::game::dialogue::Dialogue;
use crate::play::scoresheet::{self, Header};
use crate::play::stall::DelayWatch;
use crate::record::FinishedRecord;
use crate::record::journal::{Journal, Writer};
use crate::tournament::openings::Opening;
use crate::tournament::schedule::knockout::KnockoutError;
use crate::tournament::schedule::{EntrantId, GameId, Round};
use crate::tournament::sprt::{Decision, Scale, Sprt, SprtError};

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    /// The record of a game is on the disk.
    Written(Arc<FinishedRecord>),
    /// A clock ran out for which the referee may be to blame.
    Delayed {
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
    /// A table has ended.
    TableEnded(Result<(), TableError>),
}

/// Somebody who follows a tournament.
pub trait Follow {
    /// A game is done, and its record is on the disk.
    fn game(&mut self, plan: &Plan, results: &Results, game: &FinishedRecord);

    /// A round begins.
    fn round(&mut self, plan: &Plan, number: usize);

    /// A clock ran out for which the referee may be to blame; with `again` the game is void.
    fn delayed(&mut self, id: GameId, why: &str, again: bool);

    /// A bot is benched.
    fn benched(&mut self, plan: &Plan, benched: &Benched);

    /// Somebody wants the tournament to end; the games in hand are finished.
    fn stopping(&mut self);
}

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
    Table(#[from] TableError),
    /// The journal cannot be written.
    #[error("cannot write the journal: {0}")]
    NotWritten(io::Error),
    /// The folder cannot be written.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
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
pub struct Arena<G: Dialogue> {
    /// The game and its edition.
    pub game: G,
    /// What is to be played.
    pub plan: Plan,
    /// What has been played.
    pub results: Results,
    /// The bots, in the order of the plan.
    pub bots: Vec<Ready>,
    /// Where games start, in the order of the plan.
    pub openings: Vec<Opening<G::Position>>,
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

impl<G: Dialogue + Clone + Send + Sync + 'static> Arena<G>
where
    G::Position: Send + Sync,
{
    /// Plays what has not been played. The first message of `stops` ends the tournament after
    /// the games in hand, the second at once. Gives what was played in the end.
    pub async fn run(
        self,
        directory: &TournamentDirectory,
        journal: Journal,
        mut stops: mpsc::Receiver<()>,
        follow: &mut impl Follow,
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
        progress.next_round(follow)?;
        let (events, mut happened) = mpsc::unbounded_channel();
        let (abort, aborted) = watch::channel(false);
        let commands = self.bots.iter().map(|bot| bot.program.command.clone());
        let commands: Vec<_> = commands.collect();
        let pairs = self
            .shard
            .map_or(1..u64::MAX, |shard| shard.pairs(&progress.plan));
        let desk = Desk::new(
            &progress.plan,
            pairs,
            progress.results.endings.clone(),
            self.jobs,
            progress.test,
            progress.more_rounds(),
            write_unplayed(&self.game, &progress.plan, &commands),
        );
        let hall = Arc::new(Hall {
            game: self.game,
            plan: progress.plan.clone(),
            bots: self.bots,
            openings: self.openings,
            pieces_path: self.pieces_path,
            delay: DelayWatch::start(),
            desk,
            events,
        });
        let writer = Arc::new(Writer::start(journal));
        let tables = (0..self.jobs)
            .map(|_| {
                let (hall, writer) = (Arc::clone(&hall), Arc::clone(&writer));
                let aborted = aborted.clone();
                let table = thread::Builder::new().name("table".to_owned());
                table.spawn(move || seat_table(&hall, &writer, aborted))
            })
            .collect::<io::Result<Vec<_>>>()?;
        let mut seated = tables.len();
        let mut failure = None;
        let mut interrupted = false;
        while seated > 0 {
            let event = tokio::select! {
                biased;
                Some(()) = stops.recv() => {
                    if interrupted {
                        let _ = abort.send(true);
                    } else {
                        interrupted = true;
                        hall.desk.stop();
                        follow.stopping();
                    }
                    continue;
                }
                Some(event) = happened.recv() => event,
            };
            match progress.happened(event, follow) {
                Ok(Then::GoOn) => {}
                Ok(Then::Round(round)) => hall.desk.add_round(round, true),
                Ok(Then::NoMoreRounds) => hall.desk.no_more_rounds(),
                Ok(Then::TableIsEmpty) => seated -= 1,
                Err(error) => {
                    hall.desk.stop();
                    seated -= usize::from(matches!(error, RunError::Table(_)));
                    failure.get_or_insert(error);
                }
            }
        }
        for table in tables {
            let panicked = |_| io::Error::other("a table's thread has panicked");
            table.join().map_err(panicked)?;
        }
        if let Some(writer) = Arc::into_inner(writer) {
            writer.finish()?;
        }
        // What the disk has confirmed since.
        while let Ok(event) = happened.try_recv() {
            if let Err(error) = progress.happened(event, follow) {
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
    TableIsEmpty,
}

impl Progress<'_> {
    fn happened(&mut self, event: Event, follow: &mut impl Follow) -> Result<Then, RunError> {
        match event {
            Event::Written(game) => {
                let added = self.results.add_finished(&self.plan, &game);
                added.map_err(|problem| {
                    io::Error::other(format!("a record that was just written: {problem}"))
                })?;
                follow.game(&self.plan, &self.results, &game);
                return self.next_round(follow);
            }
            Event::Delayed { id, why, again } => follow.delayed(id, &why, again),
            Event::Benched(benched) => follow.benched(&self.plan, &benched),
            Event::NotWritten(error) => return Err(RunError::NotWritten(error)),
            Event::TableEnded(Ok(())) => return Ok(Then::TableIsEmpty),
            Event::TableEnded(Err(error)) => return Err(error.into()),
        }
        Ok(Then::GoOn)
    }

    fn more_rounds(&self) -> bool {
        self.last.is_none() && self.shard.is_none() && self.plan.format.depends_on_results()
    }

    /// When the rounds so far are done: the next one, written into the plan before it is played.
    fn next_round(&mut self, follow: &mut impl Follow) -> Result<Then, RunError> {
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
                follow.round(&self.plan, self.plan.rounds.len());
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

/// A thread: a table and its runtime.
fn seat_table<G>(hall: &Arc<Hall<G>>, writer: &Writer, mut aborted: watch::Receiver<bool>)
where
    G: Dialogue + Clone + Send + Sync + 'static,
    G::Position: Send + Sync,
{
    let write = |game: Arc<FinishedRecord>| {
        let hall = Arc::clone(hall);
        writer.write(Arc::clone(game.line()), move |written| {
            hall.desk.written();
            // Nobody listens any more when the tournament has failed.
            let _ = hall.events.send(match written {
                Ok(()) => Event::Written(game),
                Err(error) => Event::NotWritten(error),
            });
        });
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let ended = runtime.map_err(TableError::Io).and_then(|runtime| {
        runtime.block_on(async {
            let mut table = Table::new(hall);
            let abort = std::pin::pin!(async {
                if aborted.wait_for(|&aborted| aborted).await.is_err() {
                    // Nobody can stop this tournament any more.
                    std::future::pending::<()>().await;
                }
            });
            let worked = work(&mut table, write, abort).await;
            let patience = if hall.desk.is_stopping() {
                Patience::FAULT
            } else {
                Patience::POLITE
            };
            let cleared = table.clear(patience).await;
            worked.and(cleared.map_err(TableError::Io))
        })
    });
    let _ = hall.events.send(Event::TableEnded(ended));
}

/// Writes records of games that are not played. `commands` are those of the bots, as records hold
/// them.
pub fn write_unplayed<G>(
    game: &G,
    plan: &Plan,
    commands: &[Vec<String>],
) -> Box<scheduler::WriteUnplayed>
where
    G: Dialogue + Clone + Send + Sync + 'static,
{
    let game = game.clone();
    let (seed, openings) = (plan.seed, plan.openings.clone());
    let entries: Vec<_> = plan
        .bots
        .iter()
        .zip(commands)
        .map(|(bot, command)| scoresheet::entry(&bot.name, command))
        .collect();
    Box::new(move |scheduled, benched| {
        let first = scheduled.id.half as usize;
        // The pairing's `a` comes first in a record, whoever begins.
        let a = scheduled.seats[first];
        let b = scheduled.seats[1 - first];
        let count = openings.len().max(1) as u64;
        let opening = usize::try_from(scheduled.opening % count).unwrap_or(0);
        let header = Header {
            id: scheduled.id.to_string(),
            seed,
            first,
            start: openings.get(opening).map_or("", String::as_str),
            started: Timestamp::now(),
        };
        let players = [a, b].map(|bot| entries[bot.index()].clone());
        let mut record = scoresheet::blank(&game, players, header);
        let by = usize::from(benched.bot == b);
        let why = format!(
            "it forfeited {} games in a row and is benched",
            benched.after
        );
        scoresheet::not_played(&mut record, by, benched.reason, &why);
        Arc::new(FinishedRecord::new(record))
    })
}
