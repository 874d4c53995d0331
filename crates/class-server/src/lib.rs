#![doc = include_str!("../README.md")]

mod client;
pub mod desk;
mod guesses;
mod http;
pub mod ledger;
pub mod limits;
pub mod links;
mod pages;
pub mod served_page;
mod server;
pub mod tables;
pub mod token;
mod upload;
pub mod view;

pub use self::server::{ClassListener, ClassServer};

/// Of the log.
pub const LOG: &str = "referee::class";
