#![doc = include_str!("../README.md")]

pub mod drawing;
pub mod game;
pub mod solver;
pub mod strategy;
