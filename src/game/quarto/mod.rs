//! Quarto: sixteen pieces with four two-valued features, a 4×4 board, and a gift with every turn.
//!
//! - [`piece`]: a piece is four bits
//! - [`cell`]: the 16 cells and the 19 lines
//! - [`board`]: what stands where, and the running AND and OR of every line
//! - [`position`]: the rules of play
//! - [`set`]: the words of an edition, read from CSV
//! - [`configuration`]: boards for looking at: grids and quartos in words
//! - `dialogue`: what people at the keyboard are asked
//! - [`edition`]: positions and turns as text: requests and answers
//! - `look`: what people see

pub mod board;
pub mod cell;
pub mod configuration;
mod dialogue;
pub mod edition;
mod look;
pub mod piece;
pub mod position;
pub mod set;
mod set_reader;

pub use board::{Board, Quarto};
pub use cell::{Cell, Line, Rules};
pub use edition::{Edition, Turn};
pub use piece::{Piece, PieceFormat};
pub use position::{Move, Position};
pub use set::{PieceSet, SetError};
