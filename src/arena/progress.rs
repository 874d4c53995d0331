//! The state of a tournament between events.

use std::io;
use std::sync::Arc;

use super::directory::TournamentDirectory;
use super::plan::Plan;
use super::results::{Next, Results};
use super::scheduler::Benched;
use super::shard::Shard;
use super::{Ended, RunError, TournamentObserver};
use crate::play::game_runner::GameError;
use crate::record::FinishedRecord;
use crate::tournament::schedule::{GameId, Round};
use crate::tournament::sprt::{Decision, Sprt};

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
    /// Fewer games at once; the reason, a sentence.
    FewerGames(String),
    Benched(Benched),
    /// The journal cannot be written.
    NotWritten(io::Error),
    WorkerEnded(Result<(), GameError>),
}

pub(super) struct Progress<'a> {
    directory: &'a TournamentDirectory,
    pub(super) plan: Plan,
    pub(super) results: Results,
    pub(super) test: Option<Sprt>,
    /// Set when no round is left.
    last: Option<Ended>,
    shard: Option<Shard>,
}

/// What follows an event.
pub(super) enum Then {
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

    /// Updates the state and notifies the observer.
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
