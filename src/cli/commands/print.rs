use std::io::Write as _;

use clap::{Command, ValueEnum};
use clap_complete::Shell;

use crate::cli::help::with_all_options_shown;
use crate::cli::support::failure::{Result, bail};
use crate::cli::support::output::{Stdout, print};
use crate::cli::support::values::hint;
use referee::text::quote;

#[derive(Debug, clap::Args)]
pub(crate) struct ShellArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn completions(args: &ShellArgs, mut command: Command) -> Result<()> {
    // The generator panics when it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "referee", &mut script);
    Ok(Stdout.write_all(&script)?)
}

#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// The command that it is about, such as `tournament` or `league final` [default: the program itself]
    command: Vec<String>,
}

pub(crate) fn man(args: &ManArgs, mut command: Command) -> Result<()> {
    command = with_all_options_shown(command);
    // Gives commands their full names, such as `referee-tournament`.
    command.build();
    let source = command.render_version();
    for name in &args.command {
        let Some(found) = command.find_subcommand(name) else {
            let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            let fix = hint(name, &known, "the commands are ");
            bail!("there is no command {}; {fix}", quote(name.as_bytes()));
        };
        command = found.clone();
    }
    let mut page = Vec::new();
    let manual = clap_mangen::Man::new(command).source(source.trim_end());
    manual.render(&mut page)?;
    Ok(Stdout.write_all(&page)?)
}

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
pub(crate) struct SchemaArgs {
    /// What it describes
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

pub(crate) fn schema(args: &SchemaArgs) -> Result<()> {
    print(args.file.schema())
}
