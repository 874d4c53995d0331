//! `referee print schema FILE`: the JSON Schemas of what the program reads and writes, for editors.

use clap::ValueEnum;

use crate::cli::support::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// The file of `referee tournament --config`, as TOML
    Tournament,
    /// A line of a file of records
    Record,
    /// `plan.json` of a tournament
    Plan,
    /// What `referee compare --json` prints
    Comparison,
    /// What `referee rerun --json` prints
    Rerun,
    /// A line of a file of puzzles
    Puzzle,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What it describes
    #[arg()]
    file: Kind,
}

impl Kind {
    const fn schema(self) -> &'static str {
        match self {
            Self::Tournament => include_str!("../../../schemas/tournament.schema.json"),
            Self::Record => include_str!("../../../schemas/record.schema.json"),
            Self::Plan => include_str!("../../../schemas/plan.schema.json"),
            Self::Comparison => include_str!("../../../schemas/comparison.schema.json"),
            Self::Rerun => include_str!("../../../schemas/rerun.schema.json"),
            Self::Puzzle => include_str!("../../../schemas/puzzle.schema.json"),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    Ok(Stdout.write_all(args.file.schema().as_bytes())?)
}
