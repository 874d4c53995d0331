//! `referee puzzles`: makes puzzles of the mistakes in recorded games, and has bots or people solve them.

mod junit;
mod make;
mod output;
mod page;
mod run;
mod sets;

use clap::Subcommand;

use crate::cli::support::failure::Failure;

const AFTER_HELP: &str = "\
A puzzle is a position in which some turns keep what it is worth and others do not, by the exact
solver. Two sets of 300 are part of the program: builtin:quarto and builtin:four-in-a-row.

Examples:
  referee puzzles run builtin:quarto ./mybot
  referee puzzles make games.jsonl --limit 50 -o class.jsonl
  referee puzzles page class.jsonl -o class.html
  referee puzzles run class.jsonl ./mybot --require 80% --junit puzzles.xml";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct PuzzlesArgs {
    #[command(subcommand)]
    command: PuzzlesCommand,
}

#[derive(Debug, Subcommand)]
enum PuzzlesCommand {
    /// Turns the mistakes in recorded games into puzzles, each with all right answers
    Make(make::Args),
    /// Asks a bot every puzzle of a set, and says how many it solves
    Run(Box<run::Args>),
    /// Writes a page on which people solve the puzzles of a set
    Page(page::Args),
}

pub(in crate::cli) fn run(args: &PuzzlesArgs) -> Result<(), Failure> {
    match &args.command {
        PuzzlesCommand::Make(args) => make::run(args),
        PuzzlesCommand::Run(args) => run::run(args),
        PuzzlesCommand::Page(args) => page::run(args),
    }
}
