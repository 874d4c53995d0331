//! Hands out pairs of games to workers and takes in results.
//!
//! Which games are played must not depend on which worker is faster. Pairs go out in the order of the schedule, and
//! benching follows from games in that order: a record is held back while earlier games may still bench one of its
//! bots. Otherwise it is written immediately; nothing is held back for bots that do not forfeit.

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

/// Open pairs for each worker.
const WINDOW_PER_WORKER: usize = 64;

/// Records not on disk; with more, no new games begin.
const MOST_UNWRITTEN: usize = 8192;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Benched {
    pub bot: EntrantId,
    /// Forfeits in a row.
    pub after: u32,
    /// Of the last one.
    pub reason: ForfeitReason,
}

/// For a worker.
#[derive(Debug)]
pub enum WorkItem<L = Arc<FinishedRecord>> {
    /// A pair, and which of its games are already played.
    Play(PairOfGames, [bool; 2]),
    /// Records of games not played because of a benched bot.
    Lines(Vec<L>),
}

/// Makes the record of a game not played because of this bot.
pub type WriteUnplayed<L = Arc<FinishedRecord>> =
    dyn Fn(&ScheduledGame, &Benched) -> L + Send + Sync;

/// `L` is a record to write.
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
    /// For the pairs with these numbers; games in `endings` are already played. Unless `more_rounds` is false,
    /// [`Self::add_round`] adds rounds.
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

    /// `None` when no work is left. Blocks until the next round is known and while too many records wait for the
    /// disk.
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
                    // Other workers may wait for a pair that does not exist.
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

    /// Returns records that can be written now.
    pub fn finished(&self, game: &ScheduledGame, ending: Ending, line: L) -> Vec<L> {
        let mut state = self.lock();
        let Some(open) = state.open.get_mut(&game.id.pair) else {
            // The sequential test was decided without it.
            return Vec::new();
        };
        open.endings[game.id.half as usize] = Some(ending);
        open.held.push(line);
        state.settle(&*self.unplayed)
    }

    /// A worker returns a pair. Returns records that can be written now.
    pub fn done(&self, pair: &PairOfGames) -> Vec<L> {
        let mut state = self.lock();
        if let Some(open) = state.open.get_mut(&pair.number) {
            if open.endings.iter().all(Option::is_some) {
                open.complete = true;
            } else {
                // Interrupted: the rest is played when the tournament is resumed.
                state.open.remove(&pair.number);
            }
        }
        let lines = state.settle(&*self.unplayed);
        self.changed.notify_all();
        lines
    }

    /// A record is on disk, or could not be written.
    pub fn written(&self) {
        let mut state = self.lock();
        state.unwritten -= 1;
        // Waking costs a system call even when nothing waits: only the first below the limit wakes.
        if state.unwritten == MOST_UNWRITTEN - 1 {
            self.changed.notify_all();
        }
    }

    /// The next round is known.
    pub fn add_round(&self, round: Round, more_rounds: bool) {
        let mut state = self.lock();
        state.pairs = Box::new(pairs_of(round));
        state.more_rounds = more_rounds;
        self.changed.notify_all();
    }

    /// No round will be added.
    pub fn no_more_rounds(&self) {
        self.lock().more_rounds = false;
        self.changed.notify_all();
    }

    pub fn stop(&self) {
        self.lock().stopping = true;
        self.changed.notify_all();
    }

    pub fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    /// Since the last call.
    pub fn newly_benched(&self) -> Vec<Benched> {
        std::mem::take(&mut self.lock().newly_benched)
    }

    fn lock(&self) -> MutexGuard<'_, State<L>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
