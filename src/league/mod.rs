//! A league: submissions come in all term, and only new games are played.
//!
//! Its folder is that of a tournament (`plan.json`, `games.jsonl`, tables) in which the newest fit versions meet.
//! When versions change, a new plan is made and the games of unchanged versions are taken from the [`archive`]; the
//! rest is played like an interrupted tournament. The result is the same as playing all pairings.

pub mod archive;
pub mod build;
pub mod grading;
pub mod intake;
pub mod season;
pub mod state;
