//! `referee solve --game four-in-a-row --book FILE`: proves every position with eleven discs and keeps the proofs.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::Args;
use super::book::write_packed;
use super::work::{read_kept, run_with_progress, unwritable};
use crate::cli::support::failure::Failure;
use crate::cli::support::output::{Stdout, print_stderr};
use crate::record::atomic_file;
use crate::solver::four_in_a_row::{BOOK_DISCS, BookProofs, Solver};
use crate::solver::{Goal, Limits};
use crate::text::grouped;

/// Time between two saves of the proofs, a file of 16 MB.
const SAVE_INTERVAL: Duration = Duration::from_mins(1);

pub(super) fn run(args: &Args, file: &Path) -> Result<(), Failure> {
    let mut proofs = BookProofs::default();
    read_kept(file, |bytes| proofs.read(bytes))?;
    // A file that cannot be written is reported now and not after an hour.
    save(file, &proofs)?;
    print_stderr(&format!(
        "referee: {} proofs in {}",
        grouped(proofs.proven() as u64),
        file.display()
    ));
    let stop = Arc::new(AtomicBool::new(false));
    let limits = args.time.map_or(Limits::NONE, Limits::within);
    let limits = limits.or_when(Arc::clone(&stop));
    let solver = Solver::without_book(args.options().tt_bytes);
    let missing = proofs.missing();
    let proofs = Mutex::new(proofs);
    let lock = || proofs.lock().unwrap_or_else(PoisonError::into_inner);
    let show = || {
        let proofs = lock();
        format!(
            "{} of {} positions proven, {} nodes",
            grouped(proofs.proven() as u64),
            grouped(proofs.len() as u64),
            grouped(solver.nodes())
        )
    };
    let work = || {
        let mut saved = Instant::now();
        for position in missing {
            let found = solver.solve(&position, Goal::Distance, &limits);
            // A limit was reached.
            if !lock().add(&position, found) {
                break;
            }
            if saved.elapsed() >= SAVE_INTERVAL {
                save(file, &lock())?;
                saved = Instant::now();
            }
        }
        save(file, &lock())
    };
    let (outcome, interrupted) = run_with_progress(&stop, None, show, work)?;
    outcome?;
    let proofs = lock();
    writeln!(
        Stdout,
        "{BOOK_DISCS} discs: {} of {} positions proven",
        grouped(proofs.proven() as u64),
        grouped(proofs.len() as u64),
    )?;
    if interrupted {
        return Err(Failure::Interrupted);
    }
    write_packed(args, || proofs.book())
}

fn save(file: &Path, proofs: &BookProofs) -> Result<(), Failure> {
    atomic_file::replace(file, &proofs.to_bytes()).map_err(|error| unwritable(file, &error))
}
