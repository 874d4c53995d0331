//! Hands out pairs of games to workers and takes in results.
//!
//! Which games are played must not depend on which worker is faster. Pairs go out in the order of the schedule, and
//! benching follows from games in that order: a record is held back while earlier games may still bench one of its
//! bots. Otherwise it is written immediately; nothing is held back for bots that do not forfeit.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::benching::{BenchState, Benched, PairConduct};
use super::fair_order::{FairOrder, Load};
use super::plan::Plan;
use super::results::Endings;
use referee_host::threads::locked;
use referee_match::record::{BotIndex, Ending, FinishedRecord, GameResult};
use referee_stats::schedule::{EntrantId, GameId, Half, PairOfGames, Round};
use referee_stats::sprt::{Decision, Pentanomial, Sprt};

const WINDOW_PER_WORKER: usize = 64;

/// Records not on disk; with more, no new games begin.
const MOST_UNWRITTEN: usize = 8192;

#[derive(Debug)]
pub enum WorkItem<L = Arc<FinishedRecord>> {
    Play(PairOfGames, [bool; 2]),
    Lines(Vec<GameLine<L>>),
}

/// The record of a game that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GameLine<L = Arc<FinishedRecord>> {
    Played(L),
    /// It is to be made, for a game that this bot forfeits without playing it.
    Unplayed(PairOfGames, Half, Benched),
}

pub struct Scheduler<L = Arc<FinishedRecord>> {
    state: Mutex<ScheduleState<L>>,
    changed: Condvar,
}

impl<L> Scheduler<L> {
    /// For the pairs with these numbers; games in `endings` are already played. Unless `more_rounds` is false,
    /// [`Self::set_round`] adds rounds.
    pub fn new(
        plan: &Plan,
        pairs: Range<u64>,
        endings: Endings,
        workers: usize,
        more_rounds: bool,
    ) -> Self {
        let pairs = plan
            .rounds
            .clone()
            .into_iter()
            .flat_map(pairs_of)
            .filter(move |pair| pairs.contains(&pair.number));
        Self {
            state: Mutex::new(ScheduleState {
                pairs: Box::new(pairs),
                fair: None,
                more_rounds,
                endings,
                bench_after: plan.bench_after,
                window: workers * WINDOW_PER_WORKER,
                bots: plan.bots.iter().map(|_| BotPairs::default()).collect(),
                open: BTreeMap::new(),
                sprt: plan.sprt.map(|sprt| (sprt, Pentanomial::default())),
                unwritten: 0,
                stopping: false,
                newly_benched: Vec::new(),
            }),
            changed: Condvar::new(),
        }
    }

    /// From now on the bots with the lightest loads play first, `loads` being those of now. Which games are played, and
    /// how those of benched bots are scored, follows from the order of the schedule all the same.
    pub fn hand_out_fairly(&self, loads: Vec<Load>) {
        locked(&self.state).hand_out_fairly(loads);
    }

