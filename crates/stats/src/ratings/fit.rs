//! The maximum-likelihood estimate of the parameters, and its covariance.

use std::f64::consts::PI;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::dispersion::{Pooled, Residuals};
use super::matrix::{Factor, Square, Triangle};
use super::{Meeting, Model, Results};
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

/// Fewer pairings are computed before a thread has been started.
const MANY: usize = 20_000;

/// Pairings that a thread takes at a time.
const PART: usize = 1 << 12;

/// Over the parameters of a pairing: the strengths of its two bots, the advantage.
type Local = [f64; 3];

type LocalSquare = [Local; 3];

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

/// The likelihood function. The parameters are the bots' strengths in natural units, then the advantage if it is
/// fitted.
pub(super) struct Fit<'a> {
    pub(super) groups: Vec<usize>,
    pub(super) advantage: Option<usize>,
    parameters: usize,
    pairings: Vec<Pairing<'a>>,
    prior: f64,
    adaptive: bool,
    /// Each bot's pairs, or games without a pair.
    units: Vec<f64>,
    /// The number of differences of strength that the games determine, without virtual draws.
    strengths: f64,
    threads: usize,
}

impl<'a> Fit<'a> {
    pub(super) fn new(results: &'a Results, model: &Model) -> Self {
        let mut games = vec![0.0; results.bots];
        let mut units = vec![0.0; results.bots];
        let mut groups: Vec<usize> = (0..results.bots).collect();
        let mut pairings = Vec::with_capacity(results.meetings.len());
        for (&bots, meeting) in &results.meetings {
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
        for pairing in &mut pairings {
            let shares = pairing.bots.map(|bot| 1.0 / games[bot as usize]);
            pairing.virtual_draws *= model.prior / 4.0 * (shares[0] + shares[1]);
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
        let has_advantage = model.advantage && !pairings.is_empty();
        let advantage = has_advantage.then_some(results.bots);
        let threads = if pairings.len() < MANY {
            1
        } else {
            threads::processors()
        };
        Self {
            threads,
            groups,
            advantage,
            parameters: results.bots + usize::from(has_advantage),
            pairings,
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
        Odds::new(parameters[first] - parameters[second] + advantage)
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

    /// The gradient of the difference of strength in a game in which the bot of this seat moved first.
    const fn unit(seat: usize) -> Local {
        if seat == 0 {
            [1.0, -1.0, 1.0]
        } else {
            [-1.0, 1.0, 1.0]
        }
    }

    const fn indices(&self, pairing: &Pairing) -> [Option<usize>; 3] {
        let [low, high] = pairing.bots;
        [Some(low as usize), Some(high as usize), self.advantage]
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
                let unit = Self::unit(seat);
                for (slope, count) in odds.slopes().into_iter().zip(outcomes) {
                    add(&mut sum, &unit.map(|part| part * slope), count);
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
                let unit = Self::unit(seat);
                add_product(&mut sum, &unit, &unit, odds.bend(pairing.outcomes(seat)));
            }
            sum
        };
        self.of_pairings(of_pairing, |pairing, sum| curvature.add(pairing, &sum));
        let mut curvature = curvature.into_square();
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

/// The likelihood of a game between two bots: with the difference of strength x the first mover wins with probability
/// σ(x). A draw is half a win and half a loss.
struct Odds {
    /// Strength of the first mover − strength of the second + advantage.
    difference: f64,
    /// e to the power of −|difference|.
    tail: f64,
}

impl Odds {
    fn new(difference: f64) -> Self {
        Self {
            difference,
            tail: (-difference.abs()).exp(),
        }
    }

    /// Expected.
    fn scores(&self) -> [f64; 2] {
        let large = 1.0 / (1.0 + self.tail);
        let small = self.tail * large;
        if self.difference < 0.0 {
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

    /// The negated second derivative.
    fn bend(&self, [wins, draws, losses]: [f64; 3]) -> f64 {
        let [first, second] = self.scores();
        (wins + 0.5 * draws + (losses + 0.5 * draws)) * first * second
    }
}

/// A sum of matrices. The diagonal and the column of the advantage get something from every pairing: they are apart
/// until all has been added, because in the matrix each of their cells is in a page of memory of its own.
struct Sums {
    square: Square,
    diagonal: Vec<f64>,
    /// Each bot with the advantage.
    shared: Vec<f64>,
    /// The square of the advantage.
    end: f64,
    advantage: Option<usize>,
}

impl Sums {
    fn new(fit: &Fit<'_>) -> Self {
        let bots = fit.groups.len();
        Self {
            square: Square::zero(fit.parameters),
            diagonal: vec![0.0; bots],
            shared: vec![0.0; bots],
            end: 0.0,
            advantage: fit.advantage,
        }
    }

    fn add(&mut self, pairing: &Pairing<'_>, of_pairing: &LocalSquare) {
        let bots = pairing.bots.map(|bot| bot as usize);
        let [low, high] = bots;
        self.square.add(low, high, of_pairing[0][1]);
        for (seat, bot) in bots.into_iter().enumerate() {
            self.diagonal[bot] += of_pairing[seat][seat];
            self.shared[bot] += of_pairing[seat][2];
        }
        self.end += of_pairing[2][2];
    }

    fn into_square(self) -> Square {
        let mut square = self.square;
        for (bot, sum) in self.diagonal.into_iter().enumerate() {
            square.add(bot, bot, sum);
        }
        if let Some(index) = self.advantage {
            for (bot, sum) in self.shared.into_iter().enumerate() {
                square.add(bot, index, sum);
            }
            square.add(index, index, self.end);
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
        let (mut filling, freedom) = self.filling(parameters);
        let pull = self.pull_without(parameters, &curvature);
        for (row, left) in pull.iter().enumerate() {
            for (column, right) in pull.iter().enumerate() {
                filling.add(row, column, left * right);
            }
        }
        let mut covariance = curvature.sandwich(filling);
        self.add_further(&mut covariance, &curvature.solve(pull));
        if self.adaptive {
            let factors = self.adaptive_factors(parameters, &covariance);
            covariance.scale_each(&factors);
        }
        Some((covariance, freedom))
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
            let seats = [0, 1].map(Self::unit);
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
                let unit = Self::unit(seat).map(|part| part * slope);
                add(&mut sum, &unit, pairing.virtual_draws);
            }
            sum
        };
        self.of_pairings(of_pairing, |pairing, sum| {
            self.add_vector(&mut pull, pairing, &sum);
        });
        pull
    }
}
