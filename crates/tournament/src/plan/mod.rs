//! The plan of a tournament: all that decides which games are played, and how.
//!
//! It is written before the first game; resuming, shards and merging read it. The same plan leads to the same games.

pub mod difference;
pub mod request;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::results::Results;
use referee_match::play::TimeControl;
use referee_match::play::setup::game_options;
use referee_stats::schedule::knockout::Next;
use referee_stats::schedule::{
    EntrantId, GameId, PairOfGames, Pairing, Round, cycle, gauntlet, groups, knockout, round_robin,
};
use referee_stats::sprt::Sprt;
use referee_stats::standings::Absence;
use referee_stats::standings::TieBreak;
use referee_text::hexadecimal;

pub const VERSION: u32 = 1;

/// Of pairings whose labels follow from versions: more would make ids long, fewer would make two alike.
const LABELS: u64 = 90_000_000;

const PAIRS_OF_A_LABEL: u64 = 1_000;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SandboxPlan {
    /// The name on the command line.
    pub kind: String,
    pub layers: Vec<String>,
    /// Bytes of all processes of a bot.
    pub memory: u64,
    /// What enforces the memory limit on the machine that made the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_by: Option<String>,
    pub processes: u64,
    pub open_files: u64,
    /// Most bytes in a scratch directory, and in a file.
    pub scratch: u64,
    /// Readable besides a bot's own files and the system's.
    pub expose: Vec<String>,
    /// Additional environment: `NAME`, with its value where the games are played, or `NAME=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    pub freeze: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameProgramPlan {
    pub command: Vec<String>,
    pub hash: String,
    /// The hash of the program that plays, where it is another one that was accepted: no part of the plan.
    #[serde(skip)]
    pub changed: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub v: u32,
    /// SHA-256 of all fields but this one, `referee` and `begun_in`.
    pub hash: String,
    pub referee: String,
    pub game: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game_program: Option<GameProgramPlan>,
    /// For a game that is a program, its options, such as `heaps=3,4,5`.
    pub rules: String,
    /// CSV, unless built in.
    pub pieces: Option<String>,
    pub seed: u64,
    pub format: Format,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u32>,
    pub rounds_planned: u32,
    pub pairs: u32,
    /// Games at most that follow a tied match of a bracket; even, since they are played in pairs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tie_break_games: u32,
    /// All bots meet in one round, and process seeds follow from versions: two versions play the same games
    /// with any other entrants.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_version: bool,
    /// `None`: openings from a file.
    pub opening_plies: Option<u32>,
    pub openings: Vec<String>,
    pub restart: Restart,
    /// Forfeits in a row, without games in which it was not asked, that bench a bot; 0: never.
    pub bench_after: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adjudicate: bool,
    pub sprt: Option<Sprt>,
    /// Empty: those of the format.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tie_breaks: Vec<TieBreak>,
    /// File of the seeds; without one, the order given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeded_by: Option<String>,
    /// Directory from which bots' relative paths start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_in: Option<String>,
    pub sandbox: SandboxPlan,
    pub bots: Vec<BotPlan>,
    #[serde(rename = "turned_away")]
    pub rejected: Vec<RejectedBot>,
    pub rounds: Vec<Round>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "for serde")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[derive(Deserialize)]
struct Versioned {
    #[serde(default)]
    v: Value,
}

/// What is wrong with a plan that was read.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("it is not a plan of a tournament: {0}; put it back as it was, or move it away")]
    Damaged(#[from] serde_json::Error),
    #[error("it has version {0}; this program reads version {VERSION}")]
    Version(u64),
    #[error(
        "it has been changed: its hash is not the one that is written in it, or its rounds do not follow each other; put \
         the plan back as it was, or begin again in another folder"
    )]
    Changed,
}

impl Plan {
    /// The options of a command line that choose its game, quoted, each with a space before it.
    pub fn game_options(&self) -> String {
        let program = self.game_program.as_ref();
        let program = program.map(|program| &*program.command);
        game_options(&self.game, &self.rules, program)
    }

    pub fn from_json(text: &[u8]) -> Result<Self, PlanError> {
        // Parsing everything as a `Value` would take 300 MB for a thousand bots.
        let Versioned { v } = serde_json::from_slice(text)?;
        if let Some(version) = v.as_u64()
            && version != u64::from(VERSION)
        {
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
            return Err(PlanError::Changed);
        }
        Ok(plan)
    }

