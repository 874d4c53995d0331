//! Ratings: the figures of other programs, and what must hold for any results.

use proptest::prelude::*;
use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use referee_stats::ratings::{Model, RatedOutcome, RatedResults, RatingError, Ratings, rate};

/// First mover, second mover, the first mover's wins, draws and losses.
type Row = (usize, usize, [u32; 3]);

/// Five bots, ten games each way.
#[rustfmt::skip]
const A: [Row; 20] = [
    (0, 1, [6, 2, 2]), (1, 0, [4, 2, 4]), (0, 2, [7, 1, 2]), (2, 0, [3, 2, 5]),
    (0, 3, [8, 1, 1]), (3, 0, [2, 1, 7]), (0, 4, [9, 1, 0]), (4, 0, [1, 0, 9]),
    (1, 2, [5, 3, 2]), (2, 1, [4, 2, 4]), (1, 3, [6, 2, 2]), (3, 1, [3, 1, 6]),
    (1, 4, [8, 1, 1]), (4, 1, [2, 1, 7]), (2, 3, [5, 2, 3]), (3, 2, [4, 2, 4]),
    (2, 4, [7, 1, 2]), (4, 2, [2, 2, 6]), (3, 4, [6, 2, 2]), (4, 3, [3, 2, 5]),
];

const PLAIN: Model = Model {
    advantage: false,
    prior: 0.0,
};

const ADVANTAGE: Model = Model {
    advantage: true,
    ..PLAIN
};

