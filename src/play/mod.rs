//! One game between two players, and a match of many.
//!
//! - [`game_runner`]: plays whole games; the only place that does
//! - [`game`]: the turns of a game
//! - [`turn`]: one request, its answer, and whether the rules accept it
//! - [`setup`]: the settings of a game
//! - [`seat`]: a player: a person, or a program and its process
//! - [`clock`]: limits on a player's time
//! - `environment`: the variables that its processes get
//! - [`observer`]: observes a game while it is played
//! - [`stage`]: the games that are being played, for those who watch
//! - [`adjudicator`]: ends games whose value is proven
//! - `attempts`: how often a game that does not count is tried again
//! - [`stall`]: detects that the referee itself did not run
//! - `events`, `game_events`: what the log has of a bot in a game, and of the game
//! - [`match_runner`]: plays matches of many games between the same two players
//! - [`replay`]: checks recorded games against the rules
//! - [`questions`]: asks a bot what it was asked in a recorded game
//! - [`reproduce`]: the command that shows a recorded fault again

pub mod adjudicator;
mod attempts;
pub mod clock;
mod environment;
mod events;
pub mod game;
mod game_events;
pub mod game_runner;
pub mod match_runner;
pub mod observer;
pub mod questions;
pub mod replay;
pub mod reproduce;
pub mod seat;
pub mod setup;
pub mod stage;
pub mod stall;
pub mod turn;

#[cfg(test)]
pub(crate) mod tests;

pub use clock::{Clock, TimeControl};
pub use observer::GameObserver;
