//! Quarto: sixteen pieces with four two-valued features, a 4×4 board, and a gift with every turn.
//!
//! The rules, from the bottom up:
//! - [`piece`]: a piece is four bits
//! - [`cell`]: the 16 cells and the 19 lines
//! - [`board`]: which piece stands on which cell, and the quartos
//! - [`position`]: the rules of play, one move at a time
//! - [`turn`]: a placement and a gift together: the turns of a position, and applying them
//!
//! Text and pictures, for one [`Edition`] (a rule set and a piece set):
//! - [`piece_set`]: the characters of the pieces and the names of their properties
//! - `piece_set_rows`, `piece_set_reader`: reading a piece set from CSV
//! - [`configuration`]: any board as 16 characters, and its quartos in words
//! - [`edition`]: a rule set, a piece set and how people see pieces
//! - `notation`: boards, requests and answers as lines of text
//! - `judge`: whether an answer is a legal turn
//! - `drawing`: positions as pictures, turns in words
//! - `keyboard`: what people at a terminal are asked
//! - `game`: [`Game`](crate::game::Game) for an edition

pub mod board;
pub mod cell;
pub mod configuration;
mod drawing;
pub mod edition;
mod game;
mod judge;
mod keyboard;
mod notation;
pub mod piece;
pub mod piece_set;
mod piece_set_reader;
mod piece_set_rows;
pub mod position;
pub mod turn;

pub use board::{Board, Quarto};
pub use cell::{Cell, Line, Rules};
pub use edition::Edition;
pub use piece::{Piece, PieceFormat};
pub use piece_set::{PieceSet, SetError};
pub use position::{Move, Position};
pub use turn::Turn;
