#![doc = include_str!("../README.md")]

pub mod executable;
pub mod paths;
pub mod system;
pub mod threads;
