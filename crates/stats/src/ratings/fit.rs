//! The maximum-likelihood estimate of the parameters, and its covariance.

use super::matrix::Square;
use super::{Meeting, Model, Results};
use crate::threads;

/// Estimates that exist take fewer than ten.
const ITERATIONS: usize = 200;

/// Smaller steps, in natural units (about 0.000 000 2 Elo), are not made.
const CONVERGED: f64 = 1e-9;

/// Longer steps, in natural units, are not made.
const LONGEST: f64 = 2.0;

/// A step with the curvature of an earlier point is good enough while each is at least this many times as short as
/// the one before. To factorise the curvature of a thousand bots takes as long as ten such steps.
const SHRINKING: f64 = 8.0;

/// Fewer pairings are computed before a thread has been started.
const MANY: usize = 20_000;

/// Over the parameters of a pairing: the strengths of its two bots, the advantage.
type Local = [f64; 3];

type LocalSquare = [Local; 3];

/// Two bots that met, the one with the lower index first.
#[derive(Clone, Debug)]
pub(super) struct Pairing {
    pub(super) bots: [u32; 2],
    pub(super) meeting: Meeting,
    /// Virtual draws with each bot as the first mover.
    pub(super) virtual_draws: f64,
    /// Indexed by first mover; without virtual draws.
    outcomes: [[u32; 3]; 2],
}

impl Pairing {
    /// Indexed by first mover; without virtual draws.
    pub(super) fn games(&self) -> [f64; 2] {
        self.outcomes
            .map(|counts| counts.map(f64::from).iter().sum())
    }

    /// With the bot of this seat as the first mover, and with virtual draws.
    fn outcomes(&self, seat: usize) -> [f64; 3] {
        let [wins, draws, losses] = self.outcomes[seat].map(f64::from);
        [wins, draws + self.virtual_draws, losses]
    }
}

/// The likelihood function. The parameters are the bots' strengths in natural units, then the advantage if it is
/// fitted.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub(super) groups: Vec<usize>,
    pub(super) advantage: Option<usize>,
    parameters: usize,
    pub(super) pairings: Vec<Pairing>,
    of_bots: Vec<Vec<u32>>,
    pub(super) threads: usize,
}

impl Fit {
    pub(super) fn new(results: &Results, model: &Model) -> Self {
        let mut games = vec![0.0; results.bots];
        let mut groups: Vec<usize> = (0..results.bots).collect();
        let mut pairings = Vec::with_capacity(results.meetings.len());
        for (&bots, &meeting) in &results.meetings {
            let [low, high] = bots.map(|bot| bot as usize);
            let outcomes = meeting.all();
            let total: f64 = outcomes.as_flattened().iter().copied().map(f64::from).sum();
            if total > 0.0 {
                games[low] += total;
                games[high] += total;
                join(&mut groups, low, high);
                pairings.push(Pairing {
                    bots,
                    meeting,
                    virtual_draws: total,
                    outcomes,
                });
            }
        }
        for pairing in &mut pairings {
            let shares = pairing.bots.map(|bot| 1.0 / games[bot as usize]);
            pairing.virtual_draws *= model.prior / 4.0 * (shares[0] + shares[1]);
        }
        let mut of_bots = vec![Vec::new(); results.bots];
        for (number, pairing) in (0..).zip(&pairings) {
            for bot in pairing.bots {
                of_bots[bot as usize].push(number);
            }
        }
        let has_advantage = model.advantage && !pairings.is_empty();
        let advantage = has_advantage.then_some(results.bots);
        let is_small = pairings.len() < MANY;
        Self {
            threads: if is_small { 1 } else { threads::processors() },
            groups,
            advantage,
            parameters: results.bots + usize::from(has_advantage),
            pairings,
            of_bots,
        }
    }

    pub(super) fn has_games(&self, bot: usize) -> bool {
        !self.of_bots[bot].is_empty()
    }

