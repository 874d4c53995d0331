//! Ratings of many bots from the results of their games: Bradley–Terry with a first-mover advantage.
//!
//! The bot rated `a` that moves first wins against `b` with probability `1 / (1 + 10^((b − a − advantage) / 400))`.
//! The ratings are the maximum-likelihood estimate, found by Newton's method and unique where it exists (Hunter, *MM
//! algorithms for generalized Bradley–Terry models*, 2004). Draws are half a win, as in Ordo.
//!
//! How intervals are found is said in `interval`, how often they hold the truth in docs/internals/ratings.md.

mod fit;
mod interval;
mod matrix;

use std::collections::BTreeMap;
use std::f64::consts::LN_10;

use thiserror::Error;

use self::fit::Fit;
use self::interval::Profile;
use self::matrix::Square;
use super::sprt::Estimate;

/// Elo in one unit of the natural logarithm of the odds.
const ELO: f64 = 400.0 / LN_10;

/// How a game ended, from the first mover's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RatedOutcome {
    FirstWins,
    Draw,
    SecondWins,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    pub advantage: bool,
    /// Virtual draws of each bot, as `BayesElo`'s `prior`, spread over the bots that it has met in proportion to the games.
    pub prior: f64,
}

impl Default for Model {
    /// An advantage, and `BayesElo`'s prior of 2 draws.
    fn default() -> Self {
        Self {
            advantage: true,
            prior: 2.0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum RatingError {
    /// A game of a bot that does not exist, or of a bot against itself.
    #[error("bot {0} cannot have played bot {1}: there are {2} bots, counted from 0")]
    Pairing(usize, usize, usize),
    #[error("the prior is {0} draws; expected 0 or more")]
    Prior(f64),
    /// Without a prior, a rating or the advantage is infinite or arbitrary.
    #[error("the games do not determine the ratings; use a prior above 0")]
    Undetermined,
}

/// The results of two bots against each other, the one with the lower index first.
#[derive(Clone, Copy, Debug, Default)]
pub struct MeetingCounts {
    /// Games without a pair, by first mover and outcome.
    pub games: [[u32; 3]; 2],
    /// Pairs by the outcome of the game where the lower index moved first and of the other.
    pub pairs: [[u32; 3]; 3],
}

impl MeetingCounts {
    fn units(&self) -> f64 {
        let counts = self.games.as_flattened().iter();
        let counts = counts.chain(self.pairs.as_flattened());
        counts.copied().map(f64::from).sum()
    }

    /// By first mover and outcome.
    pub(crate) fn all(&self) -> [[u32; 3]; 2] {
        let mut all = self.games;
        for (first, row) in self.pairs.iter().enumerate() {
            for (second, &count) in row.iter().enumerate() {
                all[0][first] = all[0][first].saturating_add(count);
                all[1][second] = all[1][second].saturating_add(count);
            }
        }
        all
    }

    /// With the other bot first.
    pub(crate) fn swapped(&self) -> Self {
        let [low, high] = self.games;
        Self {
            games: [high, low],
            pairs: std::array::from_fn(|first| self.pairs.map(|row| row[first])),
        }
    }
}

#[derive(Clone, Debug)]
pub struct RatedResults {
    bots: usize,
    /// The lower index first.
    meetings: BTreeMap<[u32; 2], MeetingCounts>,
}

impl RatedResults {
    pub fn new(bots: usize) -> Self {
        Self {
            bots,
            meetings: BTreeMap::new(),
        }
    }

    /// What is known of two bots, to add to.
    pub fn meeting(&mut self, a: usize, b: usize) -> Result<&mut MeetingCounts, RatingError> {
        if a == b || a.max(b) >= self.bots {
            return Err(RatingError::Pairing(a, b, self.bots));
        }
        let narrow = |bot| u32::try_from(bot).map_err(|_| RatingError::Pairing(a, b, self.bots));
        let bots = [narrow(a.min(b))?, narrow(a.max(b))?];
        Ok(self.meetings.entry(bots).or_default())
    }

    /// Adds a pair of games of one opening: in `outcomes[0]` bot `a` moved first, in `outcomes[1]` bot `b`.
    pub fn add_pair(
        &mut self,
        a: usize,
        b: usize,
        outcomes: [RatedOutcome; 2],
    ) -> Result<(), RatingError> {
        let [mut low, mut high] = outcomes.map(|outcome| outcome as usize);
        if a > b {
            (low, high) = (high, low);
        }
        let count = &mut self.meeting(a, b)?.pairs[low][high];
        *count = count.saturating_add(1);
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// Above or below the mean of the bot's group.
    pub elo: f64,
    /// The ends of the 95 % interval of `elo`; infinite where the games set no bound.
    pub interval: [f64; 2],
    /// Bots that games connect have the same number; ratings of different groups cannot be compared.
    pub group: usize,
}

#[derive(Clone, Debug)]
pub struct Ratings {
    pub bots: Vec<Rating>,
    /// In Elo; `None` when it is not fitted or without games.
    pub advantage: Option<Estimate>,
    fit: Fit,
    parameters: Vec<f64>,
    covariance: Square,
}

impl Ratings {
    /// Likelihood of superiority of bot `a` over `b`, 0 to 1. `None` when no games connect them.
    pub fn superiority(&self, a: usize, b: usize) -> Option<f64> {
        let (first, second) = (self.bots.get(a)?, self.bots.get(b)?);
        if first.group != second.group {
            return None;
        }
        if (first.elo - second.elo).abs() < EQUAL_ELO {
            return Some(0.5);
        }
        let profile = self.profile(&[(a, 1.0), (b, -1.0)]);
        let superiority = profile.superiority(self.parameters[b] - self.parameters[a]);
        // Virtual draws may have put them in another order.
        Some(if first.elo > second.elo {
            superiority.max(0.5)
        } else {
            superiority.min(0.5)
        })
    }

    fn profile(&self, weights: &[(usize, f64)]) -> Profile {
        Profile::new(&self.fit, &self.parameters, &self.covariance, weights)
    }

    /// In Elo.
    fn interval(&self, parameter: usize) -> [f64; 2] {
        let ends = self.profile(&[(parameter, 1.0)]).ends();
        ends.map(|end| ELO * (self.parameters[parameter] + end))
    }

    pub fn levels(&self) -> Vec<f64> {
        let elo: Vec<f64> = self.bots.iter().map(|bot| bot.elo).collect();
        levels(&elo)
    }
}

/// The time grows with the number of pairings and the cube of the number of bots.
pub fn rate(results: &RatedResults, model: &Model) -> Result<Ratings, RatingError> {
    if !(model.prior >= 0.0 && model.prior.is_finite()) {
        return Err(RatingError::Prior(model.prior));
    }
    let fit = Fit::new(results, model);
    let parameters = fit.maximize().ok_or(RatingError::Undetermined)?;
    let factor = fit.curvature(&parameters).cholesky();
    let covariance = factor.ok_or(RatingError::Undetermined)?.inverse();
    let bots = fit
        .groups
        .iter()
        .zip(&parameters)
        .map(|(&group, strength)| Rating {
            elo: ELO * strength,
            interval: [f64::NEG_INFINITY, f64::INFINITY],
            group,
        });
    let mut ratings = Ratings {
        bots: bots.collect(),
        advantage: None,
        fit,
        parameters,
        covariance,
    };
    let played = (0..ratings.bots.len()).filter(|&bot| ratings.fit.has_games(bot));
    let played: Vec<usize> = played.collect();
    let is_small = ratings.fit.pairings.len() < MANY;
    let threads = if is_small {
        1
    } else {
        referee_host::threads::processors()
    };
    let intervals = referee_host::threads::map(threads, &played, |&bot| ratings.interval(bot));
    for (bot, interval) in played.into_iter().zip(intervals) {
        ratings.bots[bot].interval = interval;
    }
    ratings.advantage = ratings.fit.advantage.map(|index| {
        let [low, high] = ratings.interval(index);
        Estimate {
            elo: ELO * ratings.parameters[index],
            error: Some((high - low) / 2.0).filter(|error| error.is_finite()),
        }
    });
    Ok(ratings)
}

/// Intervals from fewer pairings are computed before a thread has been started.
const MANY: usize = 20_000;

/// Ratings that differ by less, in Elo, are equal but for rounding errors.
const EQUAL_ELO: f64 = 1e-6;

/// Ratings that follow each other within a millionth of an Elo have the level of the highest.
///
/// ```
/// use referee_stats::ratings::levels;
///
/// assert_eq!(levels(&[1.5e-7, -20.0, -1.5e-7]), [1.5e-7, -20.0, 1.5e-7]);
/// ```
pub fn levels(elo: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..elo.len()).collect();
    order.sort_by(|&a, &b| elo[b].total_cmp(&elo[a]));
    let mut levels = vec![0.0; elo.len()];
    for level in order.chunk_by(|&a, &b| elo[a] - elo[b] < EQUAL_ELO) {
        for &bot in level {
            levels[bot] = elo[level[0]];
        }
    }
    levels
}
