//! How much a solver may use, for all commands that solve.

use std::num::NonZeroU16;

use super::setup::tell;
use super::size;
use crate::solver::{Options, Solver};
use crate::text;

#[derive(Clone, Copy, Debug, clap::Args)]
pub(in crate::cli) struct Thinking {
    /// Memory for positions already solved, such as 512M or 4G
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = hash)]
    hash: usize,

    /// Threads [default: as many as the machine runs at once]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroU16>,
}

fn hash(text: &str) -> Result<usize, String> {
    usize::try_from(size::parse(text)?)
        .map_err(|_| "expected no more than this machine can address".to_owned())
}

impl Thinking {
    pub(in crate::cli) fn options(self) -> Options {
        let usual = Options::default();
        Options {
            tt_bytes: self.hash,
            threads: self.threads.map_or(usual.threads, |n| n.get().into()),
        }
    }

    /// Says so when the machine does not give as much memory as was asked for.
    pub(in crate::cli) fn check(self, solver: &Solver) {
        let bytes = solver.tt_bytes();
        if bytes < self.hash / 2 {
            tell(&format!(
                "referee: --hash: the machine gives {} only, going on with that",
                text::size(bytes as u64)
            ));
        }
    }
}
