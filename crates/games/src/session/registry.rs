//! The games of this program, by name: the only place that distinguishes them.

use std::sync::Arc;

use super::Ruleset;
use crate::game::Game;
use crate::game::four_in_a_row::FourInARow;
use crate::game::quarto::{Edition, PieceFormat, PieceSet, Rules};

#[derive(Debug)]
pub struct GameInfo {
    /// In records, in a bot's environment and on the command line.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// Otherwise the bot named first moves first.
    pub is_first_drawn: bool,
    /// Whether rules and a piece set can be chosen.
    pub has_piece_sets: bool,
    /// Positions with at most so many free cells are proven in less than a second, with all their turns; 0 without a solver.
    pub provable_cells: usize,
    make: fn(Choices) -> Arc<dyn Ruleset>,
}

/// Games without piece sets ignore them.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    pub rules: Rules,
    pub set: PieceSet,
    /// For people.
    pub format: PieceFormat,
}

/// The default first.
pub static GAMES: [GameInfo; 2] = [
    GameInfo {
        has_piece_sets: true,
        ..GameInfo::of::<Edition>(
            "Four-by-four board, sixteen pieces, a gift with every turn",
            |choices| {
                Arc::new(Edition::new(choices.rules, choices.set).with_format(choices.format))
            },
        )
    },
    GameInfo::of::<FourInARow>(
        "Seven columns, six rows; BOT1 moves first unless --first says otherwise",
        |_| Arc::new(FourInARow),
    ),
];

pub fn find(name: &str) -> Option<&'static GameInfo> {
    GAMES.iter().find(|game| game.name == name)
}

/// By name, rules, and the CSV text of a piece set that is not the built-in one. The error is a sentence about one of
/// them.
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
    pub const fn of<G: Game>(about: &'static str, make: fn(Choices) -> Arc<dyn Ruleset>) -> Self {
        Self {
            name: G::NAME,
            about,
            is_first_drawn: G::IS_FIRST_DRAWN,
            has_piece_sets: false,
            provable_cells: G::PROVABLE_CELLS,
            make,
        }
    }

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
