//! Elo and the sequential test: fastchess's figures, what must hold for
//! any counts, and how often the test is wrong.

use proptest::prelude::*;
use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use referee_stats::sprt::{
    Decision, Estimate, Pentanomial, Scores, Sprt, SprtError, Trinomial, score_of_elo,
};

fn test(elo0: f64, elo1: f64) -> Sprt {
    Sprt::new(elo0, elo1, 0.05, 0.05).unwrap()
}

/// fastchess allows its own figures 1 %.
#[track_caller]
fn assert_like(found: f64, wanted: f64) {
    assert!(
        (found - wanted).abs() <= 0.01 * wanted.abs(),
        "{found}, expected {wanted}"
    );
}

#[track_caller]
fn assert_estimate(found: Estimate, elo: f64, error: f64) {
    assert_like(found.elo, elo);
    assert_like(found.error.unwrap(), error);
}

#[test]
fn figures_of_games() {
    let games: Trinomial = Scores([89, 123, 76]);
    assert_like(games.superiority(), 0.1553);
    let games: Trinomial = Scores([96, 111, 136]);
    assert_estimate(games.elo(), 40.70, 30.43);
    assert_like(games.superiority(), 0.9960);
}

#[test]
fn figures_of_pairs() {
    let pairs: Pentanomial = Scores([34, 54, 63, 64, 75]);
    assert_estimate(pairs.elo(), 55.58, 27.65);
    let pairs: Pentanomial = Scores([332, 433, 498, 333, 334]);
    assert_estimate(pairs.elo(), -8.64, 10.33);
    assert_like(pairs.superiority(), 0.0505);
}

#[test]
fn figures_of_likelihood_ratios() {
    let test = test(0.5, 2.5);
    let pairs = test.llr(&Scores([223, 9863, 21279, 10037, 246]));
    assert!((pairs + 3.07413).abs() < 1e-4, "{pairs}");
    let games = test.llr(&Scores([21184, 40708, 21404]));
    assert!((games + 1.57189).abs() < 1e-4, "{games}");
}

#[test]
fn bounds_and_decisions() {
    let test = Sprt::new(0.0, 10.0, 0.05, 0.1).unwrap();
    let (lower, upper) = test.bounds();
    assert_like(lower, (0.1_f64 / 0.95).ln());
    assert_like(upper, (0.9_f64 / 0.05).ln());
    for (counts, wanted) in [
        ([0, 0, 0], Decision::Continue),
        ([20, 10, 20], Decision::Continue),
        ([100, 10, 300], Decision::AcceptH1),
        ([300, 10, 100], Decision::AcceptH0),
    ] {
        assert_eq!(test.decide(&Scores(counts)), wanted);
    }
}

#[test]
fn extremes() {
    let none: Pentanomial = Scores([0; 5]);
    let nothing = Estimate {
        elo: 0.0,
        error: None,
    };
    assert_eq!(none.elo(), nothing);
    assert!((none.superiority() - 0.5).abs() < 1e-12);
    assert!(test(0.0, 5.0).llr(&none).abs() < 1e-12);

    let drawn: Pentanomial = Scores([0, 0, 40, 0, 0]);
    let certain = Estimate {
        elo: 0.0,
        error: Some(0.0),
    };
    assert_eq!(drawn.elo(), certain);
    assert!((drawn.superiority() - 0.5).abs() < 1e-12);

    for (counts, sign, better) in [([0, 0, 9], 1.0, 1.0), ([9, 0, 0], -1.0, 0.0)] {
        let one_sided: Trinomial = Scores(counts);
        let estimate = Estimate {
            elo: sign * f64::INFINITY,
            error: None,
        };
        assert_eq!(one_sided.elo(), estimate);
        assert!((one_sided.superiority() - better).abs() < 1e-12);
    }
    // The interval of ten games with one loss reaches a score of 1.
    assert_eq!(Scores([1, 0, 9]).elo().error, None);
}

