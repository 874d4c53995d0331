//! The plan of a tournament: everything that decides which games are played, and how.
//!
//! It is written before the first game and read when the tournament is resumed, played in
//! parts or merged. Two runs with the same plan play the same games.

mod differences;
pub mod request;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::play::TimeControl;
use crate::tournament::schedule::{
    EntrantId, Gauntlet, PairOfGames, Round, RoundRobin, knockout, swiss,
};

/// The version of the format that this program writes.
pub const VERSION: u32 = 1;

/// Who meets whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Everybody meets everybody.
    RoundRobin,
    /// The first meets each of the others.
    Gauntlet,
    /// Equals meet equals.
    Swiss,
    /// Who loses is out.
    Knockout,
}

impl Format {
    /// Whether rounds depend on the results before them.
    pub const fn depends_on_results(self) -> bool {
        matches!(self, Self::Swiss | Self::Knockout)
    }

    /// As a sentence names it.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::RoundRobin => "round robin",
            Self::Gauntlet => "gauntlet",
            Self::Swiss => "Swiss tournament",
            Self::Knockout => "knockout",
        }
    }

    /// How many rounds there are when nothing else is asked for.
    pub const fn usual_rounds(self, entrants: u32) -> u32 {
        match self {
            Self::RoundRobin if entrants < 2 => 0,
            // With an odd number somebody sits out.
            Self::RoundRobin => entrants - 1 + entrants % 2,
            Self::Gauntlet => 1,
            // Enough to leave at most one unbeaten.
            Self::Swiss | Self::Knockout => knockout::rounds(entrants),
        }
    }
}

/// How long a bot's process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    /// For one game.
    Game,
    /// For both games of a pair.
    Pair,
    /// For neighbouring pairs of the same two bots: the fastest.
    Pairing,
}

/// A bot's limits, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// For a move.
    pub move_time: f64,
    /// On top, for the first answer of a fresh process.
    pub start_time: f64,
    /// For all moves of a game.
    pub game_time: Option<f64>,
    /// Added to the game's time after every move.
    pub increment: f64,
}

impl From<TimeControl> for Limits {
    fn from(time: TimeControl) -> Self {
        Self {
            move_time: time.move_time.as_secs_f64(),
            start_time: time.start_time.as_secs_f64(),
            game_time: time.game_time.map(|time| time.as_secs_f64()),
            increment: time.increment.as_secs_f64(),
        }
    }
}

/// A time that no clock can count.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} is no number of seconds that a limit can have")]
pub struct NoTime(f64);

impl TryFrom<Limits> for TimeControl {
    type Error = NoTime;

    fn try_from(limits: Limits) -> Result<Self, NoTime> {
        let time = |seconds| Duration::try_from_secs_f64(seconds).map_err(|_| NoTime(seconds));
        Ok(Self {
            move_time: time(limits.move_time)?,
            start_time: time(limits.start_time)?,
            game_time: limits.game_time.map(time).transpose()?,
            increment: time(limits.increment)?,
        })
    }
}

/// An entrant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BotPlan {
    /// What it is called.
    pub name: String,
    /// The name of its folder: letters, digits, `.`, `-` and `_` only.
    pub slug: String,
    /// What was given: a file, a command line or `builtin:NAME`.
    pub bot: String,
    /// The folder that it is started in; that of the referee when there is none.
    pub directory: Option<String>,
    /// What its environment holds beside the referee's.
    pub environment: BTreeMap<String, String>,
    /// Its limits.
    pub limits: Limits,
    /// Of the content of its files.
    pub hash: String,
}

/// A bot that did not enter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RejectedBot {
    /// The bot.
    pub bot: BotPlan,
    /// Why: a sentence.
    pub reason: String,
}

/// When a tournament of two ends early.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SprtPlan {
    /// The lower hypothesis, in Elo.
    pub elo0: f64,
    /// The higher one.
    pub elo1: f64,
    /// Probability to accept the higher one when the lower holds.
    pub alpha: f64,
    /// Probability to accept the lower one when the higher holds.
    pub beta: f64,
}

/// What keeps the bots in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SandboxPlan {
    /// Its name on the command line.
    pub kind: String,
    /// What is in force, one layer after the other.
    pub layers: Vec<String>,
    /// Memory of all processes of a bot together, in bytes.
    pub memory: u64,
    /// What bounds it on the machine where the plan was made. Other machines may have other means
    /// to the same bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_by: Option<String>,
    /// Processes of a bot.
    pub processes: u64,
    /// Open files of a process.
    pub open_files: u64,
    /// A bot's scratch directory, and the largest file, in bytes.
    pub scratch: u64,
    /// What bots may read beside their own files and the system's.
    pub expose: Vec<String>,
    /// Whether a bot is stopped while its opponent thinks.
    pub freeze: bool,
}

