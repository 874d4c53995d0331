//! The plan of a tournament: everything that decides which games are played, and how.
//!
//! It is written before the first game, and read when the tournament is resumed, played in parts or
//! merged. Two runs with the same plan play the same games.

mod bot;
mod differences;
mod format;
pub mod request;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

pub use self::bot::{BotPlan, Limits, NoTime, RejectedBot};
pub use self::format::{Format, Restart};

use crate::session::GameSource;
use crate::text::hexadecimal;
use crate::tournament::schedule::{
    EntrantId, Gauntlet, PairOfGames, Pairing, Round, RoundRobin, groups, knockout, swiss,
};
use crate::tournament::standings::TieBreak;

/// The version of the format that this program writes.
pub const VERSION: u32 = 1;

/// The sequential test that ends a tournament of two bots early.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SprtPlan {
    /// The lower hypothesis, in Elo.
    pub elo0: f64,
    /// The higher one.
    pub elo1: f64,
    /// Probability of accepting the higher one when the lower holds.
    pub alpha: f64,
    /// Probability of accepting the lower one when the higher holds.
    pub beta: f64,
}

/// The sandbox of the bots.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SandboxPlan {
    /// Its name on the command line.
    pub kind: String,
    /// Its layers that are in force.
    pub layers: Vec<String>,
    /// The most memory of all processes of a bot together, in bytes.
    pub memory: u64,
    /// What enforces this bound on the machine where the plan was made. Other machines may enforce
    /// the same bound by other means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_by: Option<String>,
    /// The most processes of a bot.
    pub processes: u64,
    /// The most open files of a process.
    pub open_files: u64,
    /// The most bytes in a bot's scratch directory, and in a file.
    pub scratch: u64,
    /// Paths that bots may read besides their own files and the system's.
    pub expose: Vec<String>,
    /// Variables of the environment that bots get besides those that every bot gets: `NAME`, with the
    /// value that it has where the games are played, or `NAME=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Whether a bot is stopped while its opponent thinks.
    pub freeze: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameProgramPlan {
    /// The command that starts it.
    pub command: Vec<String>,
    /// The hash of its files.
    pub hash: String,
}

impl From<&GameSource> for GameProgramPlan {
    fn from(source: &GameSource) -> Self {
        Self {
            command: source.command.clone(),
            hash: source.hash.clone(),
        }
    }
}

/// Everything that decides which games are played, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Version of the format.
    pub v: u32,
    /// SHA-256 of all fields but this one, `referee` and `begun_in`.
    pub hash: String,
    /// The version of the referee that made the plan.
    pub referee: String,
    /// The game's name.
    pub game: String,
    /// The program that the game is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game_program: Option<GameProgramPlan>,
    /// The rule set's name; of a game's program its options, such as `heaps=3,4,5`.
    pub rules: String,
    /// CSV text of the piece set, when it is not the built-in one.
    pub pieces: Option<String>,
    /// All random choices are derived from it.
    pub seed: u64,
    /// Who meets whom.
    pub format: Format,
    /// The number of groups, for groups with play-offs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u32>,
    /// The number of rounds of the whole tournament.
    pub rounds_planned: u32,
    /// Pairs of games that two bots play when they meet.
    pub pairs: u32,
    /// Whether all bots meet in one round, and the seeds of their processes follow from their versions: then
    /// two versions play the same games whoever else is there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_version: bool,
    /// In plans of leagues that an older version made, which played only some pairings. Read for the hash alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Value>,
    /// Plies of each opening; `None` when the openings are from a file.
    pub opening_plies: Option<u32>,
    /// The boards that games start from.
    pub openings: Vec<String>,
    /// How long a bot's process lives.
    pub restart: Restart,
    /// A bot that forfeits this many games in a row is benched; 0 for never.
    pub bench_after: u32,
    /// Whether games end as soon as their value is proven.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adjudicate: bool,
    /// The sequential test, if any.
    pub sprt: Option<SprtPlan>,
    /// The tie-breaks of the table; those of the format when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tie_breaks: Vec<TieBreak>,
    /// The file by which the bots were seeded; without one they are in the order given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeded_by: Option<String>,
    /// The directory in which the tournament was begun: relative paths of bots start from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_in: Option<String>,
    /// The sandbox of the bots.
    pub sandbox: SandboxPlan,
    /// The bots that entered.
    pub bots: Vec<BotPlan>,
    /// The bots that did not.
    #[serde(rename = "turned_away")]
    pub rejected: Vec<RejectedBot>,
    /// The rounds so far.
    pub rounds: Vec<Round>,
}

/// A plan that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// It is not the JSON of a plan.
    #[error("it is not a plan of a tournament: {0}; put it back as it was, or move it away")]
    Syntax(#[from] serde_json::Error),
    /// A later version of the program wrote it.
    #[error("it has version {0}; this program reads version {VERSION}")]
    Version(u32),
    /// It was changed after it had been written.
    #[error(
        "it has been changed: its hash is not the one that is written in it, or its rounds do not follow each \
         other; put the plan back as it was, or begin again in another folder"
    )]
    Hash,
}

