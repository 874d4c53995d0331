//! Tournaments: many bots, many games, one table.
//!
//! - [`schedule`]: rounds, pairs of games and their ids, for every format
//! - [`openings`]: the positions that games start from
//! - [`ratings`]: how strong the bots are, from the results
//! - [`sprt`]: when enough games between two bots have been played
//! - [`standings`]: points, tie-breaks, ratings and times, from records

pub mod openings;
pub mod ratings;
pub mod schedule;
pub mod sprt;
pub mod standings;
