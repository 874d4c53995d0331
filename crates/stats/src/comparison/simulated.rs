//! How often comparisons err, and how many games they take: simulated with bots whose strength is known.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

use super::{Comparison, Terms, Unit, Verdict, draw};
use crate::betting::MeanTestError;
use crate::ratings::Outcome;
use crate::simulation::game;

/// What is simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulation {
    /// What is asked.
    pub terms: Terms,
    /// By how much the new version is better, in Elo.
    pub elo: f64,
    /// The share of drawn games, 0 to 1, or as many as the expected score allows.
    pub draws: f64,
    /// The number of opponents beside the old version, all as strong as that.
    pub others: usize,
    /// The percentage of comparisons against the old version.
    pub percentage: u8,
    /// The most comparisons.
    pub most: u32,
    /// How often it is played.
    pub comparisons: u32,
    /// All random choices are derived from it.
    pub seed: u64,
}

/// How simulated comparisons ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// How many answered yes: better, or not worse.
    pub yes: u32,
    /// How many answered no.
    pub no: u32,
    /// How many did not answer.
    pub undecided: u32,
    /// Games after which half of them had ended.
    pub median_games: u32,
}

/// Simulates comparisons.
///
/// ```
/// use referee_stats::comparison::{Question, Terms, simulated::{Simulation, simulate}};
///
/// let terms = Terms { question: Question::Better, margin: 50.0, direct: 1.0, alpha: 0.05, beta: 0.05 };
/// let found = simulate(&Simulation {
///     terms, elo: 200.0, draws: 0.1, others: 0, percentage: 100, most: 200, comparisons: 50, seed: 1,
/// })?;
/// assert!(found.yes > 45 && found.no == 0);
/// # Ok::<(), referee_stats::betting::MeanTestError>(())
/// ```
pub fn simulate(simulation: &Simulation) -> Result<Outcomes, MeanTestError> {
    let mut random = ChaCha8Rng::seed_from_u64(simulation.seed);
    let mut outcomes = Outcomes::default();
    let mut games: Vec<u32> = Vec::new();
    for _ in 0..simulation.comparisons {
        let (verdict, played) = one(simulation, &mut random)?;
        games.push(played);
        *match verdict {
            Verdict::Better | Verdict::NotWorse => &mut outcomes.yes,
            Verdict::NotBetter | Verdict::Worse => &mut outcomes.no,
            Verdict::Undecided | Verdict::Unfit => &mut outcomes.undecided,
        } += 1;
    }
    games.sort_unstable();
    outcomes.median_games = games.get(games.len() / 2).copied().unwrap_or_default();
    Ok(outcomes)
}

/// A comparison: its answer and the number of its games.
fn one(simulation: &Simulation, random: &mut ChaCha8Rng) -> Result<(Verdict, u32), MeanTestError> {
    let &Simulation { elo, draws, .. } = simulation;
    let opponents = simulation.others + 1;
    let mut comparison = Comparison::new(simulation.terms, opponents)?;
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
            Unit::Direct(pair(elo))
        } else {
            Unit::Pool([pair(elo), pair(0.0)])
        };
        comparison.add(opponent, unit);
        if comparison.is_decided() {
            break;
        }
    }
    Ok((comparison.verdict(), games))
}

fn half_points(random: &mut ChaCha8Rng, difference: f64, draws: f64) -> usize {
    match game(random, difference, draws) {
        Outcome::FirstWins => 2,
        Outcome::Draw => 1,
        Outcome::SecondWins => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Question;

    /// Of 1,000 comparisons as few err as promised: at the edge of what is asked, for both questions, with few and many draws, with and
    /// without other opponents.
    #[test]
    fn error_rates_are_as_promised() {
        for (question, wrong_yes, wrong_no) in [
            (Question::Better, 0.0, 100.0),
            (Question::NotWorse, -100.0, 0.0),
        ] {
            for (draws, others, percentage) in [(0.5, 0, 100), (0.0, 3, 50)] {
                let of = |elo| {
                    let terms = Terms {
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
                // What happens in 5 % is seen more than 66 times in 1 % of such samples.
                let (yes, no) = (of(wrong_yes), of(wrong_no));
                assert!(yes.yes <= 66, "{question:?} {draws} {others}: {yes:?}");
                assert!(no.no <= 66, "{question:?} {draws} {others}: {no:?}");
            }
        }
    }
}
