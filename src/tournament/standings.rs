//! Standings from records: points, tie-breaks, ratings, times, forfeits. Records are added one
//! by one and not kept, so memory depends on the number of bots only.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::ratings::{Model, RatingError, Results, Tally, rate};

/// The part of a record that standings need, borrowed from its line.
#[derive(Debug, Deserialize)]
pub struct GameLine<'a> {
    #[serde(borrow)]
    bots: [BotName<'a>; 2],
    first: usize,
    #[serde(default)]
    times_ms: Vec<f64>,
    #[serde(borrow)]
    result: GameResult<'a>,
    /// When the game started: RFC 3339.
    #[serde(borrow, default)]
    pub started: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
struct BotName<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
struct GameResult<'a> {
    winner: Option<usize>,
    #[serde(borrow)]
    reason: Cow<'a, str>,
    by: Option<usize>,
}

impl<'a> GameLine<'a> {
    /// Reads a line of a journal. The error is a sentence.
    pub fn parse(line: &'a [u8]) -> Result<Self, String> {
        let game: Self = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let indices = [Some(game.first), game.result.winner, game.result.by];
        if indices.into_iter().flatten().any(|index| index > 1) {
            return Err("`first`, `winner` and `by` are 0 or 1".to_owned());
        }
        if game.bots[0].name == game.bots[1].name {
            return Err("both bots have the same name".to_owned());
        }
        Ok(game)
    }

    /// Whether a bot of this name played.
    pub fn has(&self, name: &str) -> bool {
        self.bots.iter().any(|bot| bot.name == name)
    }
}

/// Times in bins of 1 %, so that a median needs no list of all times.
#[derive(Clone, Debug, Default)]
struct Times {
    bins: BTreeMap<i32, u64>,
    count: u64,
    worst: f64,
}

/// Bins a factor of e.
const BINS: f64 = 100.0;

impl Times {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "logarithms of times are small"
    )]
    fn add(&mut self, ms: f64) {
        let bin = (ms.max(1e-6).ln() * BINS).round() as i32;
        *self.bins.entry(bin).or_default() += 1;
        self.count += 1;
        self.worst = self.worst.max(ms);
    }

    fn median(&self) -> Option<f64> {
        let mut before = 0;
        for (&bin, &count) in &self.bins {
            before += count;
            if 2 * before >= self.count {
                return Some((f64::from(bin) / BINS).exp());
            }
        }
        None
    }
}

/// What two bots made of each other: games in which the first moved first.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    wins: u32,
    draws: u32,
    losses: u32,
}

/// Collects games.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    names: Vec<String>,
    index: HashMap<String, usize>,
    /// By (moved first, moved second).
    counts: HashMap<(usize, usize), Counts>,
    forfeits: Vec<BTreeMap<String, u64>>,
    times: Vec<Times>,
    games: u64,
}

/// One bot's place.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// What it is called.
    pub name: String,
    /// Games scored.
    pub games: u64,
    /// Won.
    pub wins: u64,
    /// Drawn.
    pub draws: u64,
    /// Lost.
    pub losses: u64,
    /// A draw is half a point.
    pub points: f64,
    /// Points a game, 0 to 1.
    pub score: f64,
    /// Elo above or below the mean.
    pub elo: f64,
    /// Half the width of the 95 % interval of `elo`.
    pub error: Option<f64>,
    /// Likelihood, 0 to 1, of being better than the next in the table.
    pub superiority: Option<f64>,
    /// Points against those with the same number of points.
    pub direct: f64,
    /// Sonneborn–Berger: the points of those it beat, and half the points of those it drew with,
    /// game by game.
    pub sonneborn_berger: f64,
    /// Games it forfeited, by reason.
    pub forfeits: BTreeMap<String, u64>,
    /// Median time of its answers, in milliseconds, to 1 %.
    pub median_ms: Option<f64>,
    /// Its slowest answer, in milliseconds.
    pub worst_ms: Option<f64>,
    /// Points against each bot, in the order of the table; `None` where they did not meet.
    pub against: Vec<Option<f64>>,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Standings {
    /// By points when all have played as much, otherwise by rating; then by direct encounter,
    /// Sonneborn–Berger, rating and name.
    pub places: Vec<Place>,
    /// Games scored.
    pub games: u64,
    /// What moving first is worth, in Elo.
    pub advantage: Option<f64>,
}

