//! A sequential test of a mean score that errs no more often than promised, however few pairs of games there are.
//!
//! Nothing is assumed but that a pair's score lies between 0 and 1: a player bets on the bot, pair after pair, at fair
//! odds for a mean of `m`. While the true mean is at most `m`, the capital ever exceeds `1/α` times the stake with a
//! probability of at most `α` (I. Waudby-Smith and A. Ramdas, *Estimating means of bounded random variables by betting*).
//! The stake is spread evenly over fixed shares, so the capital depends only on how often each score occurred.

pub use super::sprt::score_of_elo;
use super::sprt::{Decision, Scores, elo_of};

/// Why there is no test of a mean score by these numbers.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum MeanTestError {
    #[error(
        "the scores are {above} and {below}; expected both between 0 and 1, the lower one first"
    )]
    Scores { above: f64, below: f64 },
    #[error("alpha is {alpha} and beta is {beta}; expected both above 0 and at most 0.5")]
    ErrorRates { alpha: f64, beta: f64 },
}

/// Over how many bets the stake is spread.
const BETS: u32 = 40;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanTest {
    above: f64,
    below: f64,
    alpha: f64,
    beta: f64,
}

impl MeanTest {
    /// A test of scores, 0 to 1, with `above` ≤ `below`. `alpha` is the largest rate at which a mean of at most
    /// `above` is said to be above it, `beta` that at which one of at least `below` is said to be below it.
    pub fn new(above: f64, below: f64, alpha: f64, beta: f64) -> Result<Self, MeanTestError> {
        let is_score = |score: f64| score > 0.0 && score < 1.0;
        if !(is_score(above) && is_score(below) && above <= below) {
            return Err(MeanTestError::Scores { above, below });
        }
        let is_rate = |rate: f64| rate > 0.0 && rate <= 0.5;
        if !(is_rate(alpha) && is_rate(beta)) {
            return Err(MeanTestError::ErrorRates { alpha, beta });
        }
        Ok(Self {
            above,
            below,
            alpha,
            beta,
        })
    }

    /// The largest rates at which the test errs: alpha, beta.
    pub const fn errors(&self) -> [f64; 2] {
        [self.alpha, self.beta]
    }

    /// The decision after these pairs. To be asked after every pair: the first decision counts.
    pub fn decide<const K: usize>(&self, pairs: &Scores<K>) -> Decision {
        if ln_capital(pairs, self.above) >= -self.alpha.ln() {
            Decision::AcceptH1
        } else if ln_capital(&mirrored(pairs), 1.0 - self.below) >= -self.beta.ln() {
            Decision::AcceptH0
        } else {
            Decision::Continue
        }
    }
}

/// An interval of the mean score that holds although results decided the number of pairs. The mean is below it with a
/// probability of at most the first of `errors`, above it with at most the second.
pub fn interval<const K: usize>(pairs: &Scores<K>, errors: [f64; 2]) -> [f64; 2] {
    let [below, above] = errors;
    [lowest(pairs, below), 1.0 - lowest(&mirrored(pairs), above)]
}

/// The difference in Elo of a mean score of 0 to 1; infinite for 0 and 1.
pub fn elo_of_score(score: f64) -> f64 {
    elo_of(score - 0.5)
}

fn mirrored<const K: usize>(pairs: &Scores<K>) -> Scores<K> {
    let mut counts = pairs.0;
    counts.reverse();
    Scores(counts)
}

/// The lowest mean that is not refuted.
fn lowest<const K: usize>(pairs: &Scores<K>, error: f64) -> f64 {
    // The capital decreases with the mean that is bet against.
    let (mut refuted, mut possible) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = f64::midpoint(refuted, possible);
        if ln_capital(pairs, middle) >= -error.ln() {
            refuted = middle;
        } else {
            possible = middle;
        }
    }
    refuted
}

/// The logarithm of the capital after bets on scores above `mean`; the stake was 1.
fn ln_capital<const K: usize>(pairs: &Scores<K>, mean: f64) -> f64 {
    let values = Scores::<K>::values().into_iter().zip(pairs.0);
    // Scores that did not occur cost no logarithms.
    let scored = values.filter(|(_, count)| *count > 0);
    let gains = scored.map(|(value, count)| (value / mean - 1.0, f64::from(count)));
    let mut all = [0.0; BETS as usize];
    for (bet, capital) in (1..).map(f64::from).zip(&mut all) {
        let share = bet / f64::from(BETS + 1);
        let terms = gains.clone();
        *capital = terms
            .map(|(gain, count)| count * (share * gain).ln_1p())
            .sum();
    }
    let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = all.iter().map(|one| (one - most).exp()).sum();
    most + (sum / f64::from(BETS)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprt::Pentanomial;

    fn test() -> MeanTest {
        MeanTest::new(0.5, 0.6, 0.05, 0.05).expect("valid parameters")
    }

    #[test]
    fn clear_results_decide_after_few_pairs() {
        let decided = |place: usize| {
            (1..=100).find_map(|pairs| {
                let mut counts = Pentanomial::default();
                counts.0[place] = pairs;
                let decision = test().decide(&counts);
                (decision != Decision::Continue).then_some((pairs, decision))
            })
        };
        // After n pairs with the best score the capital is near the integral over s of (1 + s)^n against a mean of
        // 1/2, and of (1 + 3s/2)^n against one of 2/5. The decision needs 1/0.05 = 20: 18.1 and 31.9 after 6 and 7
        // pairs, 12.9 and 27.0 after 4 and 5.
        assert_eq!(decided(4), Some((7, Decision::AcceptH1)));
        assert_eq!(decided(0), Some((5, Decision::AcceptH0)));
    }

    #[test]
    fn nothing_is_decided_before_the_first_pair() {
        assert_eq!(test().decide(&Pentanomial::default()), Decision::Continue);
        let [low, high] = interval(&Pentanomial::default(), [0.05; 2]);
        assert!(low < 1e-9 && high > 1.0 - 1e-9, "{low} {high}");
    }

    #[test]
    fn an_interval_surrounds_the_mean_and_shrinks() {
        let of = |factor: u32| {
            let pairs = Scores([1, 2, 3, 4, 10].map(|count| count * factor));
            let [low, high] = interval(&pairs, [0.05; 2]);
            let mean = pairs.mean();
            assert!(low < mean && mean < high, "{low} {mean} {high}");
            high - low
        };
        assert!(of(10) < of(1) / 2.0);
    }

    #[test]
    fn parameters_are_checked() {
        for (above, below, alpha) in [
            (0.0, 0.5, 0.1),
            (0.6, 0.5, 0.1),
            (0.5, 1.0, 0.1),
            (0.5, 0.5, 0.0),
        ] {
            assert!(MeanTest::new(above, below, alpha, 0.1).is_err());
        }
    }
}