#[test]
fn refused_hypotheses() {
    let new = |elo0, elo1, alpha, beta| Sprt::new(elo0, elo1, alpha, beta);
    for (elo0, elo1) in [(5.0, 5.0), (5.0, 0.0), (0.0, 2000.5), (f64::NAN, 0.0)] {
        let error = new(elo0, elo1, 0.05, 0.05).unwrap_err();
        assert!(matches!(error, SprtError::Elo { .. }), "{error}");
    }
    for (alpha, beta) in [(0.0, 0.05), (0.05, -0.1), (0.5, 0.5), (f64::NAN, 0.1)] {
        let error = new(0.0, 5.0, alpha, beta).unwrap_err();
        assert!(matches!(error, SprtError::ErrorRates { .. }), "{error}");
    }
}

/// Moves `shift` of the probability from the worst to the best score; returns the mean, too.
fn shifted<const K: usize>(base: [f64; K], shift: f64) -> ([f64; K], f64) {
    let mut chances = base;
    chances[0] -= shift;
    chances[K - 1] += shift;
    let last = f64::from(u32::try_from(K - 1).unwrap());
    let values = (0_u32..).map(|score| f64::from(score) / last);
    let mean: f64 = chances.iter().zip(values).map(|(p, value)| p * value).sum();
    (chances, mean)
}

/// `base` shifted so that the difference is `elo`.
fn with_elo<const K: usize>(base: [f64; K], elo: f64) -> [f64; K] {
    let (mut low, mut high) = (-base[0], base[0]);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        let (_, mean) = shifted(base, middle);
        if -400.0 * (1.0 / mean - 1.0).log10() < elo {
            low = middle;
        } else {
            high = middle;
        }
    }
    shifted(base, low).0
}

/// How many of `runs` tests accept `elo1` when the scores have these chances.
fn accepted<const K: usize>(test: &Sprt, chances: [f64; K], runs: u32, seed: u64) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut accepted = 0;
    for _ in 0..runs {
        let mut scores = Scores([0; K]);
        let decision = loop {
            // Looking at every fourth result is quicker and a little more careful.
            for _ in 0..4 {
                let mut draw: f64 = random.random();
                let score = chances.iter().position(|chance| {
                    draw -= chance;
                    draw < 0.0
                });
                scores.0[score.unwrap_or(K - 1)] += 1;
            }
            match test.decide(&scores) {
                Decision::Continue => {}
                decision => break decision,
            }
        };
        accepted += u32::from(decision == Decision::AcceptH1);
    }
    f64::from(accepted) / f64::from(runs)
}

#[track_caller]
fn assert_error_rates<const K: usize>(base: [f64; K]) {
    const RUNS: u32 = 500;
    let (elo0, elo1, alpha, beta) = (-10.0, 40.0, 0.05, 0.1);
    let test = Sprt::new(elo0, elo1, alpha, beta).unwrap();
    let wrong = [
        accepted(&test, with_elo(base, elo0), RUNS, 1),
        1.0 - accepted(&test, with_elo(base, elo1), RUNS, 2),
    ];
    for (found, wanted) in wrong.into_iter().zip([alpha, beta]) {
        // Three standard deviations above; the bounds are overshot, so well below is right.
        let tolerance = 3.0 * (wanted * (1.0 - wanted) / f64::from(RUNS)).sqrt();
        assert!(
            found <= wanted + tolerance && found >= wanted / 5.0,
            "wrong in {found}, wanted {wanted}"
        );
    }
}

#[test]
fn error_rates_of_pairs() {
    assert_error_rates([0.15, 0.2, 0.3, 0.2, 0.15]);
}

#[test]
fn error_rates_of_games() {
    assert_error_rates([0.35, 0.3, 0.35]);
}