fn results(bots: usize, rows: &[Row]) -> RatedResults {
    let mut results = RatedResults::new(bots);
    for &(first, second, counts) in rows {
        let meeting = results.meeting(first, second).unwrap();
        let games = &mut meeting.games[usize::from(first > second)];
        for (sum, count) in games.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    results
}

fn elos(ratings: &Ratings) -> Vec<f64> {
    ratings.bots.iter().map(|rating| rating.elo).collect()
}

fn half_width(ratings: &Ratings, bot: usize) -> f64 {
    let [low, high] = ratings.bots[bot].interval;
    (high - low) / 2.0
}

fn rated(bots: usize, rows: &[Row], model: &Model) -> Ratings {
    rate(&results(bots, rows), model).unwrap()
}

/// Three bots, no draws.
#[rustfmt::skip]
const B: [Row; 6] = [
    (0, 1, [7, 0, 3]), (1, 0, [4, 0, 6]), (1, 2, [6, 0, 4]),
    (2, 1, [3, 0, 7]), (0, 2, [9, 0, 1]), (2, 0, [2, 0, 8]),
];

/// Ordo's points in an Elo. Its scale has 202 points where the expected score is 76 %; on the Elo scale that is
/// 400·log10(0.76/0.24) = 200.24.
const ORDO: f64 = 202.0 / 200.244_8;

#[track_caller]
fn assert_near(found: &[f64], wanted: &[f64], tolerance: f64) {
    assert_eq!(found.len(), wanted.len());
    for (found_one, wanted_one) in found.iter().zip(wanted) {
        assert!(
            (found_one - wanted_one).abs() <= tolerance,
            "{found:?}, expected {wanted:?}"
        );
    }
}

#[test]
fn ordo_without_an_advantage() {
    let a = rated(5, &A, &PLAIN);
    assert_near(
        &elos(&a),
        &[162.484, 70.590, 4.569, -57.435, -180.208],
        0.001,
    );
    assert_eq!(a.advantage, None);
    // On Ordo's scale: ±131.384 Elo.
    let b = rated(3, &B, &PLAIN);
    let points: Vec<f64> = elos(&b).iter().map(|elo| elo * ORDO).collect();
    assert_near(&points, &[132.538, 0.0, -132.538], 0.01);
    let expected = |elo: f64| 20.0 / (1.0 + 10_f64.powf(-elo / 400.0));
    let x = b.bots[0].elo;
    assert_near(&[expected(x) + expected(2.0 * x)], &[30.0], 1e-9);
}

#[test]
fn ordo_with_an_advantage() {
    assert!((ORDO - 1.00876_f64).abs() < 1e-5);
    let a = rated(5, &A, &ADVANTAGE);
    let points: Vec<f64> = elos(&a).iter().map(|elo| elo * ORDO).collect();
    assert_near(&points, &[166.476, 72.338, 4.669, -58.879, -184.604], 0.01);
    let advantage = a.advantage.unwrap();
    assert_near(&[advantage.elo * ORDO], &[46.75], 0.01);
}

#[test]
fn ordo_superiority() {
    // Simulated 2,000 times by Ordo, so known to about half a percent.
    let a = rated(5, &A, &PLAIN);
    let found: Vec<f64> = (0..4)
        .map(|bot| 100.0 * a.superiority(bot, bot + 1).unwrap())
        .collect();
    assert_near(&found, &[96.7, 91.5, 90.0, 99.2], 0.5);
    let errors: Vec<f64> = (0..5).map(|bot| half_width(&a, bot)).collect();
    assert_near(&errors, &[68.5, 61.5, 61.8, 62.5, 68.5], 4.0);
}

#[test]
fn two_bots_have_the_elo_of_their_score() {
    let ratings = rated(2, &[(0, 1, [15, 0, 5]), (1, 0, [5, 0, 15])], &PLAIN);
    let elo = 400.0 * 3.0_f64.log10() / 2.0;
    assert_near(&elos(&ratings), &[elo, -elo], 1e-6);
    // Without draws it is the likelihood ratio of 30 of 40 wins with a probability p, ± 2.0227 with 39 degrees of
    // freedom: 30 ln(¾/p) + 10 ln(¼/(1 − p)) = 2.0227²/2 has the solutions 0.598 and 0.869.
    let ends = [0.598_f64, 0.869].map(|p| 200.0 * (p / (1.0 - p)).log10());
    assert_near(&ratings.bots[0].interval, &ends, 0.5);
}

#[test]
fn perfect_scores_are_finite_with_a_prior_and_refused_without() {
    let rows = [(0, 1, [50, 0, 0]), (1, 0, [0, 0, 50]), (1, 2, [5, 1, 4])];
    let ratings = rated(3, &rows, &Model::default());
    assert!(ratings.bots[0].elo > 200.0, "{ratings:?}");
    let [low, high] = ratings.bots[0].interval;
    assert!(low > 100.0 && high.is_infinite(), "{:?}", ratings.bots);
    assert!(ratings.superiority(0, 1).unwrap() > 0.98);
    for advantage in [false, true] {
        let without = Model {
            advantage,
            prior: 0.0,
        };
        assert_eq!(
            rate(&results(3, &rows), &without).unwrap_err(),
            RatingError::Undetermined
        );
    }
}

#[test]
fn undetermined_without_a_prior() {
    let groups = [
        (0, 1, [5, 0, 5]),
        (2, 3, [5, 0, 5]),
        (0, 2, [9, 0, 0]),
        (1, 3, [9, 0, 0]),
    ];
    let first = [(0, 1, [10, 0, 0]), (1, 0, [10, 0, 0])];
    // Seats are never swapped: strength and advantage are the same.
    let seats = [(0, 1, [6, 0, 4])];
    for (bots, rows, model) in [
        (4, &groups[..], PLAIN),
        (2, &first[..], ADVANTAGE),
        (2, &seats[..], ADVANTAGE),
    ] {
        let results = results(bots, rows);
        assert_eq!(
            rate(&results, &model).unwrap_err(),
            RatingError::Undetermined
        );
        let model = Model {
            prior: 0.1,
            ..model
        };
        let ratings = rate(&results, &model).unwrap();
        assert!(elos(&ratings).iter().all(|elo| elo.is_finite()));
    }
}

#[test]
fn groups_are_rated_apart() {
    let rows = [(0, 1, [6, 0, 4]), (3, 5, [2, 1, 7]), (5, 3, [5, 1, 4])];
    let ratings = rated(6, &rows, &Model::default());
    let groups: Vec<usize> = ratings.bots.iter().map(|bot| bot.group).collect();
    assert_eq!(groups, [0, 0, 2, 3, 4, 3]);
    let found = elos(&ratings);
    assert_near(&[found[0] + found[1], found[3] + found[5]], &[0.0; 2], 1e-6);
    for alone in [2, 4] {
        assert_near(&[found[alone]], &[0.0], 0.0);
        let open = ratings.bots[alone].interval;
        assert!(open.iter().all(|end| end.is_infinite()), "{open:?}");
    }
    assert_eq!(ratings.superiority(0, 3), None);
    assert_eq!(ratings.superiority(0, 9), None);
    assert!(ratings.superiority(5, 3).unwrap() > 0.5);
}

#[test]
fn nothing_to_rate() {
    for prior in [0.0, 2.0] {
        let model = Model { prior, ..ADVANTAGE };
        assert!(rated(0, &[], &model).bots.is_empty());
        for bots in [1, 3] {
            let ratings = rated(bots, &[], &model);
            assert_near(&elos(&ratings), &vec![0.0; bots], 0.0);
            assert_eq!(ratings.advantage, None);
            assert_eq!(ratings.superiority(0, 0), Some(0.5));
        }
        let ratings = rated(2, &[(0, 1, [0; 3])], &model);
        assert_eq!(ratings.superiority(0, 1), None);
    }
}

#[test]
fn only_draws() {
    for prior in [0.0, 2.0] {
        let model = Model { prior, ..ADVANTAGE };
        let ratings = rated(2, &[(0, 1, [0, 9, 0]), (1, 0, [0, 9, 0])], &model);
        assert_near(&elos(&ratings), &[0.0; 2], 1e-9);
        // Something else than a draw could have happened.
        let error = half_width(&ratings, 0);
        assert!((10.0..40.0).contains(&error), "{error}");
        assert_eq!(ratings.superiority(0, 1), Some(0.5));
    }
}

#[test]
fn twenty_wins_of_twenty_games() {
    use RatedOutcome::{FirstWins, SecondWins};
    let mut results = RatedResults::new(2);
    for _ in 0..10 {
        results.add_pair(0, 1, [FirstWins, SecondWins]).unwrap();
    }
    let ratings = rate(&results, &Model::default()).unwrap();
    let [[low, high], [lowest, highest]] = [0, 1].map(|bot| ratings.bots[bot].interval);
    // ln p = −t²/20 has the solution 0.774, with t = 2.262 of nine degrees of freedom: a difference of 214 Elo.
    assert!(
        (100.0..115.0).contains(&low) && high.is_infinite(),
        "{low} {high}"
    );
    assert_near(&[highest], &[-low], 1e-6);
    assert!(lowest.is_infinite(), "{lowest}");
    assert!(ratings.superiority(0, 1).unwrap() > 0.999);
}

#[test]
fn draws_alone_do_not_make_bots_equal_for_certain() {
    let error = |games: u32| {
        let rows = [(0, 1, [0, games.div_ceil(2), 0]), (1, 0, [0, games / 2, 0])];
        half_width(&rated(2, &rows, &Model::default()), 0)
    };
    assert!(error(1) > 100.0, "{}", error(1));
    // Of a hundred games up to three would usually be decided: a score of 51.5 %, 10 Elo apart.
    assert!((2.0..20.0).contains(&error(100)), "{}", error(100));
    assert!(error(1) > error(10) && error(10) > error(100) && error(100) > error(1000));
}

#[test]
fn wrong_input() {
    let mut results = RatedResults::new(2);
    for (first, second) in [(0, 0), (0, 2), (7, 1)] {
        let wanted = RatingError::Pairing(first, second, 2);
        assert_eq!(results.meeting(first, second).err(), Some(wanted));
        assert_eq!(
            results.add_pair(first, second, [RatedOutcome::Draw; 2]),
            Err(wanted)
        );
    }
    for prior in [-1.0, f64::NAN, f64::INFINITY] {
        let model = Model { prior, ..PLAIN };
        assert!(matches!(rate(&results, &model), Err(RatingError::Prior(_))));
    }
}

/// Indices of the bots, highest rating first.
fn ranking(ratings: &Ratings) -> Vec<usize> {
    let levels = ratings.levels();
    let mut order: Vec<usize> = (0..levels.len()).collect();
    order.sort_by(|&a, &b| levels[b].total_cmp(&levels[a]));
    order
}

#[test]
fn ranking_is_by_rating_then_index() {
    let ratings = rated(4, &[(3, 1, [6, 0, 4])], &Model::default());
    assert_eq!(ranking(&ratings), [3, 0, 2, 1]);
}

/// Rounding of the last bits does not rank challengers of a gauntlet with the same results.
#[test]
fn ratings_that_are_equal_are_not_told_apart_by_rounding() {
    for bots in 3..40 {
        let rows: Vec<Row> = (1..bots)
            .flat_map(|bot| match bot % 3 {
                0 => [(0, bot, [1, 0, 0]), (bot, 0, [0, 0, 1])],
                1 => [(0, bot, [0, 1, 0]), (bot, 0, [0, 1, 0])],
                _ => [(0, bot, [0, 0, 1]), (bot, 0, [1, 0, 0])],
            })
            .collect();
        let mut order = ranking(&rated(bots, &rows, &Model::default()));
        order.retain(|&bot| bot != 0);
        let mut expected: Vec<usize> = (1..bots).collect();
        expected.sort_by_key(|bot| 2 - bot % 3);
        assert_eq!(order, expected);
    }
}

#[test]
fn pairs_know_that_an_opening_decides() {
    use RatedOutcome::{FirstWins, SecondWins};
    let error = |pairs: [([RatedOutcome; 2], u32); 2]| {
        let (mut in_pairs, mut in_games) = (RatedResults::new(2), RatedResults::new(2));
        for (outcomes, count) in pairs {
            for _ in 0..count {
                in_pairs.add_pair(0, 1, outcomes).unwrap();
                for (first, outcome) in outcomes.into_iter().enumerate() {
                    let meeting = in_games.meeting(0, 1).unwrap();
                    meeting.games[first][outcome as usize] += 1;
                }
            }
        }
        [in_pairs, in_games].map(|results| {
            let ratings = rate(&results, &PLAIN).unwrap();
            assert_near(&elos(&ratings), &[0.0; 2], 1e-9);
            half_width(&ratings, 0)
        })
    };
    // Nearly: no pair was decided.
    let [pairs, games] = error([([FirstWins; 2], 200), ([SecondWins; 2], 200)]);
    assert!(pairs < 1.0 && games > 9.0, "{pairs} {games}");
    // Half as much is known as from independent games.
    let [pairs, games] = error([
        ([FirstWins, SecondWins], 200),
        ([SecondWins, FirstWins], 200),
    ]);
    assert!((pairs / games / 2.0_f64.sqrt() - 1.0).abs() < 0.02);
}

#[test]
fn the_order_of_a_pair_does_not_matter() {
    use RatedOutcome::{Draw, FirstWins, SecondWins};
    let (mut one, mut other) = (RatedResults::new(3), RatedResults::new(3));
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        for outcomes in [[FirstWins, Draw], [SecondWins, Draw], [FirstWins; 2]] {
            one.add_pair(a, b, outcomes).unwrap();
            other.add_pair(b, a, [outcomes[1], outcomes[0]]).unwrap();
        }
    }
    let [one, other] = [one, other].map(|results| rate(&results, &Model::default()).unwrap());
    assert_eq!(one.bots, other.bots);
    assert_eq!(one.superiority(0, 1), other.superiority(0, 1));
}

