pub mod openings;

pub use referee_stats::{betting, comparison, ratings, schedule, simulation, sprt, standings};
