//! The format of a tournament, and how long processes live in it.

use serde::{Deserialize, Serialize};

use crate::tournament::schedule::{groups, knockout};

/// Who meets whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Every bot meets every other.
    RoundRobin,
    /// The first bot meets each of the others.
    Gauntlet,
    /// In each round, bots with equal scores meet.
    Swiss,
    /// The loser of a match is eliminated.
    Knockout,
    /// Round robins in groups, then a knockout of the two best of each.
    #[serde(rename = "groups+knockout")]
    GroupsKnockout,
}

impl Format {
    /// Whether rounds depend on the results before them.
    pub const fn depends_on_results(self) -> bool {
        matches!(self, Self::Swiss | Self::Knockout | Self::GroupsKnockout)
    }

    /// Whether bots are eliminated, so that the number of rounds is fixed.
    pub const fn eliminates(self) -> bool {
        matches!(self, Self::Knockout | Self::GroupsKnockout)
    }

    /// Its name in sentences.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::RoundRobin => "round robin",
            Self::Gauntlet => "gauntlet",
            Self::Swiss => "Swiss tournament",
            Self::Knockout => "knockout",
            Self::GroupsKnockout => "tournament of groups and play-offs",
        }
    }

    /// The number of rounds unless another one is requested.
    pub fn usual_rounds(self, entrants: u32) -> u32 {
        match self {
            Self::RoundRobin if entrants < 2 => 0,
            // With an odd number of entrants, one has a bye in each round.
            Self::RoundRobin => entrants - 1 + entrants % 2,
            Self::Gauntlet => 1,
            // After these at most one is unbeaten.
            Self::Swiss | Self::Knockout => knockout::rounds(entrants),
            Self::GroupsKnockout => {
                groups::rounds_of_both(entrants, groups::usual_groups(entrants))
            }
        }
    }
}

/// How long a bot's process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    Game,
    /// For both games of a pair.
    Pair,
    /// For consecutive pairs of the same two bots: the fastest.
    Pairing,
}
