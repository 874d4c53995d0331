//! The calculations of tournaments. Nothing here plays a game, reads a file or depends on time.
//!
//! - [`schedule`]: rounds, pairs of games and their ids, for every format
//! - [`openings`]: the positions from which games start
//! - [`ratings`]: the strength of the bots, from the results of their games
//! - [`sprt`]: Elo differences of two bots, and a test that decides when enough games were played
//! - [`betting`]: a test and an interval of a mean score that hold after few games, too
//! - [`comparison`]: whether a new version of a bot is better than the old one
//! - [`simulation`]: what a tournament can tell, before it is played
//! - [`standings`]: points, tie-breaks, ratings and times, from records

pub mod betting;
pub mod comparison;
pub mod openings;
pub mod ratings;
pub mod schedule;
pub mod simulation;
pub mod sprt;
pub mod standings;
