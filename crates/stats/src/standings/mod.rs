//! Standings: points, tie-breaks, ratings, times, forfeits. Games are added one by one and not kept, so memory
//! depends only on the number of bots.

mod ranking;
mod scores;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use foldhash::HashMap;

use self::ranking::{Criteria, Table};
use self::scores::Sums;
use super::ratings::{Model, Outcome, RatingError, rate};
use super::schedule::GameId;
use super::sprt::Estimate;

pub use self::ranking::{Byes, NotEntered, Order, RankBy, Ranking, Reached, TieBreak};
pub use self::scores::Scores;

/// With fewer pairs of games a likelihood of superiority would be far from the truth more often than not.
const PAIRS_FOR_SUPERIORITY: f64 = 5.0;

const GAMES_FOR_ADVANTAGE: u64 = 5;

/// A finished game between two bots, 0 and 1.
#[derive(Clone, Debug)]
pub struct Game<'a> {
    /// Games of one pair have ids that [`GameId`] reads.
    pub id: &'a str,
    pub names: [&'a str; 2],
    /// The bot that moved first.
    pub first: usize,
    /// `None` for a draw.
    pub winner: Option<usize>,
    /// The bot that forfeited, and the reason in a word.
    pub forfeit: Option<(usize, &'a str)>,
    /// Times of the first mover, and of the other.
    pub times: [GameTimes; 2],
    /// The turns of bots 0 and 1, if the game was analysed.
    pub tallies: Option<[TurnTally; 2]>,
    /// In how many turns bots 0 and 1 said that they were sure to win.
    pub sure: [u64; 2],
}

/// Counts of a bot's turns by their analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnTally {
    /// In analysed games.
    pub turns: u64,
    pub proven: u64,
    pub kept: u64,
    pub win_to_draw: u64,
    pub win_to_loss: u64,
    pub draw_to_loss: u64,
    pub missed_wins: u64,
    pub lost_at_once: u64,
}

impl TurnTally {
    pub const fn blunders(&self) -> u64 {
        self.win_to_draw + self.win_to_loss + self.draw_to_loss
    }

    /// The share of proven turns that kept the value, 0 to 1; `None` without any.
    pub fn accuracy(&self) -> Option<f64> {
        (self.proven > 0).then(|| to_f64(self.kept) / to_f64(self.proven))
    }
}

impl AddAssign for TurnTally {
    fn add_assign(&mut self, other: Self) {
        self.turns += other.turns;
        self.proven += other.proven;
        self.kept += other.kept;
        self.win_to_draw += other.win_to_draw;
        self.win_to_loss += other.win_to_loss;
        self.draw_to_loss += other.draw_to_loss;
        self.missed_wins += other.missed_wins;
        self.lost_at_once += other.lost_at_once;
    }
}

/// Collects the results of games; README has an example.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    bots: Vec<OfBot>,
    index: HashMap<String, usize>,
    scores: Scores,
    analysed: bool,
    games: u64,
}

#[derive(Clone, Debug, Default)]
struct OfBot {
    name: String,
    forfeits: BTreeMap<String, u64>,
    times: Times,
    analysis: TurnTally,
    /// Turns in which it was sure to win, and those of games that it won.
    sure: [u64; 2],
}

#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// In its table, from 1.
    pub rank: usize,
    /// Whether others have the same rank: bots that are equal in every criterion, or share a place of a knockout.
    pub shared: bool,
    /// From 0.
    pub table: usize,
    pub name: String,
    pub games: u64,
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    pub points: f64,
    pub score: f64,
    /// Rounds in which it did not have to play, and the points for them.
    pub byes: Byes,
    pub before: Option<usize>,
    pub reached: Option<String>,
    /// Above or below the mean of the bots that games connect with it.
    pub elo: f64,
    /// The ends of the 95 % interval of `elo`; infinite where the games set no bound.
    pub elo_interval: [f64; 2],
    /// Likelihood of superiority over the next place, 0 to 1; `None` when no games connect the two, or one of them
    /// has played fewer than five pairs.
    pub los: Option<f64>,
    /// Direct encounter: the points against the bots with which it is tied, if all of them have met.
    pub direct: f64,
    pub buchholz: f64,
    pub buchholz_cut_1: f64,
    pub sonneborn_berger: f64,
    pub wins_as_second: u64,
    pub forfeits: BTreeMap<String, u64>,
    /// In milliseconds, to 1 %.
    pub median_ms: Option<f64>,
    pub p95_ms: Option<f64>,
    pub worst_ms: Option<f64>,
    /// `None` when no game of the standings was analysed.
    pub analysis: Option<TurnTally>,
    /// Turns in which it said that it was sure to win.
    pub sure: u64,
    /// The share of these turns in games that it won; `None` without any.
    pub sure_won: Option<f64>,
    /// The points against each bot, in the order of the standings; `None` where they did not meet.
    pub against: Vec<Option<f64>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Standings {
    /// Table by table, the largest first, and in each by its criteria.
    pub places: Vec<Place>,
    pub games: u64,
    /// In Elo.
    pub advantage: Option<Estimate>,
    pub ranking: Ranking,
    /// The order of the first table.
    pub order: Order,
    /// More than one when no games connect some bots with others.
    pub tables: usize,
    /// The number of groups of bots within which ratings can be compared.
    pub connected: usize,
}

