//! By which rules a table is ordered.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A criterion between bots that are tied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TieBreak {
    /// The points against the others that are tied, where all of them have met each other. Those still
    /// tied after it are compared by it again.
    Direct,
    /// The sum of the opponents' points without the lowest of them.
    #[serde(rename = "buchholz-cut-1")]
    BuchholzCut1,
    /// The sum of the opponents' points.
    Buchholz,
    /// For each game won the opponent's points, for each game drawn half of them.
    SonnebornBerger,
    /// The number of games won.
    Wins,
    /// The number of games won when moving second.
    WinsAsSecond,
    Rating,
}

impl TieBreak {
    /// All criteria.
    pub const ALL: [Self; 7] = [
        Self::Direct,
        Self::BuchholzCut1,
        Self::Buchholz,
        Self::SonnebornBerger,
        Self::Wins,
        Self::WinsAsSecond,
        Self::Rating,
    ];

    /// Its name in options and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::BuchholzCut1 => "buchholz-cut-1",
            Self::Buchholz => "buchholz",
            Self::SonnebornBerger => "sonneborn-berger",
            Self::Wins => "wins",
            Self::WinsAsSecond => "wins-as-second",
            Self::Rating => "rating",
        }
    }

    /// Its name in sentences.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Direct => "direct encounter where all tied bots have met",
            Self::BuchholzCut1 => "Buchholz cut 1",
            Self::Buchholz => "Buchholz",
            Self::SonnebornBerger => "Sonneborn-Berger",
            Self::Wins => "wins",
            Self::WinsAsSecond => "wins as the second to move",
            Self::Rating => "rating",
        }
    }
}

impl fmt::Display for TieBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a text that is no criterion.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no tie-break; expected direct, buchholz-cut-1, buchholz, sonneborn-berger, wins, \
     wins-as-second or rating"
)]
pub struct NoTieBreak(String);

impl FromStr for TieBreak {
    type Err = NoTieBreak;

    fn from_str(text: &str) -> Result<Self, NoTieBreak> {
        let found = Self::ALL.into_iter().find(|known| known.name() == text);
        found.ok_or_else(|| NoTieBreak(text.to_owned()))
    }
}

/// Rounds in which a bot did not have to play.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Byes {
    /// The number of such rounds.
    pub count: u32,
    pub points: f64,
}

/// What a bot reached in a tournament that eliminates bots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The place, from 1. Bots that were eliminated in the same round share it.
    pub place: usize,
    /// The order among those that share a place: the seed, from 0.
    pub seed: usize,
    /// In words: `champion`, `semi-finalist`.
    pub title: String,
}

/// The first criterion of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RankBy {
    /// Points if all bots have played equally many games, otherwise ratings. Bots that no games connect
    /// are in tables of their own.
    #[default]
    Results,
    /// Points, however many games were played: those of a schedule that made the games equal, such as
    /// a Swiss tournament.
    Points,
    /// What the bots with these names reached. Others follow them.
    Reached(BTreeMap<String, Reached>),
}

/// Somebody who was there and did not enter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotEntered {
    pub name: String,
    /// Why, and what to do: a sentence.
    pub reason: String,
}

/// The rules of a table, and who is listed below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// The first criterion.
    pub by: RankBy,
    /// The criteria between bots that are tied; the [default](Ranking::tie_breaks) when there are none.
    /// Bots that are still tied are ordered by rating, then by name.
    pub tie_breaks: Vec<TieBreak>,
    /// The byes of bots, by name. Their points count.
    pub byes: BTreeMap<String, Byes>,
    /// The number of games of two bots that meet in a round. Without it, bots count as having met once
    /// however many games they played: for Buchholz scores.
    pub games_a_meeting: Option<u32>,
    /// The places that bots had the last time, from 1, by name; in a league.
    pub before: BTreeMap<String, usize>,
    /// Those who did not enter. Whoever has played after all is not listed.
    pub not_entered: Vec<NotEntered>,
}

impl Ranking {
    /// The same, with other names of bots.
    #[must_use]
    pub fn renamed(self, rename: impl Fn(String) -> String) -> Self {
        fn each<T>(
            named: BTreeMap<String, T>,
            rename: impl Fn(String) -> String,
        ) -> BTreeMap<String, T> {
            let renamed = named.into_iter().map(|(name, of)| (rename(name), of));
            renamed.collect()
        }
        Self {
            by: match self.by {
                RankBy::Reached(reached) => RankBy::Reached(each(reached, &rename)),
                by => by,
            },
            byes: each(self.byes, &rename),
            before: each(self.before, &rename),
            ..self
        }
    }

    /// The criteria between bots that are tied: those chosen or, by default, direct encounter and
    /// Sonneborn–Berger, with Buchholz cut 1 between them where opponents differ from bot to bot.
    pub fn tie_breaks(&self) -> &[TieBreak] {
        match (&self.tie_breaks[..], &self.by) {
            ([], RankBy::Points) => &[
                TieBreak::Direct,
                TieBreak::BuchholzCut1,
                TieBreak::SonnebornBerger,
            ],
            ([], RankBy::Results) => &[TieBreak::Direct, TieBreak::SonnebornBerger],
            ([], RankBy::Reached(_)) => &[],
            (chosen, _) => chosen,
        }
    }
}
