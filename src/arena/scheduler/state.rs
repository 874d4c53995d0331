//! Open pairs, and which records can be written.

use std::collections::BTreeMap;

use super::bot_pairs::BotPairs;
use super::{Benched, WorkItem, WriteUnplayed};
use crate::arena::results::Endings;
use crate::record::{BotIndex, Ending};
use crate::tournament::schedule::{PairOfGames, Round};
use crate::tournament::sprt::{Decision, Pentanomial, Sprt};

/// Handed out and not settled.
pub(super) struct OpenPair<L> {
    pub(super) pair: PairOfGames,
    pub(super) endings: [Option<Ending>; 2],
    /// Records held back.
    pub(super) held: Vec<L>,
    /// The worker returned it with both games played.
    pub(super) complete: bool,
}

/// See the module.
pub(super) struct State<L> {
    /// Not handed out.
    pub(super) pairs: Box<dyn Iterator<Item = PairOfGames> + Send>,
    pub(super) more_rounds: bool,
    /// Played before.
    pub(super) endings: Endings,
    pub(super) bench_after: u32,
    /// Most open pairs.
    pub(super) window: usize,
    pub(super) bots: Vec<BotPairs>,
    /// By number.
    pub(super) open: BTreeMap<u64, OpenPair<L>>,
    pub(super) sprt: Option<(Sprt, Pentanomial)>,
    /// Records released for writing, unconfirmed.
    pub(super) unwritten: usize,
    pub(super) stopping: bool,
    /// Since `Scheduler::newly_benched` was last called.
    pub(super) newly_benched: Vec<Benched>,
}

/// Whether a pair's games count.
enum Verdict {
    /// Earlier games decide.
    Undecided,
    /// They do.
    Counts,
    /// They do not: these of its bots are benched.
    Benched([Option<Benched>; 2]),
}

pub(super) fn pairs_of(round: Round) -> impl Iterator<Item = PairOfGames> + Send {
    let numbers = round.first_pair..round.first_pair + round.count();
    numbers.filter_map(move |number| round.pair(number))
}

impl<L> State<L> {
    /// The next unplayed pair; `None` when there is none.
    pub(super) fn take(&mut self, unplayed: &WriteUnplayed<L>) -> Option<WorkItem<L>> {
        while !self.stopping {
            let pair = self.pairs.next()?;
            let endings = self.endings.of(pair.number);
            for bot in [pair.pairing.a, pair.pairing.b] {
                self.bots[bot.index()].push(pair.number);
            }
            if let [Some(a), Some(b)] = endings {
                self.settled(&pair, [a, b]);
                continue;
            }
            if let Verdict::Benched(benched) = self.verdict(&pair) {
                let lines = self.skip(&pair, endings, benched, unplayed);
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
    pub(super) fn settle(&mut self, unplayed: &WriteUnplayed<L>) -> Vec<L> {
        let mut lines = Vec::new();
        let numbers: Vec<u64> = self.open.keys().copied().collect();
        for number in numbers {
            let Some(open) = self.open.get(&number) else {
                // The sequential test was decided.
                break;
            };
            if open.held.is_empty() && !open.complete {
                continue;
            }
            let (pair, complete) = (open.pair, open.complete);
            match self.verdict(&pair) {
                Verdict::Undecided => {}
                Verdict::Counts => {
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
                    // Until then the worker plays the pair.
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

    /// Scores unplayed games of a pair and settles it. Returns their records.
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
            // If both are benched, the one to move first forfeits.
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

    /// For benching and the sequential test.
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

    fn verdict(&self, pair: &PairOfGames) -> Verdict {
        // A sequential test takes pairs in the order of the schedule.
        if self.sprt.is_some()
            && self
                .open
                .keys()
                .next()
                .is_some_and(|&first| first < pair.number)
        {
            return Verdict::Undecided;
        }
        let bots = [pair.pairing.a, pair.pairing.b].map(|bot| &self.bots[bot.index()]);
        let benched = bots.map(|bot| bot.benched);
        let decided = bots.iter().all(|bot| {
            bot.benched.is_some() || !bot.may_be_benched_before(pair.number, self.bench_after)
        });
        if !decided {
            Verdict::Undecided
        } else if benched.iter().any(Option::is_some) {
            Verdict::Benched(benched)
        } else {
            Verdict::Counts
        }
    }
}
