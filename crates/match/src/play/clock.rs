use std::time::{Duration, TryFromFloatSecsError};

use serde::{Deserialize, Serialize};

use crate::bot::{Allowance, ClockKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Limits", try_from = "Limits")]
pub struct TimeControl {
    /// `None` when it is not limited, as with the others.
    pub move_time: Option<Duration>,
    pub start_time: Duration,
    pub game_time: Option<Duration>,
    /// Added to the game clock after every move.
    pub increment: Duration,
    pub kind: ClockKind,
}

impl Default for TimeControl {
    fn default() -> Self {
        Self {
            move_time: Some(Duration::from_secs(10)),
            start_time: Duration::from_secs(10),
            game_time: None,
            increment: Duration::ZERO,
            kind: ClockKind::Wall,
        }
    }
}

/// As plans hold it, in seconds.
#[derive(Serialize, Deserialize)]
struct Limits {
    #[serde(deserialize_with = "Option::deserialize")]
    move_time: Option<f64>,
    start_time: f64,
    game_time: Option<f64>,
    increment: f64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cpu_clock: bool,
}

impl From<TimeControl> for Limits {
    fn from(time: TimeControl) -> Self {
        Self {
            move_time: time.move_time.map(|time| time.as_secs_f64()),
            start_time: time.start_time.as_secs_f64(),
            game_time: time.game_time.map(|time| time.as_secs_f64()),
            increment: time.increment.as_secs_f64(),
            cpu_clock: time.kind == ClockKind::Cpu,
        }
    }
}

impl TryFrom<Limits> for TimeControl {
    type Error = TryFromFloatSecsError;

    fn try_from(limits: Limits) -> Result<Self, Self::Error> {
        let time = Duration::try_from_secs_f64;
        Ok(Self {
            move_time: limits.move_time.map(time).transpose()?,
            start_time: time(limits.start_time)?,
            game_time: limits.game_time.map(time).transpose()?,
            increment: time(limits.increment)?,
            kind: if limits.cpu_clock {
                ClockKind::Cpu
            } else {
                ClockKind::Wall
            },
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    pub control: TimeControl,
    /// For all moves together, if that is limited.
    pub left: Option<Duration>,
    /// See [`Allowance::benefit_of_doubt`].
    pub benefit_of_doubt: bool,
}

impl Clock {
    pub const fn new(control: TimeControl) -> Self {
        Self {
            control,
            left: control.game_time,
            benefit_of_doubt: false,
        }
    }

    pub fn allowance(&self) -> Allowance {
        let move_time = self.control.move_time.unwrap_or(Allowance::NO_LIMIT);
        Allowance {
            time: self.left.map_or(move_time, |left| left.min(move_time)),
            start: self.control.start_time,
            clock: self.left.is_some_and(|left| left < move_time),
            is_counted: self.left.is_some(),
            kind: self.control.kind,
            benefit_of_doubt: self.benefit_of_doubt,
        }
    }

    /// The start time is not counted.
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

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn clock(game_time: Option<Duration>) -> Clock {
        Clock::new(TimeControl {
            move_time: Some(5 * SECOND),
            start_time: 10 * SECOND,
            game_time,
            increment: SECOND / 2,
            ..TimeControl::default()
        })
    }

    #[test]
    fn the_smaller_limit_is_the_one_that_is_named() {
        for (game_time, time, is_clock) in [
            (None, 5, false),
            (Some(60), 5, false),
            // The same limit twice is that of the move.
            (Some(5), 5, false),
            (Some(4), 4, true),
            (Some(0), 0, true),
        ] {
            let allowance = clock(game_time.map(Duration::from_secs)).allowance();
            assert_eq!(allowance.time, Duration::from_secs(time));
            assert_eq!(allowance.clock, is_clock, "{game_time:?}");
            assert_eq!(allowance.is_counted, game_time.is_some());
            assert_eq!(allowance.start, 10 * SECOND);
        }
    }

    #[test]
    fn without_a_limit_for_a_move_only_the_game_clock_counts() {
        let of = |game_time| {
            let control = TimeControl {
                move_time: None,
                game_time,
                ..TimeControl::default()
            };
            Clock::new(control).allowance()
        };
        let none = of(None);
        assert!(!none.clock && !none.is_counted);
        for fresh in [false, true] {
            assert_eq!(none.total(fresh), Allowance::NO_LIMIT);
            assert_eq!(none.longest(fresh), Allowance::NO_LIMIT);
        }
        let game = of(Some(SECOND));
        assert_eq!(game.time, SECOND);
        assert!(game.clock && game.is_counted);
    }

    #[test]
    fn a_move_costs_its_time_less_the_increment() {
        let mut spent = clock(Some(4 * SECOND));
        spent.spend(SECOND, false);
        assert_eq!(spent.left, Some(SECOND * 7 / 2));
        // What was charged beyond the limit is not owed.
        spent.spend(60 * SECOND, false);
        assert_eq!(spent.left, Some(SECOND / 2));
        // The start of a process is free, and its first move has an increment like any other.
        let mut fresh = clock(Some(4 * SECOND));
        fresh.spend(9 * SECOND, true);
        assert_eq!(fresh.left, Some(SECOND * 9 / 2));
        fresh.spend(11 * SECOND, true);
        assert_eq!(fresh.left, Some(4 * SECOND));
        let mut none = clock(None);
        none.spend(SECOND, false);
        assert_eq!(none.left, None);
    }
}
