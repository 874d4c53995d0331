//! By which rules a table is ordered.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::crosstable::{Sums, total};
use super::{Absence, Place, to_f64};
use crate::ratings::Ratings;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TieBreak {
    /// The points against the others that are tied, where all of them have met each other; repeated among those still
    /// tied.
    Direct,
    #[serde(rename = "buchholz-cut-1")]
    BuchholzCut1,
    Buchholz,
    SonnebornBerger,
    Wins,
    WinsAsSecond,
    Rating,
}

impl TieBreak {
    pub const ALL: [Self; 7] = [
        Self::Direct,
        Self::BuchholzCut1,
        Self::Buchholz,
        Self::SonnebornBerger,
        Self::Wins,
        Self::WinsAsSecond,
        Self::Rating,
    ];

    /// In options and files, and in sentences.
    const fn names(self) -> [&'static str; 2] {
        match self {
            Self::Direct => ["direct", "direct encounter where all tied bots have met"],
            Self::BuchholzCut1 => ["buchholz-cut-1", "Buchholz cut 1"],
            Self::Buchholz => ["buchholz", "Buchholz"],
            Self::SonnebornBerger => ["sonneborn-berger", "Sonneborn-Berger"],
            Self::Wins => ["wins", "wins"],
            Self::WinsAsSecond => ["wins-as-second", "wins as the second to move"],
            Self::Rating => ["rating", "rating"],
        }
    }

    pub const fn name(self) -> &'static str {
        self.names()[0]
    }

    pub const fn in_words(self) -> &'static str {
        self.names()[1]
    }
}

/// The name of no tie-break.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a tie-break; expected {expected}", expected = TieBreak::ALL.map(TieBreak::name).join(", "))]
pub struct UnknownTieBreak(pub String);

impl FromStr for TieBreak {
    type Err = UnknownTieBreak;