/// The version of a plan, whatever its other fields are.
#[derive(Deserialize)]
struct Versioned {
    #[serde(default)]
    v: Value,
}

impl Plan {
    /// Reads a plan and checks its hash.
    pub fn from_json(text: &[u8]) -> Result<Self, PlanError> {
        // The whole plan as a `Value` would be large: 300 MB for a thousand bots.
        let Versioned { v } = serde_json::from_slice(text)?;
        if let Some(version) = v.as_u64()
            && version != u64::from(VERSION)
        {
            let version = u32::try_from(version).unwrap_or(u32::MAX);
            return Err(PlanError::Version(version));
        }
        let plan: Self = serde_json::from_slice(text)?;
        let mut next = 1;
        let follow = plan.rounds.iter().all(|round| {
            let is_next = round.first_pair == next;
            next += round.count();
            is_next
        });
        if !follow || plan.hash != plan.computed_hash()? {
            return Err(PlanError::Hash);
        }
        Ok(plan)
    }

    /// Sets its hash and returns its text.
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
        bare.begun_in = None;
        if let Some(budget) = bare.budget.as_mut().and_then(Value::as_object_mut) {
            budget.remove("spent");
        }
        let digest = Sha256::digest(serde_json::to_vec(&bare)?);
        Ok(format!("sha256:{}", hexadecimal(&digest)))
    }

    /// The number of entrants.
    pub fn entrants(&self) -> u32 {
        u32::try_from(self.bots.len()).unwrap_or(u32::MAX)
    }

    /// All rounds of a format whose rounds are known from the start, and the first one of others.
    pub fn first_rounds(&self) -> Vec<Round> {
        let entrants = self.entrants();
        match self.format {
            Format::RoundRobin if self.by_version => vec![self.all_at_once()],
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
            Format::GroupsKnockout => {
                groups::rounds(entrants, self.groups.unwrap_or(1), self.pairs)
            }
        }
    }

    /// One round in which everybody meets everybody.
    fn all_at_once(&self) -> Round {
        let entrants: Vec<EntrantId> = (0..self.entrants()).map(EntrantId).collect();
        let pairing = |(place, &a): (usize, &EntrantId)| {
            let others = entrants[place + 1..].iter();
            others.map(move |&b| Pairing { a, b }).collect::<Vec<_>>()
        };
        Round {
            number: 1,
            first_pair: 1,
            pairs_each: self.pairs,
            pairings: entrants.iter().enumerate().flat_map(pairing).collect(),
            byes: Vec::new(),
            first_openings: Vec::new(),
        }
    }

    /// The number of a pair's first game from which the seeds of its processes are derived.
    pub fn seed_number(&self, pair: &PairOfGames) -> u64 {
        let version = |id: EntrantId| self.bot(id).and_then(|bot| bot.version.as_deref());
        match [pair.pairing.a, pair.pairing.b].map(version) {
            [Some(a), Some(b)] if self.by_version => {
                let text = format!("{a} {b} {}", pair.opening);
                let digest = Sha256::digest(text.as_bytes());
                let number = digest.iter().take(size_of::<u64>());
                // Even: the second game has the next number.
                number.fold(0, |number, &byte| number << 8 | u64::from(byte)) & !1
            }
            _ => 2 * pair.number,
        }
    }

    /// The number of rounds that are played in groups.
    pub fn group_rounds(&self) -> usize {
        match self.format {
            Format::GroupsKnockout => {
                groups::rounds(self.entrants(), self.groups.unwrap_or(1), self.pairs).len()
            }
            _ => 0,
        }
    }

    /// All pairs of games in the rounds so far, in order.
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

    /// The number of pairs of games in the rounds so far.
    pub fn pairs_so_far(&self) -> u64 {
        self.rounds.iter().map(Round::count).sum()
    }

    /// The number of pairs of games in the whole tournament.
    pub fn pairs_expected(&self) -> u64 {
        match self.format {
            Format::RoundRobin | Format::Gauntlet => self.pairs_so_far(),
            Format::Swiss => {
                // Every round has as many.
                let a_round = self.rounds.first().map_or(0, Round::count);
                a_round * u64::from(self.rounds_planned)
            }
            Format::Knockout => {
                u64::from(self.entrants().saturating_sub(1)) * u64::from(self.pairs)
            }
            Format::GroupsKnockout => {
                let of_groups = self.rounds.iter().take(self.group_rounds());
                let of_groups: u64 = of_groups.map(Round::count).sum();
                let qualified = groups::qualifiers(self.entrants(), self.groups.unwrap_or(1));
                of_groups + u64::from(qualified.saturating_sub(1)) * u64::from(self.pairs)
            }
        }
    }

    pub fn bot(&self, id: EntrantId) -> Option<&BotPlan> {
        self.bots.get(id.index())
    }

    /// All bots, whether they entered or not.
    pub fn all_bots(&self) -> impl Iterator<Item = &BotPlan> {
        let rejected = self.rejected.iter().map(|rejected| &rejected.bot);
        self.bots.iter().chain(rejected)
    }
}
