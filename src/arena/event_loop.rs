//! The event loop: starts the workers and handles their reports until all have stopped.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use super::capacity::Capacity;
use super::directory::TournamentDirectory;
use super::plan::Plan;
use super::progress::Event;
use super::progress::{Progress, Then};
use super::results::Results;
use super::scheduler::Scheduler;
use super::shard::Shard;
use super::unplayed::write_unplayed;
use super::worker::{ArenaContext, Worker};
use super::{Arena, Ended, RunError, TournamentObserver, sprt};
use crate::bot::exhaustion::{explain, start_thread};
use crate::bot::process::GracePeriods;
use crate::log_target::{SPAN, TOURNAMENT};
use crate::play::game_runner::{GameError, GameRunner};
use crate::record::FinishedRecord;
use crate::record::journal::{Journal, Writer};

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
