//! The event loop: starts the workers and handles their reports until all have stopped.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use super::directory::TournamentDirectory;
use super::plan::Plan;
use super::results::{Next, Results};
use super::scheduler::{Benched, Scheduler};
use super::shard::Shard;
use super::worker::{ArenaContext, Capacity, Worker, write_unplayed};
use super::{Arena, Ended, RunError, TournamentObserver, sprt};
use crate::bot::exhaustion::{explain, start_thread};
use crate::bot::process::GracePeriods;
use crate::log_target::{SPAN, TOURNAMENT};
use crate::play::game_runner::{GameError, GameRunner};
use crate::record::FinishedRecord;
use crate::record::journal::{Journal, Writer};
use crate::tournament::schedule::{GameId, Round};
use crate::tournament::sprt::{Decision, Sprt};

impl Arena {
    /// Plays the remaining games. The first message of `stops` ends after the current games, the second immediately.
    pub async fn run(
        self,
        directory: &TournamentDirectory,
        journal: Journal,
        mut stops: mpsc::Receiver<()>,
        observer: &mut impl TournamentObserver,
    ) -> Result<(Ended, Plan, Results), RunError> {
        let test = self.plan.sprt.as_ref().map(sprt).transpose()?;
        let mut progress = Progress::new(directory, self.plan, self.results, test, self.shard);
        // The referee may have been killed after the last game of a round.
        progress.next_round(observer)?;
        let (events, mut received) = mpsc::unbounded_channel();
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
            runner: GameRunner::new(self.ruleset, progress.plan.adjudicate)?,
            plan: progress.plan.clone(),
            entrants: self.entrants,
            pieces_path: self.pieces_path,
            scheduler,
            stage: self.stage,
            capacity: Capacity::new(self.jobs),
            events,
        });
        let writer =
            Writer::start(journal).map_err(|error| explain("the thread of the journal", &error))?;
        let writer = Arc::new(writer);
        let span = span(&progress, self.jobs, self.shard);
        let mut workers = Vec::new();
        while workers.len() < self.jobs {
            let (context_of, writer) = (Arc::clone(&context), Arc::clone(&writer));
            let aborted = aborted.clone();
            let span = span.clone();
            let started = start_thread("worker", move || {
                // All tasks of a worker run on its thread.
                let ended = span.in_scope(|| caught(|| run_worker(&context_of, &writer, aborted)));
                let _ = context_of.events.send(Event::WorkerEnded(ended));
            });
            match started {
                Ok(worker) => workers.push(worker),
                Err(error) if workers.is_empty() => return Err(error.into()),
                Err(error) => {
                    observer.fewer_games(&error.to_string());
                    break;
                }
            }
        }
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
                        tracing::info!(target: TOURNAMENT, parent: &span, "stops after the games being played");
                        observer.stopping();
                    }
                    continue;
                }
                Some(event) = received.recv() => event,
            };
            match progress.handle(event, observer) {
                Ok(Then::Continue) => {}
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
            // Its error was reported.
            let _ = worker.join();
        }
        if let Some(writer) = Arc::into_inner(writer) {
            writer.finish()?;
        }
        while let Ok(event) = received.try_recv() {
            if let Err(error) = progress.handle(event, observer) {
                failure.get_or_insert(error);
            }
        }
        match failure {
            Some(failure) => Err(failure),
            None => Ok((progress.ended(), progress.plan, progress.results)),
        }
    }
}

/// With the log event that it begins.
fn span(progress: &Progress<'_>, jobs: usize, shard: Option<Shard>) -> tracing::Span {
    let plan = &progress.plan;
    let span = tracing::info_span!(target: SPAN, "tournament", plan = plan.hash);
    tracing::info!(
        target: TOURNAMENT,
        parent: &span,
        bots = plan.bots.len(),
        rounds = plan.rounds.len(),
        played = progress.results.games,
        jobs,
        shard = shard.map(tracing::field::display),
        "begins"
    );
    span
}

/// Turns a panic into an error: otherwise it would go unnoticed.
fn caught(work: impl FnOnce() -> Result<(), GameError>) -> Result<(), GameError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let panicked = "a thread that plays games panicked (above is where), which is a bug of the referee; \
                        the games before it are kept";
        Err(GameError::Io(io::Error::other(panicked)))
    })
}

