//! Ratings over time: Whole-History Rating (R. Coulom, *Whole-History Rating: A Bayesian Rating System for
//! Players of Time-Varying Strength*, 2008).
//!
//! Each bot has a rating for every day on which it played. Between two days it changes like a Wiener
//! process, by a variance in proportion to the time between them. The ratings are the most likely ones, given
//! all games and, on a bot's first day, one virtual win and one virtual loss against a bot of rating 0. So all games
//! of a term have one scale, and a rating uses the games before and after it. A draw is half a win and half a
//! loss.

use std::collections::BTreeMap;
use std::f64::consts::LN_10;

use super::ratings::Outcome;

/// Elo in one unit of the natural logarithm of the odds.
const ELO: f64 = 400.0 / LN_10;

/// The most rounds over all bots; it takes fewer than a hundred.
const ROUNDS: usize = 10_000;

/// When no rating changes by more, in natural units, the ratings are found.
const CONVERGED: f64 = 1e-10;

/// Ratings change by this variance a day, in Elo², unless another one is chosen: by 46 Elo a week.
pub const USUAL_DRIFT: f64 = 300.0;

/// The games of a bot against another one on one day.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    points: f64,
    games: f64,
}

/// A day of a bot.
#[derive(Clone, Debug, Default)]
struct Day {
    /// Scores by opponent.
    scores: BTreeMap<usize, Score>,
    /// The rating, in natural units.
    rating: f64,
}

/// A rating on a day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The day.
    pub day: i64,
    /// The rating, in Elo; 0 is that of the virtual opponents.
    pub elo: f64,
    /// The variance of the rating in natural units (174 Elo), given those of the other bots.
    pub variance: f64,
    /// The number of games of the day.
    pub games: f64,
}

/// Games by day.
///
/// ```
/// use referee::tournament::history::{History, USUAL_DRIFT};
/// use referee::tournament::ratings::Outcome;
///
/// let mut history = History::new(2, USUAL_DRIFT);
/// history.add(1, 0, 1, Outcome::FirstWins);
/// history.add(8, 0, 1, Outcome::SecondWins);
/// let [first, second] = &history.ratings()[..] else { unreachable!() };
/// assert!(first[0].elo > 0.0 && first[1].elo < first[0].elo);
/// assert!((first[0].elo + second[0].elo).abs() < 1e-6);
/// ```
#[derive(Clone, Debug)]
pub struct History {
    bots: Vec<BTreeMap<i64, Day>>,
    /// The variance of a day's change, in natural units.
    drift: f64,
}

impl History {
    /// No games yet between bots 0 to `bots` − 1, whose ratings change by the variance `drift` a day, in Elo².
    pub fn new(bots: usize, drift: f64) -> Self {
        Self {
            bots: vec![BTreeMap::new(); bots],
            drift: (drift / ELO / ELO).max(1e-12),
        }
    }

    /// Adds a game on a day; `first` moved first. Games of a bot against itself do not count.
    ///
    /// # Panics
    ///
    /// When there is no such bot.
    pub fn add(&mut self, day: i64, first: usize, second: usize, outcome: Outcome) {
        let points = match outcome {
            Outcome::FirstWins => 1.0,
            Outcome::Draw => 0.5,
            Outcome::SecondWins => 0.0,
        };
        if first != second {
            for (bot, other, points) in [(first, second, points), (second, first, 1.0 - points)] {
                let scores = &mut self.bots[bot].entry(day).or_default().scores;
                let score = scores.entry(other).or_default();
                score.points += points;
                score.games += 1.0;
            }
        }
    }

