//! The clock of one side: what a move takes from it and what is added.

use std::time::Duration;

use referee::play::clock::{Clock, TimeControl};

const MS: Duration = Duration::from_millis(1);

/// What the clock holds after a move that took this long.
fn left(took: Duration, fresh: bool) -> Duration {
    let mut clock = Clock::new(TimeControl {
        start_time: 200 * MS,
        game_time: Some(1000 * MS),
        increment: 2000 * MS,
        ..TimeControl::default()
    });
    clock.spend(took, fresh);
    clock.allowance().time
}

#[test]
fn every_move_adds_the_increment() {
    assert_eq!(left(500 * MS, false), 2500 * MS);
    // Also the first one of a process, from which the time to start is taken off.
    assert_eq!(left(500 * MS, true), 2700 * MS);
    assert_eq!(left(100 * MS, true), 3000 * MS);
    // Nothing is owed: a clock stops at zero, and the increment comes on top.
    assert_eq!(left(5000 * MS, false), 2000 * MS);
}
