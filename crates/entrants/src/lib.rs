#![doc = include_str!("../README.md")]

pub mod adapter;
pub mod archive;
pub mod argument;
pub mod beside;
pub mod build;
pub mod class;
pub mod folder;
mod no_program;
