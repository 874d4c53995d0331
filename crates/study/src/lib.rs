#![doc = include_str!("../README.md")]

pub mod debug;
pub mod hunt;
pub mod puzzles;
pub mod rerun;
pub mod second_try;
