//! What a person at the keyboard is asked, and how the answers are read.

use super::{Game, Position};

/// The move of a game.
pub type MoveOf<G> = <<G as Game>::Position as Position>::Move;

/// A game that people can play at a terminal, one move after the other.
pub trait Dialogue: Game {
    /// The rules in short and the order of play.
    fn instructions(&self) -> String;

    /// What to ask the side to move.
    fn question(&self, position: &Self::Position) -> String;

    /// Reads a move as a person types it. Only its form is checked, not whether it is legal. An
    /// error is the reason, for that person.
    fn read_move(&self, position: &Self::Position, typed: &str) -> Result<MoveOf<Self>, String>;

    /// Why a move that the rules forbid is forbidden.
    fn refusal(&self, position: &Self::Position, mv: MoveOf<Self>) -> String;

    /// A warning that names every choice that loses at once; `None` when none does.
    fn hint(&self, position: &Self::Position) -> Option<String>;

    /// The pieces: the one in hand and those that are left, in words.
    fn inventory(&self, position: &Self::Position) -> String;
}
