//! What tournaments calculate: the crate `referee-stats`, and [`openings`], the positions from which games start.

pub mod openings;

pub use referee_stats::{betting, comparison, ratings, schedule, simulation, sprt, standings};
