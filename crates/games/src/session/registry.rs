//! The games of this program, by name: the only place that distinguishes them.

use std::sync::Arc;

use super::prover::{FOUR_IN_A_ROW_QUICK, QUARTO_QUICK};
use super::{Builtins as _, Ruleset};
use crate::game::Game;
use crate::game::four_in_a_row::FourInARow;
use crate::game::quarto::{Edition, PieceFormat, PieceSet, Rules};

/// A game of this program.
#[derive(Debug)]
pub struct GameInfo {
    /// The name in records, in a bot's environment and on the command line.
    pub name: &'static str,
    /// A description, one line.
    pub about: &'static str,
    /// Whether the bot that moves first is drawn at random; otherwise it is the first one named.
    pub is_first_drawn: bool,
    /// Whether rules and a piece set can be chosen.
    pub has_piece_sets: bool,
    /// Whether positions can be solved.
    pub is_solvable: bool,
    /// Positions with at most so many free cells are proven in less than a second, with all their turns.
    pub provable_cells: usize,
    make: fn(Choices) -> Arc<dyn Ruleset>,
}

/// The choices for a game. Games without piece sets ignore them.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// The rules of Quarto.
    pub rules: Rules,
    pub set: PieceSet,
    /// How pieces are shown to people.
    pub format: PieceFormat,
}

/// All games, the default first.
pub static GAMES: [GameInfo; 2] = [
    GameInfo {
        name: Edition::NAME,
        about: "Four-by-four board, sixteen pieces, a gift with every turn",
        is_first_drawn: Edition::IS_FIRST_DRAWN,
        has_piece_sets: Edition::SETS,
        is_solvable: Edition::IS_SOLVABLE,
        provable_cells: QUARTO_QUICK,
        make: |choices| {
            Arc::new(Edition::new(choices.rules, choices.set).with_format(choices.format))
        },
    },
    GameInfo {
        name: FourInARow::NAME,
        about: "Seven columns, six rows; BOT1 moves first unless --first says otherwise",
        is_first_drawn: FourInARow::IS_FIRST_DRAWN,
        has_piece_sets: FourInARow::SETS,
        is_solvable: FourInARow::IS_SOLVABLE,
        provable_cells: FOUR_IN_A_ROW_QUICK,
        make: |_| Arc::new(FourInARow),
    },
];

pub fn find(name: &str) -> Option<&'static GameInfo> {
    GAMES.iter().find(|game| game.name == name)
}

/// The game of a record: by its name, its rules, and the CSV text of a piece set that is not the built-in one. The error is a
/// sentence about one of them.
pub fn of_record(
    game: &str,
    rules: &str,
    pieces: Option<&str>,
) -> Result<Arc<dyn Ruleset>, String> {
    let quote = |text: &str| referee_text::quote(text.as_bytes());
    let game = find(game).ok_or_else(|| format!("the game {} is unknown", quote(game)))?;
    let rules =
        Rules::from_name(rules).ok_or_else(|| format!("the rules {} are unknown", quote(rules)))?;
    let set = match pieces.map(PieceSet::parse) {
        None => PieceSet::default(),
        Some(set) => set.map_err(|error| format!("its piece set: {error}"))?,
    };
    Ok(game.ruleset(Choices {
        rules,
        set,
        ..Choices::default()
    }))
}

impl GameInfo {
    /// The game with these rules and pieces.
    pub fn ruleset(&self, choices: Choices) -> Arc<dyn Ruleset> {
        (self.make)(choices)
    }
}

impl PartialEq for GameInfo {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for GameInfo {}
