//! Starts the workers and handles their reports until all have stopped.

use std::io;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use tokio::sync::{mpsc, watch};

use super::directory::TournamentDirectory;
use super::plan::Plan;
use super::results::Results;
use super::scheduler::{GameLine, Scheduler};
use super::shard::Shard;
use super::worker::{ArenaContext, PairWorker, Playing};
use super::{Arena, Ended, Event, TournamentError};
use referee_match::bot::exhaustion::{explain, start_thread};
use referee_match::bot::process::GracePeriods;
use referee_match::log_target::{SPAN, TOURNAMENT};
use referee_match::play::game_runner::{GameError, GameRunner};
use referee_match::record::RecordSummary;
use referee_match::record::journal::{Journal, SYNC_INTERVAL, Writer};
use referee_stats::schedule::Round;
use referee_stats::schedule::knockout::Next;
use referee_stats::sprt::Decision;

/// Breaks when no more games are needed: those being played then do not count.
type RunObserver<'a> = dyn FnMut(&Plan, &Results, &Event) -> ControlFlow<()> + 'a;

pub async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

impl Arena<'_> {
    /// Plays the remaining games. The first message of `stops` ends after the current games, the second immediately.
    pub async fn run(
        self,
        stops: &mut mpsc::Receiver<()>,
        observer: &mut RunObserver<'_>,
    ) -> Result<(Ended, Plan, Results), TournamentError> {
        let (jobs, deadline) = (self.settings.jobs, self.deadline);
        let (mut run, journal) = ArenaRun::new(self, observer)?;
        let writer = Writer::start(journal, SYNC_INTERVAL)
            .map_err(|error| explain("the thread of the journal", &error))?;
        let writer = Arc::new(writer);
        let workers = run.start_workers(jobs, &writer)?;
        run.handle_until_ended(workers.len(), stops, deadline).await;
        for worker in workers {
            // Its error was reported.
            let _ = worker.join();
        }
        if let Some(writer) = Arc::into_inner(writer) {
            writer.finish()?;
        }
        run.into_outcome()
    }
}

/// A run of a tournament, with its workers.
struct ArenaRun<'a, 'o> {
    progress: RunProgress<'a, 'o>,
    context: Arc<ArenaContext>,
    /// From the workers and the journal's writer.
    events: mpsc::UnboundedReceiver<Event>,
    /// Tells the workers to stop immediately.
    abort: watch::Sender<bool>,
    span: tracing::Span,
    /// Why no more games are begun, unless all are played.
    stopped: Option<Ended>,
    failure: Option<TournamentError>,
}

impl<'a, 'o> ArenaRun<'a, 'o> {
    fn new(
        arena: Arena<'a>,
        observer: &'a mut RunObserver<'o>,
    ) -> Result<(Self, Journal), TournamentError> {
        let settings = arena.settings;
        let mut progress = RunProgress {
            directory: arena.directory,
            journal_file: arena.journal_file,
            plan: arena.plan,
            results: arena.results,
            ended: None,
            shard: arena.shard,
            observer,
        };
        // The referee may have been killed after the last game of a round.
        progress.next_round()?;
        let (sender, events) = mpsc::unbounded_channel();
        let plan = &progress.plan;
        let scheduler = Scheduler::new(
            plan,
            arena.shard.map_or(1..u64::MAX, |shard| shard.pairs(plan)),
            progress.results.endings.clone(),
            settings.jobs,
            progress.ended.is_none() && arena.shard.is_none() && plan.format.depends_on_results(),
        );
        if arena.is_fair {
            scheduler.hand_out_fairly(progress.results.loads());
        }
        let span = span(&progress, settings.jobs);
        let context = ArenaContext {
            runner: GameRunner::new(settings.ruleset, plan.adjudicate)?,
            plan: plan.clone(),
            entrants: arena.entrants,
            pieces_path: settings.pieces_path,
            scheduler,
            stage: arena.stage,
            playing: Playing::default(),
            events: sender,
        };
        let run = Self {
            progress,
            context: Arc::new(context),
            events,
            abort: watch::Sender::new(false),
            span,
            stopped: None,
            failure: None,
        };
        Ok((run, arena.journal))
    }

    /// Fewer than `jobs` where the machine has no room for more threads.
    fn start_workers(
        &mut self,
        jobs: usize,
        writer: &Arc<Writer>,
    ) -> Result<Vec<JoinHandle<()>>, TournamentError> {
        let mut workers = Vec::new();
        while workers.len() < jobs {
            let (context, writer) = (Arc::clone(&self.context), Arc::clone(writer));
            let (aborted, span) = (self.abort.subscribe(), self.span.clone());
            let started = start_thread("worker", move || {
                // All tasks of a worker run on its thread.
                let ended = span.in_scope(|| caught(|| run_worker(&context, &writer, aborted)));
                let _ = context.events.send(Event::WorkerEnded(ended));
            });
            match started {
                Ok(worker) => workers.push(worker),
                Err(error) if workers.is_empty() => return Err(error.into()),
                Err(error) => {
                    let _ = self.progress.observe(&Event::FewerGames(error.to_string()));
                    break;
                }
            }
        }
        Ok(workers)
    }

