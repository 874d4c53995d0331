//! The games of this program, by name: the only place that distinguishes them.

use std::sync::Arc;

use super::four_in_a_row::FourInARow;
pub use super::quarto::Edition as Choices;
use super::quarto::{PieceSet, Rules};
use super::{BuiltinGame as _, Game, InPlay};

#[derive(Debug)]
pub struct GameInfo {
    /// In records, in a bot's environment and on the command line.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// Whether rules and a piece set can be chosen.
    pub has_piece_sets: bool,
    /// Games without piece sets ignore the choices.
    pub make: fn(Choices) -> Arc<dyn Game>,
}

/// The default first.
pub static GAMES: [GameInfo; 2] = [
    GameInfo {
        name: Choices::INFO.name,
        about: "Four-by-four board, sixteen pieces, a gift with every turn",
        has_piece_sets: true,
        make: |choices| Arc::new(InPlay::new(choices)),
    },
    GameInfo {
        name: FourInARow::INFO.name,
        about: "Seven columns, six rows; BOT1 moves first unless --first says otherwise",
        has_piece_sets: false,
        make: |_| Arc::new(InPlay::new(FourInARow)),
    },
];

pub fn find(name: &str) -> Option<&'static GameInfo> {
    GAMES.iter().find(|game| game.name == name)
}

/// By name, rules, and the CSV text of a piece set that is not the built-in one. The error is a sentence about one of
/// them.
pub fn of_record(game: &str, rules: &str, pieces: Option<&str>) -> Result<Arc<dyn Game>, String> {
    let quote = |text: &str| referee_text::quote(text.as_bytes());
    let game = find(game).ok_or_else(|| format!("the game {} is unknown", quote(game)))?;
    let rules =
        Rules::from_name(rules).ok_or_else(|| format!("the rules {} are unknown", quote(rules)))?;
    let set = match pieces.map(PieceSet::parse) {
        None => PieceSet::default(),
        Some(set) => set.map_err(|error| format!("its piece set: {error}"))?,
    };
    Ok(game.game(Choices {
        rules,
        set,
        ..Choices::default()
    }))
}

impl GameInfo {
    /// At its start.
    pub fn game(&self, choices: Choices) -> Arc<dyn Game> {
        (self.make)(choices)
    }
}