#[test]
fn a_million_games_between_unequal_bots() {
    // Ten bots in a chain, each 600 Elo above the next: one game in 32 is lost.
    let rows: Vec<Row> = (0..9)
        .map(|bot| (bot, bot + 1, [968_000, 1000, 31_000]))
        .collect();
    let ratings = rated(10, &rows, &PLAIN);
    let step = 400.0 * (968_500_f64 / 31_500.0).log10();
    let wanted: Vec<f64> = (0..10).map(|bot| step * (4.5 - f64::from(bot))).collect();
    assert_near(&elos(&ratings), &wanted, 1e-4);
    assert_near(&[ratings.superiority(3, 4).unwrap()], &[1.0], 1e-9);
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    const TRUTH: [f64; 4] = [150.0, 30.0, -30.0, -150.0];
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut tournament = |pairs: usize| {
        let mut results = RatedResults::new(4);
        for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            for _ in 0..pairs {
                let opening = if random.random_bool(0.5) {
                    200.0
                } else {
                    -100.0
                };
                let outcomes = [TRUTH[a] - TRUTH[b], TRUTH[b] - TRUTH[a]].map(|difference| {
                    let odds = 10_f64.powf((difference + opening) / 400.0);
                    match random.random::<f64>() {
                        draw if draw < 0.2 => RatedOutcome::Draw,
                        _ if random.random_bool(odds / (1.0 + odds)) => RatedOutcome::FirstWins,
                        _ => RatedOutcome::SecondWins,
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
    // Of a tournament without end: draws make it less than the truth.
    let limit = elos(&tournament(60_000));
    let (mut inside, mut all) = (0, 0);
    for _ in 0..500 {
        let ratings = tournament(25);
        for (rating, truth) in ratings.bots.iter().zip(&limit) {
            all += 1;
            let [low, high] = rating.interval;
            inside += usize::from((low..=high).contains(truth));
        }
    }
    // 2,000 intervals, not quite independent.
    assert!(
        (all * 93..=all * 97).contains(&(inside * 100)),
        "{inside} of {all}"
    );
}

/// Of up to five bots; some have not met.
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
    (any::<bool>(), 0.01..4.0).prop_map(|(advantage, prior)| Model { advantage, prior })
}

proptest! {
    #[test]
    fn always_finite_with_mean_0_in_each_group(rows in any_rows(), model in any_model()) {
        let ratings = rated(5, &rows, &model);
        let mut sums = [0.0; 5];
        for bot in &ratings.bots {
            prop_assert!(bot.elo.is_finite());
            let [low, high] = bot.interval;
            prop_assert!(low <= bot.elo && bot.elo <= high);
            sums[bot.group] += bot.elo;
        }
        prop_assert!(sums.iter().all(|sum| sum.abs() < 1e-6));
        for a in 0..5 {
            for b in 0..5 {
                let Some(better) = ratings.superiority(a, b) else { continue };
                let worse = ratings.superiority(b, a).unwrap();
                // Each is computed by itself; the root of a rounding error is larger than the error.
                prop_assert!((better + worse - 1.0).abs() < 1e-6, "{a} {b} {better} {worse}");
                let above = ratings.bots[a].elo - ratings.bots[b].elo;
                let agree = above.abs() < 1e-5 || (above > 0.0) == (better > 0.5) || (better - 0.5).abs() < 1e-9;
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
            for (one, other) in left.interval.into_iter().zip(right.interval) {
                prop_assert!(one.is_infinite() && other.is_infinite() || (one - other).abs() < 1e-3);
            }
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
            let ratio = half_width(&few, bot) / half_width(&many, bot);
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
