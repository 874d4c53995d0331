//! The covariance of the estimates, and how well it is known.

use super::{Fit, Local, LocalSquare, Pairing, Sums, add, add_product, to_f64};
use crate::tournament::ratings::dispersion::{Pooled, Residuals};
use crate::tournament::ratings::matrix::{Factor, Square};

/// See [`Fit::hidden`]; so many standard errors.
const HIDDEN: f64 = 1.6;

/// Virtual draws move the rating of a bot that has played much more than its opponents further than the curvature tells, by
/// this share: it is the curvature where their ratings are, and less where they would be without.
const FURTHER: f64 = 0.25;

/// How often the ratings without virtual draws are approached. After so many steps what is missing is less
/// than a tenth, where half of the games are virtual.
const STEPS: usize = 3;

impl Fit<'_> {
    /// The degrees of freedom with which the variance of each bot's rating is known. It is mostly that of
    /// its own games, and the fewer they are compared with those of others, the less is known of how far
    /// theirs apply to it.
    pub(in crate::tournament::ratings) fn freedom_of_bots(&self, freedom: f64) -> Vec<f64> {
        let usual = self.usual_units();
        let own = |&units: &f64| {
            let missing = (1.0 - units / usual).max(0.0);
            1.0 / (1.0 / freedom + missing / units.max(1e-9))
        };
        self.units.iter().map(own).collect()
    }

    /// How many pairs, or games that are in none, the less experienced bot of a game has, in the mean of all games. In a gauntlet
    /// that is what all but one have: what scatters there is known from games like theirs.
    fn usual_units(&self) -> f64 {
        let (mut sum, mut all) = (0.0, 0.0);
        for pairing in &self.pairings {
            let units = pairing.meeting.units();
            sum += units * self.fewer_units(pairing);
            all += units;
        }
        if all > 0.0 { sum / all } else { 1.0 }
    }

    /// How many the bot of a pairing has that has fewer.
    fn fewer_units(&self, pairing: &Pairing) -> f64 {
        let [low, high] = pairing.bots.map(|bot| self.units[bot as usize]);
        low.min(high)
    }

    /// How much stronger a bot of this pairing may be than it seems, in natural units: where it has played fewer games than is
    /// usual, a standard error without draws. Then more of its games are decided than those of others tell.
    fn hidden(&self, pairing: &Pairing, usual: f64) -> f64 {
        let fewer = self.fewer_units(pairing);
        let missing = (1.0 - fewer / usual).max(0.0);
        HIDDEN * missing * (2.0 / fewer.max(1e-9)).sqrt()
    }

    /// The covariance of the parameters, in natural units, and the degrees of freedom with which it is
    /// known.
    pub(in crate::tournament::ratings) fn sandwich(
        &self,
        parameters: &[f64],
    ) -> Option<(Square, f64)> {
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

    /// The covariance, where results decided who met whom.
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

    /// Factors of the variances where results decided who met whom: those who were lucky meet each other, and
    /// never again those whom they beat by luck. The fewer games, the larger the field and the closer the
    /// bots, the more that matters; the formula is that of simulations (docs/ratings.md).
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

    /// Virtual draws pull ratings together, which is no scatter, but moves them away from the truth. The pull
    /// is taken where the ratings would be without it: where they are it is less, and the one bot that all
    /// others of a gauntlet have played is moved by what pulls all of them.
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

    /// The same from the squares of the scores of all units: where draws have a parameter of their own.
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
