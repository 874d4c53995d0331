//! The maximum-likelihood estimate of the parameters, and its covariance.

mod covariance;
mod odds;
mod sums;

use std::f64::consts::PI;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use self::odds::{Odds, Slope, bend, ln_logistic, logistic};
use self::sums::Sums;
use super::matrix::Square;
use super::{Draws, Meeting, Met, Model, Results};
use crate::threads::{self, InOrder, locked};

/// The most iterations of Newton's method; estimates that exist take fewer than ten.
const ITERATIONS: usize = 200;

/// When a smaller step is left, in natural units (about 0.000 000 2 Elo), it is not made.
const CONVERGED: f64 = 1e-9;

/// The largest spread of strengths to begin with: the variance of the odds' logarithms. Beyond it the formula for small ones is wrong.
const SPREAD: f64 = 1.5;

/// A step of Newton's method with the curvature of an earlier point is good enough while each is at least this
/// many times as short as the one before. To factorise the curvature of a thousand bots takes as long as
/// ten such steps.
const SHRINKING: f64 = 8.0;

/// The share of the prior that is a win and a loss between equals, and not draws. Without it the
/// fitted draw parameter would be infinite when no weaker bot ever won.
const DECISIVE_PRIOR: f64 = 0.005;

/// Fewer pairings are computed before a thread has been started.
const MANY: usize = 20_000;

/// The number of pairings that a thread takes at a time.
const PART: usize = 1 << 12;

/// A vector over the parameters of a pairing: the strengths of its two bots, the advantage and the draw
/// parameter.
type Local = [f64; 4];

/// A symmetric matrix over the parameters of a pairing.
type LocalSquare = [Local; 4];

/// Two bots that met, the one with the lower index first.
struct Pairing<'a> {
    bots: [u32; 2],
    meeting: &'a Meeting,
    /// Virtual draws with either bot as the first mover.
    virtual_draws: f64,
    /// Outcomes by first mover, without virtual draws.
    outcomes: [[u32; 3]; 2],
}

impl Pairing<'_> {
    /// The outcomes with the bot of this seat as the first mover, and with virtual draws.
    fn outcomes(&self, seat: usize) -> [f64; 3] {
        let [wins, draws, losses] = self.outcomes[seat].map(f64::from);
        [wins, draws + self.virtual_draws, losses]
    }
}

/// The likelihood function. The parameters are the bots' strengths in natural units, then
/// the advantage and the draw parameter if they are fitted.
pub(super) struct Fit<'a> {
    pub(super) groups: Vec<usize>,
    /// Index of the advantage among the parameters.
    pub(super) advantage: Option<usize>,
    /// Index of the draw parameter among the parameters.
    pub(super) drawing: Option<usize>,
    parameters: usize,
    pairings: Vec<Pairing<'a>>,
    decisive_prior: f64,
    /// Virtual draws of each bot.
    prior: f64,
    /// Whether results decided who met whom.
    adaptive: bool,
    /// The number of pairs, or of games that are in none, of each bot.
    units: Vec<f64>,
    /// The number of differences of strength that the games, and not the virtual draws, determine.
    strengths: f64,
    /// The number of threads that share the work.
    threads: usize,
}

impl<'a> Fit<'a> {
    /// `meetings` are those of the results, joined.
    pub(super) fn new(results: &Results, meetings: &'a [Met], model: &Model) -> Self {
        let mut games = vec![0.0; results.bots];
        let mut units = vec![0.0; results.bots];
        let mut groups: Vec<usize> = (0..results.bots).collect();
        let mut pairings = Vec::with_capacity(meetings.len());
        for &(bots, ref meeting) in meetings {
            let [low, high] = bots.map(|bot| bot as usize);
            let outcomes = meeting.all();
            let total: f64 = outcomes.as_flattened().iter().copied().map(f64::from).sum();
            if total > 0.0 {
                games[low] += total;
                games[high] += total;
                units[low] += meeting.units();
                units[high] += meeting.units();
                join(&mut groups, low, high);
                pairings.push(Pairing {
                    bots,
                    meeting,
                    virtual_draws: total,
                    outcomes,
                });
            }
        }
        let (mut drawn, mut decided) = (0.0, 0.0);
        for pairing in &mut pairings {
            let shares = pairing.bots.map(|bot| 1.0 / games[bot as usize]);
            pairing.virtual_draws *= model.prior / 4.0 * (shares[0] + shares[1]);
            for seat in 0..2 {
                let outcomes = pairing.outcomes(seat);
                drawn += outcomes[1];
                decided += outcomes[0] + outcomes[2];
            }
        }
        let roots = groups.iter().enumerate();
        let roots = roots.filter(|(bot, group)| bot == *group && games[*bot] > 0.0);
        let roots = roots.count();
        let shares = games
            .iter()
            .map(|games| games / (games + model.prior).max(1e-9));
        let shares: Vec<f64> = shares.filter(|&share| share > 0.0).collect();
        let mean = shares.iter().sum::<f64>() / to_f64(shares.len().max(1));
        let strengths = to_f64(shares.len() - roots.min(shares.len())) * mean;
        let mut parameters = results.bots;
        let mut parameter = |wanted: bool| {
            wanted.then(|| {
                parameters += 1;
                parameters - 1
            })
        };
        let advantage = parameter(model.advantage && !pairings.is_empty());
        let drawing = parameter(model.draws == Draws::Fitted && drawn > 0.0 && decided > 0.0);
        let threads = if pairings.len() < MANY {
            1
        } else {
            threads::processors()
        };
        Self {
            threads,
            groups,
            advantage,
            drawing,
            parameters,
            pairings,
            decisive_prior: model.prior * DECISIVE_PRIOR,
            prior: model.prior,
            adaptive: results.adaptive,
            strengths,
            units,
        }
    }

