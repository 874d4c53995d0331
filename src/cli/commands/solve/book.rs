//! `referee solve --book FILE`: proves every early position, and keeps them.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Args;
use super::work::{Notes, grouped, watched};
use crate::cli::support::failure::Failure;
use crate::cli::support::setup::tell;
use crate::game::quarto::Rules;
use crate::solver::{Goal, Limits, Solver, Value, early_positions};

/// How far a book can go: `--placements`.
const MOST_PLACEMENTS: usize = 4;

/// How far the work has come.
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
    // All of them are kept, also those that are not asked for this time.
    let mut levels: Vec<_> = (0..=MOST_PLACEMENTS)
        .map(|placed| early_positions(rules, placed))
        .collect();
    let (notes, known) = Notes::open_book(file, &solver, levels.concat())?;
    levels.truncate(usize::from(args.placements) + 1);
    tell(&format!(
        "referee: {} notes in {}",
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
        // The latest first: what comes before them is then found out in no time.
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
    let (rows, interrupted) = watched(&solver, &stop, Some(&notes), show, work)?;
    let mut out = io::stdout().lock();
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
