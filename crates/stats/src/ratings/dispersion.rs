//! How far results scatter around what the model expects.
//!
//! Without draws and with independent games the variance of a score s is s(1 − s). Draws make it less, and games of a
//! pair that share their luck make it less or more. How much is estimated from the residuals, divided by the model's
//! standard deviation: for pairs those of the difference of both games (about the bots) and of their sum (about
//! moving first), for other games one by one. A meeting has its own dispersion, as far as it has enough games,
//! otherwise that of all games. A few that scatter as the model says are added: even where all games were drawn,
//! something else can happen.

use super::Meeting;

/// The first mover's score, by the number of the outcome.
const SCORES: [f64; 3] = [1.0, 0.5, 0.0];

/// The weight of all games in the dispersion of a meeting, in pairs or games.
const POOLED: f64 = 5.0;

/// Pairs or games that are added to all, as scattered as without draws, for each virtual draw of a bot.
const ADDED: f64 = 0.25;

#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    count: f64,
    squares: f64,
    fourths: f64,
}

impl Moments {
    fn add(&mut self, residual: f64, count: f64) {
        self.count += count;
        self.squares += count * residual.powi(2);
        self.fourths += count * residual.powi(4);
    }

    fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.squares += other.squares;
        self.fourths += other.fourths;
    }
}

/// The residuals of a meeting, or sums of those of several.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Residuals {
    /// By first mover.
    deviations: [f64; 2],
    /// The least dispersion: with the expected score s, as many games are drawn as can be. The others are all won by
    /// the stronger bot, with the probability q = |2s − 1|, and the variance of a score is q(1 − q)/4, which is q/(1
    /// + q) of s(1 − s).
    least: f64,
    /// Games without a pair, by first mover.
    games: [f64; 2],
    single: Moments,
    difference: Moments,
    sum: Moments,
    /// The sum of the products of differences and sums.
    product: f64,
}

impl Residuals {
    /// `scores` are expected of the first movers. The difference of strength may be larger by `hidden`, in natural
    /// units.
    pub(super) fn new(meeting: &Meeting, scores: [f64; 2], hidden: f64) -> Self {
        let deviations = scores.map(|score| (score * (1.0 - score)).max(1e-12).sqrt());
        let surplus = (scores[0] - scores[1]).abs().min(1.0);
        let surplus = if hidden > 0.0 {
            // The surplus of a difference d is about tanh(d/2).
            (surplus.min(1.0 - 1e-12).atanh() + hidden / 2.0).tanh()
        } else {
            surplus
        };
        let standard =
            |seat: usize, outcome: usize| (SCORES[outcome] - scores[seat]) / deviations[seat];
        let mut new = Self {
            deviations,
            least: surplus / (1.0 + surplus),
            games: [0.0; 2],
            single: Moments::default(),
            difference: Moments::default(),
            sum: Moments::default(),
            product: 0.0,
        };
        for (seat, counts) in meeting.games.iter().enumerate() {
            for (outcome, &count) in counts.iter().enumerate() {
                let count = f64::from(count);
                new.games[seat] += count;
                if count > 0.0 {
                    new.single.add(standard(seat, outcome), count);
                }
            }
        }
        for (first, row) in meeting.pairs.iter().enumerate() {
            for (second, &count) in row.iter().enumerate().filter(|(_, count)| **count > 0) {
                let count = f64::from(count);
                let (first, second) = (standard(0, first), standard(1, second));
                let difference = (first - second) / std::f64::consts::SQRT_2;
                let sum = (first + second) / std::f64::consts::SQRT_2;
                new.difference.add(difference, count);
                new.sum.add(sum, count);
                new.product += count * difference * sum;
            }
        }
        new
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.single.join(&other.single);
        self.difference.join(&other.difference);
        self.sum.join(&other.sum);
        self.product += other.product;
    }
}

