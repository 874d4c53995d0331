//! `referee solve --book FILE`: proves every early position and keeps the proofs.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Args;
use super::work::{ProofFile, run_with_progress};
use crate::cli::support::failure::Failure;
use crate::cli::support::output::{Stdout, print_stderr};
use crate::game::quarto::Rules;
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
    let (proofs, known) = ProofFile::open_book(file, &solver, levels.concat())?;
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
            let mut counts = [0_usize; 3];
            for (index, position) in positions.iter().enumerate() {
                let answer = solver.solve(position, Goal::Value, &limits);
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
    Ok(())
}
