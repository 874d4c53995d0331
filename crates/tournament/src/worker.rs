//! A worker plays one pair of games after the other on its own thread.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;
use tracing::Instrument as _;

use super::Event;
use super::benching::Benched;
use super::entrants::{Entrant, StderrLog};
use super::plan::{Plan, Restart};
use super::scheduler::{GameLine, Scheduler, WorkItem};
use crate::openings;
use referee_match::bot::process::GracePeriods;
use referee_match::log_target::{SPAN, TOURNAMENT};
use referee_match::play::GameEvent;
use referee_match::play::game_runner::{FinishedGame, GameError, GameRunner, WarmUp};
use referee_match::play::seat::{Seat, stop_both};
use referee_match::play::setup::{GameSetup, UnplayedReason, bot_entry};
use referee_match::play::stage::{Stage, Table};
use referee_match::record::{BotIndex, FinishedRecord, Record};
use referee_match::seed;
use referee_stats::schedule::{GameId, Half, PairOfGames, Pairing};

pub struct ArenaContext {
    pub runner: GameRunner,
    pub plan: Plan,
    pub entrants: Vec<(Entrant, Arc<StderrLog>)>,
    /// The piece set's file, for the bots, unless it is built in.
    pub pieces_path: Option<String>,
    pub scheduler: Scheduler,
    pub stage: Option<Stage>,
    pub playing: Playing,
    pub events: UnboundedSender<Event>,
}

impl ArenaContext {
    fn report(&self, event: Event) {
        let _ = self.events.send(event);
    }

    fn setup(&self, pair: &PairOfGames, half: Half, process_seeds: [u32; 2]) -> GameSetup<'_> {
        GameSetup {
            number: 2 * pair.number + half as u64,
            id: self.plan.id(pair.games()[half as usize]).to_string(),
            seed: self.plan.seed,
            first: BotIndex::ALL[half as usize],
            start: openings::at(&self.plan.openings, pair.opening).unwrap_or_default(),
            process_seeds,
        }
    }

    /// Records say which games are by changed files.
    fn mark_changed(&self, pair: &PairOfGames, record: &mut Record) {
        let bots = [pair.pairing.a, pair.pairing.b];
        for (player, bot) in record.bots.iter_mut().zip(bots) {
            let (entrant, _) = &self.entrants[bot.index()];
            player.changed = entrant.changed.map(|hash| hash.to_string());
        }
        let program = self.plan.game_program.as_ref();
        record.game_changed = program.and_then(|program| program.changed.clone());
    }

    /// No process is started.
    pub fn unplayed(
        &self,
        pair: &PairOfGames,
        half: Half,
        benched: &Benched,
    ) -> Arc<FinishedRecord> {
        let setup = self.setup(pair, half, [0, 0]);
        let bots = [pair.pairing.a, pair.pairing.b];
        let players = bots.map(|bot| {
            let (entrant, _) = &self.entrants[bot.index()];
            bot_entry(&entrant.plan.name, &entrant.program.command)
        });
        let benched = UnplayedReason {
            by: BotIndex::ALL[usize::from(benched.bot == bots[1])],
            reason: benched.reason,
            why: format!(
                "it forfeited {} games in a row and is benched",
                benched.after
            ),
        };
        let mut record = setup.unplayed(self.runner.ruleset(), players, benched);
        record.tie_break = pair.tie_break;
        self.mark_changed(pair, &mut record);
        Arc::new(FinishedRecord::new(record))
    }
}

pub struct PairWorker<'a> {
    context: &'a ArenaContext,
    /// Seats of the last pair; their processes may still run.
    seats: Option<(Pairing, [Seat; 2])>,
    current_pair: Arc<AtomicU64>,
    /// Number of the pairing's first pair, from which its processes' seeds are derived.
    pairing_number: u64,
    table: Option<Table>,
}

/// A game of a pair.
struct PlannedGame<'a> {
    /// Its place in the schedule.
    id: GameId,
    setup: &'a GameSetup<'a>,
    /// The game that fresh processes play first, without it being counted.
    warm_up: Option<&'a GameSetup<'a>>,
}