    /// Handles what so many workers report, until all of them have ended.
    async fn handle_until_ended(
        &mut self,
        workers: usize,
        stops: &mut mpsc::Receiver<()>,
        deadline: Option<Instant>,
    ) {
        let mut working = workers;
        let mut time_up = pin!(until(deadline));
        while working > 0 {
            tokio::select! {
                biased;
                Some(()) = stops.recv() => self.interrupt(),
                () = &mut time_up, if self.stopped.is_none() => self.stop_now(Ended::TimeUp),
                Some(event) = self.events.recv() => {
                    working -= usize::from(matches!(event, Event::WorkerEnded(_)));
                    self.handle(event);
                }
            }
        }
    }

    /// After the current games; at the second call immediately.
    fn interrupt(&mut self) {
        self.context.scheduler.stop();
        if self.stopped.replace(Ended::Interrupted).is_some() {
            let _ = self.abort.send(true);
        } else {
            tracing::info!(target: TOURNAMENT, parent: &self.span, "stops after the games being played");
            let _ = self.progress.observe(&Event::Stopping);
        }
    }

    /// The games being played do not count.
    fn stop_now(&mut self, why: Ended) {
        self.stopped.get_or_insert(why);
        self.context.scheduler.stop();
        let _ = self.abort.send(true);
    }

    fn handle(&mut self, event: Event) {
        match self.progress.handle(event, &self.context.scheduler) {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => self.stop_now(Ended::Stopped),
            Err(error) => {
                self.context.scheduler.stop();
                self.failure.get_or_insert(error);
            }
        }
    }

    /// Once nothing more is reported.
    fn into_outcome(mut self) -> Result<(Ended, Plan, Results), TournamentError> {
        while let Ok(event) = self.events.try_recv() {
            if let Err(error) = self.progress.handle(event, &self.context.scheduler) {
                self.failure.get_or_insert(error);
            }
        }
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let RunProgress {
            plan,
            results,
            ended,
            ..
        } = self.progress;
        let test = plan.sprt.iter();
        let mut decided = test.map(|test| test.decide(&results.pentanomial));
        let decided = decided.find(|decision| *decision != Decision::Continue);
        let ended = decided.map(Ended::Decided).or(ended).or(self.stopped);
        Ok((ended.unwrap_or(Ended::Interrupted), plan, results))
    }
}

/// The span of a tournament; logs that it begins.
fn span(progress: &RunProgress<'_, '_>, jobs: usize) -> tracing::Span {
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
    let write = |line: GameLine| {
        let game = match line {
            GameLine::Played(game) => game,
            GameLine::Unplayed(pair, half, benched) => context.unplayed(&pair, half, &benched),
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
        let mut worker = PairWorker::new(context);
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

/// How far a run is.
struct RunProgress<'a, 'o> {
    directory: &'a TournamentDirectory,
    journal_file: &'a Path,
    plan: Plan,
    results: Results,
    /// Set when no round is left.
    ended: Option<Ended>,
    shard: Option<Shard>,
    observer: &'a mut RunObserver<'o>,
}

impl RunProgress<'_, '_> {
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
                let added = read.and_then(|game| Ok(self.results.add(&self.plan, &game)?));
                added.map_err(TournamentError::JustWritten)?;
                let flow = self.observe(&event);
                let round = self.next_round()?;
                if round.is_some() || self.ended.is_some() {
                    scheduler.set_round(round);
                }
                Ok(flow)
            }
            Event::NotWritten(error) => Err(TournamentError::NotWritten {
                path: self.journal_file.to_owned(),
                error,
            }),
            Event::WorkerEnded(ended) => Ok(ended.map(ControlFlow::Continue)?),
            _ => Ok(self.observe(&event)),
        }
    }

    /// After the last game of a round: adds the next one to the plan's file before it is played.
    fn next_round(&mut self) -> Result<Option<Round>, TournamentError> {
        if let Some(shard) = self.shard {
            let pairs = shard.pairs(&self.plan);
            if self.results.games == 2 * (pairs.end - pairs.start) {
                self.ended = Some(Ended::Complete);
            }
            return Ok(None);
        }
        if self.ended.is_some() || !self.results.is_done(&self.plan) {
            return Ok(None);
        }
        match self.results.next(&self.plan)? {
            Some(Next::Round(round)) => {
                self.plan.rounds.push(round.clone());
                self.directory.write_plan(&mut self.plan)?;
                let _ = self.observe(&Event::RoundAdded);
                return Ok(Some(round));
            }
            None => self.ended = Some(Ended::Complete),
            Some(Next::Winner(winner)) => self.ended = Some(Ended::Won(winner)),
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