    pub fn to_json(&mut self) -> Result<String, serde_json::Error> {
        self.hash = self.computed_hash()?;
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    /// That of the plan as it is, whatever [`Self::hash`] says.
    pub fn computed_hash(&self) -> Result<String, serde_json::Error> {
        let mut bare = self.clone();
        bare.hash.clear();
        bare.referee.clear();
        bare.begun_in = None;
        let digest = Sha256::digest(serde_json::to_vec(&bare)?);
        Ok(format!("sha256:{}", hexadecimal(&digest)))
    }

    pub fn entrants(&self) -> u32 {
        u32::try_from(self.bots.len()).unwrap_or(u32::MAX)
    }

    /// All rounds, or the first one if rounds depend on results.
    pub fn first_rounds(&self) -> Vec<Round> {
        let entrants = self.entrants();
        match self.format {
            Format::RoundRobin if self.by_version => vec![self.all_at_once()],
            Format::RoundRobin => round_robin(entrants, self.rounds_planned, self.pairs).collect(),
            Format::Gauntlet => gauntlet(entrants, self.rounds_planned, self.pairs).collect(),
            Format::Swiss | Format::Knockout => match Results::new(self).next(self) {
                Ok(Some(Next::Round(round))) => vec![round],
                _ => Vec::new(),
            },
            Format::GroupsKnockout => {
                groups::rounds(entrants, self.groups.unwrap_or(1), self.pairs)
            }
        }
    }

    /// Order, ids and openings of a pairing follow from the two versions.
    fn all_at_once(&self) -> Round {
        let count = self.entrants();
        let pairings = (0..count).flat_map(|a| {
            let others = a + 1..count;
            others.map(move |b| Pairing::new(EntrantId(a), EntrantId(b)))
        });
        let mut drawn: Vec<(u64, Pairing)> = pairings
            .map(|pairing| (self.number_of_versions(pairing), pairing))
            .collect();
        // By what the labels are made of.
        drawn.sort_by_key(|(number, _)| number % LABELS);
        let mut labels = Vec::with_capacity(drawn.len());
        let mut free = 0;
        for (number, _) in &drawn {
            let label = (LABELS / 9 + number % LABELS).max(free);
            free = label + 1;
            labels
                .push(label * PAIRS_OF_A_LABEL.max(u64::from(self.pairs).next_power_of_two()) + 1);
        }
        let openings = self.openings.len().max(1) as u64;
        Round {
            first_openings: drawn
                .iter()
                .map(|(number, _)| number / LABELS % openings)
                .collect(),
            labels,
            ..Round::new(
                1,
                0,
                self.pairs,
                drawn.into_iter().map(|(_, pairing)| pairing).collect(),
                Vec::new(),
            )
        }
    }

    fn number_of_versions(&self, pairing: Pairing) -> u64 {
        let of = |id| {
            self.bot(id)
                .map(|bot| (&*bot.slug, bot.version.as_deref().unwrap_or_default()))
        };
        number_of(&format!("{:?} {:?}", of(pairing.a), of(pairing.b)))
    }

    pub fn id(&self, game: GameId) -> GameId {
        let round = self.round(game.pair);
        GameId {
            pair: round.map_or(game.pair, |round| round.label(game.pair)),
            ..game
        }
    }

    pub fn game(&self, id: GameId) -> Option<GameId> {
        let labelled = self.rounds.first().filter(|round| !round.labels.is_empty());
        let pair = labelled.map_or(Some(id.pair), |round| round.number(id.pair))?;
        Some(GameId { pair, ..id })
    }

    /// Number of the pair's first game, from which process seeds are derived.
    pub fn seed_number(&self, pair: &PairOfGames) -> u64 {
        let version = |id: EntrantId| self.bot(id).and_then(|bot| bot.version.as_deref());
        match [pair.pairing.a, pair.pairing.b].map(version) {
            [Some(a), Some(b)] if self.by_version => {
                // Even: the second game has the next number.
                number_of(&format!("{a} {b} {}", pair.opening)) & !1
            }
            _ => 2 * pair.number,
        }
    }

    pub fn group_rounds(&self) -> usize {
        match self.format {
            Format::GroupsKnockout => {
                groups::rounds(self.entrants(), self.groups.unwrap_or(1), self.pairs).len()
            }
            _ => 0,
        }
    }

    pub fn pairs(&self) -> impl Iterator<Item = PairOfGames> {
        self.rounds.iter().flat_map(Round::pairs)
    }

    pub fn pair(&self, number: u64) -> Option<PairOfGames> {
        self.round(number)?.pair(number)
    }

    /// Rounds that have begun, without those of tie-break games.
    pub fn rounds_begun(&self) -> usize {
        self.rounds.iter().filter(|round| !round.tie_break).count()
    }

    /// The places in [`Self::rounds`] of those after so many, without those of tie-break games.
    pub fn rounds_after(&self, before: usize) -> impl Iterator<Item = usize> {
        let rounds = self.rounds.iter().enumerate().skip(before);
        let rounds = rounds.filter(|(_, round)| !round.tie_break);
        rounds.map(|(place, _)| place)
    }

    /// The rounds of tie-break games that follow the round at this place.
    pub fn tie_breaks_of(&self, round: usize) -> impl Iterator<Item = &Round> {
        let later = self.rounds.iter().skip(round + 1);
        later.take_while(|round| round.tie_break)
    }

    /// Pairs of games of the rounds of tie-break games so far.
    fn tie_break_pairs(&self) -> u64 {
        let rounds = self.rounds.iter().filter(|round| round.tie_break);
        rounds.map(Round::count).sum()
    }

    /// `round` with an opening that no other has, if it is one of tie-break games.
    pub fn with_opening(&self, mut round: Round) -> Round {
        if round.tie_break {
            let before = self.rounds.iter().rev();
            let before = before.take_while(|round| round.tie_break).count() as u64;
            let of_rounds = u64::from(self.rounds_planned) * u64::from(self.pairs);
            let earlier =
                u64::from(round.number.saturating_sub(1)) * u64::from(self.tie_break_games / 2);
            round.first_openings = vec![of_rounds + earlier + before; round.pairings.len()];
        }
        round
    }

    /// The round of the pair with this number.
    pub fn round(&self, number: u64) -> Option<&Round> {
        let after = self
            .rounds
            .partition_point(|round| round.first_pair <= number);
        self.rounds.get(after.checked_sub(1)?)
    }

    pub fn pairs_so_far(&self) -> u64 {
        self.rounds.iter().map(Round::count).sum()
    }

    pub fn pairs_expected(&self) -> u64 {
        match self.format {
            Format::RoundRobin | Format::Gauntlet => self.pairs_so_far(),
            Format::Swiss => {
                // The same in every round.
                let a_round = self.rounds.first().map_or(0, Round::count);
                a_round * u64::from(self.rounds_planned)
            }
            Format::Knockout => {
                u64::from(self.entrants().saturating_sub(1)) * u64::from(self.pairs)
                    + self.tie_break_pairs()
            }
            Format::GroupsKnockout => {
                let of_groups = self.rounds.iter().take(self.group_rounds());
                let of_groups: u64 = of_groups.map(Round::count).sum();
                let qualified = groups::qualifiers(self.entrants(), self.groups.unwrap_or(1));
                of_groups
                    + u64::from(qualified.saturating_sub(1)) * u64::from(self.pairs)
                    + self.tie_break_pairs()
            }
        }
    }

    pub fn bot(&self, id: EntrantId) -> Option<&BotPlan> {
        self.bots.get(id.index())
    }

    pub fn has_rejected(&self, name: &str) -> bool {
        self.rejected
            .iter()
            .any(|rejected| rejected.bot.name == name)
    }

    pub fn all_bots(&self) -> impl Iterator<Item = &BotPlan> {
        let rejected = self.rejected.iter().map(|rejected| &rejected.bot);
        self.bots.iter().chain(rejected)
    }
}

/// The first bytes of its hash.
pub fn number_of(text: &str) -> u64 {
    let digest = Sha256::digest(text.as_bytes());
    let bytes = digest.iter().take(size_of::<u64>());
    bytes.fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Every bot plays every other
    RoundRobin,
    /// The first bot plays each of the others
    Gauntlet,
    /// In every round, bots with similar scores play each other
    Swiss,
    /// The loser of a match is eliminated
    Knockout,
    /// Round robins in groups, then a knockout of the two best of each group
    #[serde(rename = "groups+knockout")]
    #[cfg_attr(feature = "clap", value(name = "groups+knockout"))]
    GroupsKnockout,
}

impl Format {
    pub const fn depends_on_results(self) -> bool {
        matches!(self, Self::Swiss | Self::Knockout | Self::GroupsKnockout)
    }

