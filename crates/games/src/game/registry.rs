//! The games of this program, by name: the only place that distinguishes them.

use std::sync::Arc;

use super::four_in_a_row::FourInARow;
pub use super::quarto::Edition as Choices;
use super::quarto::{PieceSet, Rules, SetError};
use super::{BuiltinGame as _, BuiltinRuleset, Ruleset};
use referee_text::quote;

#[derive(Debug)]
pub struct GameInfo {
    /// In records, in a bot's environment and on the command line.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// Whether rules and a piece set can be chosen.
    pub has_piece_sets: bool,
    /// Games without piece sets ignore the choices.
    pub make: fn(Choices) -> Arc<dyn Ruleset>,
}

/// The default first.
pub static GAMES: [GameInfo; 2] = [
    GameInfo {
        name: Choices::INFO.name,
        about: "Four-by-four board, sixteen pieces, a gift with every turn",
        has_piece_sets: true,
        make: |choices| Arc::new(BuiltinRuleset::new(choices)),
    },
    GameInfo {
        name: FourInARow::INFO.name,
        about: "Seven columns, six rows; BOT1 moves first unless --first says otherwise",
        has_piece_sets: false,
        make: |_| Arc::new(BuiltinRuleset::new(FourInARow)),
    },
];

pub fn find(name: &str) -> Option<&'static GameInfo> {
    GAMES.iter().find(|game| game.name == name)
}

/// Why a record is not of a game of this program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownRuleset {
    #[error("the game {} is unknown", quote(.0.as_bytes()))]
    Game(String),
    #[error("the rules {} are unknown", quote(.0.as_bytes()))]
    Rules(String),
    #[error("its piece set: {0}")]
    Pieces(SetError),
}

/// By name, rules, and the CSV text of a piece set that is not the built-in one.
pub fn of_record(
    game: &str,
    rules: &str,
    pieces: Option<&str>,
) -> Result<Arc<dyn Ruleset>, UnknownRuleset> {
    let game = find(game).ok_or_else(|| UnknownRuleset::Game(game.to_owned()))?;
    let known = Rules::from_name(rules);
    let rules = known.ok_or_else(|| UnknownRuleset::Rules(rules.to_owned()))?;
    let set = match pieces {
        None => PieceSet::default(),
        Some(csv) => PieceSet::parse(csv).map_err(UnknownRuleset::Pieces)?,
    };
    Ok(game.ruleset(Choices {
        rules,
        set,
        ..Choices::default()
    }))
}

impl GameInfo {
    pub fn ruleset(&self, choices: Choices) -> Arc<dyn Ruleset> {
        (self.make)(choices)
    }
}
