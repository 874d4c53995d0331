use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::bot::ClockKind;
use crate::play::TimeControl;

/// In seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// A move.
    #[serde(deserialize_with = "Option::deserialize")]
    pub move_time: Option<f64>,
    /// Added to the first move of a fresh process.
    pub start_time: f64,
    /// All moves of a game.
    pub game_time: Option<f64>,
    /// Added to the game's time after every move.
    pub increment: f64,
    /// Whether the clock measures CPU time.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cpu_clock: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes fields by reference"
)]
const fn is_false(value: &bool) -> bool {
    !*value
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

/// Negative, too large or not a number.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} is no number of seconds that a limit can have")]
pub struct NoTime(f64);

impl TryFrom<Limits> for TimeControl {
    type Error = NoTime;

    fn try_from(limits: Limits) -> Result<Self, NoTime> {
        let time = |seconds| Duration::try_from_secs_f64(seconds).map_err(|_| NoTime(seconds));
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BotPlan {
    pub name: String,
    /// Its directory's name: letters, digits, `.`, `-`, `_`.
    pub slug: String,
    /// As the user named it: a file, a command line or `builtin:NAME`.
    pub bot: String,
    /// `None`: the referee's.
    pub directory: Option<String>,
    /// Variables that are added.
    pub environment: BTreeMap<String, String>,
    pub limits: Limits,
    /// Of its files' contents.
    pub hash: String,
    /// In a league.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// In a league, the place before this plan, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place_before: Option<usize>,
}

/// It did not enter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RejectedBot {
    pub bot: BotPlan,
    /// A sentence.
    pub reason: String,
}
