#![doc = include_str!("../README.md")]

pub mod desk;
mod http;
pub mod ledger;
pub mod limits;
pub mod links;
mod pages;
mod server;
pub mod token;
mod upload;
pub mod view;

pub use self::server::{ClassListener, ClassServer};

/// Of the log.
pub const LOG: &str = "referee::class";
