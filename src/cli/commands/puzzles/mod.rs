//! `referee puzzles`: makes puzzles of the mistakes in recorded games, and has bots or people solve them.

mod make;
mod output;
mod page;
mod run;

use std::fs::File;
use std::path::Path;

use clap::Subcommand;

use crate::cli::support::prelude::*;
use crate::cli::support::values::hint;
use crate::puzzles::{Loaded, SHIPPED, read};

const AFTER_HELP: &str = "\
A puzzle is a position in which some turns keep what it is worth and others do not, by the exact
solver. Two sets of 300 are part of the program: builtin:quarto and builtin:four-in-a-row.

Examples:
  referee puzzles run builtin:quarto ./mybot
  referee puzzles make games.jsonl --limit 50 -o class.jsonl
  referee puzzles page class.jsonl -o class.html
  referee puzzles run class.jsonl ./mybot --require 80%";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct PuzzlesArgs {
    #[command(subcommand)]
    command: PuzzlesCommand,
}

#[derive(Debug, Subcommand)]
enum PuzzlesCommand {
    /// Make puzzles of recorded mistakes
    Make(make::Args),
    /// Score a bot by the puzzles it solves
    Run(Box<run::Args>),
    /// Write a page of puzzles for people
    Page(page::Args),
}

pub(crate) fn run(args: &PuzzlesArgs) -> Result<(), Failure> {
    match &args.command {
        PuzzlesCommand::Make(args) => make::run(args),
        PuzzlesCommand::Run(args) => run::run(args),
        PuzzlesCommand::Page(args) => page::run(args),
    }
}

/// Loads a file, or a shipped set.
fn load(set: &str) -> Result<Vec<Loaded>, Failure> {
    let path = Path::new(set);
    let loaded = if let Some(name) = set.strip_prefix("builtin:") {
        let found = SHIPPED.iter().find(|(known, _)| *known == name);
        let Some((_, text)) = found else {
            let names = SHIPPED.map(|(name, _)| format!("builtin:{name}"));
            let names = names.each_ref().map(String::as_str);
            let fix = hint(set, &names, "there are ");
            bail!(
                "no set of puzzles is called {}; {fix}",
                quote(name.as_bytes())
            );
        };
        read(path, text.as_bytes())
    } else {
        if path.is_dir() {
            bail!(
                "{set}: it is a folder; expected a file of puzzles, as `referee puzzles make` writes it"
            );
        }
        let file = File::open(path).map_err(|error| unreadable(path, &error))?;
        read(path, file)
    };
    let puzzles = loaded?;
    if puzzles.is_empty() {
        bail!("{set}: there are no puzzles in it; `referee puzzles make` writes such files");
    }
    Ok(puzzles)
}
