//! Hands pairs of games out to the workers and takes their results in.
//!
//! Which games are played must not depend on which worker is quicker. Pairs are handed out in
//! the order of the schedule, and whether a bot is benched follows from its games in that
//! order: a finished game whose bots might still turn out to be benched by games before it is
//! held back until that is known. It is written at once in all other cases, so for bots that
//! do not forfeit nothing is ever held back.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::forfeit_streak::ForfeitStreak;
use super::plan::Plan;
use super::results::Endings;
use super::shard::rounds_of;
use crate::record::{BotIndex, Ending, FinishedRecord, ForfeitReason};
use crate::tournament::schedule::{EntrantId, PairOfGames, Round, ScheduledGame};
use crate::tournament::sprt::{Decision, Pentanomial, Sprt};

/// Pairs under way or held back, for each worker.
const WINDOW_PER_WORKER: usize = 64;

/// Games that the disk has not confirmed; beyond, no new ones begin.
const MOST_UNWRITTEN: usize = 8192;

/// A bot that plays no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Benched {
    /// Who.
    pub bot: EntrantId,
    /// After so many forfeits in a row.
    pub after: u32,
    /// Why it forfeited last.
    pub reason: ForfeitReason,
}

/// What a worker is given to do.
#[derive(Debug)]
pub enum WorkItem<L = Arc<FinishedRecord>> {
    /// A pair to play, and which of its games are done already.
    Play(PairOfGames, [bool; 2]),
    /// Lines to write: games of a benched bot, which are not played.
    Lines(Vec<L>),
}

/// Writes the record of a game that is not played because of this bot.
pub type WriteUnplayed<L = Arc<FinishedRecord>> =
    dyn Fn(&ScheduledGame, &Benched) -> L + Send + Sync;

/// See the [module](self). `L` is what is written of a game.
pub struct Scheduler<L = Arc<FinishedRecord>> {
    state: Mutex<State<L>>,
    changed: Condvar,
    unplayed: Box<WriteUnplayed<L>>,
}

/// A bot's pairs in the order of the schedule, from the first that is not settled on.
#[derive(Debug, Default)]
struct Order {
    /// With the bot's forfeits in both games, once they are settled.
    pairs: VecDeque<(u64, Option<Forfeits>)>,
    /// Forfeits in a row before those.
    streak: ForfeitStreak,
    benched: Option<Benched>,
}

type Forfeits = [Option<ForfeitReason>; 2];

/// A pair that has been handed out and is not settled.
struct Open<L> {
    pair: PairOfGames,
    endings: [Option<Ending>; 2],
    /// Lines that are held back.
    held: Vec<L>,
    /// Whether the worker is done with it.
    complete: bool,
}

struct State<L> {
    pairs: Box<dyn Iterator<Item = PairOfGames> + Send>,
    more_rounds: bool,
    endings: Endings,
    bench_after: u32,
    window: usize,
    orders: Vec<Order>,
    open: BTreeMap<u64, Open<L>>,
    sprt: Option<(Sprt, Pentanomial)>,
    unwritten: usize,
    stopping: bool,
    /// Bots benched since somebody asked.
    newly_benched: Vec<Benched>,
}

/// Whether a pair counts.
enum Verdict {
    /// That depends on games before it.
    Undecided,
    /// It does.
    Fit,
    /// It does not: these of its bots are benched.
    Benched([Option<Benched>; 2]),
}

impl<L> std::fmt::Debug for Scheduler<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scheduler").finish_non_exhaustive()
    }
}

impl<L> Scheduler<L> {
    /// A scheduler for those pairs of a plan. Games in `endings` are done. More rounds come by
    /// [`Self::add_round`] unless `more_rounds` is false. `unplayed` writes records of games that
    /// are not played.
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
                orders: plan.bots.iter().map(|_| Order::default()).collect(),
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

