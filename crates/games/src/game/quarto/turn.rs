//! Turns: everything that a side does before the other side acts.
//!
//! A turn is a placement and a gift together, where [`Move`] is one of the two. Bots answer with
//! turns, and records and the solver count in turns.

use super::cell::Cell;
use super::piece::Piece;
use super::position::{Move, Position};
use crate::game::IllegalMove;
use crate::game::Position as _;

/// What a side does in one turn: place the piece in hand, then give one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Turn {
    /// Where the piece goes; `None` on a turn that only gives.
    pub cell: Option<Cell>,
    /// The piece given; `None` when the placement ends the game.
    pub gift: Option<Piece>,
}

impl Turn {
    /// The turn that consists of these moves, in this order; `None` when no turn does.
    pub const fn from_moves(moves: &[Move]) -> Option<Self> {
        let (cell, gift) = match *moves {
            [Move::Give(gift)] => (None, Some(gift)),
            [Move::Place(cell)] => (Some(cell), None),
            [Move::Place(cell), Move::Give(gift)] => (Some(cell), Some(gift)),
            _ => return None,
        };
        Some(Self { cell, gift })
    }

    /// Its moves, in the order in which they are played.
    pub fn moves(self) -> impl Iterator<Item = Move> {
        let place = self.cell.map(Move::Place);
        place.into_iter().chain(self.gift.map(Move::Give))
    }
}

impl Position {
    /// Every legal turn with the position it leads to: by cell (row by row), then by gift (in the
    /// order of their bits). A placement that ends the game is one turn, without a gift. Empty
    /// when the game is over.
    ///
    /// ```
    /// use referee_games::game::quarto::{Position, Rules};
    ///
    /// // The first turn only gives: one of sixteen pieces.
    /// let first = Position::new(Rules::Standard).turns();
    /// assert_eq!(first.len(), 16);
    /// // The second turn places it on one of sixteen cells, and gives one of fifteen pieces.
    /// let (turn, after) = first[0];
    /// assert_eq!(turn.cell, None);
    /// assert_eq!(after.turns().len(), 16 * 15);
    /// ```
    pub fn turns(&self) -> Vec<(Turn, Self)> {
        let mut turns = Vec::new();
        if self.outcome().is_some() {
            return turns;
        }
        if self.hand().is_none() {
            self.push_gifts(None, &mut turns);
            return turns;
        }
        for cell in self.board().free() {
            let mut placed = *self;
            if placed.play(Move::Place(cell)).is_err() {
                continue;
            }
            if placed.outcome().is_some() {
                let cell = Some(cell);
                turns.push((Turn { cell, gift: None }, placed));
            } else {
                placed.push_gifts(Some(cell), &mut turns);
            }
        }
        turns
    }

    /// Adds a turn for every gift from here. `cell` is where the turn's piece was placed.
    fn push_gifts(&self, cell: Option<Cell>, turns: &mut Vec<(Turn, Self)>) {
        for piece in self.left() {
            let mut given = *self;
            if given.play(Move::Give(piece)).is_ok() {
                let gift = Some(piece);
                turns.push((Turn { cell, gift }, given));
            }
        }
    }

    /// The position after a turn, or the first of its moves that the rules forbid.
    ///
    /// ```
    /// use referee_games::game::Position as _;
    /// use referee_games::game::quarto::{Cell, Move, Piece, Position, Rules, Turn};
    ///
    /// let mut position = Position::new(Rules::Standard);
    /// position.play(Move::Give(Piece::new(0).unwrap())).unwrap();
    /// let turn = Turn {
    ///     cell: Cell::from_number(6),
    ///     gift: Piece::new(15),
    /// };
    /// let after = position.after(turn).unwrap();
    /// assert_eq!(after.hand(), Piece::new(15));
    /// // The cell is occupied now, and the piece is in hand.
    /// assert!(after.after(turn).is_err());
    /// ```
    pub fn after(&self, turn: Turn) -> Result<Self, IllegalMove<Move>> {
        let mut after = *self;
        for mv in turn.moves() {
            after.play(mv)?;
        }
        Ok(after)
    }
}