    /// Parameters to begin with: strengths by the bots' scores, as if each had met all others of its group. A thousand bots
    /// that did need one curvature from there, and three from equal strengths.
    fn by_scores(&self) -> Vec<f64> {
        let mut parameters = vec![0.0; self.parameters];
        if let Some(index) = self.drawing {
            parameters[index] = 1.0;
        }
        let bots = self.groups.len();
        let mut scores = vec![[0.0; 2]; bots];
        for pairing in &self.pairings {
            for seat in 0..2 {
                let [wins, draws, losses] = pairing.outcomes(seat);
                for (bot, won) in [(seat, wins), (1 - seat, losses)] {
                    let [points, games] = &mut scores[pairing.bots[bot] as usize];
                    *points += won + 0.5 * draws;
                    *games += wins + draws + losses;
                }
            }
        }
        // The logarithm of the odds, which are finite also for who won or lost all games.
        let odds = |&[points, games]: &[f64; 2]| ((points + 0.5) / (games - points + 0.5)).ln();
        let odds: Vec<f64> = scores.iter().map(odds).collect();
        let mut sums = vec![[0.0; 2]; bots];
        for (&group, odds) in self.groups.iter().zip(&odds) {
            sums[group][0] += odds;
            sums[group][1] += 1.0;
        }
        let from_mean = |(&group, odds): (&usize, &f64)| odds - sums[group][0] / sums[group][1];
        let centred: Vec<f64> = self.groups.iter().zip(&odds).map(from_mean).collect();
        // Opponents differ among each other, too: who scores p against them is further from them than p tells, since σ of a
        // normal variable is in the mean about σ(mean / √(1 + π/8 · variance)).
        let spread = centred.iter().map(|odds| odds * odds).sum::<f64>() / to_f64(bots.max(1));
        let factor = 1.0 / (1.0 - PI / 8.0 * spread.min(SPREAD)).sqrt();
        for (parameter, odds) in parameters.iter_mut().zip(centred) {
            *parameter = factor * odds;
        }
        parameters
    }

    /// The most likely parameters, with mean strength 0 in each group; `None` if they do not exist or
    /// are not unique.
    pub(super) fn maximize(&self) -> Option<Vec<f64>> {
        let mut parameters = self.by_scores();
        let (mut likelihood, mut gradient) = self.slope(&parameters);
        let mut curvature = None;
        let mut before = f64::INFINITY;
        for _ in 0..ITERATIONS {
            let factor = match curvature.take() {
                Some(factor) => factor,
                None => self.curvature(&parameters).cholesky()?,
            };
            let step = factor.solve(gradient);
            let longest = step
                .iter()
                .fold(0.0, |most: f64, part| most.max(part.abs()));
            // The likelihood is concave: a step that overshoots is halved until it no longer does.
            let mut share = 1.0;
            loop {
                let moved = parameters
                    .iter()
                    .zip(&step)
                    .map(|(old, part)| old + share * part);
                let moved: Vec<f64> = moved.collect();
                let (reached, slope) = self.slope(&moved);
                if reached >= likelihood - 1e-13 * likelihood.abs() {
                    (parameters, likelihood, gradient) = (moved, reached, slope);
                    break;
                }
                share /= 2.0;
                if share < 1e-9 {
                    return None;
                }
            }
            // What is left is to this step as this step is to the one before.
            if longest * (longest / before.min(1.0)).min(1.0) < CONVERGED {
                return Some(parameters);
            }
            if longest * SHRINKING < before {
                curvature = Some(factor);
            }
            before = longest;
        }
        None
    }

    fn odds(&self, parameters: &[f64], pairing: &Pairing, seat: usize) -> Odds {
        let [first, second] = [pairing.bots[seat] as usize, pairing.bots[1 - seat] as usize];
        let advantage = self.advantage.map_or(0.0, |index| parameters[index]);
        Odds::new(
            parameters[first] - parameters[second] + advantage,
            self.drawing.map(|index| parameters[index]),
        )
    }

