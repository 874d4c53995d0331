//! Quarto: sixteen pieces with four two-valued features, a 4×4 board, and a gift with every turn.

pub mod board;
mod game;
pub mod notation;
pub mod piece_set;
mod piece_set_reader;
pub mod position;
mod position_error;
mod slip;

pub use board::{Board, Cell, Line, Quarto, Rules};
pub use game::Edition;
pub use piece_set::{Piece, PieceFormat, PieceSet, SetError};
pub use position::{Move, Position, Turn};
pub use position_error::{PositionError, StandsTwice};
