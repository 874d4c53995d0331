//! What docs/internals/ratings.md and docs/grades.md promise, by the simulations of the benchmarks that make their tables.

#[expect(dead_code, reason = "its main function prints the tables")]
#[expect(unreachable_pub, reason = "it is a program of its own, too")]
#[path = "../../benches/intervals.rs"]
mod intervals;

use intervals::{Coverage, Field, Luck, Setting, coverage};

fn found(field: Field, bots: usize, pairs: usize, draws: f64, spread: f64, count: u32) -> Coverage {
    let setting = Setting {
        field,
        bots,
        pairs,
        draws,
        spread,
        luck: Luck::Apart,
    };
    coverage(&setting, count, 7)
}

#[test]
fn two_bots_that_mostly_draw() {
    for (pairs, draws, spread) in [
        (10, 0.95, 20.0),
        (10, 0.9, 20.0),
        (3, 0.95, 20.0),
        (1, 0.95, 150.0),
    ] {
        let share = found(Field::RoundRobin, 2, pairs, draws, spread, 2000).all;
        assert!(share >= 0.93, "{pairs} pairs, {draws} draws: {share}");
    }
}

#[test]
fn two_bots_with_few_pairs() {
    for (pairs, spread) in [(1, 150.0), (3, 150.0), (3, 20.0), (10, 20.0)] {
        let share = found(Field::RoundRobin, 2, pairs, 0.0, spread, 2000).all;
        assert!(share >= 0.93, "{pairs} pairs, spread {spread}: {share}");
    }
}

#[test]
fn enough_games_are_not_too_wide_either() {
    for (field, bots) in [
        (Field::RoundRobin, 2),
        (Field::RoundRobin, 4),
        (Field::Ring, 5),
    ] {
        let count = 3000 / u32::try_from(bots).unwrap();
        let share = found(field, bots, 30, 0.3, 100.0, count).all;
        assert!((0.93..=0.975).contains(&share), "{field:?} {bots}: {share}");
    }
}

#[test]
fn sparse_and_unequal_fields() {
    let leader = found(Field::Latecomer, 5, 3, 0.5, 20.0, 600).first;
    assert!(leader >= 0.93, "{leader}");
    let gauntlet = found(Field::Gauntlet, 5, 10, 0.95, 150.0, 600);
    assert!(
        gauntlet.all >= 0.93 && gauntlet.first >= 0.91,
        "{gauntlet:?}"
    );
    let wide = found(Field::Gauntlet, 50, 1, 0.5, 150.0, 100).first;
    assert!(wide >= 0.86, "{wide}");
    let ring = found(Field::Ring, 5, 3, 0.0, 150.0, 300).all;
    assert!(ring >= 0.93, "{ring}");
}

#[test]
fn swiss_tournaments() {
    let small = found(Field::Swiss, 9, 1, 0.0, 0.0, 200).all;
    assert!(small >= 0.93, "{small}");
    // Of equal bots the lucky ones meet each other: docs/internals/ratings.md.
    let large = found(Field::Swiss, 32, 3, 0.3, 150.0, 20).all;
    assert!(large >= 0.9, "{large}");
}

#[expect(dead_code, reason = "its main function prints the tables")]
#[expect(unreachable_pub, reason = "it is a program of its own, too")]
#[path = "../../benches/grades.rs"]
mod grades;

#[test]
fn no_more_rungs_are_passed_by_luck_than_the_scale_says() {
    use grades::{ALPHA, BETA, Luck, rates};
    for draws in [0.0, 0.5, 0.9] {
        for luck in [Luck::Apart, Luck::Opening, Luck::Bot, Luck::Crashes] {
            let times = 200;
            // Four standard deviations of a rate of 5 %.
            let slack = 4.0 * (ALPHA * (1.0 - ALPHA) / f64::from(times)).sqrt();
            let [passed, _] = rates((0.0, draws, luck), times);
            assert!(passed <= ALPHA + slack, "{draws} {luck:?}: {passed}");
            let [_, failed] = rates((150.0, draws, luck), times);
            assert!(failed <= BETA + slack, "{draws} {luck:?}: {failed}");
        }
    }
}
