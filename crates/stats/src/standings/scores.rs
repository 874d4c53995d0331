//! The results of any two bots, and their sums.

use std::collections::BTreeMap;

use foldhash::HashMap;

use crate::ratings::{Model, Outcome, RatingError, Ratings, Results, Tally, rate};

/// One game of a pair whose other game has not been added.
#[derive(Clone, Copy, Debug)]
struct Half {
    bots: [usize; 2],
    outcome: Outcome,
}

/// By the outcomes of the game in which the first bot moved first and of the other game.
type Pairs = [[u32; 3]; 3];

/// In the order of their numbers.
const OUTCOMES: [Outcome; 3] = [Outcome::FirstWins, Outcome::Draw, Outcome::SecondWins];

/// The most games that are kept until the other game of their pair is added.
const MOST_HALVES: usize = 100_000;

/// The results of games. Its size depends on the number of bots and of incomplete pairs.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    /// Games without a pair, by (first mover, second mover).
    singles: HashMap<(u32, u32), Tally>,
    /// Pairs of games with the same opening, by the two bots in the order of their indices.
    pairs: HashMap<(u32, u32), Pairs>,
    halves: HashMap<u64, Half>,
}

impl Scores {
    /// `pair` is the number of its pair; the first bot moved first.
    pub(super) fn add(&mut self, pair: Option<u64>, bots: [usize; 2], outcome: Outcome) {
        let half = Half { bots, outcome };
        match pair {
            Some(pair) => self.half(pair, half),
            None => self.single(half),
        }
    }

    /// Tallies by the numbers of the first and the second mover.
    pub fn tallies(&self) -> BTreeMap<(usize, usize), Tally> {
        let mut tallies = BTreeMap::<(usize, usize), Tally>::new();
        let mut add = |first: u32, second: u32, outcome, times| {
            let counts = tallies.entry((first as usize, second as usize));
            counts.or_default().add(outcome, times);
        };
        for (&(first, second), counts) in &self.singles {
            let counts = [counts.wins, counts.draws, counts.losses];
            for (outcome, times) in OUTCOMES.into_iter().zip(counts) {
                add(first, second, outcome, times);
            }
        }
        for half in self.halves.values() {
            let [first, second] = half.bots.map(narrow);
            add(first, second, half.outcome, 1);
        }
        for (&(low, high), pairs) in &self.pairs {
            for (outcome, row) in OUTCOMES.into_iter().zip(pairs) {
                for (other, &times) in OUTCOMES.into_iter().zip(row) {
                    add(low, high, outcome, times);
                    add(high, low, other, times);
                }
            }
        }
        tallies
    }

    /// Of this number of bots. An error is why the games determine no ratings.
    pub fn ratings(&self, bots: usize, model: &Model) -> Result<Ratings, RatingError> {
        let order: Vec<usize> = (0..bots).collect();
        rate(&Sums::of(self, &order)?.results, model)
    }

    /// By two bots, numbered by `order`, the lower number first.
    fn parts(&self, order: &[usize]) -> Vec<([u32; 2], Part<'_>)> {
        let count = self.singles.len() + self.halves.len() + self.pairs.len();
        let mut parts = Vec::with_capacity(count);
        let numbered = |[a, b]: [u32; 2]| {
            let [a, b] = [a, b].map(|bot| narrow(order[bot as usize]));
            ([a.min(b), a.max(b)], a < b)
        };
        for (&(first, second), &counts) in &self.singles {
            let (bots, is_low) = numbered([first, second]);
            parts.push((bots, Part::Games { is_low, counts }));
        }
        for half in self.halves.values() {
            let mut counts = Tally::default();
            counts.add(half.outcome, 1);
            let (bots, is_low) = numbered(half.bots.map(narrow));
            parts.push((bots, Part::Games { is_low, counts }));
        }
        for (&(low, high), pairs) in &self.pairs {
            let (bots, is_low) = numbered([low, high]);
            parts.push((bots, Part::Pairs { is_low, pairs }));
        }
        parts
    }

    fn single(&mut self, Half { bots, outcome }: Half) {
        let [first, second] = bots.map(narrow);
        let counts = self.singles.entry((first, second)).or_default();
        counts.add(outcome, 1);
    }

    /// Completes the pair, or is kept.
    fn half(&mut self, pair: u64, new: Half) {
        let Some(old) = self.halves.remove(&pair) else {
            if self.halves.len() < MOST_HALVES {
                self.halves.insert(pair, new);
            } else {
                self.single(new);
            }
            return;
        };
        let [first, second] = new.bots;
        if old.bots != [second, first] {
            // Not the other game of the pair: files of several tournaments, or the same game twice.
            self.single(old);
            self.halves.insert(pair, new);
            return;
        }
        let (low, high) = if first < second {
            (new, old)
        } else {
            (old, new)
        };
        let [low_bot, high_bot] = [low, high].map(|half| narrow(half.bots[0]));
        let pairs = self.pairs.entry((low_bot, high_bot)).or_default();
        pairs[low.outcome as usize][high.outcome as usize] += 1;
    }
}

