mod make;
mod page;
mod run;

use std::fs::File;
use std::path::Path;

use clap::Subcommand;

use crate::cli::support::failure::{Result, bail};
use crate::cli::support::setup::unreadable;
use crate::cli::support::values::hint;
use referee::report::terminal::{Palette, aligned};
use referee::study::puzzles::{HIGHEST_LEVEL, Loaded, PuzzleKind, SHIPPED, read};
use referee::text::quote;

const AFTER_HELP: &str = "\
A puzzle is a position in which some turns keep what it is worth and others do not, by the exact
solver. Two sets of 300 are part of the program: builtin:quarto and builtin:four-in-a-row.

Examples:
  referee puzzles run builtin:quarto ./mybot
  referee puzzles make games.jsonl --limit 50 -o class.jsonl
  referee puzzles page class.jsonl -o class.html
  referee puzzles run class.jsonl ./mybot --require 80%";

#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
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

pub(crate) fn run(args: &PuzzlesArgs) -> Result<()> {
    match &args.command {
        PuzzlesCommand::Make(args) => make::run(args),
        PuzzlesCommand::Run(args) => run::run(args),
        PuzzlesCommand::Page(args) => page::run(args),
    }
}

fn load(set: &str) -> Result<Vec<Loaded>> {
    let path = Path::new(set);
    let loaded = if let Some(name) = set.strip_prefix("builtin:") {
        let found = SHIPPED.iter().find(|(known, _)| *known == name);
        let Some((_, text)) = found else {
            let names = SHIPPED.map(|(name, _)| format!("builtin:{name}"));
            let names = names.each_ref().map(String::as_str);
            let fix = hint(set, &names, "there are ");
            let name = quote(name.as_bytes());
            bail!("no set of puzzles is called {name}; {fix}");
        };
        read(path, text.as_bytes())
    } else {
        if path.is_dir() {
            bail!(
                "{set}: it is a folder; expected a file of puzzles, as `referee puzzles make FILE -o PUZZLES` writes it"
            );
        }
        let file = File::open(path).map_err(|error| unreadable(path, &error))?;
        read(path, file)
    };
    let puzzles = loaded?;
    if puzzles.is_empty() {
        bail!(
            "{set}: there are no puzzles in it; `referee puzzles make FILE -o PUZZLES` writes such files"
        );
    }
    Ok(puzzles)
}

/// A table of what `cell` says of puzzles of a kind and a level.
fn by_kinds_and_levels(
    cell: impl Fn(Option<PuzzleKind>, Option<u32>) -> String,
    kinds: &[PuzzleKind],
    palette: &Palette,
) -> String {
    let levels = (1..=HIGHEST_LEVEL).map(Some).chain([None]);
    let mut head = vec!["kind".to_owned()];
    head.extend(levels.clone().map(|level| match level {
        Some(level) => format!("level {level}"),
        None => "all".to_owned(),
    }));
    let mut rows = vec![head];
    for kind in kinds.iter().copied().map(Some).chain([None]) {
        let mut row = vec![kind.map_or("all", PuzzleKind::words).to_owned()];
        row.extend(levels.clone().map(|level| cell(kind, level)));
        rows.push(row);
    }
    aligned(&rows, palette, &[0])
}