    /// What to do next; `None` when there is nothing any more. Waits when the next round is not
    /// known yet, or the disk is behind.
    pub fn next(&self) -> Option<WorkItem<L>> {
        let mut state = self.lock();
        loop {
            if state.stopping {
                return None;
            }
            if state.open.len() < state.window && state.unwritten < MOST_UNWRITTEN {
                if let Some(handed) = state.take(&*self.unplayed) {
                    return Some(handed);
                }
                if !state.more_rounds || state.stopping {
                    // Others may wait for a pair that is not there.
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

    /// Takes in a finished game of a pair under way: how it ended, and the line of its record.
    /// Gives the lines that are to be written now.
    pub fn finished(&self, game: &ScheduledGame, ending: Ending, line: L) -> Vec<L> {
        let mut state = self.lock();
        let Some(open) = state.open.get_mut(&game.id.pair) else {
            // The tournament is decided without it.
            return Vec::new();
        };
        open.endings[game.id.half as usize] = Some(ending);
        open.held.push(line);
        state.settle(&*self.unplayed)
    }

    /// Takes back a pair that a worker is done with. Gives the lines that are to be written now.
    pub fn done(&self, pair: &PairOfGames) -> Vec<L> {
        let mut state = self.lock();
        if let Some(open) = state.open.get_mut(&pair.number) {
            if open.endings.iter().all(Option::is_some) {
                open.complete = true;
            } else {
                // Interrupted: it is played on when the tournament is resumed.
                state.open.remove(&pair.number);
            }
        }
        let lines = state.settle(&*self.unplayed);
        self.changed.notify_all();
        lines
    }

    /// Notes that the disk has confirmed a line.
    pub fn written(&self) {
        let mut state = self.lock();
        state.unwritten -= 1;
        if state.unwritten < MOST_UNWRITTEN {
            self.changed.notify_all();
        }
    }

    /// Another round.
    pub fn add_round(&self, round: Round, more_rounds: bool) {
        let mut state = self.lock();
        state.pairs = Box::new(pairs_of(round));
        state.more_rounds = more_rounds;
        self.changed.notify_all();
    }

    /// There will be no other round.
    pub fn no_more_rounds(&self) {
        self.lock().more_rounds = false;
        self.changed.notify_all();
    }

    /// No more games are begun.
    pub fn stop(&self) {
        self.lock().stopping = true;
        self.changed.notify_all();
    }

    /// Whether no more games are begun.
    pub fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    /// Bots that have been benched since this was asked before.
    pub fn newly_benched(&self) -> Vec<Benched> {
        std::mem::take(&mut self.lock().newly_benched)
    }

    fn lock(&self) -> MutexGuard<'_, State<L>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn pairs_of(round: Round) -> impl Iterator<Item = PairOfGames> + Send {
    let numbers = round.first_pair..round.first_pair + round.count();
    numbers.filter_map(move |number| round.pair(number))
}

impl<L> State<L> {
    /// The next pair that is not done.
    fn take(&mut self, unplayed: &WriteUnplayed<L>) -> Option<WorkItem<L>> {
        while !self.stopping {
            let pair = self.pairs.next()?;
            let endings = self.endings.of(pair.number);
            for bot in [pair.pairing.a, pair.pairing.b] {
                self.orders[bot.index()]
                    .pairs
                    .push_back((pair.number, None));
            }
            if let [Some(a), Some(b)] = endings {
                self.settled(&pair, [a, b]);
                continue;
            }
            if let Verdict::Benched(benched) = self.verdict(&pair) {
                let lines = self.skip(&pair, endings, benched, unplayed);
                return Some(WorkItem::Lines(lines));
            }
            let open = Open {
                pair,
                endings,
                held: Vec::new(),
                complete: false,
            };
            self.open.insert(pair.number, open);
            return Some(WorkItem::Play(pair, endings.map(|ending| ending.is_some())));
        }
        None
    }

    /// Releases what can be released, in the order of the schedule.
    fn settle(&mut self, unplayed: &WriteUnplayed<L>) -> Vec<L> {
        let mut lines = Vec::new();
        let numbers: Vec<u64> = self.open.keys().copied().collect();
        for number in numbers {
            let Some(open) = self.open.get(&number) else {
                // The tournament has been decided.
                break;
            };
            if open.held.is_empty() && !open.complete {
                continue;
            }
            let (pair, complete) = (open.pair, open.complete);
            match self.verdict(&pair) {
                Verdict::Undecided => {}
                Verdict::Fit => {
                    let Some(open) = self.open.get_mut(&number) else {
                        break;
                    };
                    self.unwritten += open.held.len();
                    lines.append(&mut open.held);
                    if complete && let [Some(a), Some(b)] = open.endings {
                        self.open.remove(&number);
                        self.settled(&pair, [a, b]);
                    }
                }
                Verdict::Benched(benched) => {
                    // Not in the middle of it: the worker would go on with a pair that is gone.
                    if complete {
                        self.open.remove(&number);
                        let before = self.endings.of(number);
                        lines.extend(self.skip(&pair, before, benched, unplayed));
                    }
                }
            }
        }
        lines
    }

    /// Scores the games of a pair that have not been played, and settles it.
    fn skip(
        &mut self,
        pair: &PairOfGames,
        mut endings: [Option<Ending>; 2],
        benched: [Option<Benched>; 2],
        unplayed: &WriteUnplayed<L>,
    ) -> Vec<L> {
        let mut lines = Vec::new();
        for (half, game) in pair.games().iter().enumerate() {
            if endings[half].is_some() {
                continue;
            }
            // When both are benched, whoever would have to begin forfeits.
            let by = if benched[half].is_some() {
                half
            } else {
                1 - half
            };
            if let Some(benched) = &benched[by] {
                endings[half] = Some(Ending::Forfeit(BotIndex::ALL[by], benched.reason));
                lines.push(unplayed(game, benched));
            }
        }
        self.unwritten += lines.len();
        if let [Some(a), Some(b)] = endings {
            self.settled(pair, [a, b]);
        }
        lines
    }

    /// All is known of a pair, and nothing will change it.
    fn settled(&mut self, pair: &PairOfGames, endings: [Ending; 2]) {
        for (index, bot) in BotIndex::ALL
            .into_iter()
            .zip([pair.pairing.a, pair.pairing.b])
        {
            let forfeits = endings.map(|ending| ending.forfeited_by(index));
            let order = &mut self.orders[bot.index()];
            if let Some(known) = order.pairs.iter_mut().find(|(n, _)| *n == pair.number) {
                known.1 = Some(forfeits);
            }
            order.advance(bot, self.bench_after, &mut self.newly_benched);
        }
        if let Some((sprt, scores)) = &mut self.sprt {
            scores.0[endings[0].half_points() + endings[1].half_points()] += 1;
            if sprt.decide(scores) != Decision::Continue {
                self.stopping = true;
                self.open.clear();
            }
        }
    }

    fn verdict(&self, pair: &PairOfGames) -> Verdict {
        // A sequential test looks at the pairs one by one.
        if self.sprt.is_some()
            && self
                .open
                .keys()
                .next()
                .is_some_and(|&first| first < pair.number)
        {
            return Verdict::Undecided;
        }
        let orders = [pair.pairing.a, pair.pairing.b].map(|bot| &self.orders[bot.index()]);
        let benched = orders.map(|order| order.benched);
        let decided = orders.iter().all(|order| {
            order.benched.is_some() || !order.may_be_benched_before(pair.number, self.bench_after)
        });
        if !decided {
            Verdict::Undecided
        } else if benched.iter().any(Option::is_some) {
            Verdict::Benched(benched)
        } else {
            Verdict::Fit
        }
    }
}

impl Order {
    /// Goes over the pairs that are settled.
    fn advance(&mut self, bot: EntrantId, bench_after: u32, newly_benched: &mut Vec<Benched>) {
        while let Some(&(_, Some(forfeits))) = self.pairs.front() {
            self.pairs.pop_front();
            let too_many = self.streak.pair(forfeits, bench_after);
            if self.benched.is_none()
                && let Some((after, reason)) = too_many
            {
                let benched = Benched { bot, after, reason };
                self.benched = Some(benched);
                newly_benched.push(benched);
            }
        }
    }

    /// Whether games that are not settled may bring so many forfeits in a row that the bot is
    /// benched before this pair.
    fn may_be_benched_before(&self, pair: u64, bench_after: u32) -> bool {
        let mut streak = self.streak;
        for &(number, forfeits) in &self.pairs {
            if number == pair {
                break;
            }
            match forfeits {
                None => streak.worst_pair(),
                Some(forfeits) => {
                    streak.pair(forfeits, bench_after);
                }
            }
            if streak.reaches(bench_after) {
                return true;
            }
        }
        false
    }
}
