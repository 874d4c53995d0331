use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::by_kinds_and_levels;
use crate::cli::support::failure::{Failure, Result};
use crate::cli::support::folder::{Records, all_records, invalid, replace_file};
use crate::cli::support::output::{ProgressBar, note, print};
use crate::cli::support::runtime::run_interruptible;
use crate::cli::support::setup::palette;
use crate::cli::support::values::{self, SolverArgs};
use referee::report::terminal::Palette;
use referee::solver::{Limits, Solvers};
use referee::study::puzzles::making::{Maker, spread};
use referee::study::puzzles::{Puzzle, PuzzleKind};
use referee::text::counted;

const AFTER_HELP: &str = "\
A puzzle is made of every position in which a bot gave a win or a draw away. Of positions that are
equal by symmetry there is one.

Exit status: 0 the puzzles are written; 2 wrong usage or input; 1 the referee itself failed;
130 interrupted, and nothing is written.";

#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct Args {
    /// Files of records, as --record writes them, or folders of tournaments; - is standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Write the puzzles to this file [default: to standard output]
    #[arg(short = 'o', long = "out", alias = "output", value_name = "FILE")]
    output: Option<PathBuf>,

    /// At most so many, spread over levels and kinds, more of the easier ones; of those alike, the ones at which most bots
    /// failed
    #[arg(long, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    limit: Option<usize>,

    /// Time to solve each position, and again each turn; what takes longer is left out
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = values::positive_duration, help_heading = "Analysis")]
    time_per_move: Duration,

    #[command(flatten)]
    solver: SolverArgs,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let files = all_records(&args.files)?;
    // Standard input may not end: while it is read, signals end the program.
    let mut maker = mistakes_of(args, &files)?;
    let puzzles = run_interruptible(|stop| puzzles_of(args, &mut maker, stop))?;
    let mut text = String::new();
    for puzzle in &puzzles {
        text += &serde_json::to_string(puzzle)?;
        text.push('\n');
    }
    if let Some(path) = &args.output {
        replace_file(path, &text)?;
        text = made_table(&puzzles, &palette(&std::io::stdout()));
    }
    print(&text)
}

fn mistakes_of(args: &Args, files: &[PathBuf]) -> Result<Maker> {
    let mut maker = Maker::new(Solvers::new(args.solver.options()));
    for path in files {
        for record in Records::open(path)? {
            let (number, record) = record?;
            let added = maker.add(&record);
            added.map_err(|problem| invalid(path, number, &problem))?;
        }
    }
    Ok(maker)
}

fn puzzles_of(args: &Args, maker: &mut Maker, stop: &Arc<AtomicBool>) -> Result<Vec<Puzzle>> {
    let limits = || Limits::within(args.time_per_move).or_when(Arc::clone(stop));
    let bar = ProgressBar::new(maker.positions() as u64, "positions");
    let made = maker.solve(&limits, || {
        bar.inc();
        !stop.load(Ordering::Relaxed)
    });
    let puzzles = made.map_err(|error| Failure::Referee(error.to_string()))?;
    bar.line.clear();
    if maker.unproven > 0 {
        let positions = counted(maker.unproven, "position was", "positions were");
        note!("{positions} not proven in time and left out; --time-per-move gives more");
    }
    Ok(spread(puzzles, args.limit))
}

fn made_table(puzzles: &[Puzzle], palette: &Palette) -> String {
    if puzzles.is_empty() {
        return "no puzzles: no mistake was proven in these games\n".to_owned();
    }
    let cell = |kind, level| {
        let of_both = puzzles.iter().filter(|puzzle| puzzle.is_of(kind, level));
        of_both.count().to_string()
    };
    by_kinds_and_levels(cell, &PuzzleKind::ALL, palette)
}
