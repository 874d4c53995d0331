//! Tournaments: many bots, many games, one table.

pub mod ratings;
pub mod sprt;
