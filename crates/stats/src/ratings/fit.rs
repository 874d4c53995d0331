//! The maximum-likelihood estimate of the parameters, and its covariance.

use super::matrix::Square;
use super::{MeetingCounts, Model, RatedResults};

/// Estimates that exist take fewer than ten.
const ITERATIONS: usize = 200;

/// Smaller steps, in natural units (about 0.000 000 2 Elo), are not made.
const CONVERGED: f64 = 1e-9;

/// Longer steps, in natural units, are not made.
const LONGEST: f64 = 2.0;

/// Two bots that met, the one with the lower index first.
#[derive(Clone, Debug)]
pub(super) struct FittedPairing {
    pub(super) bots: [u32; 2],
    pub(super) meeting: MeetingCounts,
    /// Virtual draws with each bot as the first mover.
    pub(super) virtual_draws: f64,
    /// Indexed by first mover; without virtual draws.
    outcomes: [[u32; 3]; 2],
}

impl FittedPairing {
    /// Indexed by first mover; without virtual draws.
    pub(super) fn games(&self) -> [f64; 2] {
        self.outcomes
            .map(|counts| counts.map(f64::from).iter().sum())
    }

    /// Of the bot of this seat, which moves first, and of the other; with virtual draws.
    fn points(&self, seat: usize) -> [f64; 2] {
        let [wins, draws, losses] = self.outcomes[seat].map(f64::from);
        let half = 0.5 * (draws + self.virtual_draws);
        [wins + half, losses + half]
    }
}

/// The likelihood function. The parameters are the bots' strengths in natural units, then the advantage if it is
/// fitted.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub(super) groups: Vec<usize>,
    pub(super) advantage: Option<usize>,
    parameters: usize,
    pub(super) pairings: Vec<FittedPairing>,
    of_bots: Vec<Vec<u32>>,
}

impl Fit {
    pub(super) fn new(results: &RatedResults, model: &Model) -> Self {
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
                pairings.push(FittedPairing {
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
        Self {
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
    pub(super) fn pairings_of(
        &self,
        bots: &[(usize, f64)],
    ) -> impl Iterator<Item = &FittedPairing> {
        bots.iter().enumerate().flat_map(move |(place, &(bot, _))| {
            let numbers = self.of_bots.get(bot).into_iter().flatten();
            let pairings = numbers.map(|&number| &self.pairings[number as usize]);
            let is_new = move |pairing: &&FittedPairing| {
                let mut before = bots[..place].iter();
                !before.any(|&(other, _)| pairing.bots.map(|bot| bot as usize).contains(&other))
            };
            pairings.filter(is_new)
        })
    }

    /// The most likely parameters, with mean strength 0 in each group; `None` if they do not exist or are not unique.
    pub(super) fn maximize(&self) -> Option<Vec<f64>> {
        let mut parameters = vec![0.0; self.parameters];
        let (mut likelihood, mut gradient) = self.slope(&parameters);
        for _ in 0..ITERATIONS {
            let factor = self.curvature(&parameters).cholesky()?;
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
            // What is left is about the square of this step.
            if longest * longest < CONVERGED {
                return Some(parameters);
            }
        }
        None
    }

    /// The parameters on which the difference of strength depends in a game that the bot of this seat begins, with their
    /// signs: those of the first mover, of the other and of the advantage.
    fn signed(
        &self,
        pairing: &FittedPairing,
        seat: usize,
    ) -> impl Iterator<Item = (usize, f64)> + Clone {
        let [first, second] = [pairing.bots[seat] as usize, pairing.bots[1 - seat] as usize];
        let bots = [(first, 1.0), (second, -1.0)];
        bots.into_iter()
            .chain(self.advantage.map(|index| (index, 1.0)))
    }

    /// Of the first mover's strength over the second's, with its advantage.
    pub(super) fn difference(
        &self,
        parameters: &[f64],
        pairing: &FittedPairing,
        seat: usize,
    ) -> f64 {
        let [first, second] = [pairing.bots[seat] as usize, pairing.bots[1 - seat] as usize];
        let advantage = self.advantage.map_or(0.0, |index| parameters[index]);
        parameters[first] - parameters[second] + advantage
    }

    fn odds(&self, parameters: &[f64], pairing: &FittedPairing, seat: usize) -> Odds {
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

    /// The log-likelihood and its gradient.
    fn slope(&self, parameters: &[f64]) -> (f64, Vec<f64>) {
        let mut likelihood = 0.0;
        let mut gradient = vec![0.0; self.parameters];
        for pairing in &self.pairings {
            for seat in 0..2 {
                let odds = self.odds(parameters, pairing, seat);
                let points = pairing.points(seat);
                for (index, sign) in self.signed(pairing, seat) {
                    gradient[index] += sign * odds.slope(points);
                }
                likelihood += odds.likelihood(points);
            }
        }
        (likelihood, gradient)
    }

    /// The lower triangle of the curvature of the log-likelihood, negated. A term is added to the strengths of each group that depends only
    /// on their mean, which the games do not determine.
    pub(super) fn curvature(&self, parameters: &[f64]) -> Square {
        let mut curvature = Square::zero(self.parameters);
        for pairing in &self.pairings {
            for seat in 0..2 {
                let odds = self.odds(parameters, pairing, seat);
                let bend = odds.bend() * pairing.points(seat).iter().sum::<f64>();
                for (row, sign) in self.signed(pairing, seat) {
                    let columns = self.signed(pairing, seat);
                    for (column, other) in columns.filter(|&(column, _)| column <= row) {
                        curvature.add(row, column, sign * other * bend);
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

    fn likelihood(&self, [first, second]: [f64; 2]) -> f64 {
        let both = self.tail.ln_1p();
        let [won, lost] = [self.difference, -self.difference].map(|x| x.min(0.0) - both);
        first * won + second * lost
    }

    /// The derivative of the likelihood by the difference of strength.
    fn slope(&self, [first, second]: [f64; 2]) -> f64 {
        let [up, down] = self.scores();
        first * down - second * up
    }

    /// The negated second derivative, of each game.
    pub(super) fn bend(&self) -> f64 {
        let [first, second] = self.scores();
        first * second
    }
}
