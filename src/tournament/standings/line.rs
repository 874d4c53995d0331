//! The part of a record that standings need, read without copying.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::record::annotation::{Annotation, Tally};

/// The part of a record that standings need, borrowed from its line.
#[derive(Debug, Deserialize)]
pub struct GameLine<'a> {
    /// Identifies the game; in a tournament it is a
    /// [`GameId`](crate::tournament::schedule::GameId).
    #[serde(borrow, default)]
    pub id: Cow<'a, str>,
    /// The game's name.
    #[serde(borrow, default)]
    pub game: Cow<'a, str>,
    /// The rule set's name.
    #[serde(borrow, default)]
    pub rules: Cow<'a, str>,
    /// The seed of the match or the tournament.
    #[serde(default)]
    pub seed: u64,
    #[serde(borrow)]
    bots: [BotName<'a>; 2],
    /// Index of the bot that moved first.
    pub first: usize,
    /// The board at the start.
    #[serde(borrow, default)]
    pub start: Cow<'a, str>,
    /// The turns as they stand in the line.
    #[serde(borrow, default)]
    pub turns: Option<&'a RawValue>,
    /// The time of each turn, in milliseconds.
    #[serde(default)]
    pub times_ms: Vec<f64>,
    #[serde(borrow)]
    result: GameResult<'a>,
    /// What an analysis says of the turns, as it stands in the line.
    #[serde(borrow, default)]
    pub analysis: Option<&'a RawValue>,
    /// When the game started: RFC 3339.
    #[serde(borrow, default)]
    pub started: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
struct BotName<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
struct GameResult<'a> {
    winner: Option<usize>,
    #[serde(borrow)]
    reason: Cow<'a, str>,
    by: Option<usize>,
    #[serde(default)]
    played: Option<bool>,
}

impl<'a> GameLine<'a> {
    /// Reads a line of a journal. The error is a sentence.
    pub fn parse(line: &'a [u8]) -> Result<Self, String> {
        let game: Self = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let indices = [Some(game.first), game.result.winner, game.result.by];
        if indices.into_iter().flatten().any(|index| index > 1) {
            return Err("`first`, `winner` and `by` are 0 or 1".to_owned());
        }
        if game.bots[0].name == game.bots[1].name {
            return Err("both bots have the same name".to_owned());
        }
        Ok(game)
    }

    /// What the two are called.
    pub fn names(&self) -> [&str; 2] {
        self.bots.each_ref().map(|bot| bot.name.as_ref())
    }

    /// Index of the winner.
    pub const fn winner(&self) -> Option<usize> {
        self.result.winner
    }

    /// Whether it was played, and not scored because a bot was benched.
    pub fn was_played(&self) -> bool {
        self.result.played != Some(false)
    }

    /// What the analysis, if there is one, comes to for the two bots.
    pub fn tallies(&self) -> Option<[Tally; 2]> {
        let json = serde_json::from_str(self.analysis?.get()).ok()?;
        let annotation = Annotation::from_json(&json);
        Some(annotation.tallies(self.first, self.times_ms.len()))
    }

    /// Index of the bot that forfeited, and the word for why.
    pub fn forfeit(&self) -> Option<(usize, &str)> {
        Some((self.result.by?, &self.result.reason))
    }

    /// Whether a bot of this name played.
    pub fn has(&self, name: &str) -> bool {
        self.bots.iter().any(|bot| bot.name == name)
    }
}
