//! The maximum-likelihood estimate of the parameters, and its covariance.

use std::f64::consts::PI;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::dispersion::{Pooled, Residuals};
use super::matrix::{Factor, Square, Triangle};
use super::{Draws, Meeting, Met, Model, Results};
use crate::threads::{self, InOrder, locked};

/// Estimates that exist take fewer than ten.
const ITERATIONS: usize = 200;

/// Smaller steps, in natural units (about 0.000 000 2 Elo), are not made.
const CONVERGED: f64 = 1e-9;

/// The largest spread of strengths to begin with: the variance of the odds' logarithms. Beyond it the formula for
/// small ones is wrong.
const SPREAD: f64 = 1.5;

/// A step with the curvature of an earlier point is good enough while each is at least this many times as short as
/// the one before. To factorise the curvature of a thousand bots takes as long as ten such steps.
const SHRINKING: f64 = 8.0;

/// The share of the prior that is a win and a loss between equals. Without it the draw parameter would be infinite
/// when no weaker bot ever won.
const DECISIVE_PRIOR: f64 = 0.005;

/// Fewer pairings are computed before a thread has been started.
const MANY: usize = 20_000;

/// Pairings that a thread takes at a time.
const PART: usize = 1 << 12;

/// Over the parameters of a pairing: the strengths of its two bots, the advantage, the draw parameter.
type Local = [f64; 4];

type LocalSquare = [Local; 4];

/// Two bots that met, the one with the lower index first.
struct Pairing<'a> {
    bots: [u32; 2],
    meeting: &'a Meeting,
    /// With either bot as the first mover.
    virtual_draws: f64,
    /// By first mover, without virtual draws.
    outcomes: [[u32; 3]; 2],
}

impl Pairing<'_> {
    /// With the bot of this seat as the first mover, and with virtual draws.
    fn outcomes(&self, seat: usize) -> [f64; 3] {
        let [wins, draws, losses] = self.outcomes[seat].map(f64::from);
        [wins, draws + self.virtual_draws, losses]
    }
}

/// The likelihood function. The parameters are the bots' strengths in natural units, then the advantage and the draw
/// parameter if they are fitted.
pub(super) struct Fit<'a> {
    pub(super) groups: Vec<usize>,
    pub(super) advantage: Option<usize>,
    pub(super) drawing: Option<usize>,
    parameters: usize,
    pairings: Vec<Pairing<'a>>,
    decisive_prior: f64,
    prior: f64,
    adaptive: bool,
    /// Each bot's pairs, or games without a pair.
    units: Vec<f64>,
    /// The number of differences of strength that the games determine, without virtual draws.
    strengths: f64,
    threads: usize,
}

impl<'a> Fit<'a> {
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

    /// Strengths by the bots' scores, as if each had met all others of its group. A thousand bots need one curvature
    /// from there, and three from equal strengths.
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
        // Finite for a bot that won or lost all games.
        let odds = |&[points, games]: &[f64; 2]| ((points + 0.5) / (games - points + 0.5)).ln();
        let odds: Vec<f64> = scores.iter().map(odds).collect();
        let mut sums = vec![[0.0; 2]; bots];
        for (&group, odds) in self.groups.iter().zip(&odds) {
            sums[group][0] += odds;
            sums[group][1] += 1.0;
        }
        let from_mean = |(&group, odds): (&usize, &f64)| odds - sums[group][0] / sums[group][1];
        let centred: Vec<f64> = self.groups.iter().zip(&odds).map(from_mean).collect();
        // Opponents differ from each other, too: σ of a normal variable is in the mean about σ(mean / √(1 + π/8 ·
        // variance)).
        let spread = centred.iter().map(|odds| odds * odds).sum::<f64>() / to_f64(bots.max(1));
        let factor = 1.0 / (1.0 - PI / 8.0 * spread.min(SPREAD)).sqrt();
        for (parameter, odds) in parameters.iter_mut().zip(centred) {
            *parameter = factor * odds;
        }
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

    /// Takes the results in the order of the pairings: sums are the same to the last bit for any number of threads.
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