    /// The ratings of each bot, day by day.
    pub fn ratings(mut self) -> Vec<Vec<Point>> {
        for _ in 0..ROUNDS {
            let mut most = 0.0_f64;
            for bot in 0..self.bots.len() {
                let steps = self.curve(bot).step();
                for (day, step) in self.bots[bot].values_mut().zip(steps) {
                    day.rating += step;
                    most = most.max(step.abs());
                }
            }
            if most < CONVERGED {
                break;
            }
        }
        let points = |bot: usize| {
            let variances = self.curve(bot).variances();
            let days = self.bots[bot].iter().zip(variances);
            let points = days.map(|((&day, of_day), variance)| Point {
                day,
                elo: ELO * of_day.rating,
                variance,
                games: of_day.scores.values().map(|score| score.games).sum(),
            });
            points.collect()
        };
        (0..self.bots.len()).map(points).collect()
    }

    /// Slope and curvature of the log-likelihood by the ratings of a bot, those of others given.
    fn curve(&self, bot: usize) -> Curve {
        let days = &self.bots[bot];
        let mut curve = Curve::default();
        for (&day, of_day) in days {
            let (mut slope, mut bend) = (0.0, 0.0);
            for (&other, score) in &of_day.scores {
                let opponent = self.bots[other].get(&day).map_or(0.0, |day| day.rating);
                let expected = logistic(of_day.rating - opponent);
                slope += score.points - score.games * expected;
                bend += score.games * expected * (1.0 - expected);
            }
            if curve.slopes.is_empty() {
                let expected = logistic(of_day.rating);
                slope += 1.0 - 2.0 * expected;
                bend += 2.0 * expected * (1.0 - expected);
            }
            curve.slopes.push(slope);
            curve.bends.push(bend);
        }
        let neighbours = days.iter().zip(days.iter().skip(1));
        for (place, ((from, early), (to, late))) in neighbours.enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "days are few")]
            let between = (to - from) as f64;
            let stiffness = 1.0 / (self.drift * between);
            let pull = stiffness * (late.rating - early.rating);
            curve.slopes[place] += pull;
            curve.slopes[place + 1] -= pull;
            curve.bends[place] += stiffness;
            curve.bends[place + 1] += stiffness;
            curve.links.push(stiffness);
        }
        curve
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The slope, and the negated curvature: a matrix with three diagonals.
#[derive(Debug, Default)]
struct Curve {
    slopes: Vec<f64>,
    bends: Vec<f64>,
    /// The elements beside the diagonal, negated.
    links: Vec<f64>,
}

impl Curve {
    /// The pivots from the first day on.
    fn pivots(&self) -> Vec<f64> {
        let mut pivots: Vec<f64> = Vec::with_capacity(self.bends.len());
        for (place, bend) in self.bends.iter().enumerate() {
            let known = match pivots.last() {
                Some(last) => self.links[place - 1].powi(2) / last,
                None => 0.0,
            };
            pivots.push(bend - known);
        }
        pivots
    }

    /// Newton's step, at most one natural unit long.
    fn step(mut self) -> Vec<f64> {
        let pivots = self.pivots();
        for place in 1..pivots.len() {
            let carried = self.links[place - 1] / pivots[place - 1] * self.slopes[place - 1];
            self.slopes[place] += carried;
        }
        let mut steps = vec![0.0; pivots.len()];
        for place in (0..pivots.len()).rev() {
            let later = match steps.get(place + 1) {
                Some(later) => self.links[place] * later,
                None => 0.0,
            };
            steps[place] = (self.slopes[place] + later) / pivots[place];
        }
        let longest = steps
            .iter()
            .fold(1.0_f64, |most, step| most.max(step.abs()));
        for step in &mut steps {
            *step /= longest;
        }
        steps
    }

    /// The diagonal of the inverse.
    fn variances(&self) -> Vec<f64> {
        let forward = self.pivots();
        let mut backward = forward.clone();
        for place in (0..self.bends.len()).rev() {
            backward[place] = match backward.get(place + 1) {
                Some(next) => self.bends[place] - self.links[place].powi(2) / next,
                None => self.bends[place],
            };
        }
        let all = forward.iter().zip(&backward).zip(&self.bends);
        all.map(|((forward, backward), bend)| 1.0 / (forward + backward - bend))
            .collect()
    }
}
