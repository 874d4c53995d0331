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
    /// The part of it that counts; with a clock of processor time, that time.
    pub charged: Duration,
    /// Whether it was the first answer of a fresh process.
    pub fresh: bool,
}

/// What there is to know of a line that was rejected, beside the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherOutput {
    /// It was the only line.
    Nothing,
    /// It was no answer to the last question but a second line after this, its answer to the
    /// question before.
    Before(Vec<u8>),
    /// This was written after it.
    After(Vec<u8>),
}

/// Somebody who answers requests.
pub trait Player {
    /// Sends a request (a line with its newline) and waits for the answer.
    fn ask(
        &mut self,
        request: &str,
        allowance: Allowance,
    ) -> impl Future<Output = io::Result<Result<Reply<'_>, Fault>>>;

    /// Whether a request lists the legal answers, too.
    fn is_told_answers(&self) -> bool {
        false
    }

    /// Reads on for a moment: what else was written.
    fn drain(&mut self) -> impl Future<Output = Vec<u8>> {
        async { Vec::new() }
    }

    /// Finds out, after a line that was rejected, whether it was the only one for its question.
    fn other_output(&mut self) -> impl Future<Output = OtherOutput> {
        async { OtherOutput::Nothing }
    }
}
