//! `--game` on the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::session::registry::{self, GAMES, GameInfo};

/// The game of `--game`.
pub(in crate::cli) type GameArg = &'static GameInfo;

/// Reads `--game`.
pub(in crate::cli) fn parser() -> impl TypedValueParser<Value = GameArg> {
    let values = GAMES
        .iter()
        .map(|game| PossibleValue::new(game.name).help(game.about));
    // The parser accepts names of games only.
    PossibleValuesParser::new(values).map(|name| registry::find(&name).unwrap_or_else(default_game))
}

/// The game when `--game` is not given.
pub(in crate::cli) fn default_game() -> GameArg {
    &GAMES[0]
}