    /// Whether bots are eliminated, which fixes the number of rounds.
    pub const fn eliminates(self) -> bool {
        matches!(self, Self::Knockout | Self::GroupsKnockout)
    }

    pub const fn in_words(self) -> &'static str {
        match self {
            Self::RoundRobin => "round robin",
            Self::Gauntlet => "gauntlet",
            Self::Swiss => "Swiss tournament",
            Self::Knockout => "knockout",
            Self::GroupsKnockout => "groups + knockout",
        }
    }

    pub fn usual_rounds(self, entrants: u32) -> u32 {
        match self {
            Self::RoundRobin => cycle(entrants),
            Self::Gauntlet => 1,
            // Leaves at most one unbeaten.
            Self::Swiss | Self::Knockout => knockout::rounds(entrants),
            Self::GroupsKnockout => {
                groups::rounds_of_both(entrants, groups::usual_groups(entrants))
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    /// After every game
    Game,
    /// After both games of a pair
    Pair,
    /// When the pairing changes: fastest, but bots that draw random numbers are not reproducible
    Pairing,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BotPlan {
    pub name: String,
    /// Its directory's name: letters, digits, `.`, `-`, `_`.
    pub slug: String,
    /// As the user named it: a file, a command line or `builtin:NAME`.
    pub bot: String,
    /// `None`: the referee's.
    pub directory: Option<String>,
    pub environment: BTreeMap<String, String>,
    pub limits: TimeControl,
    pub hash: String,
    /// The version that plays, in a league.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// In a league, the place before this plan, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place_before: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RejectedBot {
    pub bot: BotPlan,
    #[serde(flatten)]
    pub absence: Absence,
}