    /// The gradient of the log-likelihood of a game in which the bot of this seat moved first.
    const fn unit(seat: usize, slope: Slope) -> Local {
        let mut unit = [slope.0, slope.0, slope.0, slope.1];
        unit[1 - seat] = -slope.0;
        unit
    }

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

    /// The curvature of the log-likelihood, negated. A term is added to the strengths of each group that depends only
    /// on their mean, which the games do not determine.
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

    fn add_vector(&self, vector: &mut [f64], pairing: &Pairing, of_pairing: &Local) {
        for (index, part) in self.indices(pairing).into_iter().zip(of_pairing) {
            if let Some(index) = index {
                vector[index] += part;
            }
        }
    }
}

fn add(sum: &mut Local, vector: &Local, weight: f64) {
    for (sum, part) in sum.iter_mut().zip(vector) {
        *sum += weight * part;
    }
}

fn add_product(sum: &mut LocalSquare, left: &Local, right: &Local, weight: f64) {
    for (row, left) in sum.iter_mut().zip(left) {
        add(row, right, weight * left);
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵² bots")]
fn to_f64(count: usize) -> f64 {
    count as f64
}

/// The number of a group is the lowest index in it.
fn join(groups: &mut [usize], a: usize, b: usize) {
    let (low, high) = (groups[a].min(groups[b]), groups[a].max(groups[b]));
    if low == high {
        return;
    }
    for group in groups.iter_mut().filter(|group| **group == high) {
        *group = low;
    }
}

/// Derivatives of a log-likelihood by the difference of strength and by the draw parameter.
type Slope = (f64, f64);

/// The likelihood of a game between two bots.
///
/// With x the difference of strength and d the draw parameter, the first mover wins with probability σ(x − d) and
/// loses with σ(−x − d). The rest, a draw, is σ(x − d)·σ(−x − d)·(e²ᵈ − 1): that of a win, that of a loss, and a
/// factor. When draws are half wins, d is 0 and a draw is half a win and half a loss.
struct Odds {
    /// Strength of the first mover − strength of the second + advantage.
    difference: f64,
    drawing: Option<f64>,
    /// e to the power of −|difference|.
    tail: f64,
}

impl Odds {
    fn new(difference: f64, drawing: Option<f64>) -> Self {
        Self {
            difference,
            drawing,
            tail: (-difference.abs()).exp(),
        }
    }

    /// Expected, if draws have no parameter.
    fn scores(&self) -> [f64; 2] {
        let large = 1.0 / (1.0 + self.tail);
        let small = self.tail * large;
        if self.difference < 0.0 {
            [small, large]
        } else {
            [large, small]
        }
    }

    /// Arguments of σ for a win and for a loss.
    fn arguments(&self) -> (f64, f64) {
        let drawing = self.drawing.unwrap_or(0.0);
        (self.difference - drawing, -self.difference - drawing)
    }

    /// Wins and losses, draws included in both.
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
        let [won, lost] = if self.drawing.is_some() {
            [won, lost].map(ln_logistic)
        } else {
            let both = self.tail.ln_1p();
            [won, lost].map(|x| x.min(0.0) - both)
        };
        wins * won + losses * lost + draws
    }

    /// Of a win, a draw and a loss.
    fn slopes(&self) -> [Slope; 3] {
        let Some(drawing) = self.drawing else {
            let [down, up] = self.scores();
            return [(up, -up), ((up - down) / 2.0, 0.0), (-down, -down)];
        };
        let (won, lost) = self.arguments();
        let (up, down) = (logistic(-won), logistic(-lost));
        let draw = (up - down, -up - down - 2.0 / (-2.0 * drawing).exp_m1());
        [(up, -up), draw, (-down, -down)]
    }

    /// The negated curvature as squares of slopes with weights.
    fn bends(&self, outcomes: [f64; 3]) -> [(Slope, f64); 3] {
        let (won, lost) = self.arguments();
        let (wins, losses) = self.counts(outcomes);
        let Some(drawing) = self.drawing else {
            // Those of wins and losses are the same.
            let [first, second] = self.scores();
            let weight = (wins + losses) * first * second;
            return [((1.0, 0.0), weight), ((0.0, 0.0), 0.0), ((0.0, 0.0), 0.0)];
        };
        let (bend_of_win, bend_of_loss) = (bend(won), bend(lost));
        let draw = 1.0 / drawing.sinh().powi(2);
        [
            ((1.0, -1.0), wins * bend_of_win),
            ((-1.0, -1.0), losses * bend_of_loss),
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

/// Without loss far from 0.
fn ln_logistic(x: f64) -> f64 {
    x.min(0.0) - (-x.abs()).exp().ln_1p()
}

/// A sum of matrices. The diagonal and the columns of the parameters that all games share get something from every
/// pairing: they are apart until all has been added, because in the matrix each of their cells is in a page of memory
/// of its own.
struct Sums {
    square: Square,
    diagonal: Vec<f64>,
    /// Each bot with the advantage and with the draw parameter.
    shared: [Vec<f64>; 2],
    /// The squares of these two, and their product.
    ends: [[f64; 2]; 2],
    indices: [Option<usize>; 2],
}

impl Sums {
    fn new(fit: &Fit<'_>) -> Self {
        let bots = fit.groups.len();
        Self {
            square: Square::zero(fit.parameters),
            diagonal: vec![0.0; bots],
            shared: [vec![0.0; bots], vec![0.0; bots]],
            ends: [[0.0; 2]; 2],
            indices: [fit.advantage, fit.drawing],
        }
    }

    fn add(&mut self, pairing: &Pairing<'_>, of_pairing: &LocalSquare) {
        let bots = pairing.bots.map(|bot| bot as usize);
        let [low, high] = bots;
        self.square.add(low, high, of_pairing[0][1]);
        for (seat, bot) in bots.into_iter().enumerate() {
            self.diagonal[bot] += of_pairing[seat][seat];
            for (column, sums) in self.shared.iter_mut().enumerate() {
                sums[bot] += of_pairing[seat][2 + column];
            }
        }
        for (row, sums) in self.ends.iter_mut().enumerate() {
            for (column, sum) in sums.iter_mut().enumerate() {
                *sum += of_pairing[2 + row][2 + column];
            }
        }
    }

    fn into_square(self) -> Square {
        let Self {
            mut square,
            diagonal,
            shared,
            ends,
            indices,
        } = self;
        for (bot, sum) in diagonal.into_iter().enumerate() {
            square.add(bot, bot, sum);
        }
        for (index, sums) in indices.into_iter().zip(shared) {
            for (bot, sum) in sums.into_iter().enumerate() {
                if let Some(index) = index {
                    square.add(bot, index, sum);
                }
            }
        }
        for (row, sums) in indices.into_iter().zip(ends) {
            for (column, sum) in indices.into_iter().zip(sums) {
                if let (Some(row), Some(column)) = (row, column)
                    && row <= column
                {
                    square.add(row, column, sum);
                }
            }
        }
        square.mirror(Triangle::Upper);
        square
    }
}

/// See [`Fit::hidden`]; in standard errors.
const HIDDEN: f64 = 1.6;

/// The share by which virtual draws move the rating of a bot that has played much more than its opponents further
/// than the curvature tells: it is the curvature where their ratings are, and less where they would be without.
const FURTHER: f64 = 0.25;

/// How often the ratings without virtual draws are approached: what is missing is then less than a tenth, where half
/// of the games are virtual.
const STEPS: usize = 3;

impl Fit<'_> {
    /// The degrees of freedom of each bot's variance. It is mostly that of its own games; the fewer they are compared
    /// with those of others, the less is known of how far theirs apply to it.
    pub(super) fn freedom_of_bots(&self, freedom: f64) -> Vec<f64> {
        let usual = self.usual_units();
        let own = |&units: &f64| {
            let missing = (1.0 - units / usual).max(0.0);
            1.0 / (1.0 / freedom + missing / units.max(1e-9))
        };
        self.units.iter().map(own).collect()
    }

    /// The mean, over all games, of the units of the less experienced bot. In a gauntlet that is what all but one
    /// have.
    fn usual_units(&self) -> f64 {
        let (mut sum, mut all) = (0.0, 0.0);
        for pairing in &self.pairings {
            let units = pairing.meeting.units();
            sum += units * self.fewer_units(pairing);
            all += units;
        }
        if all > 0.0 { sum / all } else { 1.0 }
    }

    fn fewer_units(&self, pairing: &Pairing) -> f64 {
        let [low, high] = pairing.bots.map(|bot| self.units[bot as usize]);
        low.min(high)
    }

    /// How much stronger a bot of this pairing may be than it seems, in natural units: where it has played fewer
    /// games than is usual, a standard error without draws. Then more of its games are decided than those of others
    /// tell.
    fn hidden(&self, pairing: &Pairing, usual: f64) -> f64 {
        let fewer = self.fewer_units(pairing);
        let missing = (1.0 - fewer / usual).max(0.0);
        HIDDEN * missing * (2.0 / fewer.max(1e-9)).sqrt()
    }

    /// The covariance of the parameters, in natural units, and its degrees of freedom.
    pub(super) fn sandwich(&self, parameters: &[f64]) -> Option<(Square, f64)> {
        let curvature = self.curvature(parameters).cholesky()?;
        if self.drawing.is_some() {
            let (filling, freedom) = self.filling_of_units(parameters);
            return Some((
                self.adapted(curvature.sandwich(filling), parameters),
                freedom,
            ));
        }
        let (mut filling, freedom) = self.filling(parameters);
        let pull = self.pull_without(parameters, &curvature);
        for (row, left) in pull.iter().enumerate() {
            for (column, right) in pull.iter().enumerate() {
                filling.add(row, column, left * right);
            }
        }
        let mut covariance = curvature.sandwich(filling);
        self.add_further(&mut covariance, &curvature.solve(pull));
        Some((self.adapted(covariance, parameters), freedom))
    }

    /// Where results decided who met whom.
    fn adapted(&self, mut covariance: Square, parameters: &[f64]) -> Square {
        if self.adaptive {
            let factors = self.adaptive_factors(parameters, &covariance);
            covariance.scale_each(&factors);
        }
        covariance
    }

    /// Adds what virtual draws move the ratings further than by `moved`; see [`FURTHER`].
    fn add_further(&self, covariance: &mut Square, moved: &[f64]) {
        let usual = self.usual_units();
        let factor = |&units: &f64| 1.0 + FURTHER * (1.0 - usual / units.max(usual));
        let factors: Vec<f64> = self.units.iter().map(factor).collect();
        for (row, left) in factors.iter().enumerate() {
            for (column, right) in factors.iter().enumerate() {
                let more = left * right - 1.0;
                if more > 0.0 {
                    covariance.add(row, column, more * moved[row] * moved[column]);
                }
            }
        }
    }

    /// Factors of the variances where results decided who met whom: lucky bots meet each other, and never again those
    /// whom they beat by luck. The fewer games, the larger the field and the closer the bots, the more that matters;
    /// the formula comes from simulations (docs/ratings.md).
    fn adaptive_factors(&self, parameters: &[f64], covariance: &Square) -> Vec<f64> {
        let bots = self.groups.len();
        let mean = |figure: &dyn Fn(usize) -> f64| {
            (0..bots).map(figure).sum::<f64>() / to_f64(bots.max(1))
        };
        let few = |bot: usize| 1.0 + 1.4 * covariance.at(bot, bot).max(0.0);
        let variance = mean(&|bot| covariance.at(bot, bot) * few(bot));
        let spread = mean(&|bot| parameters[bot].powi(2)) / variance.max(1e-12);
        let large = 2.0 * (to_f64(bots.max(1)).log2() - 3.4).max(0.0);
        let close = 1.0 + large / spread.max(1.0);
        let factor = |index| {
            if index < bots {
                few(index) * close
            } else {
                1.0
            }
        };
        (0..self.parameters).map(factor).collect()
    }

    /// The covariance of the gradient, and its degrees of freedom; see [`dispersion`](super::dispersion).
    fn filling(&self, parameters: &[f64]) -> (Square, f64) {
        let expected = |pairing: &Pairing, seat| {
            let [score, _] = self.odds(parameters, pairing, seat).scores();
            score
        };
        let usual = self.usual_units();
        // Computed twice, because half a million of them would be large.
        let residuals = |pairing: &Pairing| {
            let scores = [0, 1].map(|seat| expected(pairing, seat));
            Residuals::new(pairing.meeting, scores, self.hidden(pairing, usual))
        };
        let advantages = f64::from(u8::from(self.advantage.is_some()));
        let mut all = Residuals::default();
        self.of_pairings(residuals, |_, of_pairing| all.join(&of_pairing));
        let pooled = Pooled::new(&all, self.strengths, advantages, self.prior);
        let mut filling = Sums::new(self);
        let of_pairing = |pairing: &Pairing| {
            let seats = [0, 1].map(|seat| Self::unit(seat, (1.0, 0.0)));
            let covariance = pooled.covariance(&residuals(pairing));
            let mut sum = LocalSquare::default();
            for (left, row) in seats.iter().zip(covariance) {
                for (right, covariance) in seats.iter().zip(row) {
                    add_product(&mut sum, left, right, covariance);
                }
            }
            sum
        };
        self.of_pairings(of_pairing, |pairing, sum| filling.add(pairing, &sum));
        (filling.into_square(), pooled.freedom())
    }

    /// Virtual draws pull ratings together, which is not scatter, but moves them away from the truth. The pull is
    /// taken where the ratings would be without it: where they are it is less, and the bot that all others of a
    /// gauntlet have played is moved by what pulls all of them.
    fn pull_without(&self, parameters: &[f64], curvature: &Factor) -> Vec<f64> {
        let mut pull = self.pull(parameters);
        for _ in 0..STEPS {
            let moved = curvature.solve(pull);
            let before = parameters.iter().zip(&moved);
            let before: Vec<f64> = before.map(|(value, moved)| value - moved).collect();
            pull = self.pull(&before);
        }
        pull
    }

    /// The slope of the likelihood of the virtual draws.
    fn pull(&self, parameters: &[f64]) -> Vec<f64> {
        let mut pull = vec![0.0; self.parameters];
        let of_pairing = |pairing: &Pairing| {
            let mut sum = Local::default();
            for seat in 0..2 {
                let slope = self.odds(parameters, pairing, seat).slopes()[1];
                let unit = Self::unit(seat, (slope.0, 0.0));
                add(&mut sum, &unit, pairing.virtual_draws);
            }
            sum
        };
        self.of_pairings(of_pairing, |pairing, sum| {
            self.add_vector(&mut pull, pairing, &sum);
        });
        pull
    }

    /// The same where draws have a parameter of their own: from the squares of the scores of all units.
    fn filling_of_units(&self, parameters: &[f64]) -> (Square, f64) {
        let mut filling = Sums::new(self);
        let mut count_of_units = 0.0;
        for pairing in &self.pairings {
            let units = [0, 1].map(|seat| {
                let slopes = self.odds(parameters, pairing, seat).slopes();
                slopes.map(|slope| Self::unit(seat, slope))
            });
            count_of_units += 2.0 * pairing.virtual_draws + pairing.meeting.units();
            let mut sum = LocalSquare::default();
            for (seat, units) in units.iter().enumerate() {
                add_product(&mut sum, &units[1], &units[1], pairing.virtual_draws);
                for (unit, count) in units.iter().zip(pairing.meeting.games[seat].map(f64::from)) {
                    add_product(&mut sum, unit, unit, count);
                }
            }
            for (first, row) in units[0].iter().zip(pairing.meeting.pairs) {
                for (second, count) in units[1].iter().zip(row) {
                    let mut both = *first;
                    add(&mut both, second, 1.0);
                    add_product(&mut sum, &both, &both, f64::from(count));
                }
            }
            filling.add(pairing, &sum);
        }
        let mut filling = filling.into_square();
        // Residuals are smaller than errors, because the parameters were fitted to them.
        let means = self.groups.iter().enumerate();
        let means = means.filter(|(bot, group)| bot == *group).count();
        let fitted = u32::try_from(self.parameters - means).map_or(f64::INFINITY, f64::from);
        let left = (count_of_units - fitted).max(1.0);
        filling.scale(count_of_units / left);
        (filling, left)
    }
}
