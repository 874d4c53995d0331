//! The maximum-likelihood estimate of the parameters, and its covariance.

mod covariance;
mod odds;

use self::odds::{Odds, Slope, bend, ln_logistic, logistic};
use super::matrix::Square;
use super::{Draws, Meeting, Model, Results};

/// The most iterations of Newton's method; estimates that exist take fewer than ten.
const ITERATIONS: usize = 200;

/// A smaller step, in natural units (about 0.000 000 2 Elo), is the last.
const CONVERGED: f64 = 1e-9;

/// The share of the prior that is a win and a loss between equals, and not draws. Without it the
/// fitted draw parameter would be infinite when no weaker bot ever won.
const DECISIVE_PRIOR: f64 = 0.005;

/// A vector over the parameters: its non-zero elements. An index may occur twice.
type Sparse = [(Option<usize>, f64); 4];

/// Two bots that met, the one with the lower index first.
struct Pairing<'a> {
    bots: [usize; 2],
    meeting: &'a Meeting,
    /// Virtual draws with either bot as the first mover.
    virtual_draws: f64,
}

impl Pairing<'_> {
    /// Outcomes by first mover, with virtual draws.
    fn outcomes(&self) -> [[f64; 3]; 2] {
        let mut outcomes = self.meeting.all();
        for outcomes in &mut outcomes {
            outcomes[1] += self.virtual_draws;
        }
        outcomes
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
}

impl<'a> Fit<'a> {
    pub(super) fn new(results: &'a Results, model: &Model) -> Self {
        let mut games = vec![0.0; results.bots];
        let mut units = vec![0.0; results.bots];
        let mut groups: Vec<usize> = (0..results.bots).collect();
        let mut pairings = Vec::new();
        for (&(low, high), meeting) in &results.meetings {
            let outcomes = meeting.all();
            let total: f64 = outcomes.as_flattened().iter().sum();
            if total > 0.0 {
                games[low] += total;
                games[high] += total;
                units[low] += meeting.units();
                units[high] += meeting.units();
                join(&mut groups, low, high);
                pairings.push(Pairing {
                    bots: [low, high],
                    meeting,
                    virtual_draws: total,
                });
            }
        }
        let (mut drawn, mut decided) = (0.0, 0.0);
        for pairing in &mut pairings {
            let shares = pairing.bots.map(|bot| 1.0 / games[bot]);
            pairing.virtual_draws *= model.prior / 4.0 * (shares[0] + shares[1]);
            for outcomes in pairing.outcomes() {
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
        Self {
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

    /// The most likely parameters, with mean strength 0 in each group; `None` if they do not exist or
    /// are not unique.
    pub(super) fn maximize(&self) -> Option<Vec<f64>> {
        let mut parameters = vec![0.0; self.parameters];
        if let Some(index) = self.drawing {
            parameters[index] = 1.0;
        }
        let mut likelihood = self.likelihood(&parameters);
        for _ in 0..ITERATIONS {
            let step = self
                .curvature(&parameters)
                .cholesky()?
                .solve(self.gradient(&parameters));
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
                let reached = self.likelihood(&moved);
                if reached >= likelihood - 1e-13 * likelihood.abs() {
                    (parameters, likelihood) = (moved, reached);
                    break;
                }
                share /= 2.0;
                if share < 1e-9 {
                    return None;
                }
            }
            if longest < CONVERGED {
                return Some(parameters);
            }
        }
        None
    }

    fn odds(&self, parameters: &[f64], pairing: &Pairing, seat: usize) -> Odds {
        let [first, second] = [pairing.bots[seat], pairing.bots[1 - seat]];
        let advantage = self.advantage.map_or(0.0, |index| parameters[index]);
        Odds {
            difference: parameters[first] - parameters[second] + advantage,
            drawing: self.drawing.map(|index| parameters[index]),
        }
    }

    /// All seats of all pairings.
    fn seats(&self) -> impl Iterator<Item = (&Pairing<'a>, usize)> {
        self.pairings
            .iter()
            .flat_map(|pairing| [(pairing, 0), (pairing, 1)])
    }

    /// The gradient of one game's log-likelihood.
    fn unit(&self, pairing: &Pairing, seat: usize, slope: Slope) -> Sparse {
        [
            (Some(pairing.bots[seat]), slope.0),
            (Some(pairing.bots[1 - seat]), -slope.0),
            (self.advantage, slope.0),
            (self.drawing, slope.1),
        ]
    }

    fn likelihood(&self, parameters: &[f64]) -> f64 {
        let games = self.seats().map(|(pairing, seat)| {
            self.odds(parameters, pairing, seat)
                .likelihood(pairing.outcomes()[seat])
        });
        let games: f64 = games.sum();
        let prior = self
            .drawing
            .map_or(0.0, |index| ln_logistic(-parameters[index]));
        games + 2.0 * self.decisive_prior * prior
    }

    fn gradient(&self, parameters: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; self.parameters];
        for (pairing, seat) in self.seats() {
            let slopes = self.odds(parameters, pairing, seat).slopes();
            for (slope, count) in slopes.into_iter().zip(pairing.outcomes()[seat]) {
                for (index, part) in self.unit(pairing, seat, slope) {
                    if let Some(index) = index {
                        gradient[index] += count * part;
                    }
                }
            }
        }
        if let Some(index) = self.drawing {
            gradient[index] -= 2.0 * self.decisive_prior * logistic(parameters[index]);
        }
        gradient
    }

    /// The curvature of the log-likelihood, negated. To the strengths of each group a
    /// term is added that depends only on their mean, which the games do not determine.
    fn curvature(&self, parameters: &[f64]) -> Square {
        let mut curvature = Square::zero(self.parameters);
        for (pairing, seat) in self.seats() {
            let bends = self
                .odds(parameters, pairing, seat)
                .bends(pairing.outcomes()[seat]);
            for (slope, weight) in bends {
                add_square(&mut curvature, &self.unit(pairing, seat, slope), weight);
            }
        }
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
}

/// Adds `weight` times the square of `vector`.
fn add_square(matrix: &mut Square, vector: &[(Option<usize>, f64)], weight: f64) {
    for &(row, left) in vector {
        for &(column, right) in vector {
            if let (Some(row), Some(column)) = (row, column) {
                matrix.add(row, column, weight * left * right);
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵² bots")]
fn to_f64(count: usize) -> f64 {
    count as f64
}

/// Joins two groups. The number of a group is the lowest index in it.
fn join(groups: &mut [usize], a: usize, b: usize) {
    let (low, high) = (groups[a].min(groups[b]), groups[a].max(groups[b]));
    for group in groups.iter_mut().filter(|group| **group == high) {
        *group = low;
    }
}