    fn from_str(text: &str) -> Result<Self, UnknownTieBreak> {
        let found = Self::ALL.into_iter().find(|known| known.name() == text);
        found.ok_or_else(|| UnknownTieBreak(text.to_owned()))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Byes {
    pub count: u32,
    pub points: f64,
    /// Whether the bot was benched in any: what the tie-break regulations call a voluntary unplayed round.
    pub voluntary: bool,
}

/// A round in which a bot was paired but none of the games was played, because one of the two was benched.
#[derive(Clone, Debug, PartialEq)]
pub struct UnplayedRound {
    pub opponent: String,
    /// Those that the bot was given.
    pub points: f64,
    /// Whether the bot itself was benched: what the tie-break regulations call a voluntary unplayed round.
    pub voluntary: bool,
}

/// What a bot reached in a tournament that eliminates bots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// From 1. Bots that were eliminated in the same round share it.
    pub place: usize,
    /// The order among those that share a place: the seed, from 0.
    pub seed: usize,
    /// `champion`, `semi-finalist`.
    pub title: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RankBy {
    /// Points if all bots have played equally many games, otherwise ratings. Bots that no games connect are in tables
    /// of their own.
    #[default]
    Results,
    /// The same with points per game instead of ratings: for a schedule in which everybody meets everybody.
    Score,
    /// Points, however many games were played: for a schedule that made the games equal, such as a Swiss tournament.
    Points,
    /// What the bots with these names reached. Others follow them.
    Reached(BTreeMap<String, Reached>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    #[default]
    Points,
    /// Points per game.
    Score,
    Rating,
    /// In the bracket.
    Place,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotEntered {
    pub name: String,
    /// `None` where the reason is not told.
    pub absence: Option<Absence>,
}

impl NotEntered {
    /// In parts, each a line; empty where it is not told.
    pub fn reason(&self) -> String {
        self.absence
            .as_ref()
            .map_or_else(String::new, Absence::to_string)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    pub by: RankBy,
    /// The [default](Ranking::tie_breaks) when there are none. Bots that are still tied are ordered by rating; those
    /// with equal ratings share a rank.
    pub tie_breaks: Vec<TieBreak>,
    /// By the bot's name; their points count.
    pub byes: BTreeMap<String, Byes>,
    /// By the bot's name, where the pairings followed from results; their games count for points alone. In a schedule
    /// that is fixed before, forfeits are games like others.
    pub unplayed: BTreeMap<String, Vec<UnplayedRound>>,
    /// The games of two bots that meet in a round. Without it, bots count as having met once: for Buchholz scores.
    pub games_a_meeting: Option<u32>,
    /// How many games of two bots were added to a match of theirs: they are part of that meeting.
    pub games_added: BTreeMap<[String; 2], u32>,
    /// The places of the last time, from 1, by name; in a league.
    pub before: BTreeMap<String, usize>,
    /// A bot that has played after all is not listed.
    pub not_entered: Vec<NotEntered>,
}

impl Ranking {
    /// For others than the authors: why bots did not enter holds their words, and commands.
    #[must_use]
    pub fn without_reasons(mut self) -> Self {
        for absent in &mut self.not_entered {
            absent.absence = None;
        }
        self
    }

    #[must_use]
    pub fn renamed(self, rename: impl Fn(String) -> String) -> Self {
        fn each<T>(
            named: BTreeMap<String, T>,
            rename: impl Fn(String) -> String,
        ) -> BTreeMap<String, T> {
            let renamed = named.into_iter().map(|(name, of)| (rename(name), of));
            renamed.collect()
        }
        Self {
            by: match self.by {
                RankBy::Reached(reached) => RankBy::Reached(each(reached, &rename)),
                by => by,
            },
            byes: each(self.byes, &rename),
            unplayed: {
                let mut unplayed = each(self.unplayed, &rename);
                for round in unplayed.values_mut().flatten() {
                    round.opponent = rename(std::mem::take(&mut round.opponent));
                }
                unplayed
            },
            games_added: {
                let renamed = self.games_added.into_iter();
                renamed
                    .map(|(two, games)| (two.map(&rename), games))
                    .collect()
            },
            before: each(self.before, &rename),
            ..self
        }
    }

    pub(super) fn reached(&self, name: &str) -> Option<&Reached> {
        match &self.by {
            RankBy::Reached(reached) => reached.get(name),
            _ => None,
        }
    }

    /// Those chosen or, by default, direct encounter and Sonneborn–Berger, with Buchholz cut 1 between them where
    /// opponents differ from bot to bot.
    pub fn tie_breaks(&self) -> &[TieBreak] {
        match (&self.tie_breaks[..], &self.by) {
            ([], RankBy::Points) => &[
                TieBreak::Direct,
                TieBreak::BuchholzCut1,
                TieBreak::SonnebornBerger,
            ],
            ([], RankBy::Results | RankBy::Score) => &[TieBreak::Direct, TieBreak::SonnebornBerger],
            ([], RankBy::Reached(_)) => &[],
            (chosen, _) => chosen,
        }
    }
}

pub(super) struct Criteria<'a> {
    /// By bot, as far as they do not depend on the order.
    pub(super) places: &'a [Place],
    pub(super) sums: &'a Sums,
    pub(super) ratings: &'a Ratings,
    pub(super) levels: Vec<f64>,
    pub(super) ranking: &'a Ranking,
    pub(super) forfeited: &'a [Forfeited],
}

pub(super) struct RankedTable {
    /// Bots with their ranks, from 1.
    pub(super) ranked: Vec<(usize, usize)>,
    pub(super) order: Order,
}

/// A bot's [unplayed rounds](UnplayedRound).
#[derive(Clone, Debug, Default)]
pub(super) struct Forfeited {
    /// Rounds and points, by the number of the opponent.
    against: BTreeMap<usize, (u32, f64)>,
    /// Whether any was voluntary.
    voluntary: bool,
}

impl Forfeited {
    /// In the order of the places.
    pub(super) fn of(places: &[Place], ranking: &Ranking) -> Vec<Self> {
        if ranking.unplayed.is_empty() {
            return vec![Self::default(); places.len()];
        }
        let numbers: HashMap<&str, usize> = places
            .iter()
            .enumerate()
            .map(|(number, place)| (place.name.as_str(), number))
            .collect();
        let of = |place: &Place| {
            let mut forfeited = Self::default();
            for round in ranking.unplayed.get(&place.name).into_iter().flatten() {
                if let Some(&opponent) = numbers.get(round.opponent.as_str()) {
                    let (rounds, points) = forfeited.against.entry(opponent).or_default();
                    *rounds += 1;
                    *points += round.points;
                    forfeited.voluntary |= round.voluntary;
                }
            }
            forfeited
        };
        places.iter().map(of).collect()
    }

    fn against(&self, opponent: usize) -> (u32, f64) {
        self.against.get(&opponent).copied().unwrap_or_default()
    }
}

/// By the numbers of the two bots, the lower one first.
fn games_added(places: &[Place], ranking: &Ranking) -> HashMap<[usize; 2], u32> {
    let mut added = HashMap::new();
    let number = |name: &String| places.iter().position(|place| place.name == *name);
    for (names, games) in &ranking.games_added {
        if let [Some(a), Some(b)] = names.each_ref().map(number) {
            *added.entry([a.min(b), a.max(b)]).or_default() += games;
        }
    }
    added
}

/// Adds what the points of the opponents are worth, by articles 8.1, 9.1, 14.1 and 16 of the FIDE handbook's C.07, in
/// force from August 2024: a bye, and a round that was forfeited without being played, count as a meeting with a dummy
/// that has the bot's own points.
pub(super) fn add_opponents(
    places: &mut [Place],
    sums: &Sums,
    ranking: &Ranking,
    forfeited: &[Forfeited],
) {
    let points: Vec<f64> = places.iter().map(|place| place.points).collect();
    let a_meeting = ranking.games_a_meeting.unwrap_or(u32::MAX).max(1);
    let added = games_added(places, ranking);
    for (number, ((place, of), forfeited)) in
        places.iter_mut().zip(&sums.bots).zip(forfeited).enumerate()
    {
        let mut dummies = place.byes.count;
        let mut points_of_dummies = place.byes.points;
        let mut lowest = f64::INFINITY;
        for (other, met) in of.met() {
            let (rounds, without_playing) = forfeited.against(other);
            dummies += rounds;
            points_of_dummies += without_playing;
            place.sonneborn_berger += (met.points() - without_playing) * points[other];
            let added = added.get(&[number.min(other), number.max(other)]);
            let games = met.games.saturating_sub(added.copied().unwrap_or(0));
            let times = games.div_ceil(a_meeting).saturating_sub(rounds);
            if times > 0 {
                place.buchholz += f64::from(times) * points[other];
                lowest = points[other].min(lowest);
            }
        }
        if dummies > 0 {
            place.sonneborn_berger += points_of_dummies * place.points;
            place.buchholz += f64::from(dummies) * place.points;
            lowest = place.points.min(lowest);
        }
        let cut = match lowest.is_finite() {
            // Article 16.5: it is cut before any lower one.
            true if forfeited.voluntary || place.byes.voluntary => place.points,
            true => lowest,
            false => 0.0,
        };
        place.buchholz_cut_1 = place.buchholz - cut;
    }
}

impl Criteria<'_> {
    pub(super) fn tables(&self) -> Vec<RankedTable> {
        let all = 0..self.places.len();
        if !matches!(self.ranking.by, RankBy::Results | RankBy::Score) {
            return vec![self.table(all.collect())];
        }
        let mut groups = BTreeMap::<usize, Vec<usize>>::new();
        for bot in all {
            let group = groups.entry(self.ratings.bots[bot].group);
            group.or_default().push(bot);
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        groups.sort_by_key(|bots| std::cmp::Reverse(bots.len()));
        groups.into_iter().map(|bots| self.table(bots)).collect()
    }

    fn table(&self, mut bots: Vec<usize>) -> RankedTable {
        // Points can be compared when all have played equally many games.
        let is_equal = |bots: &mut dyn Iterator<Item = usize>| {
            let mut games = bots.map(|bot| self.places[bot].games);
            let first = games.next();
            games.all(|games| Some(games) == first)
        };
        let order = match self.ranking.by {
            RankBy::Reached(_) => Order::Place,
            // Tables of one schedule have one order.
            RankBy::Score if !is_equal(&mut (0..self.places.len())) => Order::Score,
            RankBy::Results if !is_equal(&mut bots.iter().copied()) => Order::Rating,
            _ => Order::Points,
        };
        let merit = |&bot: &usize| match order {
            Order::Place => {
                let reached = self.reached(bot);
                reached.map_or(f64::NEG_INFINITY, |reached| -to_f64(reached.place as u64))
            }
            Order::Rating => self.levels[bot],
            Order::Score => self.places[bot].score,
            Order::Points => self.places[bot].points,
        };
        sort_by_merit(&mut bots, merit);
        let mut ranked = Vec::with_capacity(bots.len());
        for tied in bots.chunk_by_mut(|a, b| merit(a).total_cmp(&merit(b)).is_eq()) {
            self.break_ties(tied, self.ranking.tie_breaks(), &mut ranked);
        }
        RankedTable { ranked, order }
    }

    fn break_ties(
        &self,
        tied: &mut [usize],
        criteria: &[TieBreak],
        ranked: &mut Vec<(usize, usize)>,
    ) {
        let Some((first, rest)) = criteria.split_first() else {
            let compared = |a: usize, b: usize| self.last_resort(a, b);
            let name = |bot: usize| &self.places[bot].name;
            tied.sort_by(|&a, &b| compared(a, b).then_with(|| name(a).cmp(name(b))));
            for equal in tied.chunk_by(|&a, &b| compared(a, b).is_eq()) {
                let rank = ranked.len() + 1;
                ranked.extend(equal.iter().map(|&bot| (bot, rank)));
            }
            return;
        };
        let count = tied.len();
        let merits = self.merits(*first, tied);
        let merit = |bot: &usize| merits.get(bot).copied().unwrap_or(0.0);
        sort_by_merit(tied, merit);
        for still in tied.chunk_by_mut(|a, b| merit(a).total_cmp(&merit(b)).is_eq()) {
            // Among fewer bots, direct encounters can decide anew.
            let again = *first == TieBreak::Direct && still.len() < count;
            self.break_ties(still, if again { criteria } else { rest }, ranked);
        }
    }

    fn last_resort(&self, a: usize, b: usize) -> Ordering {
        let seed = |bot| self.reached(bot).map(|reached| reached.seed);
        let by_seed = seed(a).cmp(&seed(b));
        by_seed.then_with(|| self.levels[b].total_cmp(&self.levels[a]))
    }

    fn reached(&self, bot: usize) -> Option<&Reached> {
        self.ranking.reached(&self.places[bot].name)
    }

    fn merits(&self, by: TieBreak, tied: &[usize]) -> HashMap<usize, f64> {
        let merit = |bot: usize| match by {
            TieBreak::Direct => self.direct(bot, tied),
            TieBreak::Buchholz => self.places[bot].buchholz,
            TieBreak::BuchholzCut1 => self.places[bot].buchholz_cut_1,
            TieBreak::SonnebornBerger => self.places[bot].sonneborn_berger,
            TieBreak::Wins => to_f64(self.places[bot].wins),
            TieBreak::WinsAsSecond => to_f64(self.places[bot].wins_as_second),
            TieBreak::Rating => self.levels[bot],
        };
        let is_idle = by == TieBreak::Direct && !self.all_met(tied);
        let merits = tied
            .iter()
            .map(|&bot| (bot, if is_idle { 0.0 } else { merit(bot) }));
        merits.collect()
    }

    /// For each bot, its points against the others of its table with equal points, if all of them have met.
    pub(super) fn encounters(&self, tables: &[RankedTable]) -> HashMap<usize, f64> {
        let mut encounters = HashMap::new();
        for table in tables {
            let mut bots: Vec<usize> = table.ranked.iter().map(|&(bot, _)| bot).collect();
            let points = |&bot: &usize| self.places[bot].points;
            sort_by_merit(&mut bots, points);
            for tied in bots.chunk_by(|a, b| points(a).total_cmp(&points(b)).is_eq()) {
                encounters.extend(self.merits(TieBreak::Direct, tied));
            }
        }
        encounters
    }

    fn all_met(&self, bots: &[usize]) -> bool {
        bots.iter().enumerate().all(|(place, &bot)| {
            let mut others = bots[place + 1..].iter();
            others.all(|&other| self.encounter(bot, other).is_some())
        })
    }

    /// The points of `bot` in the games that the two played; `None` without any. Article 6.1.1: forfeits are excluded.
    fn encounter(&self, bot: usize, other: usize) -> Option<f64> {
        let met = self.sums.bots[bot].meeting(other)?;
        let (rounds, points) = self.forfeited[bot].against(other);
        let a_meeting = self.ranking.games_a_meeting.unwrap_or(u32::MAX).max(1);
        let is_played = rounds == 0 || met.games > rounds.saturating_mul(a_meeting);
        is_played.then(|| met.points() - points)
    }

    fn direct(&self, bot: usize, others: &[usize]) -> f64 {
        total(
            others
                .iter()
                .filter_map(|&other| self.encounter(bot, other)),
        )
    }
}

fn sort_by_merit(bots: &mut [usize], merit: impl Fn(&usize) -> f64) {
    bots.sort_by(|a, b| merit(b).total_cmp(&merit(a)));
}
