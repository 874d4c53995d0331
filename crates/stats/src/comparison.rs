//! Is a new version of a bot better than the old one? A sequential test on games of the two, and on games of both against others.
//!
//! Every comparison is one number from 0 to 1, the [advantage](Unit::advantage) of the new version: against the old one
//! its share of the points of a pair of games; against another opponent ½ and half of what its share is above that of the
//! old version, which plays a pair from the same opening. ½ means that neither is better. The opponent of each
//! comparison is drawn by lot with fixed shares, so the expected advantage is the same for all of them, whatever
//! happened before, and the test of [`super::betting`] holds for it: after any number of comparisons, and also when time
//! decides how many there are.

pub mod simulated;

use rand::{Rng, RngExt as _};
use serde::Serialize;

use super::betting::{MeanTest, MeanTestError, interval, score_of_elo};
use super::sprt::{Decision, Pentanomial, Scores};

/// Comparisons by the advantage in eighths.
pub type Advantages = Scores<9>;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// Is the new version better?
    Better,
    NotWorse,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The new version is better.
    Better,
    /// It is not better by as much as was asked for.
    NotBetter,
    /// It is not worse by as much as was asked for.
    NotWorse,
    Worse,
    /// None of these is certain.
    Undecided,
    /// The new version cannot play.
    Unfit,
}

impl Verdict {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::NotBetter => "not better",
            Self::NotWorse => "not worse",
            Self::Worse => "worse",
            Self::Undecided => "undecided",
            Self::Unfit => "unfit",
        }
    }
}

/// A question with the probabilities of a wrong answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// What is asked.
    pub question: Question,
    /// A difference in Elo that matters; more than 0.
    pub margin: f64,
    /// The share of the comparisons against the old version, 0 to 1.
    pub direct: f64,
    /// The most probable rate of a wrong yes: better, or not worse.
    pub alpha: f64,
    /// The most probable rate of a wrong no.
    pub beta: f64,
}

impl Terms {
    /// The test: yes is [`Decision::AcceptH1`], no is [`Decision::AcceptH0`].
    pub fn test(&self) -> Result<MeanTest, MeanTestError> {
        if !(self.margin > 0.0 && self.margin <= 400.0) {
            return Err(MeanTestError::new(format!(
                "the margin is {} Elo; expected more than 0 and at most 400",
                self.margin
            )));
        }
        let advantage = self.expected(self.margin);
        let (above, below) = match self.question {
            Question::Better => (0.5, advantage),
            Question::NotWorse => (1.0 - advantage, 0.5),
        };
        MeanTest::new(above, below, self.alpha, self.beta)
    }

    /// The advantage, 0 to 1, of a new version that is better by `elo` when the other opponents are as strong as the old one.
    fn expected(&self, elo: f64) -> f64 {
        let above_half = score_of_elo(elo) - 0.5;
        0.5 + above_half * f64::midpoint(self.direct, 1.0)
    }

    /// What a decision says.
    pub const fn verdict(&self, decision: Decision) -> Verdict {
        match (self.question, decision) {
            (_, Decision::Continue) => Verdict::Undecided,
            (Question::Better, Decision::AcceptH1) => Verdict::Better,
            (Question::Better, Decision::AcceptH0) => Verdict::NotBetter,
            (Question::NotWorse, Decision::AcceptH1) => Verdict::NotWorse,
            (Question::NotWorse, Decision::AcceptH0) => Verdict::Worse,
        }
    }
}

/// The half points, 0 to 4, of the pairs of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A pair of the new version against the old one.
    Direct(usize),
    /// A pair of the new version and one of the old version, against the same opponent from the same opening.
    Pool([usize; 2]),
}

impl Unit {
    /// The advantage of the new version, in eighths.
    pub const fn advantage(self) -> usize {
        match self {
            Self::Direct(half_points) => 2 * half_points,
            Self::Pool([new, old]) => 4 + new - old,
        }
    }
}

