//! One game between two players, and a match of many.
//!
//! - [`game_runner`]: one game, whole; the only place where games are played
//! - [`game`]: its turns, from the start to the end
//! - [`turn`]: one request, its answer, and what the rules say of it
//! - [`setup`]: what is decided about a game before it begins
//! - [`seat`]: a player: a person, or a program with the process that plays for it
//! - [`clock`]: limits on a player's time
//! - [`observer`]: who is shown a game while it is played
//! - [`adjudicator`]: games that end because their value is proven
//! - [`stall`]: detects that the referee itself did not run
//! - [`match_runner`]: a match: many games between the same two players
//! - [`replay`]: recorded games, checked against the rules

pub mod adjudicator;
pub mod clock;
pub mod game;
pub mod game_runner;
pub mod match_runner;
pub mod observer;
pub mod replay;
pub mod seat;
pub mod setup;
pub mod stall;
pub mod turn;

#[cfg(test)]
pub(crate) mod tests;

pub use clock::{Clock, TimeControl};
pub use observer::GameObserver;
