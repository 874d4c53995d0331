//! Players: external programs and people.
//!
//! A [`Player`] gets requests and gives answers as text; other modules judge them. A program's
//! misbehaviour is a [`Fault`]; an `Err` means that the referee itself failed.

pub mod channel;
pub(crate) mod children;
pub mod exhaustion;
pub mod fault;
pub mod human;
pub mod info;
pub mod meter;
pub mod naming;
pub mod orphans;
#[cfg(unix)]
pub mod pause;
mod player;
pub mod process;
pub mod referee_files;
pub mod runtime;
pub mod shell;
pub mod spec;
pub mod stderr;

pub use fault::Fault;
pub use player::{Allowance, ClockKind, OtherOutput, Player, Reply};
