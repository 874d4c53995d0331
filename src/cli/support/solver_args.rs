//! The solver's memory and threads.

use super::values;
use crate::solver::Options;

#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct SolverArgs {
    /// Memory for the transposition table, such as 512M or 4G
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = hash)]
    hash: usize,

    /// Threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

fn hash(text: &str) -> Result<usize, String> {
    usize::try_from(values::size(text)?)
        .map_err(|_| "expected no more than this machine can address".to_owned())
}

impl SolverArgs {
    pub(crate) fn options(self) -> Options {
        let default = Options::default();
        Options {
            tt_bytes: self.hash,
            threads: self.threads.map_or(default.threads, usize::from),
        }
    }
}