impl<'a> PairWorker<'a> {
    pub fn new(context: &'a ArenaContext) -> Self {
        Self {
            context,
            seats: None,
            current_pair: Arc::new(AtomicU64::new(0)),
            pairing_number: 0,
            table: context.stage.as_ref().map(Stage::table),
        }
    }

    /// Plays until the scheduler has no work or `abort` is ready; passes records to `write`.
    pub async fn run(
        &mut self,
        write: impl Fn(GameLine),
        mut abort: impl Future<Output = ()> + Unpin,
    ) -> Result<(), GameError> {
        let scheduler = &self.context.scheduler;
        while let Some(item) = scheduler.next() {
            match item {
                WorkItem::Lines(lines) => lines.into_iter().for_each(&write),
                WorkItem::Play(pair, done) => {
                    self.context.playing.pairs.fetch_add(1, Ordering::SeqCst);
                    let (number, round) = (pair.number, pair.round);
                    let span = tracing::info_span!(target: SPAN, "pairing", pair = number, round);
                    let play = self.pair(&pair, done, &write).instrument(span);
                    let played = tokio::select! {
                        biased;
                        played = play => Some(played),
                        () = &mut abort => None,
                    };
                    self.context.playing.leave();
                    scheduler.done(&pair).into_iter().for_each(&write);
                    for benched in scheduler.newly_benched() {
                        tracing::info!(
                            target: TOURNAMENT,
                            bot = self.context.plan.bots[benched.bot.index()].name,
                            after = benched.after,
                            reason = %benched.reason,
                            "benched"
                        );
                        self.context.report(Event::Benched(benched));
                    }
                    match played {
                        Some(played) => played?,
                        None => break,
                    }
                }
            }
        }
        Ok(())
    }

    pub async fn stop(&mut self, grace: GracePeriods) -> io::Result<()> {
        match &mut self.seats {
            Some((_, seats)) => stop_both(seats, grace).await,
            None => Ok(()),
        }
    }

    /// Plays the games that are not `done`. Stops between games when the scheduler has stopped.
    async fn pair(
        &mut self,
        pair: &PairOfGames,
        done: [bool; 2],
        write: &impl Fn(GameLine),
    ) -> Result<(), GameError> {
        let context = self.context;
        let restart = context.plan.restart;
        self.current_pair.store(pair.number, Ordering::Relaxed);
        self.seat(pair).await?;
        let setups = Half::BOTH.map(|half| self.setup(pair, half));
        let mut is_cold = true;
        for half in Half::BOTH {
            if done[half as usize] {
                continue;
            }
            if half == Half::Second && !done[0] && context.scheduler.is_stopping() {
                break;
            }
            if restart == Restart::Game {
                self.stop(GracePeriods::POLITE).await?;
            }
            let warm_up = (half == Half::Second && restart == Restart::Pair).then(|| &setups[0]);
            let planned = PlannedGame {
                id: pair.games()[half as usize],
                setup: &setups[half as usize],
                warm_up,
            };
            let FinishedGame { mut record, fault } = self.play(&planned, is_cold).await?;
            record.tie_break = pair.tie_break;
            context.mark_changed(pair, &mut record);
            let result = record.game_result().map_err(io::Error::other)?;
            let record = Arc::new(FinishedRecord::new(record));
            if let Some(table) = &mut self.table {
                let (game, fault) = (&*record, fault.as_ref());
                table.note(&GameEvent::Ended { game, fault });
            }
            let scheduler = &context.scheduler;
            scheduler.thought(pair, record.record().seconds());
            let finished = scheduler.finished(planned.id, result, record);
            finished.into_iter().for_each(write);
            is_cold = half != Half::First;
        }
        if restart != Restart::Pairing {
            self.stop(GracePeriods::POLITE).await?;
        }
        Ok(())
    }

