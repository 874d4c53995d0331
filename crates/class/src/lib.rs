#![doc = include_str!("../README.md")]

pub mod alike;
pub mod league;
pub mod report;
