//! Starts the workers and handles their reports until all have stopped.

use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{mpsc, watch};

use super::directory::TournamentDirectory;
use super::plan::Plan;
use super::results::Results;
use super::scheduler::{Line, Scheduler};
use super::shard::Shard;
use super::worker::{ArenaContext, Playing, Worker};
use super::{Arena, Ended, Event, TournamentError};
use crate::bot::exhaustion::{explain, start_thread};
use crate::bot::process::GracePeriods;
use crate::log_target::{SPAN, TOURNAMENT};
use crate::play::game_runner::{GameError, GameRunner};
use crate::record::RecordSummary;
use crate::record::journal::{SYNC_INTERVAL, Writer};
use crate::text::cause;
use crate::tournament::schedule::Round;
use crate::tournament::schedule::knockout::Next;
use crate::tournament::sprt::Decision;

/// Breaks when no more games are needed: those being played then do not count.
type Observer<'a> = dyn FnMut(&Plan, &Results, &Event) -> ControlFlow<()> + 'a;

pub async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

impl Arena<'_> {
    /// Plays the remaining games. The first message of `stops` ends after the current games, the second immediately.
    #[expect(clippy::too_many_lines, reason = "one story, told in its order")]
    pub async fn run(
        self,
        stops: &mut mpsc::Receiver<()>,
        observer: &mut Observer<'_>,
    ) -> Result<(Ended, Plan, Results), TournamentError> {
        let (jobs, settings) = (self.settings.jobs, self.settings);
        let mut progress = Progress {
            directory: self.directory,
            journal_file: self.journal_file,
            plan: self.plan,
            results: self.results,
            last: None,
            shard: self.shard,
            observer,
        };
        // The referee may have been killed after the last game of a round.
        progress.next_round()?;
        let (events, mut received) = mpsc::unbounded_channel();
        let (abort, aborted) = watch::channel(false);
        let plan = &progress.plan;
        let scheduler = Scheduler::new(
            plan,
            self.shard.map_or(1..u64::MAX, |shard| shard.pairs(plan)),
            progress.results.endings.clone(),
            jobs,
            progress.last.is_none() && self.shard.is_none() && plan.format.depends_on_results(),
        );
        let span = span(&progress, jobs);
        let context = Arc::new(ArenaContext {
            runner: GameRunner::new(settings.ruleset, plan.adjudicate)?,
            plan: plan.clone(),
            entrants: self.entrants,
            pieces_path: settings.pieces_path,
            scheduler,
            stage: self.stage,
            playing: Playing::default(),
            events,
        });
        let writer = Writer::start(self.journal, SYNC_INTERVAL)
            .map_err(|error| explain("the thread of the journal", &error))?;
        let writer = Arc::new(writer);
        let mut workers = Vec::new();
        while workers.len() < jobs {
            let (context_of, writer) = (Arc::clone(&context), Arc::clone(&writer));
            let (aborted, span) = (aborted.clone(), span.clone());
            let started = start_thread("worker", move || {
                // All tasks of a worker run on its thread.
                let ended = span.in_scope(|| caught(|| run_worker(&context_of, &writer, aborted)));
                let _ = context_of.events.send(Event::WorkerEnded(ended));
            });
            match started {
                Ok(worker) => workers.push(worker),
                Err(error) if workers.is_empty() => return Err(error.into()),
                Err(error) => {
                    let _ = progress.observe(&Event::FewerGames(error.to_string()));
                    break;
                }
            }
        }
        let mut working = workers.len();
        let (mut failure, mut stopped) = (None, None);
        let mut time_up = pin!(until(self.deadline));
        while working > 0 {
            let event = tokio::select! {
                biased;
                Some(()) = stops.recv() => {
                    context.scheduler.stop();
                    if stopped.replace(Ended::Interrupted).is_some() {
                        let _ = abort.send(true);
                    } else {
                        tracing::info!(target: TOURNAMENT, parent: &span, "stops after the games being played");
                        let _ = progress.observe(&Event::Stopping);
                    }
                    continue;
                }
                () = &mut time_up, if stopped.is_none() => {
                    stopped = Some(Ended::TimeUp);
                    context.scheduler.stop();
                    let _ = abort.send(true);
                    continue;
                }
                Some(event) = received.recv() => event,
            };
            working -= usize::from(matches!(event, Event::WorkerEnded(_)));
            match progress.handle(event, &context.scheduler) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => {
                    stopped.get_or_insert(Ended::Stopped);
                    context.scheduler.stop();
                    let _ = abort.send(true);
                }
                Err(error) => {
                    context.scheduler.stop();
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
            if let Err(error) = progress.handle(event, &context.scheduler) {
                failure.get_or_insert(error);
            }
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        let test = progress.plan.sprt.iter();
        let mut decided = test.map(|test| test.decide(&progress.results.pentanomial));
        let decided = decided.find(|decision| *decision != Decision::Continue);
        let ended = decided.map(Ended::Decided).or(progress.last).or(stopped);
        let ended = ended.unwrap_or(Ended::Interrupted);
        Ok((ended, progress.plan, progress.results))
    }
}

/// The span of a tournament; logs that it begins.
fn span(progress: &Progress<'_, '_>, jobs: usize) -> tracing::Span {
    let plan = &progress.plan;
    let span = tracing::info_span!(target: SPAN, "tournament", plan = plan.hash);
    tracing::info!(
        target: TOURNAMENT,
        parent: &span,
        bots = plan.bots.len(),
        rounds = plan.rounds.len(),
        played = progress.results.games,
        jobs,
        shard = progress.shard.map(tracing::field::display),
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
    let write = |line: Line| {
        let game = match line {
            Line::Played(game) => game,
            Line::Unplayed(pair, half, benched) => context.unplayed(&pair, half, &benched),
        };
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
    runtime.map_err(GameError::Io)?.block_on(async {
        let mut worker = Worker::new(context);
        let abort = pin!(async {
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
}

struct Progress<'a, 'o> {
    directory: &'a TournamentDirectory,
    journal_file: &'a Path,
    plan: Plan,
    results: Results,
    /// Set when no round is left.
    last: Option<Ended>,
    shard: Option<Shard>,
    observer: &'a mut Observer<'o>,
}

impl Progress<'_, '_> {
    fn observe(&mut self, event: &Event) -> ControlFlow<()> {
        (self.observer)(&self.plan, &self.results, event)
    }

    fn handle(
        &mut self,
        event: Event,
        scheduler: &Scheduler,
    ) -> Result<ControlFlow<()>, TournamentError> {
        match event {
            Event::Written(ref game) => {
                let read = RecordSummary::parse(game.line().as_bytes());
                let added = read.and_then(|game| self.results.add(&self.plan, &game));
                added.map_err(|problem| {
                    TournamentError::Machine(format!("a record that was just written: {problem}"))
                })?;
                let flow = self.observe(&event);
                let round = self.next_round()?;
                if round.is_some() || self.last.is_some() {
                    scheduler.set_round(round);
                }
                Ok(flow)
            }
            Event::NotWritten(error) => Err(self.not_written(&error)),
            Event::WorkerEnded(ended) => Ok(ended.map(ControlFlow::Continue)?),
            _ => Ok(self.observe(&event)),
        }
    }

    fn not_written(&self, error: &io::Error) -> TournamentError {
        let fix = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                "; free some space first"
            }
            _ => "",
        };
        TournamentError::Machine(format!(
            "{}: cannot write: {}; no more games were begun, and the file holds every game that was counted{fix}",
            self.journal_file.display(),
            cause(error)
        ))
    }

    /// After the last game of a round: adds the next one to the plan's file before it is played.
    fn next_round(&mut self) -> Result<Option<Round>, TournamentError> {
        if let Some(shard) = self.shard {
            let pairs = shard.pairs(&self.plan);
            if self.results.games == 2 * (pairs.end - pairs.start) {
                self.last = Some(Ended::Complete);
            }
            return Ok(None);
        }
        if self.last.is_some() || !self.results.is_done(&self.plan) {
            return Ok(None);
        }
        match self.results.next(&self.plan)? {
            Some(Next::Round(round)) => {
                self.plan.rounds.push(round.clone());
                self.directory.write_plan(&mut self.plan)?;
                return Ok(Some(round));
            }
            None => self.last = Some(Ended::Complete),
            Some(Next::Winner(winner)) => self.last = Some(Ended::Won(winner)),
        }
        Ok(None)
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
