//! Standings: points, tie-breaks, ratings, times, forfeits. Games are added one by one and not kept, so memory
//! depends only on the number of bots.

mod absence;
mod crosstable;
mod ranking;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use foldhash::HashMap;

use self::crosstable::{Sums, total};
use self::ranking::{Criteria, Forfeited, RankedTable, add_opponents};
use super::ratings::{Model, RatedOutcome, Rating, RatingError, rate};
use super::schedule::GameId;
use super::sprt::Estimate;

pub use self::absence::Absence;
pub use self::crosstable::Crosstable;
pub use self::ranking::{
    Byes, NotEntered, Order, RankBy, Ranking, Reached, TieBreak, UnknownTieBreak, UnplayedRound,
};

/// With fewer games a likelihood of superiority would be far from the truth more often than not.
const GAMES_FOR_SUPERIORITY: u64 = 10;

const GAMES_FOR_ADVANTAGE: u64 = 5;

/// A finished game between two bots, 0 and 1.
#[derive(Clone, Debug)]
pub struct ScoredGame<'a> {
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
    /// Whether bots 0 and 1 played by other files than those with which they entered.
    pub changed: [bool; 2],
    /// Whether the game's program was not the one with which the tournament began.
    pub is_game_changed: bool,
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
    bots: Vec<CollectedBot>,
    index: HashMap<String, usize>,
    scores: Crosstable,
    analysed: bool,
    games: u64,
    game_changed: Option<ChangedFiles>,
}

#[derive(Clone, Debug, Default)]
struct CollectedBot {
    name: String,
    forfeits: BTreeMap<String, u64>,
    times: TimeBins,
    analysis: TurnTally,
    /// Turns in which it was sure to win, and those of games that it won.
    sure: [u64; 2],
    changed: Option<ChangedFiles>,
}

/// The games that a bot played by other files than those with which it entered, or those of another program of the game
/// than the one with which the tournament began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFiles {
    /// The id of the first one.
    pub since: String,
    pub games: u64,
}

impl ChangedFiles {
    fn add(&mut self, id: &str) {
        self.games += 1;
        let number = |id: &str| id.parse::<GameId>().ok();
        // Games are added in the order in which they ended.
        if number(id) < number(&self.since) {
            id.clone_into(&mut self.since);
        }
    }
}

