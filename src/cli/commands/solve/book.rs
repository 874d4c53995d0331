//! `referee solve --book FILE`: proves every early position and keeps the proofs.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Args;
use super::work::{ProofFile, run_with_progress, unwritable};
use crate::cli::support::failure::Failure;
use crate::cli::support::output::{Stdout, print_stderr};
use crate::game::quarto::Rules;
use crate::record::atomic_file;
use crate::solver::{Goal, Limits, Solver, Value, early_positions};
use crate::text::grouped;

/// The largest `--placements`.
const MOST_PLACEMENTS: usize = 4;

/// The progress within a level.
#[derive(Clone, Copy, Default)]
struct Done {
    placed: usize,
    proven: usize,
    of: usize,
}

pub(super) fn run(args: &Args, file: &Path) -> Result<(), Failure> {
    let rules = Rules::from(args.rules);
    // Without the shipped book, so that the file holds everything.
    let solver = Solver::without_book(args.options());
    // The file keeps the proofs of all levels, also of those not solved in this run.
    let mut levels: Vec<_> = (0..=MOST_PLACEMENTS)
        .map(|placed| early_positions(rules, placed))
        .collect();
    let all = levels.concat();
    let (proofs, known) = ProofFile::open_book(file, &solver, all.clone())?;
    levels.truncate(usize::from(args.placements) + 1);
    print_stderr(&format!(
        "referee: {} proofs in {}",
        grouped(known as u64),
        file.display()
    ));
    let stop = Arc::new(AtomicBool::new(false));
    let limits = args.time.map_or(Limits::NONE, Limits::within);
    let limits = limits.or_when(Arc::clone(&stop));
    let done = Mutex::new(Done::default());
    let read = || *done.lock().unwrap_or_else(PoisonError::into_inner);
    let show = || {
        let done = read();
        format!(
            "{} placements: {} of {} proven, {} nodes",
            done.placed,
            grouped(done.proven as u64),
            grouped(done.of as u64),
            grouped(solver.progress().nodes)
        )
    };
    let work = || {
        let mut rows = Vec::new();
        // The latest level first: the earlier ones then follow from it at once.
        for (placed, positions) in levels.iter().enumerate().rev() {
            // How soon they are won takes long to find out for the earlier ones, and only milliseconds for the latest.
            let goal = if placed == MOST_PLACEMENTS {
                Goal::Value
            } else {
                Goal::Distance
            };
            let mut counts = [0_usize; 3];
            for (index, position) in positions.iter().enumerate() {
                let answer = solver.solve(position, goal, &limits);
                let Some(value) = answer.value() else { break };
                counts[value as usize] += 1;
                *done.lock().unwrap_or_else(PoisonError::into_inner) = Done {
                    placed,
                    proven: index + 1,
                    of: positions.len(),
                };
            }
            rows.push((placed, positions.len(), counts));
            if stop.load(Ordering::Relaxed) {
                break;
            }
        }
        rows.reverse();
        rows
    };
    let (rows, interrupted) = run_with_progress(&stop, Some((&proofs, &solver)), show, work)?;
    let mut out = Stdout;
    for (placed, all, counts) in rows {
        let proven: usize = counts.iter().sum();
        let count = |value: Value| grouped(counts[value as usize] as u64);
        writeln!(
            out,
            "{placed} placements: {} of {} positions proven ({} won, {} drawn, {} lost)",
            grouped(proven as u64),
            grouped(all as u64),
            count(Value::Win),
            count(Value::Draw),
            count(Value::Loss),
        )?;
    }
    if interrupted {
        return Err(Failure::Interrupted);
    }
    write_packed(args, || solver.pack_book(&all))
}

/// Writes the book as it is shipped, when that was asked for.
pub(super) fn write_packed(
    args: &Args,
    pack: impl FnOnce() -> Option<Vec<u8>>,
) -> Result<(), Failure> {
    let Some(path) = &args.pack else {
        return Ok(());
    };
    let packed = pack().ok_or_else(|| {
        Failure::Usage(format!(
            "{}: not written, since not every position of the book is proven; repeat the command without --time and with all placements",
            path.display()
        ))
    })?;
    atomic_file::replace(path, &packed).map_err(|error| unwritable(path, &error))
}
