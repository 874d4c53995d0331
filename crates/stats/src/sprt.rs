//! The Elo difference of two bots from counts of results, and a sequential test.
//!
//! Counts of pairs ([`Pentanomial`]) are better than those of games ([`Trinomial`]): games of the same opening are
//! correlated.
//!
//! Source: M. Van den Bergh, *A comparison of the approximations to the GSPRT*; the formulas and the treatment of
//! empty cells are those of fastchess.

use std::f64::consts::SQRT_2;

use serde::{Deserialize, Serialize};

/// Half the width of the central 95 % of a normal distribution, in standard deviations.
pub(super) const SIGMAS_95: f64 = 1.959_963_984_540_054;

/// What an empty cell counts as in a likelihood ratio.
const EMPTY_CELL: f64 = 1e-3;

/// In Elo, positive or negative: one point lost in 100,000 games. A larger difference would rest on less than a point in
/// the 40,000 games that a test usually has at most.
const LARGEST_ELO: f64 = 2000.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Infinite when every game went the same way.
    pub elo: f64,
    /// Half the width of the 95 % interval, in Elo; `None` when it is infinite.
    pub error: Option<f64>,
}

/// How often each score was reached, from the worst to the best.
///
/// `K` is 3 for games and 5 for pairs. Score `i` is worth `i / (K − 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scores<const K: usize>(pub [u32; K]);

impl<const K: usize> Default for Scores<K> {
    fn default() -> Self {
        Self([0; K])
    }
}

/// Games: lost, drawn, won.
pub type Trinomial = Scores<3>;

/// Pairs of games by points made: 0, ½, 1, 1½, 2.
pub type Pentanomial = Scores<5>;

impl<const K: usize> Scores<K> {
    /// From 0 to 1.
    pub(super) fn values() -> [f64; K] {
        let number = |step| u32::try_from(step).map_or(f64::INFINITY, f64::from);
        std::array::from_fn(|step| number(step) / number(K - 1))
    }

    pub fn total(&self) -> f64 {
        self.0.iter().copied().map(f64::from).sum()
    }

    /// From 0 to 1; ½ without any.
    pub(super) fn mean(&self) -> f64 {
        0.5 + self.above_half().0
    }

    /// The difference of the mean score from ½, with a single rounding, and the variance of one unit.
    fn above_half(&self) -> (f64, f64) {
        let total = self.total();
        if total == 0.0 {
            return (0.0, 0.0);
        }
        let values = Self::values().map(|value| value - 0.5);
        let mean = |values: [f64; K]| {
            let weighted = values.iter().zip(self.0);
            let sum: f64 = weighted
                .map(|(value, count)| value * f64::from(count))
                .sum();
            sum / total
        };
        let above = mean(values);
        let variance = mean(values.map(|value| (value - above) * (value - above)));
        (above, variance)
    }

    pub fn elo(&self) -> Estimate {
        let (above, variance) = self.above_half();
        let reach = SIGMAS_95 * (variance / self.total()).sqrt();
        let error = (elo_of(above + reach) - elo_of(above - reach)) / 2.0;
        Estimate {
            elo: elo_of(above),
            error: Some(error).filter(|error| error.is_finite()),
        }
    }

    /// Likelihood of superiority: the probability, 0 to 1, that the true score is above ½.
    pub fn superiority(&self) -> f64 {
        let (above, variance) = self.above_half();
        superiority(above, (variance / self.total()).sqrt())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Continue,
    AcceptH0,
    AcceptH1,
}

/// A generalized sequential probability ratio test: is the difference `elo0` or `elo1`?
///
/// The likelihood ratio is that of the most likely distributions of scores under the hypotheses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sprt {
    pub elo0: f64,
    pub elo1: f64,
    /// The probability of accepting the higher one when the lower holds.
    pub alpha: f64,
    /// The probability of accepting the lower one when the higher holds.
    pub beta: f64,
}

/// Why there is no sequential test by these numbers.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SprtError {
    #[error(
        "elo0 is {elo0} and elo1 is {elo1}; expected elo0 < elo1, both from -{LARGEST_ELO} to {LARGEST_ELO}"
    )]
    Elo { elo0: f64, elo1: f64 },
    #[error("alpha is {alpha} and beta is {beta}; expected both above 0 and their sum below 1")]
    ErrorRates { alpha: f64, beta: f64 },
}

