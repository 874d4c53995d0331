//! A league: submissions come in all term, and only new games are played.
//!
//! Its folder is that of a tournament in which the newest fit versions meet. When versions change, a new plan is made and
//! the games of unchanged versions are taken from the [`archive`]; the rest is played like an interrupted tournament.

pub mod archive;
pub mod error;
pub mod example;
pub mod grading;
pub mod intake;
pub mod lineup;
pub mod log;
pub mod plan_change;
pub mod roster;
pub mod season;
pub mod state;
pub mod switch;
pub mod zone;
