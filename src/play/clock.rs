//! Limits on a player's time, and the clock of one side in one game.

use std::time::Duration;

use crate::bot::{Allowance, ClockKind};

/// The limits on a player's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeControl {
    /// The time for every move.
    pub move_time: Duration,
    /// Added for the first answer of a fresh process.
    pub start_time: Duration,
    /// The time for all moves of a game together, if it is limited.
    pub game_time: Option<Duration>,
    /// Added to the game clock after every move.
    pub increment: Duration,
    /// What is measured.
    pub kind: ClockKind,
}

impl Default for TimeControl {
    fn default() -> Self {
        Self {
            move_time: Duration::from_secs(10),
            start_time: Duration::from_secs(10),
            game_time: None,
            increment: Duration::ZERO,
            kind: ClockKind::Wall,
        }
    }
}

/// One side's clock in one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    control: TimeControl,
    left: Option<Duration>,
}

impl Clock {
    /// A full clock.
    pub const fn new(control: TimeControl) -> Self {
        Self {
            control,
            left: control.game_time,
        }
    }

    /// The time for the next move.
    pub fn allowance(&self) -> Allowance {
        let move_time = self.control.move_time;
        Allowance {
            time: self.left.map_or(move_time, |left| left.min(move_time)),
            start: self.control.start_time,
            clock: self.left.is_some_and(|left| left < move_time),
            is_counted: self.left.is_some(),
            kind: self.control.kind,
        }
    }

    /// Subtracts what a move is charged; the start time is not counted.
    pub fn spend(&mut self, charged: Duration, fresh: bool) {
        if let Some(left) = &mut self.left {
            let start = if fresh {
                self.control.start_time
            } else {
                Duration::ZERO
            };
            *left = left
                .saturating_sub(charged.saturating_sub(start))
                .saturating_add(self.control.increment);
        }
    }
}