impl Sprt {
    pub fn new(elo0: f64, elo1: f64, alpha: f64, beta: f64) -> Result<Self, SprtError> {
        let sane = -LARGEST_ELO..=LARGEST_ELO;
        if !(sane.contains(&elo0) && sane.contains(&elo1) && elo0 < elo1) {
            return Err(SprtError::Elo { elo0, elo1 });
        }
        if !(alpha > 0.0 && beta > 0.0 && alpha + beta < 1.0) {
            return Err(SprtError::ErrorRates { alpha, beta });
        }
        Ok(Self {
            elo0,
            elo1,
            alpha,
            beta,
        })
    }

    /// The log-likelihood ratios at which the test ends: `ln(β/(1−α))`, `ln((1−β)/α)`.
    pub fn bounds(&self) -> (f64, f64) {
        (
            (self.beta / (1.0 - self.alpha)).ln(),
            ((1.0 - self.beta) / self.alpha).ln(),
        )
    }

    /// The log-likelihood ratio (natural logarithm) of `elo1` to `elo0`; 0 before the first game.
    pub fn llr<const K: usize>(&self, scores: &Scores<K>) -> f64 {
        if scores.total() == 0.0 {
            return 0.0;
        }
        let counts = scores.0.map(|count| f64::from(count).max(EMPTY_CELL));
        let ratio = |elo: f64| {
            let mean = score_of_elo(elo);
            let values = Scores::<K>::values().into_iter().zip(counts);
            let mut terms: Vec<_> = values.map(|(value, count)| [value - mean, count]).collect();
            ln_ratio(&mut terms, [-mean, 1.0 - mean]).abs()
        };
        ratio(self.elo0) - ratio(self.elo1)
    }

    /// The hypothesis that was accepted, with its difference in Elo, and the other's.
    pub const fn accepted(&self, decision: Decision) -> Option<(&'static str, f64, f64)> {
        match decision {
            Decision::Continue => None,
            Decision::AcceptH0 => Some(("H0", self.elo0, self.elo1)),
            Decision::AcceptH1 => Some(("H1", self.elo1, self.elo0)),
        }
    }

    pub fn decide<const K: usize>(&self, scores: &Scores<K>) -> Decision {
        let (lower, upper) = self.bounds();
        match self.llr(scores) {
            llr if llr >= upper => Decision::AcceptH1,
            llr if llr <= lower => Decision::AcceptH0,
            _ => Decision::Continue,
        }
    }
}

/// Probability that a normal variable is positive. Without a deviation, it is determined by the sign.
pub(super) fn superiority(mean: f64, deviation: f64) -> f64 {
    if mean == 0.0 {
        0.5
    } else {
        libm::erfc(-mean / deviation / SQRT_2) / 2.0
    }
}

/// The Elo difference of an expected score of ½ + `above`; infinite for scores of 0 and 1.
pub(super) fn elo_of(above: f64) -> f64 {
    let above = above.clamp(-0.5, 0.5);
    400.0 * ((0.5 + above) / (0.5 - above)).log10()
}

/// The expected score of two bots with this difference in Elo.
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf(-elo / 400.0))
}

/// The logarithm of the likelihood of the most likely distribution by that of the most likely one with mean 0, of terms
/// with counts; negative where the mean of the terms is. A term can be as low and as high as the ends.
pub(super) fn ln_ratio(terms: &mut [[f64; 2]], [least, most]: [f64; 2]) -> f64 {
    let sum: f64 = terms.iter().map(|[term, count]| term * count).sum();
    let worst = if sum > 0.0 { -least } else { most };
    if sum == 0.0 || worst <= 0.0 {
        return 0.0;
    }
    for [term, _] in &mut *terms {
        *term *= sum.signum() / worst;
    }
    // The largest sum of ln(1 + best · term), with `best` from 0 to 1.
    let (mut low, mut high, mut best) = (0.0, 2.0, 0.0);
    for _ in 0..60 {
        let (mut slope, mut bend) = (0.0, 0.0);
        for [term, count] in &*terms {
            let gain = term / (1.0 + best * term);
            slope += count * gain;
            bend += count * gain * gain;
        }
        *if slope > 0.0 { &mut low } else { &mut high } = best;
        let newton = (best + slope / bend).min(1.0);
        // The sum is self-concordant: what is missing after this step is less than the square of this.
        if slope * slope < 1e-8 * bend || slope >= 0.0 && newton <= best {
            best = newton;
            break;
        }
        // Next to the pole that 1 may be Newton's steps are small, however far the solution is.
        best = if (low..high).contains(&newton) && (slope > 0.0 || best < 1.0) {
            newton
        } else {
            f64::midpoint(low, high)
        };
    }
    let gains = terms
        .iter()
        .map(|[term, count]| count * (best * term).ln_1p());
    sum.signum() * gains.sum::<f64>().max(0.0)
}
