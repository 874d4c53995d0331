//! Ratings: what must hold for any results, and how often the intervals are right.

use super::league::{A, ADVANTAGE, PLAIN, Row, elos, rated};
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use referee_stats::ratings::{Draws, Model, Outcome, Results, rate};

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    const TRUTH: [f64; 4] = [150.0, 30.0, -30.0, -150.0];
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut tournament = |pairs: usize| {
        let mut results = Results::new(4);
        for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            for _ in 0..pairs {
                // An opening that favours the first mover, or the second.
                let opening = if random.random_bool(0.5) {
                    200.0
                } else {
                    -100.0
                };
                let outcomes = [TRUTH[a] - TRUTH[b], TRUTH[b] - TRUTH[a]].map(|difference| {
                    let odds = 10_f64.powf((difference + opening) / 400.0);
                    match random.random::<f64>() {
                        draw if draw < 0.2 => Outcome::Draw,
                        _ if random.random_bool(odds / (1.0 + odds)) => Outcome::FirstWins,
                        _ => Outcome::SecondWins,
                    }
                });
                results.add_pair(a, b, outcomes).unwrap();
            }
        }
        rate(
            &results,
            &Model {
                prior: 0.0,
                ..Model::default()
            },
        )
        .unwrap()
    };
    // What a tournament without end would say: draws make it less than the truth.
    let limit = elos(&tournament(60_000));
    let (mut inside, mut all) = (0, 0);
    for _ in 0..500 {
        let ratings = tournament(25);
        for (rating, truth) in ratings.bots.iter().zip(&limit) {
            all += 1;
            inside += usize::from((rating.elo - truth).abs() <= rating.error.unwrap());
        }
    }
    // 2,000 intervals, not quite independent.
    assert!(
        (all * 93..=all * 97).contains(&(inside * 100)),
        "{inside} of {all}"
    );
}

/// Any results of up to five bots; some have not met.
fn any_rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (0..5_usize, 1..5_usize, prop::array::uniform3(0..12_u32));
    let rows = prop::collection::vec(row, 0..16);
    rows.prop_map(|rows| {
        let rows = rows.into_iter();
        rows.map(|(a, step, counts)| (a, (a + step) % 5, counts))
            .collect()
    })
}

fn any_model() -> impl Strategy<Value = Model> {
    let draws = prop_oneof![Just(Draws::HalfWins), Just(Draws::Fitted)];
    (any::<bool>(), draws, 0.01..4.0).prop_map(|(advantage, draws, prior)| Model {
        advantage,
        draws,
        prior,
    })
}

proptest! {
    #[test]
    fn always_finite_with_mean_0_in_each_group(rows in any_rows(), model in any_model()) {
        let ratings = rated(5, &rows, &model);
        let mut sums = [0.0; 5];
        for bot in &ratings.bots {
            prop_assert!(bot.elo.is_finite());
            prop_assert!(bot.error.is_none_or(|error| error.is_finite() && error >= 0.0));
            sums[bot.group] += bot.elo;
        }
        prop_assert!(sums.iter().all(|sum| sum.abs() < 1e-6));
        for a in 0..5 {
            for b in 0..5 {
                let Some(better) = ratings.superiority(a, b) else { continue };
                let worse = ratings.superiority(b, a).unwrap();
                prop_assert!((better + worse - 1.0).abs() < 1e-9);
                let above = ratings.bots[a].elo - ratings.bots[b].elo;
                let agree = above.abs() < 1e-5 || (above > 0.0) == (better > 0.5);
                prop_assert!(agree, "{above} {better}");
            }
        }
    }

    #[test]
    fn names_do_not_matter(rows in any_rows(), model in any_model(), shift in 1..5_usize) {
        let renamed = |bot: usize| (bot * 2 + shift) % 5;
        let other: Vec<Row> = rows.iter().rev()
            .map(|&(a, b, counts)| (renamed(a), renamed(b), counts)).collect();
        let (one, other) = (rated(5, &rows, &model), rated(5, &other, &model));
        for bot in 0..5 {
            let (left, right) = (one.bots[bot], other.bots[renamed(bot)]);
            prop_assert!((left.elo - right.elo).abs() < 1e-4);
            let errors = (left.error.unwrap_or(0.0), right.error.unwrap_or(0.0));
            prop_assert!((errors.0 - errors.1).abs() < 1e-3);
        }
    }

    #[test]
    fn more_of_the_same_keeps_ratings_and_narrows_intervals(factor in 2..50_u32) {
        // So many that Student's t is close to the normal distribution.
        let times = |factor| A.map(|(a, b, counts)| (a, b, counts.map(|count| count * factor)));
        let (few, many) = (times(5), times(5 * factor));
        let (few, many) = (rated(5, &few, &ADVANTAGE), rated(5, &many, &ADVANTAGE));
        for bot in 0..5 {
            let moved = many.bots[bot].elo - few.bots[bot].elo;
            prop_assert!(moved.abs() < 1e-6);
            let ratio = few.bots[bot].error.unwrap() / many.bots[bot].error.unwrap();
            prop_assert!((ratio / f64::from(factor).sqrt() - 1.0).abs() < 0.02);
        }
        for bot in 0..4 {
            prop_assert!(many.superiority(bot, bot + 1) > few.superiority(bot, bot + 1));
        }
    }

    #[test]
    fn draws_bring_bots_together(counts in prop::array::uniform3(1..30_u32), more in 1..30_u32) {
        let [wins, draws, losses] = counts;
        let elo = |draws| rated(2, &[(0, 1, [wins, draws, losses])], &PLAIN).bots[0].elo.abs();
        prop_assert!(elo(draws + more) <= elo(draws) + 1e-9);
        let prior = |prior| {
            let model = Model { prior, ..PLAIN };
            rated(2, &[(0, 1, counts)], &model).bots[0].elo.abs()
        };
        prop_assert!(prior(f64::from(more)) <= prior(0.0) + 1e-9);
    }
}
