//! `referee puzzles make FILE…`: from the mistakes in recorded games to a file of puzzles.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::output::made_table;
use crate::cli::support::folder::{Records, all_records, invalid, replace_file};
use crate::cli::support::output::ProgressBar;
use crate::cli::support::prelude::*;
use crate::cli::support::runtime::run_interruptible;
use crate::cli::support::setup::recorded_ruleset;
use crate::cli::support::solver_args::SolverArgs;
use crate::cli::support::values;
use crate::game::registry::{self, GAMES};
use crate::puzzles::Puzzle;
use crate::puzzles::making::{Maker, spread};
use crate::record::Record;
use crate::solver::{Limits, Solvers};

const AFTER_HELP: &str = "\
A puzzle is made of every position in which a bot gave a win or a draw away. Of positions that are
equal by symmetry there is one.

Exit status: 0 the puzzles are written; 2 wrong usage or input; 1 the referee itself failed;
130 interrupted, and nothing is written.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// Files of records, as --record writes them, or folders of tournaments
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Write the puzzles to this file [default: to standard output]
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Option<PathBuf>,

    /// At most so many, spread over levels and kinds, more of the easier ones; of those alike, the ones at which most bots
    /// failed
    #[arg(long, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    limit: Option<usize>,

    /// Time to solve each position, and again each turn; what takes longer is left out
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = values::positive_duration)]
    time_per_move: Duration,

    #[command(flatten)]
    solver: SolverArgs,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let files = all_records(&args.files)?;
    let (puzzles, interrupted) = run_interruptible(|stop| make(args, &files, stop))?;
    if interrupted {
        return Err(Failure::Interrupted);
    }
    let mut text = String::new();
    for puzzle in &puzzles {
        text += &serde_json::to_string(puzzle)?;
        text.push('\n');
    }
    if let Some(path) = &args.output {
        replace_file(path, &text)?;
        text = made_table(&puzzles, &palette(&std::io::stdout()));
    }
    Ok(Stdout.write_all(text.as_bytes())?)
}

/// Fails for a game without a solver.
fn maker(record: &Record, solvers: &Solvers) -> Result<Maker, String> {
    let is_known = registry::find(&record.game).is_some();
    let ruleset = is_known.then(|| recorded_ruleset(record)).transpose()?;
    let Some(ruleset) = ruleset.filter(|ruleset| ruleset.info().is_solvable()) else {
        let names: Vec<&str> = GAMES.iter().map(|game| game.name).collect();
        let game = quote(record.game.as_bytes());
        return Err(format!(
            "it is a game of {game}; puzzles are made of {}, which can be solved; leave it out",
            names.join(", ")
        ));
    };
    Ok(Maker::new(record, ruleset, solvers.clone()))
}

fn make(args: &Args, files: &[PathBuf], stop: &Arc<AtomicBool>) -> Result<Vec<Puzzle>, Failure> {
    let (mut makers, solvers) = (Vec::new(), Solvers::new(args.solver.options()));
    for path in files {
        read(path, &mut makers, &solvers, stop)?;
    }
    let limits = || Limits::within(args.time_per_move).or_when(Arc::clone(stop));
    let positions: usize = makers.iter().map(Maker::positions).sum();
    let bar = ProgressBar::new(positions as u64, "positions");
    let (mut puzzles, mut unproven) = (Vec::new(), 0);
    for mut maker in makers {
        let made = maker.solve(&limits, || {
            bar.inc();
            !stop.load(Ordering::Relaxed)
        });
        puzzles.extend(made.map_err(Failure::Referee)?);
        unproven += maker.unproven;
    }
    bar.line.clear();
    if unproven > 0 {
        note!(
            "{} not proven in time and left out; --time-per-move gives more",
            counted(unproven, "position was", "positions were")
        );
    }
    Ok(spread(puzzles, args.limit))
}

fn read(
    path: &Path,
    makers: &mut Vec<Maker>,
    solvers: &Solvers,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    for record in Records::open(path)? {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let (number, record) = record?;
        let wrong = |problem: String| invalid(path, number, &problem);
        let known = makers.iter().position(|maker| maker.takes(&record));
        let index = known.unwrap_or(makers.len());
        if known.is_none() {
            makers.push(maker(&record, solvers).map_err(wrong)?);
        }
        makers[index].add(&record).map_err(wrong)?;
    }
    Ok(())
}