impl Standings {
    /// They have no place.
    pub fn not_entered(&self) -> impl Iterator<Item = &NotEntered> {
        let has_place = |name: &str| self.places.iter().any(|place| place.name == name);
        let named = self.ranking.not_entered.iter();
        named.filter(move |absent| !has_place(&absent.name))
    }
}

impl Collector {
    pub fn new() -> Self {
        Self::default()
    }

    /// Bots count from 0, in the order of their first games.
    pub fn number(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    pub const fn games(&self) -> u64 {
        self.games
    }

    pub const fn scores(&self) -> &Scores {
        &self.scores
    }

    /// By bot: times, in milliseconds to 1 %, and how many answers took them.
    pub fn times(&self) -> impl Iterator<Item = impl Iterator<Item = (f64, u32)>> {
        self.bots.iter().map(|bot| bot.times.all())
    }

    fn bot(&mut self, name: &str) -> usize {
        if let Some(&index) = self.index.get(name) {
            return index;
        }
        let index = self.bots.len();
        self.bots.push(OfBot {
            name: name.to_owned(),
            ..OfBot::default()
        });
        self.index.insert(name.to_owned(), index);
        index
    }

    pub fn add(&mut self, game: &Game<'_>) {
        let bots = game.names.map(|name| self.bot(name));
        let sides = [bots[game.first], bots[1 - game.first]];
        let outcome = match game.winner {
            None => Outcome::Draw,
            Some(winner) if winner == game.first => Outcome::FirstWins,
            Some(_) => Outcome::SecondWins,
        };
        let pair = game.id.parse::<GameId>().ok().map(|id| id.pair);
        self.scores.add(pair, sides, outcome);
        if let Some((by, reason)) = game.forfeit {
            let forfeits = &mut self.bots[bots[by]].forfeits;
            *forfeits.entry(reason.to_owned()).or_default() += 1;
        }
        for (bot, times) in sides.into_iter().zip(&game.times) {
            self.bots[bot].times.add(times);
        }
        for (number, turns) in game.sure.into_iter().enumerate() {
            let [all, won] = &mut self.bots[bots[number]].sure;
            *all += turns;
            *won += turns * u64::from(game.winner == Some(number));
        }
        self.games += 1;
        self.add_analysis(game.names, game.tallies);
    }

    /// Adds the analysis of a game, if there is one, but not the game itself.
    pub fn add_analysis(&mut self, names: [&str; 2], tallies: Option<[TurnTally; 2]>) {
        for (name, tally) in names.into_iter().zip(tallies.into_iter().flatten()) {
            self.analysed = true;
            let bot = self.bot(name);
            self.bots[bot].analysis += tally;
        }
    }

    /// By the [default](Ranking::default) rules. The error is why the games determine no ratings.
    pub fn standings(&self, model: &Model) -> Result<Standings, RatingError> {
        self.ranked(model, &Ranking::default())
    }

    pub fn ranked(&self, model: &Model, ranking: &Ranking) -> Result<Standings, RatingError> {
        let unknown = |name: &&String| !self.index.contains_key(*name);
        if ranking.byes.keys().any(|name| unknown(&name)) {
            let mut with_all = self.clone();
            for name in ranking.byes.keys() {
                with_all.bot(name);
            }
            return with_all.ranked(model, ranking);
        }
        let bots = self.bots.len();
        // Sorted by name, so that the figures do not depend on the order of the records.
        let mut by_name: Vec<usize> = (0..bots).collect();
        by_name.sort_by_key(|&bot| &self.bots[bot].name);
        let order_of = inverse(&by_name);
        let names: Vec<&String> = by_name.iter().map(|&bot| &self.bots[bot].name).collect();
        let sums = Sums::of(&self.scores, &order_of)?;
        let ratings = rate(&sums.results, model)?;
        let criteria = Criteria::new(&names, &sums, &ratings, ranking);
        let tables = criteria.tables();
        let encounters = criteria.encounters(&tables);
        let order: Vec<usize> = tables
            .iter()
            .flat_map(|table| table.ranked.iter().map(|&(bot, _)| bot))
            .collect();
        let column_of = inverse(&order);
        let mut places = Vec::with_capacity(bots);
        for (number, Table { ranked: table, .. }) in tables.iter().enumerate() {
            for (place, &(i, rank)) in table.iter().enumerate() {
                let mut against = vec![None; bots];
                for (other, met) in sums.met(i) {
                    against[column_of[other]] = Some(met.points());
                }
                let next = table.get(place + 1).filter(|&&(next, _)| {
                    let pairs = sums.pairs[i].min(sums.pairs[next]);
                    pairs >= PAIRS_FOR_SUPERIORITY
                });
                let reached = match &ranking.by {
                    RankBy::Reached(reached) => reached.get(names[i]),
                    _ => None,
                };
                let of = &self.bots[by_name[i]];
                places.push(Place {
                    rank: reached.map_or(rank, |reached| reached.place),
                    shared: false,
                    table: number,
                    name: names[i].clone(),
                    games: criteria.games[i],
                    wins: sums.wins[i],
                    draws: sums.draws[i],
                    losses: sums.losses[i],
                    points: criteria.points[i],
                    score: criteria.score(i),
                    byes: criteria.byes[i],
                    before: ranking.before.get(names[i]).copied(),
                    reached: reached.map(|reached| reached.title.clone()),
                    elo: ratings.bots[i].elo,
                    elo_interval: ratings.bots[i].interval,
                    los: next.and_then(|&(next, _)| ratings.superiority(i, next)),
                    direct: encounters[i],
                    buchholz: criteria.buchholz[i][0],
                    buchholz_cut_1: criteria.buchholz[i][1],
                    sonneborn_berger: criteria.sonneborn_berger[i],
                    wins_as_second: sums.wins_as_second[i],
                    forfeits: of.forfeits.clone(),
                    median_ms: of.times.percentile(50),
                    p95_ms: of.times.percentile(95),
                    worst_ms: (of.times.count > 0).then_some(of.times.worst),
                    analysis: self.analysed.then_some(of.analysis),
                    sure: of.sure[0],
                    sure_won: (of.sure[0] > 0).then(|| to_f64(of.sure[1]) / to_f64(of.sure[0])),
                    against,
                });
            }
        }
        for equal in places.chunk_by_mut(|a, b| (a.table, a.rank) == (b.table, b.rank)) {
            let shared = equal.len() > 1;
            for place in equal {
                place.shared = shared;
            }
        }
        let groups: BTreeSet<usize> = ratings.bots.iter().map(|bot| bot.group).collect();
        Ok(Standings {
            places,
            games: self.games,
            advantage: ratings
                .advantage
                .filter(|_| self.games >= GAMES_FOR_ADVANTAGE),
            order: tables.first().map(|table| table.order).unwrap_or_default(),
            ranking: ranking.clone(),
            tables: tables.len(),
            connected: groups.len(),
        })
    }
}

/// The place of each number in this order.
fn inverse(order: &[usize]) -> Vec<usize> {
    let mut places = vec![0; order.len()];
    for (place, &number) in order.iter().enumerate() {
        places[number] = place;
    }
    places
}

#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵² games")]
fn to_f64(count: u64) -> f64 {
    count as f64
}

/// Bins of 1 %, so that the median needs no list of all times.
#[derive(Clone, Debug, Default)]
struct Times {
    bins: HashMap<i32, u32>,
    count: u64,
    worst: f64,
}

const BINS: f64 = 100.0;

#[derive(Clone, Debug, Default)]
pub struct GameTimes {
    bins: Vec<i32>,
    worst: f64,
}

impl GameTimes {
    pub fn with_capacity(turns: usize) -> Self {
        Self {
            bins: Vec::with_capacity(turns),
            worst: 0.0,
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "logarithms of times are small"
    )]
    pub fn add(&mut self, ms: f64) {
        let bin = (ms.max(1e-6).ln() * BINS).round() as i32;
        self.bins.push(bin);
        self.worst = self.worst.max(ms);
    }
}

impl Times {
    fn add(&mut self, game: &GameTimes) {
        for &bin in &game.bins {
            *self.bins.entry(bin).or_default() += 1;
        }
        self.count += game.bins.len() as u64;
        self.worst = self.worst.max(game.worst);
    }

    /// The time that so many of a hundred did not exceed.
    fn percentile(&self, percent: u64) -> Option<f64> {
        let mut before = 0;
        let mut bins = self.all();
        let found = bins.find(|&(_, count)| {
            before += u64::from(count);
            100 * before >= percent * self.count
        });
        found.map(|(ms, _)| ms.min(self.worst))
    }

    fn all(&self) -> impl Iterator<Item = (f64, u32)> + '_ {
        let mut bins: Vec<_> = self.bins.iter().collect();
        bins.sort_unstable();
        let bins = bins.into_iter();
        bins.map(|(&bin, &count)| ((f64::from(bin) / BINS).exp(), count))
    }
}
