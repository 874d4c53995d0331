//! Hands out pairs of games to workers and takes in results.
//!
//! Which games are played must not depend on which worker is faster. Pairs go out in the order of the schedule, and
//! benching follows from games in that order: a record is held back while earlier games may still bench one of its
//! bots. Otherwise it is written immediately; nothing is held back for bots that do not forfeit.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::plan::Plan;
use super::results::Endings;
use crate::record::{BotIndex, Ending, FinishedRecord, ForfeitReason};
use crate::threads::locked;
use crate::tournament::schedule::{EntrantId, GameId, Half, PairOfGames, Round};
use crate::tournament::sprt::{Decision, Pentanomial, Sprt};

const WINDOW_PER_WORKER: usize = 64;

/// Records not on disk; with more, no new games begin.
const MOST_UNWRITTEN: usize = 8192;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Benched {
    pub bot: EntrantId,
    /// Forfeits in a row.
    pub after: u32,
    pub reason: ForfeitReason,
}

#[derive(Debug)]
pub enum WorkItem<L = Arc<FinishedRecord>> {
    Play(PairOfGames, [bool; 2]),
    Lines(Vec<Line<L>>),
}

/// The record of a game that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line<L = Arc<FinishedRecord>> {
    Played(L),
    /// It is to be made, for a game that this bot forfeits without playing it.
    Unplayed(PairOfGames, Half, Benched),
}