#[derive(Clone, Copy, Debug)]
struct Dispersion {
    value: f64,
    /// The factor by which squares of residuals are too small, because parameters were fitted to them.
    inflation: f64,
    /// What is added to the sum of squares, for each pair or game.
    added: f64,
    freedom: f64,
}

impl Dispersion {
    /// `fitted` residuals were used up by the parameters; `added` scatter as without draws.
    fn new(all: &Moments, fitted: f64, added: f64) -> Self {
        let left = (all.count - fitted).max(0.0);
        let value = (all.squares + added) / (left + added).max(1e-9);
        // A variance from n squares z² has the relative error Σz⁴/(Σz²)² − 1/n. The squares that are
        // added are those of a normal distribution, with z⁴ = 3.
        let relative = (all.fourths + 3.0 * added) / (all.squares + added).powi(2).max(1e-18)
            - 1.0 / (all.count + added).max(1e-9);
        let freedom = 2.0 / relative.max(1e-9) * (left + added) / (all.count + added).max(1e-9);
        Self {
            value,
            inflation: if left > 0.0 {
                (all.count / left).min(2.0)
            } else {
                2.0
            },
            added: added / all.count.max(1.0),
            freedom: freedom.min(left + added),
        }
    }

    /// The dispersion of a meeting, which with independent games could not be less than `least`.
    fn of(&self, own: &Moments, least: f64) -> f64 {
        let pooled = self.value.max(least);
        let squares = own.squares * self.inflation + own.count * self.added;
        (squares + POOLED * pooled) / (own.count + POOLED)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Pooled {
    single: Dispersion,
    difference: Dispersion,
    sum: Dispersion,
    /// The correlation of differences and sums.
    correlation: f64,
    /// Games without a pair, and pairs.
    games: f64,
    pairs: f64,
}

impl Pooled {
    /// `strengths` differences of strength and `advantages` (0 or 1) were fitted, with `prior` virtual draws of each
    /// bot.
    pub(super) fn new(
        all: &Residuals,
        strengths: f64,
        advantages: f64,
        virtual_draws: f64,
    ) -> Self {
        let added = ADDED * virtual_draws;
        let Residuals {
            single,
            difference,
            sum,
            product,
            ..
        } = *all;
        // A pair says as much as two games.
        let (games, pairs) = (single.count, difference.count);
        let in_pairs = 2.0 * pairs / (2.0 * pairs + games).max(1.0);
        let norm = (difference.squares * sum.squares).sqrt();
        Self {
            single: Dispersion::new(&single, (strengths + advantages) * (1.0 - in_pairs), added),
            difference: Dispersion::new(&difference, strengths * in_pairs, added),
            sum: Dispersion::new(&sum, advantages * in_pairs, added),
            correlation: if norm > 0.0 { product / norm } else { 0.0 },
            games,
            pairs,
        }
    }

    /// The covariance of the sums of a meeting's scores, by first mover.
    pub(super) fn covariance(&self, meeting: &Residuals) -> [[f64; 2]; 2] {
        let least = meeting.least;
        let single = self.single.of(&meeting.single, least);
        let pairs = meeting.difference.count;
        let difference = self.difference.of(&meeting.difference, least) * pairs;
        let sum = self.sum.of(&meeting.sum, least) * pairs;
        let product = self.correlation * (difference * sum).sqrt();
        // The residuals of both games are (difference + sum) and (sum − difference), over √2.
        let [a, b] = meeting.deviations;
        let first = f64::midpoint(difference, sum) + product;
        let second = f64::midpoint(difference, sum) - product;
        let both = (sum - difference) / 2.0 * a * b;
        [
            [a * a * (first + single * meeting.games[0]), both],
            [both, b * b * (second + single * meeting.games[1])],
        ]
    }

    pub(super) fn freedom(&self) -> f64 {
        let weight = self.games + 2.0 * self.pairs;
        if weight > 0.0 {
            (self.games * self.single.freedom + 2.0 * self.pairs * self.difference.freedom) / weight
        } else {
            1.0
        }
    }
}
