//! The error rates that docs/grades.md promises, by simulation.

#[expect(dead_code, reason = "its main function prints the tables")]
#[expect(unreachable_pub, reason = "it is a program of its own, too")]
#[path = "../../benches/grades.rs"]
mod simulated;

#[test]
fn no_more_rungs_are_passed_by_luck_than_the_scale_says() {
    use simulated::{ALPHA, BETA, Luck, rates};
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
