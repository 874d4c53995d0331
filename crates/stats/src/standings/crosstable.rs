//! The results of any two bots, and their sums.

use std::collections::BTreeMap;

use foldhash::HashMap;

use crate::ratings::{
    MeetingCounts, Model, RatedOutcome, RatedResults, RatingError, Ratings, rate,
};

/// Who moved first and who second, and how it ended.
type PlayedGame = ([u32; 2], RatedOutcome);

/// The most games that are kept until the other game of their pair is added.
const MOST_HALVES: usize = 100_000;

/// The results of games. Its size depends on the number of bots and of incomplete pairs.
#[derive(Clone, Debug, Default)]
pub struct Crosstable {
    /// The lower index first.
    meetings: HashMap<[u32; 2], MeetingCounts>,
    /// Games whose other game has not been added, by the number of the pair.
    halves: HashMap<u64, PlayedGame>,
}

impl Crosstable {
    /// `pair` is the number of its pair; the first bot moved first.
    pub(super) fn add(&mut self, pair: Option<u64>, bots: [usize; 2], outcome: RatedOutcome) {
        let new = (bots.map(narrow), outcome);
        let Some(pair) = pair else {
            return self.single(new);
        };
        let Some(old) = self.halves.remove(&pair) else {
            if self.halves.len() < MOST_HALVES {
                self.halves.insert(pair, new);
            } else {
                self.single(new);
            }
            return;
        };
        let [first, second] = new.0;
        if old.0 != [second, first] {
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
        let meeting = self.meetings.entry(low.0).or_default();
        meeting.pairs[low.1 as usize][high.1 as usize] += 1;
    }

    fn single(&mut self, (bots, outcome): PlayedGame) {
        let meeting = self.meetings.entry(sorted(bots)).or_default();
        meeting.games[usize::from(bots[0] > bots[1])][outcome as usize] += 1;
    }

    /// The first mover's wins, draws and losses, by the numbers of the first and the second mover.
    pub fn tallies(&self) -> BTreeMap<[usize; 2], [u32; 3]> {
        let mut tallies = BTreeMap::new();
        for (bots, meeting) in self.meetings(|bot| bot) {
            let ([low, high], [by_low, by_high]) = (bots.map(|bot| bot as usize), meeting.all());
            tallies.insert([low, high], by_low);
            tallies.insert([high, low], by_high);
        }
        tallies.retain(|_, counts| *counts != [0; 3]);
        tallies
    }

    /// Of this number of bots. An error is why the games determine no ratings.
    pub fn ratings(&self, bots: usize) -> Result<Ratings, RatingError> {
        let order: Vec<usize> = (0..bots).collect();
        rate(&Sums::of(self, &order)?.results, &Model::default())
    }

    /// Of all games, in the order of the bots' new numbers, the lower one first.
    fn meetings(&self, number: impl Fn(u32) -> u32) -> Vec<([u32; 2], MeetingCounts)> {
        let mut whole;
        let meetings = if self.halves.is_empty() {
            &self.meetings
        } else {
            whole = self.clone();
            for (_, half) in std::mem::take(&mut whole.halves) {
                whole.single(half);
            }
            &whole.meetings
        };
        let numbered = meetings.iter().map(|(&bots, &meeting)| {
            let [low, high] = bots.map(&number);
            if low < high {
                ([low, high], meeting)
            } else {
                ([high, low], meeting.swapped())
            }
        });
        let mut numbered: Vec<_> = numbered.collect();
        numbered.sort_unstable_by_key(|(bots, _)| *bots);
        numbered
    }
}

fn sorted([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// The points and games of a bot against another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Against {
    half_points: u32,
    pub(super) games: u32,
}

impl Against {
    pub(super) fn points(self) -> f64 {
        f64::from(self.half_points) / 2.0
    }
}

/// Half of the memory. There are fewer than 2³².
fn narrow(bot: usize) -> u32 {
    u32::try_from(bot).unwrap_or(u32::MAX)
}

pub(super) struct Sums {
    pub(super) results: RatedResults,
    pub(super) bots: Vec<BotScores>,
}

/// Of one bot.
#[derive(Clone, Debug, Default)]
pub(super) struct BotScores {
    pub(super) wins: u64,
    pub(super) draws: u64,
    pub(super) losses: u64,
    pub(super) wins_as_second: u64,
    /// The bots that it has met, in the order of their numbers.
    against: Vec<(u32, Against)>,
}

impl Sums {
    /// Counts are integers and halves, so their sums do not depend on the order of the records.
    pub(super) fn of(scores: &Crosstable, order: &[usize]) -> Result<Self, RatingError> {
        let mut sums = Self {
            results: RatedResults::new(order.len()),
            bots: vec![BotScores::default(); order.len()],
        };
        for ([low, high], meeting) in scores.meetings(|bot| narrow(order[bot as usize])) {
            *sums.results.meeting(low as usize, high as usize)? = meeting;
            let [by_low, by_high] = meeting.all();
            sums.bots[low as usize].add(high, by_low, by_high);
            sums.bots[high as usize].add(low, by_high, by_low);
        }
        Ok(sums)
    }
}

impl BotScores {
    /// The games where it moved first, and where the other one did.
    fn add(&mut self, other: u32, first: [u32; 3], second: [u32; 3]) {
        let won = first[0] + second[2];
        let drawn = first[1] + second[1];
        let lost = first[2] + second[0];
        self.wins += u64::from(won);
        self.draws += u64::from(drawn);
        self.losses += u64::from(lost);
        self.wins_as_second += u64::from(second[2]);
        let games = won + drawn + lost;
        let half_points = won.saturating_mul(2).saturating_add(drawn);
        self.against.push((other, Against { half_points, games }));
    }

    pub(super) const fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    pub(super) fn met(&self) -> impl Iterator<Item = (usize, Against)> + '_ {
        let met = self.against.iter();
        met.map(|&(other, against)| (other as usize, against))
    }

    /// `None` without games.
    pub(super) fn meeting(&self, other: usize) -> Option<Against> {
        let place = self
            .against
            .binary_search_by_key(&narrow(other), |&(met, _)| met);
        Some(self.against[place.ok()?].1)
    }
}

/// The standard library's sum of nothing is −0.
pub(super) fn total(figures: impl Iterator<Item = f64>) -> f64 {
    figures.fold(0.0, |sum, figure| sum + figure)
}