/// Between bots of which one hardly ever loses, too.
#[test]
fn error_rates_of_large_differences() {
    const RUNS: u32 = 500;
    let (elo0, elo1, alpha, beta) = (600.0, 900.0, 0.05, 0.1);
    for sign in [1.0, -1.0] {
        let bounds = if sign > 0.0 {
            [elo0, elo1]
        } else {
            [-elo1, -elo0]
        };
        let test = Sprt::new(bounds[0], bounds[1], alpha, beta).unwrap();
        let chances = |elo: f64| [1.0 - score_of_elo(elo), 0.0, score_of_elo(elo)];
        let wrong = [
            accepted(&test, chances(bounds[0]), RUNS, 1),
            1.0 - accepted(&test, chances(bounds[1]), RUNS, 2),
        ];
        for (found, wanted) in wrong.into_iter().zip([alpha, beta]) {
            let tolerance = 3.0 * (wanted * (1.0 - wanted) / f64::from(RUNS)).sqrt();
            assert!(
                found <= wanted + tolerance,
                "wrong in {found}, wanted {wanted}"
            );
        }
    }
}

/// Counts of all sizes, empty cells among them.
fn any_count() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), 1..5_u32, 0..1000_u32, 0..1_000_000_u32]
}

proptest! {
    #[test]
    fn billions_are_finite(
        counts in prop::array::uniform5(prop_oneof![Just(0), 0..=u32::MAX]),
    ) {
        let pairs: Pentanomial = Scores(counts);
        prop_assert!(test(-5.0, 5.0).llr(&pairs).is_finite());
        prop_assert!(test(-2000.0, 2000.0).llr(&pairs).is_finite());
        prop_assert!((0.0..=1.0).contains(&pairs.superiority()));
        prop_assert!(!pairs.elo().elo.is_nan());
    }

    #[test]
    fn swapping_the_bots_turns_all_signs(
        counts in prop::array::uniform5(any_count()),
        elo0 in -50.0..50.0,
        width in 0.5..50.0,
    ) {
        let one: Pentanomial = Scores(counts);
        let mut other = one;
        other.0.reverse();
        let elo1 = elo0 + width;
        let llr = test(elo0, elo1).llr(&one);
        let mirrored = test(-elo1, -elo0).llr(&other);
        prop_assert!(llr.is_finite());
        prop_assert!((llr + mirrored).abs() <= 1e-4 * (1.0 + llr.abs()), "{llr} {mirrored}");
        prop_assert!((one.superiority() + other.superiority() - 1.0).abs() < 1e-9);
        let (left, right) = (one.elo().elo, other.elo().elo);
        // Two infinities of opposite signs have no sum.
        let opposite = (left + right).is_nan() && left.is_infinite();
        prop_assert!(opposite || (left + right).abs() < 1e-6 * (1.0 + left.abs()));
    }

    #[test]
    fn superiority_has_the_sign_of_elo(
        counts in prop::array::uniform3(0..10_000_u32),
        factor in 1..1000_u32,
    ) {
        for games in [Scores(counts), Scores(counts.map(|count| count * factor))] {
            let (elo, better) = (games.elo().elo, games.superiority());
            prop_assert!((0.0..=1.0).contains(&better));
            prop_assert!(elo.abs() < 1e-9 || (elo > 0.0) == (better > 0.5));
        }
    }

    #[test]
    fn a_win_never_speaks_for_the_weaker(
        counts in prop::array::uniform3(1..300_u32),
        elo0 in -20.0..20.0,
        width in 1.0..20.0,
    ) {
        let test = test(elo0, elo0 + width);
        let [losses, draws, wins] = counts;
        let llr = test.llr(&Scores(counts));
        prop_assert!(test.llr(&Scores([losses, draws, wins + 1])) > llr);
        prop_assert!(test.llr(&Scores([losses + 1, draws, wins])) < llr);
    }

    #[test]
    fn draws_bring_elo_to_0(counts in prop::array::uniform3(1..300_u32), more in 1..300_u32) {
        let [losses, draws, wins] = counts;
        let (few, many) = (Scores(counts).elo(), Scores([losses, draws + more, wins]).elo());
        prop_assert!(many.elo.abs() <= few.elo.abs() + 1e-9);
    }
}
