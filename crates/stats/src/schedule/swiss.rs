//! Swiss system: in every round entrants with equal scores meet, and no two meet twice.
//!
//! Entrants are ranked by points, then by seed. Of all ways to pair them, the first of these criteria in which they differ
//! chooses:
//!
//! 1. A benched entrant sits out, rather than one that plays.
//! 2. The bye goes to the entrant with the fewest rounds that it had no opponent in, or won without playing: none has a
//!    second one before all have had one, however many rounds there are.
//! 3. The fewest repeated meetings.
//! 4. The bye goes as far down the ranking as possible.
//! 5. Equal scores: the smallest sum of the squares of the distances in score groups (entrants with the same points).
//! 6. Within a group the upper half meets the lower half in order (of six: 1–4, 2–5, 3–6), outside of it a neighbour in
//!    the ranking: the smallest sum of the squares of the deviations from that.
//!
//! By FIDE's basic rules (C.04.1, article 4) a player who has won a round without playing gets no bye, and by its
//! general handling rules (C.04.2) players that have withdrawn are not paired. The basic rules also say that two players
//! do not meet twice. Where the rounds are so many that both cannot be kept, a second meeting is played for its points, and
//! a second bye is not.
//!
//! This is a perfect matching of minimum weight, with an additional vertex for the bye.

use std::collections::BTreeMap;
use std::iter::repeat_n;

use integer_blossom::min_weight_perfect_matching;

use super::{EntrantId, Pairing, Round};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwissResults {
    /// In any unit, such as half points.
    pub points: Vec<u64>,
    /// The rounds in which each had no opponent, and those that it won because its opponent was benched.
    pub byes: Vec<u32>,
    pub benched: Vec<bool>,
    /// Keys are [sorted](Pairing::sorted).
    pub met: BTreeMap<Pairing, u32>,
}

impl SwissResults {
    pub fn new(entrants: u32) -> Self {
        Self {
            points: vec![0; entrants as usize],
            byes: vec![0; entrants as usize],
            benched: vec![false; entrants as usize],
            met: BTreeMap::new(),
        }
    }

    /// Adds a meeting and the points of `a` and `b` in it.
    pub fn meeting(&mut self, pairing: Pairing, [a, b]: [u64; 2]) {
        self.points[pairing.a.index()] += a;
        self.points[pairing.b.index()] += b;
        *self.met.entry(pairing.sorted()).or_default() += 1;
    }

    pub fn bye(&mut self, entrant: EntrantId, points: u64) {
        self.points[entrant.index()] += points;
        self.byes[entrant.index()] += 1;
    }

    pub fn times_met(&self, pairing: Pairing) -> u32 {
        self.met.get(&pairing.sorted()).copied().unwrap_or(0)
    }

    pub fn ranking(&self) -> Vec<EntrantId> {
        let mut ranking: Vec<EntrantId> = (0..).map(EntrantId).take(self.points.len()).collect();
        ranking.sort_by_key(|entrant| std::cmp::Reverse(self.points[entrant.index()]));
        ranking
    }
}

/// The pairings of a round (from 1) from the results of those before it; none with fewer than two entrants.
pub fn next_round(results: &SwissResults, number: u32, pairs_each: u32) -> Round {
    let ranking = results.ranking();
    let count = ranking.len();
    let mut pairings = Vec::new();
    let mut byes = Vec::new();
    if count > 1 {
        let (costs, vertices) = costs(results, &ranking);
        let mates = min_weight_perfect_matching(&costs, vertices);
        for (rank, &mate) in mates.iter().enumerate().take(count) {
            let pairing = match ranking.get(mate) {
                // Each pairing is listed once, at the better-ranked of the two.
                Some(_) if mate < rank => continue,
                Some(&other) => Pairing::new(ranking[rank], other),
                None => {
                    byes.push(ranking[rank]);
                    continue;
                }
            };
            pairings.push(pairing.swapped_if(number.is_multiple_of(2)));
        }
    }
    let before = u64::from(number.saturating_sub(1)) * (count / 2) as u64;
    Round::new(number, before, pairs_each, pairings, byes)
}

/// The cost of each pairing of places in the ranking, as a matrix, and its width. When the number of entrants is odd,
/// there is one more place, for the bye.
fn costs(results: &SwissResults, ranking: &[EntrantId]) -> (Vec<i128>, usize) {
    let count = ranking.len();
    let vertices = count.next_multiple_of(2);
    let groups = score_groups(results, ranking);
    let wide = count as i128;
    let most_byes = results.byes.iter().copied().max().unwrap_or(0);
    let most_met = results.met.values().copied().max().unwrap_or(0);
    let is_any_benched = results.benched.contains(&true);
    // For all criteria but the first, one more than the largest possible sum: the factor of the criteria before it.
    // For 30,000 entrants the costs are below 2^126.
    let bounds = [
        i128::from(most_byes) + 1,
        wide / 2 * i128::from(most_met) + 1,
        wide + 1,
        wide * wide * wide / 2 + 1,
        wide * wide * wide / 2 + 1,
    ];
    let mut costs = vec![0; vertices * vertices];
    for upper in 0..count {
        for lower in upper + 1..vertices {
            let [first, rest @ ..] = if lower == count {
                let entrant = ranking[upper].index();
                let byes = i128::from(results.byes[entrant]);
                let plays = i128::from(is_any_benched && !results.benched[entrant]);
                [plays, byes, 0, (count - 1 - upper) as i128, 0, 0]
            } else {
                let met = results.times_met(Pairing::new(ranking[upper], ranking[lower]));
                let [apart, order] = distance(&groups, upper, lower);
                [0, 0, i128::from(met), 0, apart * apart, order * order]
            };
            costs[upper * vertices + lower] = rest
                .into_iter()
                .zip(bounds)
                .fold(first, |cost, (value, bound)| cost * bound + value);
        }
    }
    (costs, vertices)
}

/// By rank: the number of its score group, from 0, the best, and the group's size.
type ScoreGroups = Vec<(usize, usize)>;

fn score_groups(results: &SwissResults, ranking: &[EntrantId]) -> ScoreGroups {
    let points = |entrant: &EntrantId| results.points[entrant.index()];
    let groups = ranking.chunk_by(|a, b| points(a) == points(b)).enumerate();
    let ranks = groups.flat_map(|(group, members)| repeat_n((group, members.len()), members.len()));
    ranks.collect()
}

/// The distance of two ranks in groups, and the deviation of their distance from the desired one.
fn distance(groups: &ScoreGroups, upper: usize, lower: usize) -> [i128; 2] {
    let (group, size) = groups[upper];
    let apart = groups[lower].0 - group;
    let desired = if apart == 0 { size / 2 } else { 1 };
    [apart as i128, (lower - upper).abs_diff(desired) as i128]
}
