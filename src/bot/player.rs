//! Somebody who answers requests.

use std::future::Future;
use std::io;
use std::time::Duration;

use super::allowance::Allowance;
use super::fault::Fault;

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

    /// Reads on for a moment, after a line that made no sense: what else was written.
    fn drain(&mut self) -> impl Future<Output = Vec<u8>> {
        async { Vec::new() }
    }
}
