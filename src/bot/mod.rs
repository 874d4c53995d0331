//! Who plays: external programs, people, and players that tests write down in advance.
//!
//! A player sees requests and gives answers, both as text; what they mean is
//! decided in [`crate::play`]. When a program misbehaves, that is a value, a
//! [`Fault`]; an `Err` means that the referee itself failed.
//!
//! - [`channel`]: one line out, one line back, before a deadline
//! - [`spec`]: what a BOT on the command line means, and why it cannot be started
//! - `executable`: whether the kernel would run a file
//! - [`process`]: the only place that starts and stops programs
//! - [`stderr`]: what a program says on the side
//! - [`fault`]: every way to break the protocol
//! - [`human`]: a person at this terminal
//! - [`interpreter`]: what the referee knows of interpreters
//! - [`meter`]: processor time and memory of a program
//! - [`orphans`]: processes that bots left behind

pub mod channel;
pub(crate) mod executable;
pub mod fault;
pub mod human;
pub mod interpreter;
pub mod meter;
pub mod orphans;
pub mod process;
pub mod scripted;
pub mod spec;
pub mod stderr;

use std::future::Future;
use std::io;
use std::time::Duration;

pub use fault::{Fault, Reason};

/// The time a player has for one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// For the move.
    pub time: Duration,
    /// On top of it for the first answer of a fresh process.
    pub start: Duration,
    /// Whether `time` is what is left of a game clock.
    pub clock: bool,
}

impl Allowance {
    /// All the time there is for an answer.
    pub fn total(&self, fresh: bool) -> Duration {
        if fresh {
            self.time.saturating_add(self.start)
        } else {
            self.time
        }
    }
}

/// An answer, not yet judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply<'a> {
    /// The line, without newline.
    pub line: &'a [u8],
    /// From just before the request was written until the line was read.
    pub elapsed: Duration,
    /// Whether it was the first answer of a fresh process.
    pub fresh: bool,
}

/// Somebody who answers requests.
pub trait Player {
    /// Sends a request (a line with its newline) and waits for the answer.
    fn ask(
        &mut self,
        request: &str,
        allowance: Allowance,
    ) -> impl Future<Output = io::Result<Result<Reply<'_>, Fault>>>;

    /// What else it says within a moment, after a line that made no sense.
    fn overhear(&mut self) -> impl Future<Output = Vec<u8>> {
        async { Vec::new() }
    }
}