/// `is_low` says whether the first mover, or the first bot of the pairs, has the lower number.
enum Part<'a> {
    Games { is_low: bool, counts: Tally },
    Pairs { is_low: bool, pairs: &'a Pairs },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    half_points: u32,
    pub(super) games: u32,
}

impl Meeting {
    pub(super) fn points(self) -> f64 {
        f64::from(self.half_points) / 2.0
    }
}

/// Half of the memory. There are fewer than 2³².
fn narrow(bot: usize) -> u32 {
    u32::try_from(bot).unwrap_or(u32::MAX)
}

pub(super) struct Sums {
    pub(super) results: Results,
    pub(super) wins: Vec<u64>,
    pub(super) draws: Vec<u64>,
    pub(super) losses: Vec<u64>,
    pub(super) wins_as_second: Vec<u64>,
    /// A game without a pair is half a pair.
    pub(super) pairs: Vec<f64>,
    /// The bots that each has met, in the order of their numbers.
    against: Vec<Vec<(u32, Meeting)>>,
}

impl Sums {
    /// Counts are integers and halves, so their sums do not depend on the order of the records.
    pub(super) fn of(scores: &Scores, order: &[usize]) -> Result<Self, RatingError> {
        let bots = order.len();
        let mut parts = scores.parts(order);
        // Those of a bot follow each other, with the same opponent side by side.
        parts.sort_unstable_by_key(|(bots, _)| *bots);
        let mut sums = Self {
            results: Results::new(bots),
            wins: vec![0; bots],
            draws: vec![0; bots],
            losses: vec![0; bots],
            wins_as_second: vec![0; bots],
            pairs: vec![0.0; bots],
            against: vec![Vec::new(); bots],
        };
        for (bots, part) in parts {
            let [low, high] = bots.map(|bot| bot as usize);
            match part {
                Part::Games { is_low, counts } => {
                    let (first, second) = if is_low { (low, high) } else { (high, low) };
                    sums.results.add_games(first, second, counts)?;
                    sums.add(first, second, counts);
                }
                Part::Pairs { is_low, pairs } => {
                    let (a, b) = if is_low { (low, high) } else { (high, low) };
                    let mut counts = [Tally::default(); 2];
                    for (outcome_a, row) in OUTCOMES.into_iter().zip(pairs) {
                        for (outcome_b, &times) in OUTCOMES.into_iter().zip(row) {
                            if times == 0 {
                                continue;
                            }
                            sums.results
                                .add_pairs(a, b, [outcome_a, outcome_b], times)?;
                            counts[0].add(outcome_a, times);
                            counts[1].add(outcome_b, times);
                        }
                    }
                    sums.add(a, b, counts[0]);
                    sums.add(b, a, counts[1]);
                }
            }
        }
        for row in &mut sums.against {
            row.sort_unstable_by_key(|&(other, _)| other);
            row.dedup_by(|(other, from), (kept, into)| {
                let is_same = other == kept;
                if is_same {
                    into.half_points += from.half_points;
                    into.games += from.games;
                }
                is_same
            });
            row.shrink_to_fit();
        }
        Ok(sums)
    }

    fn add(&mut self, first: usize, second: usize, counts: Tally) {
        let games = counts.wins + counts.draws + counts.losses;
        for (a, b, won, lost) in [
            (first, second, counts.wins, counts.losses),
            (second, first, counts.losses, counts.wins),
        ] {
            self.wins[a] += u64::from(won);
            self.draws[a] += u64::from(counts.draws);
            self.losses[a] += u64::from(lost);
            self.pairs[a] += f64::from(games) / 2.0;
            let half_points = won.saturating_mul(2).saturating_add(counts.draws);
            self.against[a].push((narrow(b), Meeting { half_points, games }));
        }
        self.wins_as_second[second] += u64::from(counts.losses);
    }

    pub(super) fn games(&self, bot: usize) -> u64 {
        self.wins[bot] + self.draws[bot] + self.losses[bot]
    }

    pub(super) fn met(&self, bot: usize) -> impl Iterator<Item = (usize, Meeting)> + '_ {
        let met = self.against[bot].iter();
        met.map(|&(other, meeting)| (other as usize, meeting))
    }

    /// `None` without games.
    pub(super) fn meeting(&self, bot: usize, other: usize) -> Option<Meeting> {
        let row = &self.against[bot];
        let key = |&(met, _): &(u32, Meeting)| met as usize;
        let place = row.binary_search_by_key(&other, key).ok()?;
        Some(row[place].1)
    }
}

/// The standard library's sum of nothing is −0.
pub(super) fn total(figures: impl Iterator<Item = f64>) -> f64 {
    figures.fold(0.0, |sum, figure| sum + figure)
}
