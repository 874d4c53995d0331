//! Four In A Row: seven columns, six rows, a piece falls to the lowest free cell of its
//! column; four in a row, column or diagonal win.
//!
//! - `position`: columns, the board as bits, and the rules of play
//! - `lines`: the lines that decided a game, with their names
//! - `game`: boards, requests and answers as text, and what people see
//! - `keyboard`: what people at a terminal are asked

mod game;
mod keyboard;
mod lines;
mod position;

pub use game::FourInARow;
pub use position::{COLUMNS, Column, Position, ROWS};
