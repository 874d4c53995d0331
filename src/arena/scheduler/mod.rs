//! Hands out pairs of games to the workers and takes in their results.
//!
//! Which games are played must not depend on which worker is faster. Pairs are handed out in the
//! order of the schedule, and whether a bot is benched follows from its games in that order: the
//! record of a game is held back while games before it may still bench one of its bots. In all
//! other cases it is written at once, so nothing is held back for bots that do not forfeit.
//!
//! - `state`: the pairs being played, and which records can be written
//! - `bot_pairs`: whether a bot is benched, from its pairs in the order of the schedule

mod bot_pairs;
mod state;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use self::bot_pairs::BotPairs;
use self::state::{State, pairs_of};
use super::plan::Plan;
use super::results::Endings;
use super::shard::rounds_of;
use crate::record::{Ending, FinishedRecord, ForfeitReason};
use crate::tournament::schedule::{EntrantId, PairOfGames, Round, ScheduledGame};
use crate::tournament::sprt::{Pentanomial, Sprt};

/// Pairs being played or held back, for each worker.
const WINDOW_PER_WORKER: usize = 64;

/// Games whose records are not on disk yet; with more of them, no new games are begun.
const MOST_UNWRITTEN: usize = 8192;

/// A bot whose remaining games are scored as forfeits without being played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Benched {
    pub bot: EntrantId,
    /// The number of forfeits in a row that benched it.
    pub after: u32,
    /// The reason of the last of them.
    pub reason: ForfeitReason,
}

/// Work for a worker.
#[derive(Debug)]
pub enum WorkItem<L = Arc<FinishedRecord>> {
    /// A pair to play, and which of its games have been played already.
    Play(PairOfGames, [bool; 2]),
    /// Records to write, of games that are not played because a bot is benched.
    Lines(Vec<L>),
}

/// Makes the record of a game that is not played because of this bot.
pub type WriteUnplayed<L = Arc<FinishedRecord>> =
    dyn Fn(&ScheduledGame, &Benched) -> L + Send + Sync;

/// See the [module](self). `L` is the record of a game as it is written.
pub struct Scheduler<L = Arc<FinishedRecord>> {
    state: Mutex<State<L>>,
    changed: Condvar,
    unplayed: Box<WriteUnplayed<L>>,
}

impl<L> std::fmt::Debug for Scheduler<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scheduler").finish_non_exhaustive()
    }
}

impl<L> Scheduler<L> {
    /// A scheduler for the pairs of a plan with these numbers. Games in `endings` have been played.
    /// Further rounds are added by [`Self::add_round`] unless `more_rounds` is false. `unplayed`
    /// makes the records of games that are not played.
    pub fn new(
        plan: &Plan,
        pairs: Range<u64>,
        endings: Endings,
        workers: usize,
        sprt: Option<Sprt>,
        more_rounds: bool,
        unplayed: Box<WriteUnplayed<L>>,
    ) -> Self {
        let rounds = rounds_of(plan, &pairs);
        let pairs = rounds
            .into_iter()
            .flat_map(pairs_of)
            .filter(move |pair| pairs.contains(&pair.number));
        Self {
            state: Mutex::new(State {
                pairs: Box::new(pairs),
                more_rounds,
                endings,
                bench_after: plan.bench_after,
                window: workers * WINDOW_PER_WORKER,
                bots: plan.bots.iter().map(|_| BotPairs::default()).collect(),
                open: BTreeMap::new(),
                sprt: sprt.map(|sprt| (sprt, Pentanomial::default())),
                unwritten: 0,
                stopping: false,
                newly_benched: Vec::new(),
            }),
            changed: Condvar::new(),
            unplayed,
        }
    }

    /// The next work; `None` when there is no more. Blocks while the next round is not known, or
    /// while too many records wait for the disk.
    pub fn next(&self) -> Option<WorkItem<L>> {
        let mut state = self.lock();
        loop {
            if state.stopping {
                return None;
            }
            if state.open.len() < state.window && state.unwritten < MOST_UNWRITTEN {
                if let Some(item) = state.take(&*self.unplayed) {
                    return Some(item);
                }
                if !state.more_rounds || state.stopping {
                    // Other workers may be waiting for a pair that does not exist.
                    self.changed.notify_all();
                    return None;
                }
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes in a finished game: how it ended, and its record. Returns the records that can be
    /// written now.
    pub fn finished(&self, game: &ScheduledGame, ending: Ending, line: L) -> Vec<L> {
        let mut state = self.lock();
        let Some(open) = state.open.get_mut(&game.id.pair) else {
            // The sequential test has been decided without it.
            return Vec::new();
        };
        open.endings[game.id.half as usize] = Some(ending);
        open.held.push(line);
        state.settle(&*self.unplayed)
    }

    /// Takes back a pair from its worker. Returns the records that can be written now.
    pub fn done(&self, pair: &PairOfGames) -> Vec<L> {
        let mut state = self.lock();
        if let Some(open) = state.open.get_mut(&pair.number) {
            if open.endings.iter().all(Option::is_some) {
                open.complete = true;
            } else {
                // Interrupted: the rest of it is played when the tournament is resumed.
                state.open.remove(&pair.number);
            }
        }
        let lines = state.settle(&*self.unplayed);
        self.changed.notify_all();
        lines
    }

    /// Notes that a record is on disk, or could not be written.
    pub fn written(&self) {
        let mut state = self.lock();
        state.unwritten -= 1;
        // Waking costs a system call, even when nobody waits: only the first below the limit does.
        if state.unwritten == MOST_UNWRITTEN - 1 {
            self.changed.notify_all();
        }
    }

    /// Adds the next round.
    pub fn add_round(&self, round: Round, more_rounds: bool) {
        let mut state = self.lock();
        state.pairs = Box::new(pairs_of(round));
        state.more_rounds = more_rounds;
        self.changed.notify_all();
    }

    /// Notes that no further round will be added.
    pub fn no_more_rounds(&self) {
        self.lock().more_rounds = false;
        self.changed.notify_all();
    }

    /// Stops: no more games are begun.
    pub fn stop(&self) {
        self.lock().stopping = true;
        self.changed.notify_all();
    }

    /// Whether it has been stopped.
    pub fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    /// The bots benched since the last call.
    pub fn newly_benched(&self) -> Vec<Benched> {
        std::mem::take(&mut self.lock().newly_benched)
    }

    fn lock(&self) -> MutexGuard<'_, State<L>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
