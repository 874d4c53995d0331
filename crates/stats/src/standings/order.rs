//! The order of a table: its first criterion, then the tie-breaks.

use std::cmp::Ordering;

use super::ranking::{Byes, RankBy, Ranking, TieBreak};
use super::scores::{Meeting, Sums, total};
use super::to_f64;
use crate::ratings::Ratings;

/// Everything by which bots are compared, by bot.
pub(super) struct Criteria<'a> {
    pub(super) names: &'a [&'a String],
    pub(super) sums: &'a Sums,
    pub(super) ratings: &'a Ratings,
    /// What to compare instead of the ratings.
    levels: Vec<f64>,
    pub(super) ranking: &'a Ranking,
    /// Points, with those for byes.
    pub(super) points: Vec<f64>,
    pub(super) games: Vec<u64>,
    pub(super) byes: Vec<Byes>,
    pub(super) sonneborn_berger: Vec<f64>,
    /// The sum of the opponents' points, and the same without the lowest.
    pub(super) buchholz: Vec<[f64; 2]>,
}

/// Bots that are ordered together.
pub(super) struct Table {
    /// Indices of bots, the best first.
    pub(super) order: Vec<usize>,
    /// Whether the first criterion was the rating.
    pub(super) by_rating: bool,
}

impl<'a> Criteria<'a> {
    pub(super) fn new(
        names: &'a [&'a String],
        sums: &'a Sums,
        ratings: &'a Ratings,
        ranking: &'a Ranking,
    ) -> Self {
        let bots = names.len();
        let byes: Vec<Byes> = names
            .iter()
            .map(|name| ranking.byes.get(*name).copied().unwrap_or_default())
            .collect();
        let points: Vec<f64> = (0..bots)
            .map(|bot| total(sums.met(bot).map(|(_, met)| met.points())) + byes[bot].points)
            .collect();
        // A bye counts as a meeting with an opponent that has the bot's own points in the end.
        let sonneborn_berger = (0..bots).map(|bot| {
            let met = sums
                .met(bot)
                .map(|(other, met)| met.points() * points[other]);
            total(met) + byes[bot].points * points[bot]
        });
        let buchholz = (0..bots).map(|bot| {
            let own = (byes[bot].count, points[bot]);
            let met = sums.met(bot).map(|(other, met)| {
                let a_meeting = ranking.games_a_meeting.unwrap_or(u32::MAX).max(1);
                (met.games.div_ceil(a_meeting), points[other])
            });
            let met = met.chain([own]).filter(|(times, _)| *times > 0);
            let (mut sum, mut lowest) = (0.0, f64::INFINITY);
            for (times, points) in met {
                sum += f64::from(times) * points;
                lowest = points.min(lowest);
            }
            let cut = if lowest.is_finite() { lowest } else { 0.0 };
            [sum, sum - cut]
        });
        Self {
            sonneborn_berger: sonneborn_berger.collect(),
            buchholz: buchholz.collect(),
            games: (0..bots).map(|bot| sums.games(bot)).collect(),
            names,
            sums,
            ratings,
            levels: ratings.levels(),
            ranking,
            points,
            byes,
        }
    }

    /// The tables, the one with the most bots first.
    pub(super) fn tables(&self) -> Vec<Table> {
        let all = 0..self.names.len();
        if self.ranking.by != RankBy::Results {
            return vec![self.table(all.collect())];
        }
        let mut groups = std::collections::BTreeMap::<usize, Vec<usize>>::new();
        for bot in all {
            groups
                .entry(self.ratings.bots[bot].group)
                .or_default()
                .push(bot);
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        groups.sort_by_key(|bots| std::cmp::Reverse(bots.len()));
        groups.into_iter().map(|bots| self.table(bots)).collect()
    }

    fn table(&self, mut bots: Vec<usize>) -> Table {
        // Points can be compared when all have played equally many games; otherwise only ratings can.
        let is_equal = bots
            .windows(2)
            .all(|two| self.games[two[0]] == self.games[two[1]]);
        let by_rating = self.ranking.by == RankBy::Results && !is_equal;
        let merit = |&bot: &usize| -> f64 {
            match &self.ranking.by {
                RankBy::Reached(reached) => reached
                    .get(self.names[bot])
                    .map_or(f64::NEG_INFINITY, |reached| -to_f64(reached.place as u64)),
                _ if by_rating => self.levels[bot],
                _ => self.points[bot],
            }
        };
        sort_by_merit(&mut bots, merit);
        for tied in bots.chunk_by_mut(|a, b| merit(a).total_cmp(&merit(b)).is_eq()) {
            self.break_ties(tied, self.ranking.tie_breaks());
        }
        Table {
            order: bots,
            by_rating,
        }
    }

    /// Orders bots that are tied.
    fn break_ties(&self, tied: &mut [usize], criteria: &[TieBreak]) {
        if tied.len() < 2 {
            return;
        }
        let Some((first, rest)) = criteria.split_first() else {
            tied.sort_by(|&a, &b| self.last_resort(a, b));
            return;
        };
        let count = tied.len();
        let merits = self.merits(*first, tied);
        let merit = |bot: &usize| merits.get(bot).copied().unwrap_or(0.0);
        sort_by_merit(tied, merit);
        for still in tied.chunk_by_mut(|a, b| merit(a).total_cmp(&merit(b)).is_eq()) {
            // Among fewer bots, direct encounters can decide anew.
            let again = *first == TieBreak::Direct && still.len() < count;
            self.break_ties(still, if again { criteria } else { rest });
        }
    }

    fn last_resort(&self, a: usize, b: usize) -> Ordering {
        let by_seed = match &self.ranking.by {
            RankBy::Reached(reached) => {
                let seed = |bot: usize| reached.get(self.names[bot]).map(|reached| reached.seed);
                seed(a).cmp(&seed(b))
            }
            _ => Ordering::Equal,
        };
        by_seed
            .then_with(|| self.levels[b].total_cmp(&self.levels[a]))
            .then_with(|| self.names[a].cmp(self.names[b]))
    }

    fn merits(&self, by: TieBreak, tied: &[usize]) -> std::collections::HashMap<usize, f64> {
        let merit = |bot: usize| match by {
            TieBreak::Direct => self.direct(bot, tied),
            TieBreak::Buchholz => self.buchholz[bot][0],
            TieBreak::BuchholzCut1 => self.buchholz[bot][1],
            TieBreak::SonnebornBerger => self.sonneborn_berger[bot],
            TieBreak::Wins => to_f64(self.sums.wins[bot]),
            TieBreak::WinsAsSecond => to_f64(self.sums.wins_as_second[bot]),
            TieBreak::Rating => self.levels[bot],
        };
        let is_idle = by == TieBreak::Direct && !self.all_met(tied);
        let merits = tied
            .iter()
            .map(|&bot| (bot, if is_idle { 0.0 } else { merit(bot) }));
        merits.collect()
    }

    /// The points per game played.
    pub(super) fn score(&self, bot: usize) -> f64 {
        (self.points[bot] - self.byes[bot].points) / to_f64(self.games[bot]).max(1.0)
    }

    /// For each bot, its points against the others of its table with equal points, if all of them have met.
    pub(super) fn encounters(&self, tables: &[Table]) -> Vec<f64> {
        let mut encounters = vec![0.0; self.names.len()];
        for table in tables {
            let mut bots = table.order.clone();
            let points = |&bot: &usize| self.points[bot];
            sort_by_merit(&mut bots, points);
            for tied in bots.chunk_by(|a, b| points(a).total_cmp(&points(b)).is_eq()) {
                if self.all_met(tied) {
                    for &bot in tied {
                        encounters[bot] = self.direct(bot, tied);
                    }
                }
            }
        }
        encounters
    }

    /// Whether all of these bots have met each other.
    fn all_met(&self, bots: &[usize]) -> bool {
        bots.iter().enumerate().all(|(place, &bot)| {
            let others = &bots[place + 1..];
            others
                .iter()
                .all(|&other| self.sums.meeting(bot, other).is_some())
        })
    }

    /// The points of a bot against these others.
    fn direct(&self, bot: usize, others: &[usize]) -> f64 {
        let met = others
            .iter()
            .filter_map(|&other| self.sums.meeting(bot, other));
        total(met.map(Meeting::points))
    }
}

fn sort_by_merit(bots: &mut [usize], merit: impl Fn(&usize) -> f64) {
    bots.sort_by(|a, b| merit(b).total_cmp(&merit(a)));
}
