//! Players: external programs, people, and answers that tests write down in advance.
//!
//! A [`Player`] receives requests and gives answers, both as text; what they mean is decided above
//! this module. When a program misbehaves, that is a value, a [`Fault`]; an `Err` means that the
//! referee itself failed.
//!
//! - [`channel`]: one line out, one line back, before a deadline
//! - [`spec`]: what a BOT on the command line means, and why it cannot be started
//! - [`naming`]: what bots are called
//! - [`shell`]: commands that are shown to people
//! - `no_program`: files that are no programs, such as archives, and names that were mistyped
//! - [`submission`]: which program of a folder is meant
//! - `confined`: a program taken into a sandbox
//! - [`process`]: the only place that starts and stops bots
//! - [`stderr`]: a program's standard error, read to its end and partly kept
//! - [`fault`]: every way to break the protocol
//! - [`exhaustion`]: a machine without processes left
//! - [`human`]: a person at this terminal
//! - [`scripted`]: answers written down in advance
//! - [`meter`]: processor time and memory of a program
//! - `bound`: how many processes a bot without a sandbox may have
//! - `children`: which children of this process belong to a bot's process
//! - [`orphans`]: processes that bots left behind
//! - [`pause`]: stopping the referee while it starts bots

mod allowance;
#[cfg(all(target_os = "linux", not(portable)))]
mod bound;
pub mod channel;
pub(crate) mod children;
mod confined;
pub mod exhaustion;
pub mod fault;
pub mod human;
pub mod meter;
pub mod naming;
mod no_program;
pub mod orphans;
#[cfg(unix)]
pub mod pause;
mod player;
pub mod process;
pub mod scripted;
pub mod shell;
pub mod spec;
pub mod stderr;
pub mod submission;

pub use allowance::{Allowance, ClockKind};
pub use fault::Fault;
pub use player::{OtherOutput, Player, Reply};