    /// Computes something of every pairing, and takes it in their order: so sums are the same to the last bit for any
    /// number of threads.
    fn of_pairings<T>(
        &self,
        compute: impl Fn(&Pairing) -> T + Sync,
        mut take: impl FnMut(&Pairing, T) + Send,
    ) {
        if self.threads <= 1 {
            for pairing in &self.pairings {
                take(pairing, compute(pairing));
            }
            return;
        }
        let (next, order) = (AtomicUsize::new(0), InOrder::default());
        let take = Mutex::new(take);
        order.share(self.threads, || {
            let mut terms = Vec::with_capacity(PART);
            loop {
                let part = next.fetch_add(1, Ordering::Relaxed);
                let Some(pairings) = self.pairings.chunks(PART).nth(part) else {
                    break;
                };
                terms.extend(pairings.iter().map(&compute));
                let Some(_turn) = order.turn(part) else {
                    break;
                };
                let mut take = locked(&take);
                for (pairing, term) in pairings.iter().zip(terms.drain(..)) {
                    take(pairing, term);
                }
            }
        });
    }

    /// The gradient of the log-likelihood of one game of a pairing, in which the bot of this seat moved first.
    const fn unit(seat: usize, slope: Slope) -> Local {
        let mut unit = [slope.0, slope.0, slope.0, slope.1];
        unit[1 - seat] = -slope.0;
        unit
    }

    /// The indices of the parameters of a pairing.
    const fn indices(&self, pairing: &Pairing) -> [Option<usize>; 4] {
        let [low, high] = pairing.bots;
        [
            Some(low as usize),
            Some(high as usize),
            self.advantage,
            self.drawing,
        ]
    }

    /// The log-likelihood and its gradient.
    fn slope(&self, parameters: &[f64]) -> (f64, Vec<f64>) {
        let mut likelihood = 0.0;
        let mut gradient = vec![0.0; self.parameters];
        let of_pairing = |pairing: &Pairing| {
            let mut sum = Local::default();
            let likelihoods = [0, 1].map(|seat| {
                let odds = self.odds(parameters, pairing, seat);
                let outcomes = pairing.outcomes(seat);
                for (slope, count) in odds.slopes().into_iter().zip(outcomes) {
                    add(&mut sum, &Self::unit(seat, slope), count);
                }
                odds.likelihood(outcomes)
            });
            (likelihoods, sum)
        };
        self.of_pairings(of_pairing, |pairing, ([first, second], sum)| {
            likelihood += first;
            likelihood += second;
            self.add_vector(&mut gradient, pairing, &sum);
        });
        if let Some(index) = self.drawing {
            likelihood += 2.0 * self.decisive_prior * ln_logistic(-parameters[index]);
            gradient[index] -= 2.0 * self.decisive_prior * logistic(parameters[index]);
        }
        (likelihood, gradient)
    }

    /// The curvature of the log-likelihood, negated. To the strengths of each group a
    /// term is added that depends only on their mean, which the games do not determine.
    fn curvature(&self, parameters: &[f64]) -> Square {
        let mut curvature = Sums::new(self);
        let of_pairing = |pairing: &Pairing| {
            let mut sum = LocalSquare::default();
            for seat in 0..2 {
                let odds = self.odds(parameters, pairing, seat);
                let bends = odds.bends(pairing.outcomes(seat)).into_iter();
                for (slope, weight) in bends.filter(|(_, weight)| *weight > 0.0) {
                    let unit = Self::unit(seat, slope);
                    add_product(&mut sum, &unit, &unit, weight);
                }
            }
            sum
        };
        self.of_pairings(of_pairing, |pairing, sum| curvature.add(pairing, &sum));
        let mut curvature = curvature.into_square();
        if let Some(index) = self.drawing {
            let prior = bend(parameters[index]);
            curvature.add(index, index, 2.0 * self.decisive_prior * prior);
        }
        let bots = self.groups.len();
        let mut weights = vec![0.0; bots];
        for (bot, &group) in self.groups.iter().enumerate() {
            weights[group] += curvature.at(bot, bot);
        }
        for row in 0..bots {
            for column in (0..bots).filter(|&column| self.groups[row] == self.groups[column]) {
                let weight = weights[self.groups[row]];
                curvature.add(row, column, if weight > 0.0 { weight } else { 1.0 });
            }
        }
        curvature
    }

    /// Adds a vector over the parameters of a pairing to one over all.
    fn add_vector(&self, vector: &mut [f64], pairing: &Pairing, of_pairing: &Local) {
        for (index, part) in self.indices(pairing).into_iter().zip(of_pairing) {
            if let Some(index) = index {
                vector[index] += part;
            }
        }
    }
}

/// Adds `weight` times a vector.
fn add(sum: &mut Local, vector: &Local, weight: f64) {
    for (sum, part) in sum.iter_mut().zip(vector) {
        *sum += weight * part;
    }
}

/// Adds `weight` times the product of two vectors.
fn add_product(sum: &mut LocalSquare, left: &Local, right: &Local, weight: f64) {
    for (row, left) in sum.iter_mut().zip(left) {
        add(row, right, weight * left);
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵² bots")]
fn to_f64(count: usize) -> f64 {
    count as f64
}

/// Joins two groups. The number of a group is the lowest index in it.
fn join(groups: &mut [usize], a: usize, b: usize) {
    let (low, high) = (groups[a].min(groups[b]), groups[a].max(groups[b]));
    if low == high {
        return;
    }
    for group in groups.iter_mut().filter(|group| **group == high) {
        *group = low;
    }
}