    fn setup(&self, pair: &PairOfGames, half: Half) -> GameSetup<'a> {
        let plan = &self.context.plan;
        let of_pair = plan.seed_number(pair);
        let number = match plan.restart {
            Restart::Game => of_pair + half as u64,
            Restart::Pair => of_pair,
            Restart::Pairing => self.pairing_number,
        };
        let seeds = [0, 1].map(|seat| seed::for_bot(plan.seed, seat, number));
        self.context.setup(pair, half, seeds)
    }

    /// Plays a game; where the machine has too few processes for it, again once another worker's pair is over.
    async fn play(
        &mut self,
        game: &PlannedGame<'_>,
        mut is_cold: bool,
    ) -> Result<FinishedGame, GameError> {
        let context = self.context;
        loop {
            let Some((_, seats)) = &mut self.seats else {
                return Err(io::Error::other("a pair is played, but it has no players").into());
            };
            let (table, id) = (&mut self.table, context.plan.id(game.id));
            let mut observer = |event: &GameEvent<'_>| {
                if let GameEvent::Stalled { why, again } = *event {
                    let why = why.to_owned();
                    context.report(Event::Stalled { id, why, again });
                }
                if let Some(table) = table {
                    table.note(event);
                }
                Ok(())
            };
            let is_alone = context.playing.is_one();
            let warm_up = game.warm_up.map(|game| WarmUp {
                game,
                is_due: is_cold,
            });
            let runner = &context.runner;
            let played = runner.run(seats, game.setup, warm_up, &mut observer);
            let limit = match played.await {
                Err(GameError::Exhausted(limit)) => limit,
                played => return played,
            };
            if is_alone && context.playing.is_one() {
                return Err(limit.into());
            }
            if !context.playing.warned.swap(true, Ordering::Relaxed) {
                context.report(Event::FewerGames(limit.cause().to_owned()));
            }
            // The other workers need the processes.
            self.stop(GracePeriods::POLITE).await?;
            context.playing.wait_for_another().await;
            is_cold = true;
        }
    }

    async fn seat(&mut self, pair: &PairOfGames) -> io::Result<()> {
        let seated = self.seats.as_ref().map(|(pairing, _)| *pairing);
        if seated == Some(pair.pairing) {
            return Ok(());
        }
        self.stop(GracePeriods::POLITE).await?;
        let context = self.context;
        let seats = [pair.pairing.a, pair.pairing.b].map(|bot| {
            let (entrant, log) = &context.entrants[bot.index()];
            let tap = log.tap(Arc::clone(&self.current_pair));
            let pieces = context.pieces_path.as_deref();
            entrant.seat(context.runner.ruleset(), pieces, Some(tap))
        });
        if let Some(table) = &mut self.table {
            table.seat([&seats[0], &seats[1]].map(Seat::name));
        }
        self.seats = Some((pair.pairing, seats));
        self.pairing_number = context.plan.seed_number(pair);
        Ok(())
    }
}

/// The pairs that are being played. Where the machine has too few processes for all, a worker waits until another's is
/// over.
#[derive(Debug, Default)]
pub struct Playing {
    pairs: AtomicUsize,
    over: Notify,
    warned: AtomicBool,
}

impl Playing {
    fn is_one(&self) -> bool {
        self.pairs.load(Ordering::SeqCst) == 1
    }

    fn leave(&self) {
        self.pairs.fetch_sub(1, Ordering::SeqCst);
        self.over.notify_waiters();
    }

    async fn wait_for_another(&self) {
        let over = self.over.notified();
        if self.pairs.fetch_sub(1, Ordering::SeqCst) > 1 {
            over.await;
        }
        self.pairs.fetch_add(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_last_one_does_not_wait() {
        let playing = Playing::default();
        playing.pairs.store(2, Ordering::SeqCst);
        let mut waiting = std::pin::pin!(playing.wait_for_another());
        tokio::select! {
            biased;
            () = &mut waiting => panic!("another one is played"),
            () = tokio::task::yield_now() => {}
        }
        playing.leave();
        waiting.await;
        assert!(playing.is_one());
        playing.wait_for_another().await;
        assert!(playing.is_one());
    }
}
