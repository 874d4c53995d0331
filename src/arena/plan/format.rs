use serde::{Deserialize, Serialize};

use crate::tournament::schedule::{groups, knockout};

/// The pairing system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// All against all.
    RoundRobin,
    /// The first bot against each other one.
    Gauntlet,
    /// Bots with equal scores meet.
    Swiss,
    /// Losers are eliminated.
    Knockout,
    /// Round robins in groups, then a knockout of the best two of each.
    #[serde(rename = "groups+knockout")]
    GroupsKnockout,
}

impl Format {
    /// Whether rounds depend on earlier results.
    pub const fn depends_on_results(self) -> bool {
        matches!(self, Self::Swiss | Self::Knockout | Self::GroupsKnockout)
    }

    /// Whether bots are eliminated, which fixes the number of rounds.
    pub const fn eliminates(self) -> bool {
        matches!(self, Self::Knockout | Self::GroupsKnockout)
    }

    /// In sentences.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::RoundRobin => "round robin",
            Self::Gauntlet => "gauntlet",
            Self::Swiss => "Swiss tournament",
            Self::Knockout => "knockout",
            Self::GroupsKnockout => "tournament of groups and play-offs",
        }
    }

    /// The default number of rounds.
    pub fn usual_rounds(self, entrants: u32) -> u32 {
        match self {
            Self::RoundRobin if entrants < 2 => 0,
            // An odd number of entrants has a bye in each round.
            Self::RoundRobin => entrants - 1 + entrants % 2,
            Self::Gauntlet => 1,
            // Leaves at most one unbeaten.
            Self::Swiss | Self::Knockout => knockout::rounds(entrants),
            Self::GroupsKnockout => {
                groups::rounds_of_both(entrants, groups::usual_groups(entrants))
            }
        }
    }
}

/// How long a process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    Game,
    /// Both games of a pair.
    Pair,
    /// Consecutive pairs of the same bots: the fastest.
    Pairing,
}