impl Collector {
    /// No games yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn bot(&mut self, name: &str) -> usize {
        if let Some(&index) = self.index.get(name) {
            return index;
        }
        let index = self.names.len();
        self.names.push(name.to_owned());
        self.index.insert(name.to_owned(), index);
        self.forfeits.push(BTreeMap::new());
        self.times.push(Times::default());
        index
    }

    /// Adds a game.
    pub fn add(&mut self, game: &GameLine<'_>) {
        let bots = [self.bot(&game.bots[0].name), self.bot(&game.bots[1].name)];
        let sides = [bots[game.first], bots[1 - game.first]];
        let counts = self.counts.entry((sides[0], sides[1])).or_default();
        match game.result.winner {
            None => counts.draws += 1,
            Some(winner) if winner == game.first => counts.wins += 1,
            Some(_) => counts.losses += 1,
        }
        if let Some(by) = game.result.by {
            let forfeits = &mut self.forfeits[bots[by]];
            match forfeits.get_mut(game.result.reason.as_ref()) {
                Some(count) => *count += 1,
                None => {
                    forfeits.insert(game.result.reason.clone().into_owned(), 1);
                }
            }
        }
        for (turn, &ms) in game.times_ms.iter().enumerate() {
            // One answer a turn, and the sides answer in turn.
            self.times[sides[turn % 2]].add(ms);
        }
        self.games += 1;
    }

    /// The table. An error says why the games determine no ratings.
    pub fn standings(&self, model: &Model) -> Result<Standings, RatingError> {
        let bots = self.names.len();
        let mut results = Results::new(bots);
        let mut wins = vec![0u64; bots];
        let mut draws = vec![0u64; bots];
        let mut losses = vec![0u64; bots];
        let mut against = vec![vec![None; bots]; bots];
        for (&(first, second), counts) in &self.counts {
            let tally = Tally {
                wins: counts.wins,
                draws: counts.draws,
                losses: counts.losses,
            };
            results.add_games(first, second, tally)?;
            for (a, b, won, lost) in [
                (first, second, counts.wins, counts.losses),
                (second, first, counts.losses, counts.wins),
            ] {
                wins[a] += u64::from(won);
                draws[a] += u64::from(counts.draws);
                losses[a] += u64::from(lost);
                *against[a][b].get_or_insert(0.0) += f64::from(won) + f64::from(counts.draws) / 2.0;
            }
        }
        let ratings = rate(&results, model)?;
        let points: Vec<f64> = against
            .iter()
            .map(|row: &Vec<Option<f64>>| total(row.iter().flatten().copied()))
            .collect();
        let games: Vec<u64> = (0..bots).map(|i| wins[i] + draws[i] + losses[i]).collect();
        let score = |i: usize| points[i] / to_f64(games[i]).max(1.0);
        // Points compare when all have played as much; otherwise only ratings do.
        let equal = games.windows(2).all(|pair| pair[0] == pair[1]);
        let merit = |i: usize| {
            if equal {
                points[i]
            } else {
                ratings.bots[i].elo
            }
        };
        let direct = |i: usize| -> f64 {
            let tied = (0..bots).filter(|&j| j != i && merit(j).total_cmp(&merit(i)).is_eq());
            total(tied.filter_map(|j| against[i][j]))
        };
        // Game by game: what was scored against somebody, times what that one scored in all.
        let sonneborn_berger = |i: usize| -> f64 {
            let met = against[i].iter().zip(&points);
            total(met.filter_map(|(made, points)| Some(made.as_ref()? * points)))
        };
        let mut order: Vec<usize> = (0..bots).collect();
        order.sort_by(|&a, &b| {
            merit(b)
                .total_cmp(&merit(a))
                .then(direct(b).total_cmp(&direct(a)))
                .then(sonneborn_berger(b).total_cmp(&sonneborn_berger(a)))
                .then(ratings.bots[b].elo.total_cmp(&ratings.bots[a].elo))
                .then(self.names[a].cmp(&self.names[b]))
        });
        let places = order.iter().enumerate().map(|(rank, &i)| Place {
            name: self.names[i].clone(),
            games: games[i],
            wins: wins[i],
            draws: draws[i],
            losses: losses[i],
            points: points[i],
            score: score(i),
            elo: ratings.bots[i].elo,
            error: ratings.bots[i].error,
            superiority: order
                .get(rank + 1)
                .and_then(|&next| ratings.superiority(i, next)),
            direct: direct(i),
            sonneborn_berger: sonneborn_berger(i),
            forfeits: self.forfeits[i].clone(),
            median_ms: self.times[i].median(),
            worst_ms: (self.times[i].count > 0).then_some(self.times[i].worst),
            against: order.iter().map(|&j| against[i][j]).collect(),
        });
        Ok(Standings {
            places: places.collect(),
            games: self.games,
            advantage: ratings.advantage.map(|estimate| estimate.elo),
        })
    }
}

/// The sum; that of nothing is 0, where the standard library gives −0.
fn total(figures: impl Iterator<Item = f64>) -> f64 {
    figures.fold(0.0, |sum, figure| sum + figure)
}

#[expect(clippy::cast_precision_loss, reason = "nobody plays 2⁵² games")]
fn to_f64(count: u64) -> f64 {
    count as f64
}