/// On this thread, with its own runtime.
fn run_worker(
    context: &Arc<ArenaContext>,
    writer: &Writer,
    mut aborted: watch::Receiver<bool>,
) -> Result<(), GameError> {
    let write = |game: Arc<FinishedRecord>| {
        let context = Arc::clone(context);
        writer.write(Arc::clone(game.line()), move |written| {
            context.scheduler.written();
            // No receiver: the tournament failed.
            let _ = context.events.send(match written {
                Ok(()) => Event::Written(game),
                Err(error) => Event::NotWritten(error),
            });
        });
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.map_err(GameError::Io).and_then(|runtime| {
        runtime.block_on(async {
            let mut worker = Worker::new(context);
            let abort = std::pin::pin!(async {
                if aborted.wait_for(|&aborted| aborted).await.is_err() {
                    // The sender is gone: no abort can come.
                    std::future::pending::<()>().await;
                }
            });
            let played = worker.run(write, abort).await;
            let grace = if context.scheduler.is_stopping() {
                GracePeriods::FAULT
            } else {
                GracePeriods::POLITE
            };
            let stopped = worker.stop(grace).await;
            played.and(stopped.map_err(GameError::Io))
        })
    })
}

/// Reported by workers and the journal's writer.
#[derive(Debug)]
pub enum Event {
    Written(Arc<FinishedRecord>),
    /// A clock ran out, perhaps because of the referee.
    Stalled {
        id: GameId,
        /// A sentence.
        why: String,
        /// Otherwise the game counts.
        again: bool,
    },
    FewerGames(String),
    Benched(Benched),
    NotWritten(io::Error),
    WorkerEnded(Result<(), GameError>),
}

struct Progress<'a> {
    directory: &'a TournamentDirectory,
    pub(super) plan: Plan,
    pub(super) results: Results,
    pub(super) test: Option<Sprt>,
    /// Set when no round is left.
    last: Option<Ended>,
    shard: Option<Shard>,
}

/// What follows an event.
enum Then {
    Continue,
    /// Schedule this round.
    Round(Round),
    NoMoreRounds,
    WorkerEnded,
}

impl<'a> Progress<'a> {
    pub(super) fn new(
        directory: &'a TournamentDirectory,
        plan: Plan,
        results: Results,
        test: Option<Sprt>,
        shard: Option<Shard>,
    ) -> Self {
        Self {
            directory,
            plan,
            results,
            test,
            last: None,
            shard,
        }
    }

    pub(super) fn handle(
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
            Event::FewerGames(why) => observer.fewer_games(&why),
            Event::Benched(benched) => observer.benched(&self.plan, &benched),
            Event::NotWritten(error) => return Err(RunError::NotWritten(error)),
            Event::WorkerEnded(Ok(())) => return Ok(Then::WorkerEnded),
            Event::WorkerEnded(Err(error)) => return Err(error.into()),
        }
        Ok(Then::Continue)
    }

    /// Whether later rounds depend on results.
    pub(super) fn more_rounds(&self) -> bool {
        self.last.is_none() && self.shard.is_none() && self.plan.format.depends_on_results()
    }

    /// After the last game of a round: adds the next one to the plan's file before it is played.
    pub(super) fn next_round(
        &mut self,
        observer: &mut impl TournamentObserver,
    ) -> Result<Then, RunError> {
        if let Some(shard) = self.shard {
            let pairs = shard.pairs(&self.plan);
            if self.last.is_none() && self.results.games == 2 * (pairs.end - pairs.start) {
                self.last = Some(Ended::Complete);
            }
            return Ok(Then::Continue);
        }
        if self.last.is_some() || !self.results.is_done(&self.plan) {
            return Ok(Then::Continue);
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

    pub(super) fn ended(&self) -> Ended {
        if let Some(test) = &self.test {
            match test.decide(&self.results.pentanomial) {
                Decision::Continue => {}
                decision => return Ended::Decided(decision),
            }
        }
        self.last.unwrap_or(Ended::Interrupted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_panics_has_ended_with_an_error() {
        assert!(caught(|| Ok(())).is_ok());
        let ended = caught(|| panic!("for the test"));
        assert!(matches!(ended, Err(GameError::Io(_))), "{ended:?}");
    }
}