pub struct Scheduler<L = Arc<FinishedRecord>> {
    state: Mutex<State<L>>,
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
            state: Mutex::new(State {
                pairs: Box::new(pairs),
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

    pub fn finished(&self, game: GameId, ending: Ending, line: L) -> Vec<Line<L>> {
        let mut state = locked(&self.state);
        let Some(open) = state.open.get_mut(&game.pair) else {
            return Vec::new();
        };
        open.endings[game.half as usize] = Some(ending);
        open.held.push(Line::Played(line));
        state.settle()
    }

    /// A worker returns a pair. Returns records that can be written now.
    pub fn done(&self, pair: &PairOfGames) -> Vec<Line<L>> {
        let mut state = locked(&self.state);
        if let Some(open) = state.open.get_mut(&pair.number) {
            if open.endings.iter().all(Option::is_some) {
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
    endings: [Option<Ending>; 2],
    held: Vec<Line<L>>,
    /// The worker returned it with both games played.
    complete: bool,
}

struct State<L> {
    pairs: Box<dyn Iterator<Item = PairOfGames> + Send>,
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
type Verdict = [Option<Benched>; 2];

fn pairs_of(round: Round) -> impl Iterator<Item = PairOfGames> + Send {
    let numbers = round.first_pair..round.first_pair + round.count();
    numbers.filter_map(move |number| round.pair(number))
}

impl<L> State<L> {
    fn take(&mut self) -> Option<WorkItem<L>> {
        while !self.stopping {
            let pair = self.pairs.next()?;
            let endings = self.endings.of(pair.number);
            for bot in [pair.pairing.a, pair.pairing.b] {
                self.bots[bot.index()].pairs.push_back((pair.number, None));
            }
            if let [Some(a), Some(b)] = endings {
                self.settled(&pair, [a, b]);
                continue;
            }
            if let Some(benched) = self.verdict(&pair)
                && benched != [None; 2]
            {
                let lines = self.skip(&pair, endings, benched);
                return Some(WorkItem::Lines(lines));
            }
            let open = OpenPair {
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

    /// Settles open pairs in the order of the schedule. Returns records that can be written now.
    fn settle(&mut self) -> Vec<Line<L>> {
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
                    if complete && let [Some(a), Some(b)] = open.endings {
                        self.open.remove(&number);
                        self.settled(&pair, [a, b]);
                    }
                }
                // Until then the worker plays the pair.
                Some(benched) if complete => {
                    self.open.remove(&number);
                    let before = self.endings.of(number);
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
        mut endings: [Option<Ending>; 2],
        benched: Verdict,
    ) -> Vec<Line<L>> {
        let mut lines = Vec::new();
        for half in Half::BOTH {
            let first = BotIndex::ALL[half as usize];
            // If both are benched, the one to move first forfeits.
            let mut forfeits = [first, first.other()].into_iter();
            let forfeit = forfeits.find_map(|by| Some((by, benched[by]?)));
            if let (None, Some((by, benched))) = (endings[half as usize], forfeit) {
                endings[half as usize] = Some(Ending::Forfeit(by, benched.reason));
                lines.push(Line::Unplayed(*pair, half, benched));
            }
        }
        self.unwritten += lines.len();
        if let [Some(a), Some(b)] = endings {
            self.settled(pair, [a, b]);
        }
        lines
    }

    fn settled(&mut self, pair: &PairOfGames, endings: [Ending; 2]) {
        for (index, bot) in BotIndex::ALL
            .into_iter()
            .zip([pair.pairing.a, pair.pairing.b])
        {
            let forfeits = endings.map(|ending| ending.forfeited_by(index));
            let pairs = &mut self.bots[bot.index()];
            let benched = pairs.settle(pair.number, bot, forfeits, self.bench_after);
            self.newly_benched.extend(benched);
        }
        if let Some((sprt, scores)) = &mut self.sprt {
            scores.0[endings[0].half_points() + endings[1].half_points()] += 1;
            if sprt.decide(scores) != Decision::Continue {
                self.stopping = true;
                self.open.clear();
            }
        }
    }

    /// `None` while it is not known.
    fn verdict(&self, pair: &PairOfGames) -> Option<Verdict> {
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
            bot.benched.is_some() || !bot.may_be_benched_before(pair.number, self.bench_after)
        });
        decided.then(|| bots.map(|bot| bot.benched))
    }
}

/// From the first pair not settled, in the order of the schedule.
#[derive(Debug, Default)]
struct BotPairs {
    /// Pair numbers, with the bot's forfeits once settled.
    pairs: VecDeque<(u64, Option<Forfeits>)>,
    /// The forfeits in a row before those pairs.
    streak: ForfeitStreak,
    benched: Option<Benched>,
}

/// Why the bot forfeited each game of a pair, if it did.
type Forfeits = [Option<ForfeitReason>; 2];

impl BotPairs {
    fn settle(
        &mut self,
        number: u64,
        bot: EntrantId,
        forfeits: Forfeits,
        bench_after: u32,
    ) -> Option<Benched> {
        if let Some(known) = self.pairs.iter_mut().find(|(n, _)| *n == number) {
            known.1 = Some(forfeits);
        }
        let mut newly_benched = None;
        while let Some(&(_, Some(forfeits))) = self.pairs.front() {
            self.pairs.pop_front();
            if let Some((after, reason)) = self.streak.pair(forfeits, bench_after)
                && self.benched.is_none()
            {
                let benched = Benched { bot, after, reason };
                self.benched = Some(benched);
                newly_benched = Some(benched);
            }
        }
        newly_benched
    }

    fn may_be_benched_before(&self, pair: u64, bench_after: u32) -> bool {
        let mut streak = self.streak;
        for &(number, forfeits) in &self.pairs {
            if number == pair {
                break;
            }
            match forfeits {
                // As if both games were forfeited.
                None => streak.0 += 2,
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

/// Games forfeited in a row, in the order of the schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ForfeitStreak(u32);

impl ForfeitStreak {
    /// Adds a pair. The number of forfeits that benches the bot, and the last one's reason, decided after whole pairs
    /// only; never when `bench_after` is 0.
    fn pair(&mut self, forfeits: Forfeits, bench_after: u32) -> Option<(u32, ForfeitReason)> {
        for forfeit in forfeits {
            self.0 = if forfeit.is_some() { self.0 + 1 } else { 0 };
        }
        let reason = forfeits[1]?;
        self.reaches(bench_after).then_some((self.0, reason))
    }

    /// `bench_after` 0: never.
    const fn reaches(self, bench_after: u32) -> bool {
        bench_after > 0 && self.0 >= bench_after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forfeits_in_a_row_bench_a_bot_between_pairs() {
        const F: Option<ForfeitReason> = Some(ForfeitReason::Timeout);
        let mut streak = ForfeitStreak::default();
        assert_eq!(streak.pair([F, F], 3), None);
        assert_eq!(streak.pair([F, None], 3), None);
        assert_eq!(streak.pair([None, F], 3), None);
        assert_eq!(streak.pair([F, F], 3), Some((3, ForfeitReason::Timeout)));
        assert_eq!(streak.pair([F, F], 0), None);
        assert!(!streak.reaches(0) && streak.reaches(5) && !streak.reaches(6));
    }
}
