use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::load;
use crate::cli::commands::report::check_not_input;
use crate::cli::support::failure::Result;
use crate::cli::support::folder::replace_file;
use crate::cli::support::output::Stdout;
use referee::report::html;
use referee::text::counted;

const AFTER_HELP: &str = "\
The page is one file and needs no network. The browser keeps what is solved.

Exit status: 0 the page is written; 2 wrong usage or input; 1 the referee itself failed.";

#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct Args {
    /// A file of puzzles, or builtin:quarto or builtin:four-in-a-row
    set: String,

    /// Write the page to this file
    #[arg(
        short = 'o',
        long = "out",
        alias = "output",
        value_name = "FILE",
        default_value = "puzzles.html"
    )]
    output: PathBuf,

    /// Its heading [default: Puzzles, and the name of the set]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

/// `Puzzles: class` for `lessons/class.jsonl`.
fn title_of(set: &str) -> String {
    let name = set.strip_prefix("builtin:").unwrap_or(set);
    let stem = Path::new(name).file_stem();
    let name = stem.map_or_else(|| name.into(), |stem| stem.to_string_lossy());
    format!("Puzzles: {name}")
}

pub(super) fn run(args: &Args) -> Result<()> {
    let loaded = load(&args.set)?;
    let path = &args.output;
    check_not_input(&[PathBuf::from(&args.set)], path)?;
    let title = args.title.clone().unwrap_or_else(|| title_of(&args.set));
    let page = html::puzzles(&title, loaded.iter().map(|loaded| &loaded.puzzle));
    replace_file(path, &page)?;
    let count = counted(loaded.len() as u64, "puzzle", "puzzles");
    writeln!(Stdout, "{}: a page of {count}.", path.display())?;
    Ok(())
}
