//! `referee puzzles make FILE…`: from the mistakes in recorded games to a file of puzzles.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::output::made_table;
use crate::cli::support::failure::Failure;
use crate::cli::support::folder::all_records;
use crate::cli::support::output::{ProgressBar, Stdout, print_stderr};
use crate::cli::support::runtime::run_interruptible;
use crate::cli::support::setup::{palette, recorded_ruleset, unreadable};
use crate::cli::support::solver_args::SolverArgs;
use crate::cli::support::values;
use crate::puzzles::file;
use crate::puzzles::making::spread;
use crate::puzzles::making::{Effort, Maker};
use crate::puzzles::puzzle::Puzzle;
use crate::record::Record;
use crate::record::atomic_file::replace;
use crate::record::reader::Reader;
use crate::session::registry::{self, GAMES};
use crate::session::{Ruleset, Solvers};
use crate::text::{cause, counted, quote};

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
    #[arg(long, value_name = "N", value_parser = values::at_least::<usize>(1), allow_negative_numbers = true)]
    limit: Option<usize>,

    /// Only positions with at most so many free cells [default: 10 for Quarto, 28 for Four In A Row]
    #[arg(long, value_name = "N", value_parser = values::within::<usize>(1..=42), allow_negative_numbers = true)]
    free: Option<usize>,

    /// Time to solve each position, and again each turn; what takes longer is left out
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = values::positive_duration)]
    time_per_move: Duration,

    #[command(flatten)]
    solver: SolverArgs,
}

struct Group {
    game: String,
    rules: String,
    pieces: Option<String>,
    ruleset: Arc<dyn Ruleset>,
}

impl Group {
    fn has(&self, record: &Record) -> bool {
        (&self.game, &self.rules, &self.pieces) == (&record.game, &record.rules, &record.pieces)
    }
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let files = all_records(&args.files)?;
    let (puzzles, interrupted) = run_interruptible(|stop| make(args, &files, stop))?;
    if interrupted {
        return Err(Failure::Interrupted);
    }
    let mut text = String::new();
    for puzzle in &puzzles {
        text += &file::line(puzzle)?;
    }
    let Some(path) = &args.output else {
        return Ok(Stdout.write_all(text.as_bytes())?);
    };
    replace(path, text.as_bytes()).map_err(|error| {
        let (path, cause) = (path.display(), cause(&error));
        Failure::Usage(format!("{path}: cannot be written: {cause}"))
    })?;
    let summary = made_table(&puzzles, &palette(&std::io::stdout()));
    Ok(Stdout.write_all(summary.as_bytes())?)
}

/// Fails for a game without a solver.
fn ruleset_of(record: &Record) -> Result<Arc<dyn Ruleset>, String> {
    if registry::find(&record.game).is_none() {
        let names: Vec<&str> = GAMES.iter().map(|game| game.name).collect();
        let game = quote(record.game.as_bytes());
        return Err(format!(
            "it is a game of {game}; puzzles are made of {}, which can be solved; leave it out",
            names.join(", ")
        ));
    }
    recorded_ruleset(record)
}

fn each(
    path: &Path,
    stop: &AtomicBool,
    mut use_record: impl FnMut(&Record) -> Result<(), String>,
) -> Result<(), Failure> {
    let failed = |error| unreadable(path, &error);
    let mut reader = Reader::open(path).map_err(failed)?;
    while let Some(line) = reader.next_line().map_err(failed)? {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        if line.bytes().trim_ascii().is_empty() {
            continue;
        }
        let record = match line.record() {
            Ok(record) => record,
            Err(_) if !line.is_complete() => break,
            Err(damaged) => return Err(Failure::Usage(damaged.to_string())),
        };
        let used = use_record(&record);
        used.map_err(|problem| Failure::Usage(line.damaged(problem).to_string()))?;
    }
    Ok(())
}

fn make(args: &Args, files: &[PathBuf], stop: &Arc<AtomicBool>) -> Result<Vec<Puzzle>, Failure> {
    let (mut groups, mut games) = (Vec::<Group>::new(), 0);
    for path in files {
        each(path, stop, |record| {
            games += 1;
            if !groups.iter().any(|group| group.has(record)) {
                groups.push(Group {
                    ruleset: ruleset_of(record)?,
                    game: record.game.clone(),
                    rules: record.rules.clone(),
                    pieces: record.pieces.clone(),
                });
            }
            Ok(())
        })?;
    }
    let (mut makers, solvers) = (Vec::new(), Solvers::new(args.solver.options()));
    for group in &groups {
        let Some(prover) = group.ruleset.prover(&solvers) else {
            let game = &group.game;
            return Err(Failure::Usage(format!("there is no solver for {game}")));
        };
        let cells = registry::find(&group.game).map_or(0, |game| game.provable_cells);
        let effort = Effort {
            time: args.time_per_move,
            free: args.free.unwrap_or(cells),
            stop: Arc::clone(stop),
        };
        makers.push(Maker::new(&*group.ruleset, prover, effort));
    }
    let bar = ProgressBar::new(games, "games");
    let mut again = 0;
    for path in files {
        each(path, stop, |record| {
            again += 1;
            // The file may have grown.
            let found = groups.iter().position(|group| group.has(record));
            if let Some(maker) = found.and_then(|index| makers.get_mut(index)) {
                maker.add(record).map_err(|violation| {
                    let turn = violation.turn.map(|turn| format!("turn {turn}: "));
                    format!("{}{}", turn.unwrap_or_default(), violation.problem)
                })?;
            }
            bar.inc();
            Ok(())
        })?;
    }
    bar.line.clear();
    if again < games && !stop.load(Ordering::Relaxed) {
        return Err(Failure::Usage(
            "a file that has been read has fewer games now; files are read twice, so a pipe cannot be one"
                .to_owned(),
        ));
    }
    let found: usize = makers.iter().map(Maker::found).sum();
    let bar = ProgressBar::new(found as u64, "positions");
    let (mut puzzles, mut unproven) = (Vec::new(), 0);
    for maker in makers {
        let made = maker.finish(|| bar.inc()).map_err(Failure::Referee)?;
        puzzles.extend(made.puzzles);
        unproven += made.unproven;
    }
    bar.line.clear();
    if unproven > 0 {
        print_stderr(&format!(
            "referee: {} not proven in time and left out; --time-per-move gives more",
            counted(unproven, "position was", "positions were")
        ));
    }
    Ok(spread(puzzles, args.limit))
}
