//! One turn, one game between two players, and a match of many.

pub mod clock;
mod events;
pub mod examiner;
pub mod game;
pub mod game_runner;
pub mod match_runner;
pub mod replay;
pub mod seat;
pub mod setup;
pub mod stage;
pub mod stall;
#[doc(hidden)]
pub mod testing;
pub mod violation;

#[cfg(test)]
mod tests;

pub use clock::{Clock, TimeControl};
pub use game::{GameEvent, Observer};