impl CollectedBot {
    /// What does not depend on its opponents.
    fn place(
        &self,
        games: &crosstable::BotScores,
        rating: &Rating,
        analysed: bool,
        ranking: &Ranking,
    ) -> Place {
        let byes = ranking.byes.get(&self.name).copied().unwrap_or_default();
        let points = total(games.met().map(|(_, met)| met.points()));
        let [sure, sure_won] = self.sure;
        Place {
            name: self.name.clone(),
            games: games.games(),
            wins: games.wins,
            draws: games.draws,
            losses: games.losses,
            points: points + byes.points,
            score: points / to_f64(games.games()).max(1.0),
            byes,
            before: ranking.before.get(&self.name).copied(),
            elo: rating.elo,
            elo_interval: rating.interval,
            wins_as_second: games.wins_as_second,
            forfeits: self.forfeits.clone(),
            median_ms: self.times.percentile(50),
            p95_ms: self.times.percentile(95),
            worst_ms: (self.times.count > 0).then_some(self.times.worst),
            analysis: analysed.then_some(self.analysis),
            sure,
            sure_won: (sure > 0).then(|| to_f64(sure_won) / to_f64(sure)),
            changed: self.changed.clone(),
            ..Place::default()
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
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
    /// Rounds without an opponent, and the points for them.
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
    /// `None`: it played all games by the same files.
    pub changed: Option<ChangedFiles>,
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
    /// `None`: all games were by one program of the game, or it is a built-in one.
    pub game_changed: Option<ChangedFiles>,
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

    pub const fn scores(&self) -> &Crosstable {
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
        self.bots.push(CollectedBot {
            name: name.to_owned(),
            ..CollectedBot::default()
        });
        self.index.insert(name.to_owned(), index);
        index
    }

    pub fn add(&mut self, game: &ScoredGame<'_>) {
        let bots = game.names.map(|name| self.bot(name));
        let sides = [bots[game.first], bots[1 - game.first]];
        let outcome = match game.winner {
            None => RatedOutcome::Draw,
            Some(winner) if winner == game.first => RatedOutcome::FirstWins,
            Some(_) => RatedOutcome::SecondWins,
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
        let none = || ChangedFiles {
            since: game.id.to_owned(),
            games: 0,
        };
        for (bot, _) in bots
            .into_iter()
            .zip(game.changed)
            .filter(|(_, changed)| *changed)
        {
            let changed = &mut self.bots[bot].changed;
            changed.get_or_insert_with(none).add(game.id);
        }
        if game.is_game_changed {
            self.game_changed.get_or_insert_with(none).add(game.id);
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

    /// The error is why the games determine no ratings.
    pub fn standings(&self, ranking: &Ranking) -> Result<Standings, RatingError> {
        let mut with_byes = ranking.byes.keys();
        if with_byes.any(|name| !self.index.contains_key(name)) {
            let mut with_all = self.clone();
            for name in ranking.byes.keys() {
                with_all.bot(name);
            }
            return with_all.standings(ranking);
        }
        let by_name = self.by_name();
        let sums = Sums::of(&self.scores, &inverse(&by_name))?;
        let ratings = rate(&sums.results, &Model::default())?;
        let numbered = by_name.iter().zip(&sums.bots).zip(&ratings.bots);
        let made = numbered
            .map(|((&bot, of), rating)| self.bots[bot].place(of, rating, self.analysed, ranking));
        let mut made: Vec<Place> = made.collect();
        let forfeited = Forfeited::of(&made, ranking);
        add_opponents(&mut made, &sums, ranking, &forfeited);
        let criteria = Criteria {
            places: &made,
            sums: &sums,
            ratings: &ratings,
            levels: ratings.levels(),
            ranking,
            forfeited: &forfeited,
        };
        let tables = criteria.tables();
        let mut places = places_of(&tables, &criteria);
        mark_shared_ranks(&mut places);
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
            game_changed: self.game_changed.clone(),
        })
    }

    /// The bots in the order of their names: the figures then do not depend on the order of the records.
    fn by_name(&self) -> Vec<usize> {
        let mut by_name: Vec<usize> = (0..self.bots.len()).collect();
        by_name.sort_by_key(|&bot| &self.bots[bot].name);
        by_name
    }
}

/// The places of all tables in their order, with what depends on the other bots of the table.
fn places_of(tables: &[RankedTable], criteria: &Criteria<'_>) -> Vec<Place> {
    let bots = criteria.places.len();
    let encounters = criteria.encounters(tables);
    let ranked = tables.iter().flat_map(|table| &table.ranked);
    let order: Vec<usize> = ranked.map(|&(bot, _)| bot).collect();
    let column_of = inverse(&order);
    let mut places = Vec::with_capacity(bots);
    for (number, table) in tables.iter().enumerate() {
        for (place, &(bot, rank)) in table.ranked.iter().enumerate() {
            let made = &criteria.places[bot];
            let mut against = vec![None; bots];
            for (other, met) in criteria.sums.bots[bot].met() {
                against[column_of[other]] = Some(met.points());
            }
            let next = table.ranked.get(place + 1).filter(|&&(next, _)| {
                made.games.min(criteria.places[next].games) >= GAMES_FOR_SUPERIORITY
            });
            let reached = criteria.ranking.reached(&made.name);
            places.push(Place {
                rank: reached.map_or(rank, |reached| reached.place),
                table: number,
                reached: reached.map(|reached| reached.title.clone()),
                los: next.and_then(|&(next, _)| criteria.ratings.superiority(bot, next)),
                direct: encounters[&bot],
                against,
                ..made.clone()
            });
        }
    }
    places
}

/// Of places in the order of their tables and ranks.
fn mark_shared_ranks(places: &mut [Place]) {
    for equal in places.chunk_by_mut(|a, b| (a.table, a.rank) == (b.table, b.rank)) {
        let shared = equal.len() > 1;
        for place in equal {
            place.shared = shared;
        }
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
struct TimeBins {
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

    #[expect(clippy::cast_possible_truncation, reason = "logarithms are small")]
    pub fn add(&mut self, ms: f64) {
        let bin = (ms.max(1e-6).ln() * BINS).round() as i32;
        self.bins.push(bin);
        self.worst = self.worst.max(ms);
    }
}

impl TimeBins {
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