    /// Each pairing of the bots with these numbers once; none of the advantage.
    pub(super) fn pairings_of(&self, bots: &[(usize, f64)]) -> impl Iterator<Item = &Pairing> {
        bots.iter().enumerate().flat_map(move |(place, &(bot, _))| {
            let numbers = self.of_bots.get(bot).into_iter().flatten();
            let pairings = numbers.map(|&number| &self.pairings[number as usize]);
            let is_new = move |pairing: &&Pairing| {
                let mut before = bots[..place].iter();
                !before.any(|&(other, _)| pairing.bots.map(|bot| bot as usize).contains(&other))
            };
            pairings.filter(is_new)
        })
    }

    /// Strengths by the bots' scores, as if each had met all others of its group. A thousand bots need one curvature
    /// from there, and three from equal strengths.
    fn by_scores(&self) -> Vec<f64> {
        let mut parameters = vec![0.0; self.parameters];
        let mut scores = vec![[0.0; 2]; self.groups.len()];
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
        // Finite for a bot that won or lost all games.
        let odds = |&[points, games]: &[f64; 2]| ((points + 0.5) / (games - points + 0.5)).ln();
        for (parameter, score) in parameters.iter_mut().zip(&scores) {
            *parameter = odds(score);
        }
        self.centre(&mut parameters);
        parameters
    }