/// The games against an opponent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opponent {
    /// Pairs of the new version.
    pub new: Pentanomial,
    /// Pairs of the old version; none against itself.
    pub old: Pentanomial,
    /// Comparisons.
    pub advantages: Advantages,
}

/// A share with an interval that holds whatever ended the games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The mean of what was observed.
    pub mean: f64,
    /// The ends of the interval.
    pub interval: [f64; 2],
}

impl Measured {
    /// The mean score, 0 to 1, and its interval, below and above which the true one is with these probabilities at most; `None`
    /// without observations.
    pub fn of<const K: usize>(counts: &Scores<K>, errors: [f64; 2]) -> Option<Self> {
        let total = counts.total();
        if total == 0.0 {
            return None;
        }
        let steps = f64::from(u32::try_from(K).unwrap_or(u32::MAX)) - 1.0;
        let sum: f64 = (0_u32..)
            .zip(counts.0)
            .map(|(step, count)| f64::from(step) * f64::from(count))
            .sum();
        let (low, high) = interval(counts, errors);
        Some(Self {
            mean: sum / steps / total,
            interval: [low, high],
        })
    }

    /// A share of ½ and half of a difference, as that difference.
    #[must_use]
    pub fn as_difference(self) -> Self {
        let wide = |share: f64| 2.0 * share - 1.0;
        Self {
            mean: wide(self.mean),
            interval: self.interval.map(wide),
        }
    }
}

/// A comparison of two versions so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    terms: Terms,
    test: MeanTest,
    decision: Decision,
    all: Advantages,
    opponents: Vec<Opponent>,
}

impl Comparison {
    /// Before the first game, with this many opponents, of which the first is the old version.
    pub fn new(terms: Terms, opponents: usize) -> Result<Self, MeanTestError> {
        Ok(Self {
            terms,
            test: terms.test()?,
            decision: Decision::Continue,
            all: Advantages::default(),
            opponents: vec![Opponent::default(); opponents],
        })
    }

    /// Adds a comparison against the opponent of this number; the first decision stays.
    pub fn add(&mut self, opponent: usize, unit: Unit) {
        let Some(counts) = self.opponents.get_mut(opponent) else {
            return;
        };
        match unit {
            Unit::Direct(new) => counts.new.0[new] += 1,
            Unit::Pool([new, old]) => {
                counts.new.0[new] += 1;
                counts.old.0[old] += 1;
            }
        }
        counts.advantages.0[unit.advantage()] += 1;
        self.all.0[unit.advantage()] += 1;
        if self.decision == Decision::Continue {
            self.decision = self.test.decide(&self.all);
        }
    }

    /// The question.
    pub const fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The answer so far.
    pub const fn verdict(&self) -> Verdict {
        self.terms.verdict(self.decision)
    }

    /// Whether more games change nothing.
    pub fn is_decided(&self) -> bool {
        self.decision != Decision::Continue
    }

    /// The number of comparisons.
    pub fn count(&self) -> u64 {
        self.all.0.iter().copied().map(u64::from).sum()
    }

    /// The advantage of the new version over all opponents, ½ for none, with the error rates of the question.
    pub fn advantage(&self) -> Option<Measured> {
        Measured::of(&self.all, [self.terms.alpha, self.terms.beta])
    }

    /// The games by opponent; the first is the old version.
    pub fn opponents(&self) -> &[Opponent] {
        &self.opponents
    }
}

