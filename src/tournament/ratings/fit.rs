//! The maximum-likelihood estimate of the parameters, and its covariance.

use super::matrix::Square;
use super::{Draws, Meeting, Model, Results};

/// The most iterations of Newton's method; estimates that exist take fewer than ten.
const ITERATIONS: usize = 200;

/// A smaller step, in natural units (about 0.000 000 2 Elo), is the last.
const CONVERGED: f64 = 1e-9;

/// The share of the prior that is a win and a loss between equals, and not draws. Without it the
/// fitted draw parameter would be infinite when no weaker bot ever won.
const DECISIVE_PRIOR: f64 = 0.005;

/// Derivatives of a log-likelihood by the difference of strength and by the draw parameter.
type Slope = (f64, f64);

/// A vector over the parameters: its non-zero elements. An index may occur twice.
type Sparse = [(Option<usize>, f64); 4];

/// Two bots that met, the one with the lower index first.
struct Pairing<'a> {
    bots: [usize; 2],
    meeting: &'a Meeting,
    /// Outcomes by first mover, with virtual draws.
    outcomes: [[f64; 3]; 2],
    /// Virtual draws with either bot as the first mover.
    virtual_draws: f64,
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
}

impl<'a> Fit<'a> {
    pub(super) fn new(results: &'a Results, model: &Model) -> Self {
        let mut games = vec![0.0; results.bots];
        let mut groups: Vec<usize> = (0..results.bots).collect();
        let mut pairings = Vec::new();
        for (&(low, high), meeting) in &results.meetings {
            let outcomes = meeting.all();
            let total: f64 = outcomes.as_flattened().iter().sum();
            if total > 0.0 {
                games[low] += total;
                games[high] += total;
                join(&mut groups, low, high);
                pairings.push(Pairing {
                    bots: [low, high],
                    meeting,
                    outcomes,
                    virtual_draws: total,
                });
            }
        }
        let (mut drawn, mut decided) = (0.0, 0.0);
        for pairing in &mut pairings {
            let shares = pairing.bots.map(|bot| 1.0 / games[bot]);
            pairing.virtual_draws *= model.prior / 4.0 * (shares[0] + shares[1]);
            for outcomes in &mut pairing.outcomes {
                outcomes[1] += pairing.virtual_draws;
                drawn += outcomes[1];
                decided += outcomes[0] + outcomes[2];
            }
        }
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

    /// The covariance of the parameters, in natural units.
    pub(super) fn sandwich(&self, parameters: &[f64]) -> Option<Square> {
        let mut filling = Square::zero(self.parameters);
        let mut count_of_units = 0.0;
        for pairing in &self.pairings {
            let units = [0, 1].map(|seat| {
                let slopes = self.odds(parameters, pairing, seat).slopes();
                slopes.map(|slope| self.unit(pairing, seat, slope))
            });
            count_of_units += 2.0 * pairing.virtual_draws + pairing.meeting.units();
            for (seat, units) in units.iter().enumerate() {
                add_square(&mut filling, &units[1], pairing.virtual_draws);
                for (unit, count) in units.iter().zip(pairing.meeting.games[seat]) {
                    add_square(&mut filling, unit, count);
                }
            }
            for (first, row) in units[0].iter().zip(pairing.meeting.pairs) {
                for (second, count) in units[1].iter().zip(row) {
                    add_square(&mut filling, &[*first, *second].concat(), count);
                }
            }
        }
        // Residuals are smaller than errors, because the parameters were fitted to them.
        let means = self.groups.iter().enumerate();
        let means = means.filter(|(bot, group)| bot == *group).count();
        let fitted = u32::try_from(self.parameters - means).map_or(f64::INFINITY, f64::from);
        filling.scale(count_of_units / (count_of_units - fitted).max(1.0));
        Some(self.curvature(parameters).cholesky()?.sandwich(&filling))
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
                .likelihood(pairing.outcomes[seat])
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
            for (slope, count) in slopes.into_iter().zip(pairing.outcomes[seat]) {
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
                .bends(pairing.outcomes[seat]);
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

/// The likelihood of a game between two bots.
///
/// With x the difference of strength and d the draw parameter, the first mover wins with
/// probability σ(x − d) and loses with σ(−x − d). The probability of a draw is the rest,
/// σ(x − d)·σ(−x − d)·(e²ᵈ − 1): that of a win, that of a loss, and a factor. When draws are
/// half wins, d is 0 and a draw is half a win and half a loss.
struct Odds {
    /// Strength of the first mover − strength of the second + advantage.
    difference: f64,
    drawing: Option<f64>,
}

impl Odds {
    /// Arguments of σ for a win and for a loss.
    fn arguments(&self) -> (f64, f64) {
        let drawing = self.drawing.unwrap_or(0.0);
        (self.difference - drawing, -self.difference - drawing)
    }

    /// The counts of wins and of losses, draws included.
    fn counts(&self, [wins, draws, losses]: [f64; 3]) -> (f64, f64) {
        let worth = if self.drawing.is_some() { 1.0 } else { 0.5 };
        (wins + worth * draws, losses + worth * draws)
    }

    fn likelihood(&self, outcomes: [f64; 3]) -> f64 {
        let (won, lost) = self.arguments();
        let (wins, losses) = self.counts(outcomes);
        let draw = match self.drawing {
            Some(drawing) if drawing <= 0.0 => f64::NEG_INFINITY,
            Some(drawing) => 2.0 * drawing + (-(-2.0 * drawing).exp_m1()).ln(),
            None => 0.0,
        };
        // 0 times infinity would be NaN.
        let draws = if outcomes[1] > 0.0 {
            outcomes[1] * draw
        } else {
            0.0
        };
        wins * ln_logistic(won) + losses * ln_logistic(lost) + draws
    }

    /// Slopes of a win, a draw and a loss.
    fn slopes(&self) -> [Slope; 3] {
        let (won, lost) = self.arguments();
        let (up, down) = (logistic(-won), logistic(-lost));
        let draw = match self.drawing {
            Some(drawing) => (up - down, -up - down - 2.0 / (-2.0 * drawing).exp_m1()),
            None => ((up - down) / 2.0, 0.0),
        };
        [(up, -up), draw, (-down, -down)]
    }

    /// The negated curvature as a sum of squares of slopes with weights.
    fn bends(&self, outcomes: [f64; 3]) -> [(Slope, f64); 3] {
        let (won, lost) = self.arguments();
        let (wins, losses) = self.counts(outcomes);
        let draw = self
            .drawing
            .map_or(0.0, |drawing| 1.0 / drawing.sinh().powi(2));
        [
            ((1.0, -1.0), wins * bend(won)),
            ((-1.0, -1.0), losses * bend(lost)),
            ((0.0, 1.0), outcomes[1] * draw),
        ]
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Slope of [`logistic`].
fn bend(x: f64) -> f64 {
    logistic(x) * logistic(-x)
}

/// Logarithm of [`logistic`], without loss far from 0.
fn ln_logistic(x: f64) -> f64 {
    x.min(0.0) - (-x.abs()).exp().ln_1p()
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

/// Joins two groups. The number of a group is the lowest index in it.
fn join(groups: &mut [usize], a: usize, b: usize) {
    let (low, high) = (groups[a].min(groups[b]), groups[a].max(groups[b]));
    for group in groups.iter_mut().filter(|group| **group == high) {
        *group = low;
    }
}
