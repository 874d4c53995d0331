use std::future::Future;
use std::io;
use std::time::Duration;

use super::allowance::Allowance;
use super::fault::Fault;

/// An answer that has not been judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply<'a> {
    /// Without newline.
    pub line: &'a [u8],
    /// From just before the request was written until the line was read.
    pub elapsed: Duration,
    /// The time that counts; on a CPU clock, CPU time.
    pub charged: Duration,
    /// Whether it was the first answer of a fresh process.
    pub fresh: bool,
}

/// Output other than a rejected line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OtherOutput {
    /// It was the only line.
    Nothing,
    /// The rejected line was a second line after this one, the answer to the question before.
    Before(Vec<u8>),
    /// Written after it.
    After(Vec<u8>),
}

/// Answers requests.
pub trait Player {
    /// Sends a request (a line with its newline) and waits for the answer.
    fn ask(
        &mut self,
        request: &str,
        allowance: Allowance,
    ) -> impl Future<Output = io::Result<Result<Reply<'_>, Fault>>>;

    /// Whether requests list the legal answers.
    fn is_told_answers(&self) -> bool {
        false
    }

    /// Reads on for a moment.
    fn drain(&mut self) -> impl Future<Output = Vec<u8>> {
        async { Vec::new() }
    }

    /// Finds out whether a rejected line was the only one for its question.
    fn other_output(&mut self) -> impl Future<Output = OtherOutput> {
        async { OtherOutput::Nothing }
    }
}
