//! Is a new version of a bot better than the old one? A sequential test on games of the two, and on games of both
//! against others.
//!
//! Every comparison is a number from 0 to 1, the [advantage](ComparisonUnit::advantage) of the new version. Opponents are drawn by
//! lot with fixed shares, so its expected value is the same for all comparisons, and the test of [`super::betting`] holds.

use rand::{Rng, RngExt as _};
use serde::Serialize;

use super::betting::{MeanTest, MeanTestError, interval, score_of_elo};
use super::sprt::{Decision, Pentanomial, Scores};

/// Comparisons by the advantage in eighths.
pub type Advantages = Scores<9>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonQuestion {
    Better,
    NotWorse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonVerdict {
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

impl ComparisonVerdict {
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

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparisonTerms {
    pub question: ComparisonQuestion,
    /// A difference in Elo that matters; above 0.
    pub margin: f64,
    /// The share of comparisons against the old version, 0 to 1.
    pub direct: f64,
    /// The largest rate of a wrong yes: better, or not worse.
    pub alpha: f64,
    /// The largest rate of a wrong no.
    pub beta: f64,
}

/// Why versions cannot be compared by these terms.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum TermsError {
    #[error("the margin is {0} Elo; expected more than 0 and at most 400")]
    Margin(f64),
    #[error(transparent)]
    Test(#[from] MeanTestError),
}

impl ComparisonTerms {
    /// The test: yes is [`Decision::AcceptH1`], no is [`Decision::AcceptH0`].
    pub fn test(&self) -> Result<MeanTest, TermsError> {
        if !(self.margin > 0.0 && self.margin <= 400.0) {
            return Err(TermsError::Margin(self.margin));
        }
        let advantage = self.expected(self.margin);
        let (above, below) = match self.question {
            ComparisonQuestion::Better => (0.5, advantage),
            ComparisonQuestion::NotWorse => (1.0 - advantage, 0.5),
        };
        Ok(MeanTest::new(above, below, self.alpha, self.beta)?)
    }

    /// The advantage of a version that is better by `elo`, when the other opponents are as strong as the old one.
    fn expected(&self, elo: f64) -> f64 {
        let above_half = score_of_elo(elo) - 0.5;
        0.5 + above_half * f64::midpoint(self.direct, 1.0)
    }

    pub const fn verdict(&self, decision: Decision) -> ComparisonVerdict {
        match (self.question, decision) {
            (_, Decision::Continue) => ComparisonVerdict::Undecided,
            (ComparisonQuestion::Better, Decision::AcceptH1) => ComparisonVerdict::Better,
            (ComparisonQuestion::Better, Decision::AcceptH0) => ComparisonVerdict::NotBetter,
            (ComparisonQuestion::NotWorse, Decision::AcceptH1) => ComparisonVerdict::NotWorse,
            (ComparisonQuestion::NotWorse, Decision::AcceptH0) => ComparisonVerdict::Worse,
        }
    }
}

/// The half points, 0 to 4, of the pairs of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonUnit {
    /// A pair of the new version against the old one.
    Direct(usize),
    /// A pair of the new version and one of the old, against the same opponent from the same opening.
    Pool([usize; 2]),
}

impl ComparisonUnit {
    /// The advantage of the new version, in eighths. Against the old version it is the share of the points; against
    /// others ½ plus half of the difference of both shares.
    pub const fn advantage(self) -> usize {
        match self {
            Self::Direct(half_points) => 2 * half_points,
            Self::Pool([new, old]) => 4 + new - old,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opponent {
    pub new: Pentanomial,
    /// Pairs of the old version; none against itself.
    pub old: Pentanomial,
    pub advantages: Advantages,
}

/// A share with an interval that holds although results decided the number of games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measured {
    pub mean: f64,
    pub interval: [f64; 2],
}

impl Measured {
    /// The mean score, 0 to 1, and its [interval]; `None` without observations.
    pub fn of<const K: usize>(counts: &Scores<K>, errors: [f64; 2]) -> Option<Self> {
        if counts.total() == 0.0 {
            return None;
        }
        Some(Self {
            mean: counts.mean(),
            interval: interval(counts, errors),
        })
    }

    /// A share of ½ plus half of a difference, as that difference.
    #[must_use]
    pub fn as_difference(self) -> Self {
        let wide = |share: f64| 2.0 * share - 1.0;
        Self {
            mean: wide(self.mean),
            interval: self.interval.map(wide),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    test: MeanTest,
    decision: Decision,
    all: Advantages,
    opponents: Vec<Opponent>,
}

impl Comparison {
    /// `opponents` is their number; the first is the old version.
    pub fn new(test: MeanTest, opponents: usize) -> Self {
        Self {
            test,
            decision: Decision::Continue,
            all: Advantages::default(),
            opponents: vec![Opponent::default(); opponents],
        }
    }

    pub fn add(&mut self, opponent: usize, unit: ComparisonUnit) {
        let Some(counts) = self.opponents.get_mut(opponent) else {
            return;
        };
        match unit {
            ComparisonUnit::Direct(new) => counts.new.0[new] += 1,
            ComparisonUnit::Pool([new, old]) => {
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

    pub const fn decision(&self) -> Decision {
        self.decision
    }

    pub fn is_decided(&self) -> bool {
        self.decision != Decision::Continue
    }

    pub fn count(&self) -> u64 {
        self.all.0.iter().copied().map(u64::from).sum()
    }

    /// The advantage over all opponents, with the error rates of the question.
    pub fn advantage(&self) -> Option<Measured> {
        Measured::of(&self.all, self.test.errors())
    }

    pub fn opponents(&self) -> &[Opponent] {
        &self.opponents
    }
}

/// Draws `count` opponents: the old version (0) with this percentage, the others in equal shares.
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
    use rand::SeedableRng as _;
    use rand::rngs::ChaCha8Rng;

    use super::*;
    use crate::ratings::RatedOutcome;
    use crate::simulation::game;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Simulation {
        terms: ComparisonTerms,
        /// By how much the new version is better, in Elo.
        elo: f64,
        /// The share of drawn games, 0 to 1; at most as many as the expected score allows.
        draws: f64,
        /// The number of opponents beside the old version, all as strong as it.
        others: usize,
        /// The percentage of comparisons against the old version.
        percentage: u8,
        /// The largest number of comparisons.
        most: u32,
        comparisons: u32,
        seed: u64,
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    struct Outcomes {
        /// Answered yes: better, or not worse.
        yes: u32,
        no: u32,
        undecided: u32,
        median_games: u32,
    }

    /// Simulates comparisons with bots of known strength.
    fn simulate(simulation: &Simulation) -> Result<Outcomes, TermsError> {
        let mut random = ChaCha8Rng::seed_from_u64(simulation.seed);
        let mut outcomes = Outcomes::default();
        let mut games: Vec<u32> = Vec::new();
        let test = simulation.terms.test()?;
        for _ in 0..simulation.comparisons {
            let (decision, played) = one(simulation, test, &mut random);
            games.push(played);
            *match decision {
                Decision::AcceptH1 => &mut outcomes.yes,
                Decision::AcceptH0 => &mut outcomes.no,
                Decision::Continue => &mut outcomes.undecided,
            } += 1;
        }
        games.sort_unstable();
        outcomes.median_games = games.get(games.len() / 2).copied().unwrap_or_default();
        Ok(outcomes)
    }

    fn one(simulation: &Simulation, test: MeanTest, random: &mut ChaCha8Rng) -> (Decision, u32) {
        let &Simulation { elo, draws, .. } = simulation;
        let opponents = simulation.others + 1;
        let mut comparison = Comparison::new(test, opponents);
        let drawn = draw(
            &mut ChaCha8Rng::seed_from_u64(random.random()),
            opponents,
            simulation.percentage,
            simulation.most,
        );
        let mut games = 0;
        for opponent in drawn {
            let mut pair = |difference| -> usize {
                games += 2;
                (0..2).map(|_| half_points(random, difference, draws)).sum()
            };
            let unit = if opponent == 0 {
                ComparisonUnit::Direct(pair(elo))
            } else {
                ComparisonUnit::Pool([pair(elo), pair(0.0)])
            };
            comparison.add(opponent, unit);
            if comparison.is_decided() {
                break;
            }
        }
        (comparison.decision(), games)
    }

    fn half_points(random: &mut ChaCha8Rng, difference: f64, draws: f64) -> usize {
        match game(random, difference, draws) {
            RatedOutcome::FirstWins => 2,
            RatedOutcome::Draw => 1,
            RatedOutcome::SecondWins => 0,
        }
    }

    const TERMS: ComparisonTerms = ComparisonTerms {
        question: ComparisonQuestion::Better,
        margin: 50.0,
        direct: 1.0,
        alpha: 0.05,
        beta: 0.05,
    };

    fn comparison(terms: ComparisonTerms, opponents: usize) -> Comparison {
        Comparison::new(terms.test().expect("valid terms"), opponents)
    }

    fn decided(terms: ComparisonTerms, unit: ComparisonUnit) -> (u64, ComparisonVerdict) {
        let mut comparison = comparison(terms, 2);
        while !comparison.is_decided() && comparison.count() < 1000 {
            comparison.add(0, unit);
        }
        (comparison.count(), terms.verdict(comparison.decision()))
    }

    fn seeded(seed: u64) -> rand::rngs::ChaCha8Rng {
        rand::SeedableRng::seed_from_u64(seed)
    }

    #[test]
    fn clear_results_are_decided_soon() {
        let terms = |question| ComparisonTerms { question, ..TERMS };
        let (better, not_worse) = (
            terms(ComparisonQuestion::Better),
            terms(ComparisonQuestion::NotWorse),
        );
        // As in the tests of `betting`: seven pairs, all won.
        assert_eq!(
            decided(better, ComparisonUnit::Direct(4)),
            (7, ComparisonVerdict::Better)
        );
        assert_eq!(
            decided(better, ComparisonUnit::Pool([4, 0])),
            (7, ComparisonVerdict::Better)
        );
        let (count, verdict) = decided(not_worse, ComparisonUnit::Direct(0));
        assert_eq!((count, verdict), (7, ComparisonVerdict::Worse));
        assert_eq!(
            decided(better, ComparisonUnit::Pool([3, 3])).1,
            ComparisonVerdict::NotBetter
        );
        assert_eq!(
            decided(not_worse, ComparisonUnit::Direct(2)).1,
            ComparisonVerdict::NotWorse
        );
    }

    #[test]
    fn the_first_decision_stays() {
        let mut comparison = comparison(TERMS, 1);
        for _ in 0..7 {
            comparison.add(0, ComparisonUnit::Direct(4));
        }
        for _ in 0..1000 {
            comparison.add(0, ComparisonUnit::Direct(0));
        }
        assert_eq!(comparison.decision(), Decision::AcceptH1);
        assert_eq!(comparison.count(), 1007);
    }

    #[test]
    fn opponents_are_counted_apart() {
        let mut comparison = comparison(TERMS, 3);
        comparison.add(0, ComparisonUnit::Direct(3));
        comparison.add(2, ComparisonUnit::Pool([4, 1]));
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
            let terms = ComparisonTerms {
                margin,
                alpha,
                beta,
                ..TERMS
            };
            assert!(terms.test().is_err(), "{terms:?}");
        }
    }

    use crate::comparison::ComparisonQuestion;

    /// At the edge of what is asked.
    // Two tests, since they take long and run side by side.
    #[test]
    fn error_rates_of_better_are_as_promised() {
        assert_error_rates(ComparisonQuestion::Better, 0.0, 100.0);
    }

    #[test]
    fn error_rates_of_not_worse_are_as_promised() {
        assert_error_rates(ComparisonQuestion::NotWorse, -100.0, 0.0);
    }

    fn assert_error_rates(question: ComparisonQuestion, wrong_yes: f64, wrong_no: f64) {
        for (draws, others, percentage) in [(0.5, 0, 100), (0.0, 3, 50)] {
            let of = |elo| {
                let terms = ComparisonTerms {
                    question,
                    margin: 100.0,
                    direct: f64::from(percentage) / 100.0,
                    alpha: 0.05,
                    beta: 0.05,
                };
                let simulation = Simulation {
                    terms,
                    elo,
                    draws,
                    others,
                    percentage,
                    most: 30,
                    comparisons: 1000,
                    seed: 3,
                };
                simulate(&simulation).expect("valid terms")
            };
            // A rate of 5 % is seen more than 66 times in 1 % of such samples.
            let (yes, no) = (of(wrong_yes), of(wrong_no));
            assert!(yes.yes <= 66, "{question:?} {draws} {others}: {yes:?}");
            assert!(no.no <= 66, "{question:?} {draws} {others}: {no:?}");
        }
    }
}
