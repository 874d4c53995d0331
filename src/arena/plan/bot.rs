//! The bots of a plan.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::bot::ClockKind;
use crate::play::TimeControl;

/// The limits on a bot's time, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// For a move, if it is limited.
    #[serde(deserialize_with = "Option::deserialize")]
    pub move_time: Option<f64>,
    /// Added to the first move of a fresh process.
    pub start_time: f64,
    /// For all moves of a game together.
    pub game_time: Option<f64>,
    /// Added to the game's time after every move.
    pub increment: f64,
    /// Whether its clock measures processor time.
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

/// A limit that is negative, too large or not a number.
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

/// A bot that enters, or wants to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BotPlan {
    /// What it is called.
    pub name: String,
    /// The name of its directory: letters, digits, `.`, `-` and `_` only.
    pub slug: String,
    /// As the user named it: a file, a command line or `builtin:NAME`.
    pub bot: String,
    /// Its working directory; the referee's when there is none.
    pub directory: Option<String>,
    /// Variables added to its environment.
    pub environment: BTreeMap<String, String>,
    /// The limits on its time.
    pub limits: Limits,
    /// The hash of its files' contents.
    pub hash: String,
    /// Which version of a league's bot it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// In a league its place, from 1, before this plan was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place_before: Option<usize>,
}

/// A bot that did not enter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RejectedBot {
    pub bot: BotPlan,
    /// The reason, a sentence.
    pub reason: String,
}
