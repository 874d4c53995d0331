//! From a game's name to its rules: the one place where games are told apart.

use clap::ValueEnum;

use crate::game::dialogue::Dialogue;
use crate::game::four_in_a_row::FourInARow;
use crate::game::quarto::{Edition, PieceFormat, PieceSet, Rules};

/// `--game`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum GameName {
    /// Four-by-four board, sixteen pieces, a gift with every turn
    Quarto,
    /// Seven columns, six rows; BOT1 moves first unless --first says otherwise
    FourInARow,
}

impl GameName {
    /// The game of this name, as in records and in a bot's environment.
    pub(in crate::cli) fn from_name(name: &str) -> Option<Self> {
        Self::value_variants().iter().copied().find(|game| {
            game.to_possible_value()
                .is_some_and(|v| v.get_name() == name)
        })
    }
}

impl GameName {
    /// Whether editions of it name the pieces differently.
    pub(in crate::cli) fn has_sets(self) -> bool {
        struct HasSets;
        impl WithGame for HasSets {
            type Output = bool;

            fn with<G: Dialogue + Clone + 'static>(self, _: G) -> bool {
                G::SETS
            }
        }
        let set = PieceSet::default();
        with_game(self, Rules::Standard, set, PieceFormat::Symbol, HasSets)
    }
}

/// Something to do with a game, whichever it is.
pub(in crate::cli) trait WithGame {
    /// What it gives.
    type Output;

    /// Does it.
    fn with<G>(self, game: G) -> Self::Output
    where
        G: Dialogue + Clone + Send + Sync + 'static,
        G::Position: Send + Sync;
}

/// Does it with the game of this name.
pub(in crate::cli) fn with_game<W: WithGame>(
    name: GameName,
    rules: Rules,
    set: PieceSet,
    format: PieceFormat,
    what: W,
) -> W::Output {
    match name {
        GameName::Quarto => what.with(Edition::new(rules, set).with_format(format)),
        GameName::FourInARow => what.with(FourInARow),
    }
}
