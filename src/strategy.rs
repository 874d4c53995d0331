//! The strategies shipped inside the program. They are served by `referee bot NAME` as any
//! other program is, over the same pipes.

use rand::Rng;
use rand::seq::IndexedRandom as _;

use crate::game::quarto::{Edition, Position, Turn};
use crate::game::{Game as _, Outcome, Position as _};

/// A built-in strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Any legal turn.
    Random,
    /// Wins when it can, and gives no piece that wins at once if it can help it.
    Greedy,
}

impl Strategy {
    /// Names, as in `builtin:NAME`.
    pub const NAMES: [&'static str; 2] = ["random", "greedy"];

    /// The strategy of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "random" => Some(Self::Random),
            "greedy" => Some(Self::Greedy),
            _ => None,
        }
    }

    /// Chooses a turn; `None` when the game is over.
    pub fn choose(
        self,
        edition: &Edition,
        position: &Position,
        rng: &mut impl Rng,
    ) -> Option<Turn> {
        let turns = edition.turns(position);
        match self {
            Self::Random => turns.choose(rng).map(|(turn, _)| *turn),
            Self::Greedy => {
                let rank = turns.iter().map(|(_, after)| Rank::of(after)).max()?;
                let best: Vec<Turn> = turns
                    .iter()
                    .filter(|(_, after)| Rank::of(after) == rank)
                    .map(|(turn, _)| *turn)
                    .collect();
                best.choose(rng).copied()
            }
        }
    }
}

/// How good the position after one's own turn looks, one step ahead.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The gift wins at once.
    GiftWins,
    /// The game goes on, or is drawn.
    GoesOn,
    /// Won.
    Won,
}

impl Rank {
    fn of(after: &Position) -> Self {
        match (after.outcome(), after.hand()) {
            (Some(Outcome::Win(_)), _) => Self::Won,
            (None, Some(gift)) if after.winning_cell(gift).is_some() => Self::GiftWins,
            _ => Self::GoesOn,
        }
    }
}
