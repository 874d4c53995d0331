use referee_text::quote;

use super::board::{CELLS, Cell};

/// Why a text is not a position from which a game of Quarto can go on. Pieces are written as people see them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    #[error("a board is {CELLS} characters, one a cell, row by row; found {found}")]
    Length { found: usize },
    #[error(
        "cell {} holds {}, which is not a piece of this set; expected a piece or `.`",
        .cell.number(), quote(.symbol.to_string().as_bytes())
    )]
    UnknownPiece { cell: Cell, symbol: char },
    #[error("{0}; every piece exists once")]
    Twice(StandsTwice),
    #[error("there is a quarto already, {line} {property}; a game starts without one")]
    Quarto { line: String, property: String },
    #[error("no cell is free; a game needs one")]
    Full,
    #[error(
        "{} is in hand, which is not a piece of this set; expected a piece or `-`",
        quote(.hand.as_bytes())
    )]
    UnknownHand { hand: String },
    #[error(
        "the piece {piece} is in hand, but it stands on cell {}; every piece exists once",
        .cell.number()
    )]
    HandOnBoard { piece: String, cell: Cell },
    #[error("expected a board and a piece or `-`, found {}", quote(.found.as_bytes()))]
    NoHand { found: String },
}

/// A piece that stands on two cells: possible in a drawing, not in a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the piece {piece} stands on cells {} and {}", .first.number(), .second.number())]
pub struct StandsTwice {
    pub piece: String,
    pub first: Cell,
    pub second: Cell,
}
