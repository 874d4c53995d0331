//! Standings from records: points, tie-breaks, ratings, times, forfeits. Records are added one
//! by one and not kept, so memory depends only on the number of bots.

mod scores;
mod times;

use std::collections::{BTreeMap, HashMap};

use self::scores::{Scores, Sums, total};
use self::times::Times;
use super::ratings::{Model, Outcome, RatingError, rate};
use super::schedule::GameId;
use crate::record::{RecordSummary, annotation};

/// Collects the results of games.
///
/// ```
/// use referee::record::RecordSummary;
/// use referee::tournament::ratings::Model;
/// use referee::tournament::standings::Collector;
///
/// let line = br#"{"bots":[{"name":"a"},{"name":"b"}],"first":0,
///     "result":{"winner":0,"reason":"quarto"},"times_ms":[1.5,0.5]}"#;
/// let mut collector = Collector::new();
/// collector.add(&RecordSummary::parse(line)?);
/// let standings = collector.standings(&Model::default()).map_err(|error| error.to_string())?;
/// assert_eq!(standings.places[0].name, "a");
/// assert_eq!(standings.places[0].wins, 1);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Collector {
    names: Vec<String>,
    index: HashMap<String, usize>,
    scores: Scores,
    forfeits: Vec<BTreeMap<String, u64>>,
    times: Vec<Times>,
    /// The tallies of each bot's analysed turns.
    analyses: Vec<annotation::Tally>,
    /// Whether any game has been analysed.
    analysed: bool,
    games: u64,
}

/// A bot's place in the standings.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Its name.
    pub name: String,
    /// The number of games.
    pub games: u64,
    /// The number of games won.
    pub wins: u64,
    /// The number of games drawn.
    pub draws: u64,
    /// The number of games lost.
    pub losses: u64,
    /// The points: 1 for a win, ½ for a draw.
    pub points: f64,
    /// The points per game, 0 to 1.
    pub score: f64,
    /// Elo above or below the mean.
    pub elo: f64,
    /// Half the width of the 95 % interval of `elo`.
    pub error: Option<f64>,
    /// Likelihood, 0 to 1, of being better than the bot in the next place.
    pub superiority: Option<f64>,
    /// Direct encounter: the points against the bots with which it is tied.
    pub direct: f64,
    /// Sonneborn–Berger: for each game won the opponent's points, for each game drawn half of them.
    pub sonneborn_berger: f64,
    /// The number of games that it forfeited, by reason.
    pub forfeits: BTreeMap<String, u64>,
    /// The median time of its answers, in milliseconds, to 1 %.
    pub median_ms: Option<f64>,
    /// The time of its slowest answer, in milliseconds.
    pub worst_ms: Option<f64>,
    /// The tally of its analysed turns; `None` when no game of the standings was analysed.
    pub analysis: Option<annotation::Tally>,
    /// The points against each bot, in the order of the standings; `None` where they did not meet.
    pub against: Vec<Option<f64>>,
}

/// The standings.
#[derive(Clone, Debug, PartialEq)]
pub struct Standings {
    /// In order: by points when all bots have played equally many games, otherwise by rating; then by
    /// direct encounter, Sonneborn–Berger, rating and name.
    pub places: Vec<Place>,
    /// The number of games.
    pub games: u64,
    /// The advantage of moving first, in Elo.
    pub advantage: Option<f64>,
}

impl Standings {
    /// The same without times, so that the same games lead to the same bytes.
    #[must_use]
    pub fn without_times(&self) -> Self {
        let mut timeless = self.clone();
        for place in &mut timeless.places {
            place.median_ms = None;
            place.worst_ms = None;
        }
        timeless
    }
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
        self.analyses.push(annotation::Tally::default());
        index
    }

    /// Adds a game.
    pub fn add(&mut self, game: &RecordSummary<'_>) {
        let bots = game.names().map(|name| self.bot(name));
        let sides = [bots[game.first], bots[game.first.other()]];
        let outcome = match game.winner() {
            None => Outcome::Draw,
            Some(winner) if winner == game.first => Outcome::FirstWins,
            Some(_) => Outcome::SecondWins,
        };
        let pair = game.id.parse::<GameId>().ok().map(|id| id.pair);
        self.scores.add(pair, sides, outcome);
        if let Some((by, reason)) = game.forfeit() {
            let forfeits = &mut self.forfeits[bots[by]];
            match forfeits.get_mut(reason.name()) {
                Some(count) => *count += 1,
                None => {
                    forfeits.insert(reason.name().to_owned(), 1);
                }
            }
        }
        for (turn, &ms) in game.times_ms.iter().enumerate() {
            // The sides alternate.
            self.times[sides[turn % 2]].add(ms);
        }
        self.games += 1;
        self.add_analysis(game);
    }

    /// Adds the analysis of a game, if there is one, but not the game itself.
    pub fn add_analysis(&mut self, game: &RecordSummary<'_>) {
        let Some(tallies) = game.tallies() else {
            return;
        };
        self.analysed = true;
        for (name, tally) in game.names().into_iter().zip(tallies) {
            let bot = self.bot(name);
            self.analyses[bot] += tally;
        }
    }

    /// The standings. The error is why the games determine no ratings.
    pub fn standings(&self, model: &Model) -> Result<Standings, RatingError> {
        let bots = self.names.len();
        // Bots are sorted by name, so that the figures do not depend on the order of the records.
        let mut by_name: Vec<usize> = (0..bots).collect();
        by_name.sort_by(|&a, &b| self.names[a].cmp(&self.names[b]));
        let mut order_of = vec![0; bots];
        for (place, &bot) in by_name.iter().enumerate() {
            order_of[bot] = place;
        }
        let names: Vec<&String> = by_name.iter().map(|&bot| &self.names[bot]).collect();
        let sums = self.scores.sums(&order_of)?;
        let Sums {
            results,
            wins,
            draws,
            losses,
            against,
        } = &sums;
        let ratings = rate(results, model)?;
        let points: Vec<f64> = against
            .iter()
            .map(|row: &Vec<Option<f64>>| total(row.iter().flatten().copied()))
            .collect();
        let games: Vec<u64> = (0..bots).map(|i| wins[i] + draws[i] + losses[i]).collect();
        let score = |i: usize| points[i] / to_f64(games[i]).max(1.0);
        // Points can be compared when all have played equally many games; otherwise only ratings can.
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
        // The points against a bot times the points of that bot.
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
                .then(names[a].cmp(names[b]))
        });
        let places = order.iter().enumerate().map(|(rank, &i)| Place {
            name: names[i].clone(),
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
            forfeits: self.forfeits[by_name[i]].clone(),
            median_ms: self.times[by_name[i]].median(),
            worst_ms: self.times[by_name[i]].worst(),
            analysis: self.analysed.then(|| self.analyses[by_name[i]]),
            against: order.iter().map(|&j| against[i][j]).collect(),
        });
        Ok(Standings {
            places: places.collect(),
            games: self.games,
            advantage: ratings.advantage.map(|estimate| estimate.elo),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵² games")]
fn to_f64(count: u64) -> f64 {
    count as f64
}