/// Everything that decides which games are played, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Version of the format.
    pub v: u32,
    /// Of everything but this field and `referee`.
    pub hash: String,
    /// The version of the referee that began.
    pub referee: String,
    /// The game's name.
    pub game: String,
    /// The rule set's name.
    pub rules: String,
    /// CSV text of the piece set, when it is not the built-in one.
    pub pieces: Option<String>,
    /// Everything random comes from it.
    pub seed: u64,
    /// Who meets whom.
    pub format: Format,
    /// How many rounds there will be.
    pub rounds_planned: u32,
    /// Pairs of games that two bots play when they meet.
    pub pairs: u32,
    /// Plies of each opening; `None` when they come from a file.
    pub opening_plies: Option<u32>,
    /// The boards that games start from.
    pub openings: Vec<String>,
    /// How long a bot's process lives.
    pub restart: Restart,
    /// A bot that forfeits this many games in a row is benched; 0 for never.
    pub bench_after: u32,
    /// Games end as soon as their value is proven.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adjudicate: bool,
    /// When a tournament of two ends early.
    pub sprt: Option<SprtPlan>,
    /// What keeps the bots in.
    pub sandbox: SandboxPlan,
    /// Who plays.
    pub bots: Vec<BotPlan>,
    /// Who does not.
    #[serde(rename = "turned_away")]
    pub rejected: Vec<RejectedBot>,
    /// The rounds so far.
    pub rounds: Vec<Round>,
}

/// A plan that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// It is no plan.
    #[error("it is no plan of a tournament: {0}")]
    Syntax(#[from] serde_json::Error),
    /// A later referee wrote it.
    #[error("it has version {0}; this program reads version {VERSION}")]
    Version(u32),
    /// Somebody changed it.
    #[error("it has been changed: its hash is {actual}, and it says {said}")]
    Hash {
        /// What it says.
        said: String,
        /// What it is.
        actual: String,
    },
}

/// The version of a plan, whatever else it says.
#[derive(Deserialize)]
struct Versioned {
    #[serde(default)]
    v: Value,
}

impl Plan {
    /// Reads a plan and checks its hash.
    pub fn from_json(text: &[u8]) -> Result<Self, PlanError> {
        // Not all of it as a Value: the plan of a thousand bots would take 300 MB.
        let Versioned { v } = serde_json::from_slice(text)?;
        if let Some(version) = v.as_u64()
            && version != u64::from(VERSION)
        {
            let version = u32::try_from(version).unwrap_or(u32::MAX);
            return Err(PlanError::Version(version));
        }
        let plan: Self = serde_json::from_slice(text)?;
        let actual = plan.computed_hash()?;
        if plan.hash != actual {
            let said = plan.hash;
            return Err(PlanError::Hash { said, actual });
        }
        Ok(plan)
    }

    /// Its text, with its hash.
    pub fn to_json(&mut self) -> Result<String, PlanError> {
        self.hash = self.computed_hash()?;
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    fn computed_hash(&self) -> Result<String, serde_json::Error> {
        let mut bare = self.clone();
        bare.hash.clear();
        bare.referee.clear();
        let digest = Sha256::digest(serde_json::to_vec(&bare)?);
        let mut hash = String::from("sha256:");
        for byte in digest {
            let _ = write!(hash, "{byte:02x}");
        }
        Ok(hash)
    }

    /// The number of entrants.
    pub fn entrants(&self) -> u32 {
        u32::try_from(self.bots.len()).unwrap_or(u32::MAX)
    }

    /// The rounds of a format that is known from the start; of others the first.
    pub fn first_rounds(&self) -> Vec<Round> {
        let entrants = self.entrants();
        match self.format {
            Format::RoundRobin => RoundRobin::new(entrants, Some(self.rounds_planned), self.pairs)
                .rounds()
                .collect(),
            Format::Gauntlet => Gauntlet::new(entrants, self.rounds_planned, self.pairs)
                .rounds()
                .collect(),
            Format::Swiss if self.rounds_planned == 0 => Vec::new(),
            Format::Swiss => {
                vec![swiss::next_round(
                    &swiss::Results::new(entrants),
                    1,
                    self.pairs,
                )]
            }
            Format::Knockout => match knockout::next_round(entrants, self.pairs, &[]) {
                Ok(knockout::Next::Round(round)) => vec![round],
                Ok(knockout::Next::Winner(_)) | Err(_) => Vec::new(),
            },
        }
    }

    /// All pairs of games of the rounds so far, in order.
    pub fn pairs(&self) -> impl Iterator<Item = PairOfGames> {
        self.rounds.iter().flat_map(Round::pairs)
    }

    /// The pair with this number, if the rounds so far have it.
    pub fn pair(&self, number: u64) -> Option<PairOfGames> {
        let after = self
            .rounds
            .partition_point(|round| round.first_pair <= number);
        let round = self.rounds.get(after.checked_sub(1)?)?;
        round.pair(number)
    }

    /// How many pairs of games the rounds so far have.
    pub fn pairs_so_far(&self) -> u64 {
        self.rounds.iter().map(Round::count).sum()
    }

    /// How many pairs of games there will be, when every round has as many as the first; in a
    /// knockout each has half of those before it.
    pub fn pairs_expected(&self) -> u64 {
        match self.format {
            Format::RoundRobin | Format::Gauntlet => self.pairs_so_far(),
            Format::Swiss => {
                let a_round = self.rounds.first().map_or(0, Round::count);
                a_round * u64::from(self.rounds_planned)
            }
            Format::Knockout => {
                u64::from(self.entrants().saturating_sub(1)) * u64::from(self.pairs)
            }
        }
    }

    /// A bot.
    pub fn bot(&self, id: EntrantId) -> Option<&BotPlan> {
        self.bots.get(id.index())
    }

    /// All bots, entered or not.
    pub fn everybody(&self) -> impl Iterator<Item = &BotPlan> {
        let away = self.rejected.iter().map(|away| &away.bot);
        self.bots.iter().chain(away)
    }
}
