//! How often a rung of a scale of grades is passed by a bot that should not pass, and by one that should, by simulation:
//! the tables of docs/grades.md.
//!
//! ```text
//! cargo bench -p referee-stats --bench grades            # a minute
//! cargo bench -p referee-stats --bench grades -- 2000    # fewer climbs
//! ```
//!
//! A game is won, drawn or lost by chance, with the expected score of a difference in Elo and a share of draws. Games of a pair
//! are correlated when, in half of the openings, the same number decides both: for whoever begins, or for the same bot. The likelihood
//! ratio of `--sprt` is shown beside the test that is used.

use std::env;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use referee_stats::betting::{MeanTest, score_of_elo};
use referee_stats::sprt::{Decision, Pentanomial, Sprt};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Luck {
    Apart,
    Opening,
    /// The same bot has the luck in both.
    Bot,
    Crashes,
}

/// The most probable rate of bots that pass and should not.
pub const ALPHA: f64 = 0.05;
/// The most probable rate of bots that should pass and fail.
pub const BETA: f64 = 0.05;
const ELO: (f64, f64) = (0.0, 150.0);
const BUDGET: u32 = 100;

/// Half points of a game; `luck` is from 0, the best, to 1.
fn half_points(score: f64, draws: f64, luck: f64) -> usize {
    let draw = draws.min(1.98 * score.min(1.0 - score));
    match luck {
        luck if luck < score - draw / 2.0 => 2,
        luck if luck < score + draw / 2.0 => 1,
        _ => 0,
    }
}

fn pair(score: f64, draws: f64, luck: Luck, random: &mut ChaCha8Rng) -> usize {
    let first: f64 = random.random();
    if luck == Luck::Crashes {
        return if first < score / 0.75 { 3 } else { 0 };
    }
    let same = luck != Luck::Apart && random.random::<f64>() < 0.5;
    let second = match luck {
        Luck::Opening if same => 1.0 - first,
        Luck::Bot if same => first,
        _ => random.random(),
    };
    half_points(score, draws, first) + half_points(score, draws, second)
}

#[derive(Default)]
struct Found {
    passed: u32,
    failed: u32,
    pairs: u32,
}

fn climb(
    decide: &dyn Fn(&Pentanomial) -> Decision,
    (elo, draws, luck): (f64, f64, Luck),
    times: u32,
) -> Found {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut found = Found::default();
    for _ in 0..times {
        let mut counts = Pentanomial::default();
        for _ in 0..BUDGET {
            counts.0[pair(score_of_elo(elo), draws, luck, &mut random)] += 1;
            found.pairs += 1;
            match decide(&counts) {
                Decision::Continue => continue,
                Decision::AcceptH1 => found.passed += 1,
                Decision::AcceptH0 => found.failed += 1,
            }
            break;
        }
    }
    found
}

fn betting() -> MeanTest {
    let (elo0, elo1) = ELO;
    let test = MeanTest::new(score_of_elo(elo0), score_of_elo(elo1), ALPHA, BETA);
    test.expect("valid parameters")
}

/// The shares of the climbs in which a bot passes, and fails.
pub fn rates(setting: (f64, f64, Luck), times: u32) -> [f64; 2] {
    let test = betting();
    let found = climb(&|counts| test.decide(counts), setting, times);
    [found.passed, found.failed].map(|count| f64::from(count) / f64::from(times))
}

fn main() {
    let times: u32 = env::args()
        .skip(1)
        .find_map(|text| text.parse().ok())
        .unwrap_or(20_000);
    let (elo0, elo1) = ELO;
    let betting = betting();
    let ratio = Sprt::new(elo0, elo1, ALPHA, BETA).expect("valid parameters");
    let tests: [&dyn Fn(&Pentanomial) -> Decision; 2] =
        [&|counts| betting.decide(counts), &|counts| {
            ratio.decide(counts)
        }];
    println!(
        "| true Elo | draws | pairs are | passed | not passed | pairs | SPRT passed | not passed |"
    );
    println!("|---:|---:|---|---:|---:|---:|---:|---:|");
    for elo in [elo0, elo1, 2.0 * elo1] {
        for draws in [0.0, 0.5, 0.9] {
            for luck in [Luck::Apart, Luck::Opening, Luck::Bot, Luck::Crashes] {
                if luck == Luck::Crashes && (!(0.4..=0.6).contains(&draws) || elo > elo1) {
                    continue;
                }
                let [bet, old] = tests.map(|test| climb(test, (elo, draws, luck), times));
                let percent = |count: u32| 100.0 * f64::from(count) / f64::from(times);
                let kind = match luck {
                    Luck::Apart => "independent",
                    Luck::Opening => "decided by the opening",
                    Luck::Bot => "decided by the bot",
                    Luck::Crashes => "1½ points or a crash",
                };
                println!(
                    "| {elo} | {:.0} % | {kind} | {:.1} % | {:.1} % | {:.0} | {:.1} % | {:.1} % |",
                    100.0 * draws,
                    percent(bet.passed),
                    percent(bet.failed),
                    f64::from(bet.pairs) / f64::from(times),
                    percent(old.passed),
                    percent(old.failed),
                );
            }
        }
    }
}
