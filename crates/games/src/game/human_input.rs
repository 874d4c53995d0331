//! What a game needs so that people can play it at a terminal: prompts and the reading of typed
//! moves.

use super::{Game, Position};

pub type MoveOf<G> = <<G as Game>::Position as Position>::Move;

/// A game that people can play at a terminal, one move after the other.
pub trait HumanInput: Game {
    /// The rules in short and the order of play.
    fn instructions(&self) -> String;

    /// The question that asks the side to move for its next move.
    fn question(&self, position: &Self::Position) -> String;

    /// Parses a move as a person types it. Only its form is checked, not whether it is legal. The
    /// error explains to that person what is wrong.
    fn read_move(&self, position: &Self::Position, typed: &str) -> Result<MoveOf<Self>, String>;

    /// Explains why the rules forbid this move.
    fn refusal(&self, position: &Self::Position, mv: MoveOf<Self>) -> String;

    /// A warning that names every choice that loses at once; `None` when none does.
    fn hint(&self, position: &Self::Position) -> Option<String>;

    /// The piece in hand and the remaining pieces, in words.
    fn inventory(&self, position: &Self::Position) -> String;
}
