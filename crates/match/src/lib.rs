#![doc = include_str!("../README.md")]

pub mod analysis;
pub mod bot;
pub mod game_program;
pub mod log_target;
pub mod play;
pub mod protocol;
pub mod record;
pub mod seed;
