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
    // It only lets names of games through.
    PossibleValuesParser::new(values).map(|name| registry::find(&name).unwrap_or_else(usual))
}

/// The game when none is named.
pub(in crate::cli) fn usual() -> GameArg {
    &GAMES[0]
}
