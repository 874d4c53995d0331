use referee_text::quote;

use super::{CELLS, Column};

/// Why a text is not a position from which a game of Four In A Row can go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    #[error("a board is {CELLS} characters, row by row from the top left; found {found}")]
    Length { found: usize },
    /// The row counts from 1, at the top.
    #[error(
        "{} in column {}, row {row}; expected `@`, `O` or `.`",
        quote(.symbol.to_string().as_bytes()), .column.number()
    )]
    UnknownMark {
        symbol: char,
        column: Column,
        row: u8,
    },
    #[error(
        "a piece in column {} hangs in the air; pieces fall to the lowest free cell",
        .0.number()
    )]
    Hanging(Column),
    #[error("{first} `@` and {second} `O`; `@` moves first, then they alternate")]
    Unequal { first: u32, second: u32 },
    #[error("the game is over on this board; a game starts without four in a row, and with room")]
    GameOver,
    #[error("expected a mark, a space and a board, found {}", quote(.found.as_bytes()))]
    NoMark { found: String },
    #[error("{} is asked, but by the board it is {to_move}'s turn", quote(.asked.as_bytes()))]
    OtherSide { asked: String, to_move: char },
}
