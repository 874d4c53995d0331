#![doc = include_str!("../README.md")]

pub mod game;
pub mod session;
pub mod solver;
pub mod strategy;