    /// The most likely parameters, with mean strength 0 in each group; `None` if they do not exist or are not unique.
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
            let mut step = gradient;
            factor.solve(&mut step, 0);
            let longest = step
                .iter()
                .fold(0.0, |most: f64, part| most.max(part.abs()));
            // The likelihood is concave: a step that overshoots is halved until it no longer does. Where a long one
            // leads, the curvature can be 0.
            let mut share = (LONGEST / longest).min(1.0);
            loop {
                let parts = parameters.iter().zip(&step);
                let moved: Vec<f64> = parts.map(|(old, part)| old + share * part).collect();
                let (reached, slope) = self.slope(&moved);
                if reached >= likelihood - 1e-13 * likelihood.abs() {
                    (parameters, likelihood, gradient) = (moved, reached, slope);
                    break;
                }
                share /= 2.0;
                if share * longest < CONVERGED {
                    return Some(parameters);
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

    /// Of the first mover's strength over the second's, with its advantage.
    pub(super) fn difference(&self, parameters: &[f64], pairing: &Pairing, seat: usize) -> f64 {
        let [first, second] = [pairing.bots[seat] as usize, pairing.bots[1 - seat] as usize];
        let advantage = self.advantage.map_or(0.0, |index| parameters[index]);
        parameters[first] - parameters[second] + advantage
    }

    fn odds(&self, parameters: &[f64], pairing: &Pairing, seat: usize) -> Odds {
        Odds::new(self.difference(parameters, pairing, seat))
    }

    /// Subtracts from the strengths their mean in each group.
    pub(super) fn centre(&self, parameters: &mut [f64]) {
        let mut sums = vec![[0.0; 2]; self.groups.len()];
        for (&group, strength) in self.groups.iter().zip(&*parameters) {
            sums[group][0] += strength;
            sums[group][1] += 1.0;
        }
        for (&group, strength) in self.groups.iter().zip(parameters) {
            *strength -= sums[group][0] / sums[group][1];
        }
    }

    /// Of the parameters of a pairing, ascending.
    fn indices(&self, pairing: &Pairing) -> [Option<usize>; 3] {
        let [low, high] = pairing.bots.map(|bot| Some(bot as usize));
        [low, high, self.advantage]
    }

    /// The gradient of the difference of strength in a game in which the bot of this seat moved first.
    const fn unit(seat: usize) -> Local {
        [[1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]][seat]
    }

    /// The log-likelihood and its gradient.
    fn slope(&self, parameters: &[f64]) -> (f64, Vec<f64>) {
        let mut likelihood = 0.0;
        let mut gradient = vec![0.0; self.parameters];
        for pairing in &self.pairings {
            let mut sum = Local::default();
            for seat in 0..2 {
                let odds = self.odds(parameters, pairing, seat);
                let outcomes = pairing.outcomes(seat);
                let unit = Self::unit(seat);
                for (slope, count) in odds.slopes().into_iter().zip(outcomes) {
                    add(&mut sum, &unit.map(|part| part * slope), count);
                }
                likelihood += odds.likelihood(outcomes);
            }
            for (index, part) in self.indices(pairing).into_iter().zip(sum) {
                if let Some(index) = index {
                    gradient[index] += part;
                }
            }
        }
        (likelihood, gradient)
    }

    /// The lower triangle of the curvature of the log-likelihood, negated. A term is added to the strengths of each group that depends only
    /// on their mean, which the games do not determine.
    pub(super) fn curvature(&self, parameters: &[f64]) -> Square {
        let mut curvature = Square::zero(self.parameters);
        for pairing in &self.pairings {
            let mut sum = LocalSquare::default();
            for seat in 0..2 {
                let odds = self.odds(parameters, pairing, seat);
                let unit = Self::unit(seat);
                let games = pairing.games()[seat] + pairing.virtual_draws;
                for (row, part) in sum.iter_mut().zip(unit) {
                    add(row, &unit, odds.bend() * games * part);
                }
            }
            let indices = self.indices(pairing);
            for (place, (row, parts)) in indices.into_iter().zip(sum).enumerate() {
                for (column, part) in indices.into_iter().zip(parts).take(place + 1) {
                    if let (Some(row), Some(column)) = (row, column) {
                        curvature.add(row, column, part);
                    }
                }
            }
        }
        let bots = self.groups.len();
        let mut weights = vec![0.0; bots];
        for (bot, &group) in self.groups.iter().enumerate() {
            weights[group] += curvature.at(bot, bot);
        }
        for row in 0..bots {
            for column in (0..=row).filter(|&column| self.groups[row] == self.groups[column]) {
                let weight = weights[self.groups[row]];
                curvature.add(row, column, if weight > 0.0 { weight } else { 1.0 });
            }
        }
        curvature
    }
}

fn add(sum: &mut Local, vector: &Local, weight: f64) {
    for (sum, part) in sum.iter_mut().zip(vector) {
        *sum += weight * part;
    }
}

/// The number of a group is the lowest index in it.
fn join(groups: &mut [usize], a: usize, b: usize) {
    let (low, high) = (groups[a].min(groups[b]), groups[a].max(groups[b]));
    for group in groups.iter_mut().filter(|group| **group == high) {
        *group = low;
    }
}

/// The likelihood of a game between two bots: with the difference of strength x the first mover wins with probability
/// σ(x). A draw is half a win and half a loss.
pub(super) struct Odds {
    /// Strength of the first mover − strength of the second + advantage.
    difference: f64,
    /// e to the power of −|difference|.
    tail: f64,
}

impl Odds {
    pub(super) fn new(difference: f64) -> Self {
        Self {
            difference,
            tail: (-difference.abs()).exp(),
        }
    }

    /// Expected.
    fn scores(&self) -> [f64; 2] {
        let large = 1.0 / (1.0 + self.tail);
        let small = self.tail * large;
        let is_weaker = self.difference < 0.0;
        if is_weaker {
            [small, large]
        } else {
            [large, small]
        }
    }

    fn likelihood(&self, [wins, draws, losses]: [f64; 3]) -> f64 {
        let both = self.tail.ln_1p();
        let [won, lost] = [self.difference, -self.difference].map(|x| x.min(0.0) - both);
        (wins + 0.5 * draws) * won + (losses + 0.5 * draws) * lost
    }

    /// Of a win, a draw and a loss: derivatives by the difference of strength.
    fn slopes(&self) -> [f64; 3] {
        let [down, up] = self.scores();
        [up, (up - down) / 2.0, -down]
    }

    /// The negated second derivative, of each game.
    pub(super) fn bend(&self) -> f64 {
        let [first, second] = self.scores();
        first * second
    }
}