/// The opponents, by number, of so many comparisons: the old version (0) with this percentage, and the others in equal shares.
pub fn draw(random: &mut impl Rng, opponents: usize, percentage: u8, count: u32) -> Vec<usize> {
    let others = opponents.saturating_sub(1);
    (0..count)
        .map(|_| {
            if others == 0 || random.random_range(0..100) < percentage {
                0
            } else {
                1 + random.random_range(0..others)
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: Terms = Terms {
        question: Question::Better,
        margin: 50.0,
        direct: 1.0,
        alpha: 0.05,
        beta: 0.05,
    };

    fn decided(terms: Terms, unit: Unit) -> (u64, Verdict) {
        let mut comparison = Comparison::new(terms, 2).expect("valid terms");
        while !comparison.is_decided() && comparison.count() < 1000 {
            comparison.add(0, unit);
        }
        (comparison.count(), comparison.verdict())
    }

    fn seeded(seed: u64) -> rand::rngs::ChaCha8Rng {
        rand::SeedableRng::seed_from_u64(seed)
    }

    #[test]
    fn clear_results_are_decided_soon() {
        let terms = |question| Terms { question, ..TERMS };
        let (better, not_worse) = (terms(Question::Better), terms(Question::NotWorse));
        // As in the tests of the betting: seven pairs, all won.
        assert_eq!(decided(better, Unit::Direct(4)), (7, Verdict::Better));
        assert_eq!(decided(better, Unit::Pool([4, 0])), (7, Verdict::Better));
        let (count, verdict) = decided(not_worse, Unit::Direct(0));
        assert_eq!((count, verdict), (7, Verdict::Worse));
        // The same results of both say neither.
        assert_eq!(decided(better, Unit::Pool([3, 3])).1, Verdict::NotBetter);
        assert_eq!(decided(not_worse, Unit::Direct(2)).1, Verdict::NotWorse);
    }

    #[test]
    fn the_first_decision_stays() {
        let mut comparison = Comparison::new(TERMS, 1).expect("valid terms");
        for _ in 0..7 {
            comparison.add(0, Unit::Direct(4));
        }
        for _ in 0..1000 {
            comparison.add(0, Unit::Direct(0));
        }
        assert_eq!(comparison.verdict(), Verdict::Better);
        assert_eq!(comparison.count(), 1007);
    }

    #[test]
    fn opponents_are_counted_apart() {
        let mut comparison = Comparison::new(TERMS, 3).expect("valid terms");
        comparison.add(0, Unit::Direct(3));
        comparison.add(2, Unit::Pool([4, 1]));
        let [old, unused, other] = comparison.opponents() else {
            panic!("three opponents");
        };
        assert_eq!(*unused, Opponent::default());
        assert_eq!(old.new, Scores([0, 0, 0, 1, 0]));
        assert_eq!(old.old, Pentanomial::default());
        let score = |counts: &Pentanomial| Measured::of(counts, [0.05; 2]).map(|found| found.mean);
        assert_eq!(score(&other.new), Some(1.0));
        assert_eq!(score(&other.old), Some(0.25));
        let difference = Measured::of(&other.advantages, [0.05; 2]).map(Measured::as_difference);
        assert_eq!(difference.map(|found| found.mean), Some(0.75));
        // 6/8 and 7/8.
        let advantage = comparison.advantage().map(|found| found.mean);
        assert_eq!(advantage, Some(13.0 / 16.0));
    }

    #[test]
    fn shares_are_as_asked_for() {
        let drawn = draw(&mut seeded(7), 4, 40, 10_000);
        let of = |number| drawn.iter().filter(|&&one| one == number).count();
        assert!((3800..4200).contains(&of(0)), "{}", of(0));
        for other in 1..4 {
            assert!((1800..2200).contains(&of(other)), "{}", of(other));
        }
        assert!(draw(&mut seeded(7), 1, 40, 100).iter().all(|&one| one == 0));
        assert!(draw(&mut seeded(7), 2, 0, 100).iter().all(|&one| one == 1));
        assert_eq!(draw(&mut seeded(7), 4, 40, 50), drawn[..50]);
    }

    #[test]
    fn terms_are_checked() {
        for (margin, alpha, beta) in [
            (0.0, 0.05, 0.05),
            (-1.0, 0.05, 0.05),
            (500.0, 0.05, 0.05),
            (f64::NAN, 0.05, 0.05),
            (50.0, 0.0, 0.05),
            (50.0, 0.05, 0.7),
        ] {
            let terms = Terms {
                margin,
                alpha,
                beta,
                ..TERMS
            };
            assert!(terms.test().is_err(), "{terms:?}");
        }
    }
}