    /// `None` when no work is left. Blocks until the next round is known and while too many records wait for the
    /// disk.
    pub fn next(&self) -> Option<WorkItem<L>> {
        let mut state = locked(&self.state);
        loop {
            if state.stopping {
                return None;
            }
            if state.open.len() < state.window && state.unwritten < MOST_UNWRITTEN {
                if let Some(item) = state.take() {
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

    /// How long the two bots of a pair thought in a game, for who plays next.
    pub fn thought(&self, pair: &PairOfGames, seconds: [f64; 2]) {
        if let Some(fair) = &mut locked(&self.state).fair {
            fair.played(pair, seconds);
        }
    }

    pub fn finished(&self, game: GameId, result: GameResult, line: L) -> Vec<GameLine<L>> {
        let mut state = locked(&self.state);
        let Some(open) = state.open.get_mut(&game.pair) else {
            return Vec::new();
        };
        open.results[game.half as usize] = Some(result);
        open.held.push(GameLine::Played(line));
        state.settle()
    }

    /// A worker returns a pair. Returns records that can be written now.
    pub fn done(&self, pair: &PairOfGames) -> Vec<GameLine<L>> {
        let mut state = locked(&self.state);
        if let Some(fair) = &mut state.fair {
            fair.returned(pair);
        }
        if let Some(open) = state.open.get_mut(&pair.number) {
            if open.results.iter().all(Option::is_some) {
                open.complete = true;
            } else {
                // Interrupted: the rest is played when the tournament is resumed.
                state.open.remove(&pair.number);
            }
        }
        let lines = state.settle();
        self.changed.notify_all();
        lines
    }

    /// A record is on disk, or could not be written.
    pub fn written(&self) {
        let mut state = locked(&self.state);
        state.unwritten -= 1;
        // Waking costs a system call even when nothing waits: only the first below the limit wakes.
        if state.unwritten == MOST_UNWRITTEN - 1 {
            self.changed.notify_all();
        }
    }

    /// The next one; `None`: there are no more.
    pub fn set_round(&self, round: Option<Round>) {
        let mut state = locked(&self.state);
        state.more_rounds = round.is_some();
        state.pairs = Box::new(round.into_iter().flat_map(pairs_of));
        self.changed.notify_all();
    }

    pub fn stop(&self) {
        locked(&self.state).stopping = true;
        self.changed.notify_all();
    }

    pub fn is_stopping(&self) -> bool {
        locked(&self.state).stopping
    }

    pub fn newly_benched(&self) -> Vec<Benched> {
        std::mem::take(&mut locked(&self.state).newly_benched)
    }
}

struct OpenPair<L> {
    pair: PairOfGames,
    results: [Option<GameResult>; 2],
    held: Vec<GameLine<L>>,
    /// The worker returned it with both games played.
    complete: bool,
}

struct ScheduleState<L> {
    pairs: Box<dyn Iterator<Item = PairOfGames> + Send>,
    /// Instead of `pairs`: those that are left, not in the order of the schedule.
    fair: Option<FairOrder>,
    more_rounds: bool,
    /// Played before.
    endings: Endings,
    bench_after: u32,
    window: usize,
    bots: Vec<BotPairs>,
    open: BTreeMap<u64, OpenPair<L>>,
    sprt: Option<(Sprt, Pentanomial)>,
    /// Records released for writing, unconfirmed.
    unwritten: usize,
    stopping: bool,
    newly_benched: Vec<Benched>,
}

/// Whether the bots of a pair are benched; then its games are not played, or do not count.
type BenchedSides = [Option<Benched>; 2];

fn pairs_of(round: Round) -> impl Iterator<Item = PairOfGames> + Send {
    let numbers = round.first_pair..round.first_pair + round.count();
    numbers.filter_map(move |number| round.pair(number))
}

impl<L> ScheduleState<L> {
    /// A bot's pairs are known from here on, in the order of the schedule. Of those that were played before, what
    /// follows for the bots.
    fn register(&mut self, pair: &PairOfGames) -> [Option<GameResult>; 2] {
        let results = self.endings.results_of(pair.number);
        for bot in [pair.pairing.a, pair.pairing.b] {
            self.bots[bot.index()].pairs.push_back((pair.number, None));
        }
        if let [Some(a), Some(b)] = results {
            self.settled(pair, [a, b]);
        }
        results
    }

    fn hand_out_fairly(&mut self, loads: Vec<Load>) {
        let pairs = std::mem::replace(&mut self.pairs, Box::new(std::iter::empty()));
        let left = pairs.filter(|pair| self.register(pair).contains(&None));
        let left: Vec<PairOfGames> = left.collect();
        self.fair = Some(FairOrder::new(left, loads));
    }

    /// The next pair, with the games of it that were played before.
    fn next_pair(&mut self) -> Option<(PairOfGames, [Option<GameResult>; 2])> {
        let Some(mut fair) = self.fair.take() else {
            let pair = self.pairs.next()?;
            let results = self.register(&pair);
            return Some((pair, results));
        };
        // Others would be held back in memory, and lost with it.
        let pair = fair.next(|pair| self.verdict(pair).is_some());
        self.fair = Some(fair);
        let pair = pair?;
        Some((pair, self.endings.results_of(pair.number)))
    }

    fn take(&mut self) -> Option<WorkItem<L>> {
        while !self.stopping {
            let (pair, results) = self.next_pair()?;
            if !results.contains(&None) {
                continue;
            }
            if let Some(benched) = self.verdict(&pair)
                && benched != [None; 2]
            {
                let lines = self.skip(&pair, results, benched);
                if let Some(fair) = &mut self.fair {
                    fair.returned(&pair);
                }
                return Some(WorkItem::Lines(lines));
            }
            let open = OpenPair {
                pair,
                results,
                held: Vec::new(),
                complete: false,
            };
            self.open.insert(pair.number, open);
            return Some(WorkItem::Play(pair, results.map(|result| result.is_some())));
        }
        None
    }

    /// Settles open pairs in the order of the schedule. Returns records that can be written now.
    fn settle(&mut self) -> Vec<GameLine<L>> {
        let mut lines = Vec::new();
        let numbers: Vec<u64> = self.open.keys().copied().collect();
        for number in numbers {
            let Some(open) = self.open.get(&number) else {
                break;
            };
            if open.held.is_empty() && !open.complete {
                continue;
            }
            let (pair, complete) = (open.pair, open.complete);
            match self.verdict(&pair) {
                Some([None, None]) => {
                    let Some(open) = self.open.get_mut(&number) else {
                        break;
                    };
                    self.unwritten += open.held.len();
                    lines.append(&mut open.held);
                    if complete && let [Some(a), Some(b)] = open.results {
                        self.open.remove(&number);
                        self.settled(&pair, [a, b]);
                    }
                }
                // Until then the worker plays the pair.
                Some(benched) if complete => {
                    self.open.remove(&number);
                    let before = self.endings.results_of(number);
                    lines.extend(self.skip(&pair, before, benched));
                }
                _ => {}
            }
        }
        lines
    }

    /// Scores unplayed games of a pair and settles it.
    fn skip(
        &mut self,
        pair: &PairOfGames,
        mut results: [Option<GameResult>; 2],
        benched: BenchedSides,
    ) -> Vec<GameLine<L>> {
        let mut lines = Vec::new();
        for half in Half::BOTH {
            let first = BotIndex::ALL[half as usize];
            // If both are benched, the one to move first forfeits.
            let mut forfeits = [first, first.other()].into_iter();
            let forfeit = forfeits.find_map(|by| Some((by, benched[by]?)));
            if let (None, Some((by, benched))) = (results[half as usize], forfeit) {
                results[half as usize] = Some(GameResult {
                    ending: Ending::Forfeit(by, benched.reason),
                    answered: [false; 2],
                    played: false,
                });
                lines.push(GameLine::Unplayed(*pair, half, benched));
            }
        }
        self.unwritten += lines.len();
        if let [Some(a), Some(b)] = results {
            self.settled(pair, [a, b]);
        }
        lines
    }

    fn settled(&mut self, pair: &PairOfGames, results: [GameResult; 2]) {
        for (index, bot) in BotIndex::ALL
            .into_iter()
            .zip([pair.pairing.a, pair.pairing.b])
        {
            let conduct = PairConduct::of(results, index);
            let pairs = &mut self.bots[bot.index()];
            let benched = pairs.settle(pair.number, bot, conduct, self.bench_after);
            self.newly_benched.extend(benched);
        }
        if let Some((sprt, scores)) = &mut self.sprt {
            let half_points = results.map(|result| result.ending.half_points());
            scores.0[half_points[0] + half_points[1]] += 1;
            if sprt.decide(scores) != Decision::Continue {
                self.stopping = true;
                self.open.clear();
            }
        }
    }

    /// `None` while it is not known.
    fn verdict(&self, pair: &PairOfGames) -> Option<BenchedSides> {
        // A sequential test takes pairs in the order of the schedule.
        if self.sprt.is_some()
            && self
                .open
                .keys()
                .next()
                .is_some_and(|&first| first < pair.number)
        {
            return None;
        }
        let bots = [pair.pairing.a, pair.pairing.b].map(|bot| &self.bots[bot.index()]);
        let decided = bots.iter().all(|bot| {
            bot.state.benched.is_some() || !bot.may_be_benched_before(pair.number, self.bench_after)
        });
        if !decided {
            return None;
        }
        let benched = bots.map(|bot| bot.state.benched);
        let other = match benched {
            [Some(_), None] => bots[1],
            [None, Some(_)] => bots[0],
            _ => return Some(benched),
        };
        // One that has made no turn is still asked, until it is benched itself: it would win without being asked.
        let has_moved = other.has_moved_before(pair.number)?;
        Some(if has_moved { benched } else { [None; 2] })
    }
}

/// From the first pair not settled, in the order of the schedule.
#[derive(Debug, Default)]
struct BotPairs {
    /// Pair numbers, with the bot's conduct once settled.
    pairs: VecDeque<(u64, Option<PairConduct>)>,
    /// Before those pairs.
    state: BenchState,
}

impl BotPairs {
    fn settle(
        &mut self,
        number: u64,
        bot: EntrantId,
        conduct: PairConduct,
        bench_after: u32,
    ) -> Option<Benched> {
        if let Some(known) = self.pairs.iter_mut().find(|(n, _)| *n == number) {
            known.1 = Some(conduct);
        }
        let mut newly_benched = None;
        while let Some(&(_, Some(conduct))) = self.pairs.front() {
            self.pairs.pop_front();
            newly_benched = newly_benched.or(self.state.add(bot, conduct, bench_after));
        }
        newly_benched
    }

    fn before(&self, pair: u64) -> impl Iterator<Item = Option<PairConduct>> {
        let before = self
            .pairs
            .iter()
            .take_while(move |(number, _)| *number != pair);
        before.map(|(_, conduct)| *conduct)
    }

    fn may_be_benched_before(&self, pair: u64, bench_after: u32) -> bool {
        self.state.may_be_benched(self.before(pair), bench_after)
    }

    /// `None` while it is not known.
    fn has_moved_before(&self, pair: u64) -> Option<bool> {
        let has_moved = |conduct: PairConduct| conduct.has_moved;
        if self.state.has_moved || self.before(pair).flatten().any(has_moved) {
            return Some(true);
        }
        self.before(pair)
            .all(|conduct| conduct.is_some())
            .then_some(false)
    }
}
