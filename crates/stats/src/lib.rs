#![doc = include_str!("../README.md")]

pub mod alike;
pub mod betting;
pub mod comparison;
pub mod ratings;
pub mod schedule;
pub mod simulation;
pub mod sprt;
pub mod standings;
