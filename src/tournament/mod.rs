pub mod openings;

pub use referee_stats::{
    alike, betting, comparison, ratings, schedule, simulation, sprt, standings,
};
