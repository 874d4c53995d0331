//! How a game ended: the winner, the reason, and what is written about a forfeit.

use std::fmt;
use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use smol_str::SmolStr;

use crate::protocol::ForfeitReason;

/// One of the two bots of a record, in the order in which they are listed; 0 and 1 in JSON. Indexes arrays of two.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(try_from = "usize", into = "usize")]
pub enum BotIndex {
    /// In a tournament the pairing's `a`.
    #[default]
    A,
    B,
}

impl BotIndex {
    pub const ALL: [Self; 2] = [Self::A, Self::B];

    pub const fn index(self) -> usize {
        self as usize
    }

    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

impl<T> Index<BotIndex> for [T; 2] {
    type Output = T;

    fn index(&self, bot: BotIndex) -> &T {
        &self.as_slice()[bot.index()]
    }
}

impl<T> IndexMut<BotIndex> for [T; 2] {
    fn index_mut(&mut self, bot: BotIndex) -> &mut T {
        &mut self.as_mut_slice()[bot.index()]
    }
}

impl TryFrom<usize> for BotIndex {
    type Error = UnknownBotIndex;

    fn try_from(index: usize) -> Result<Self, UnknownBotIndex> {
        let bot = Self::ALL.get(index).copied();
        bot.ok_or(UnknownBotIndex(index))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a bot has the number {0}; expected 0 or 1")]
pub struct UnknownBotIndex(usize);

impl From<BotIndex> for usize {
    fn from(bot: BotIndex) -> Self {
        bot.index()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(from = "SmolStr")]
pub enum Reason {
    #[default]
    Draw,
    Forfeit(ForfeitReason),
    /// A completed line, by a name that the game defines, such as `quarto`; or an unknown word, as a later version
    /// may write.
    Word(SmolStr),
}

const DRAW: &str = "draw";

impl Reason {
    pub fn name(&self) -> &str {
        match self {
            Self::Draw => DRAW,
            Self::Forfeit(reason) => reason.name(),
            Self::Word(word) => word,
        }
    }
}

impl From<SmolStr> for Reason {
    fn from(word: SmolStr) -> Self {
        match ForfeitReason::from_name(&word) {
            Some(reason) => Self::Forfeit(reason),
            None if word == DRAW => Self::Draw,
            None => Self::Word(word),
        }
    }
}

impl From<&str> for Reason {
    fn from(word: &str) -> Self {
        SmolStr::from(word).into()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// How a game ended, as it is written. When another program wrote it, the fields may contradict each other;
/// [`Record::ending`](super::Record::ending) interprets them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResultEntry {
    /// `None` for a draw.
    pub winner: Option<BotIndex>,
    pub reason: Reason,
    /// Name and property.
    #[serde(default)]
    pub lines: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<BotIndex>,
    /// Whether the game ended early because its value was proven; then there are no winning lines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adjudicated: bool,
    /// Escaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// A sentence about the forfeit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The end of that bot's stderr, escaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// `Some(false)` when the game was scored because a bot was benched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub played: Option<bool>,
    /// Unknown fields, kept unchanged.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A bot forfeited for a reason that this version does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no reason called {0}")]
pub struct UnknownReason(Reason);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It completed a line, or was proven to be winning.
    Win(BotIndex),
    Draw,
    Forfeit(BotIndex, ForfeitReason),
}

impl Ending {
    /// A bot that forfeited has lost, whatever the other fields are.
    pub(super) fn of(
        winner: Option<BotIndex>,
        by: Option<BotIndex>,
        reason: &Reason,
    ) -> Result<Self, UnknownReason> {
        match (by, reason, winner) {
            (Some(by), Reason::Forfeit(reason), _) => Ok(Self::Forfeit(by, *reason)),
            (Some(_), reason, _) => Err(UnknownReason(reason.clone())),
            (None, _, Some(winner)) => Ok(Self::Win(winner)),
            (None, _, None) => Ok(Self::Draw),
        }
    }

    pub const fn half_points(self) -> usize {
        match self.winner() {
            Some(BotIndex::A) => 2,
            None => 1,
            Some(BotIndex::B) => 0,
        }
    }

    pub const fn winner(self) -> Option<BotIndex> {
        match self {
            Self::Win(winner) => Some(winner),
            Self::Draw => None,
            Self::Forfeit(by, _) => Some(by.other()),
        }
    }

    pub fn forfeited_by(self, bot: BotIndex) -> Option<ForfeitReason> {
        match self {
            Self::Forfeit(by, reason) if by == bot => Some(reason),
            _ => None,
        }
    }
}

/// How a game ended, and what was seen of each bot in it: enough to decide which games follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameResult {
    pub ending: Ending,
    /// Whether the bot made at least one turn.
    pub answered: [bool; 2],
    /// Whether it was played, not only scored because a bot was benched.
    pub played: bool,
}

/// What a game says about whether a bot works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conduct {
    Answered,
    Forfeited(ForfeitReason),
    /// It made no turn: the game ended before it was asked, or was not played.
    NotAsked,
}

impl GameResult {
    pub fn conduct(self, bot: BotIndex) -> Conduct {
        match self.ending.forfeited_by(bot) {
            Some(reason) => Conduct::Forfeited(reason),
            None if self.answered[bot] => Conduct::Answered,
            None => Conduct::NotAsked,
        }
    }
}
