//! Long solves: with a progress line, stopped by Ctrl-C, with proofs saved to a file regularly.

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::support::failure::Failure;
use crate::cli::support::interruptible;
use crate::cli::support::setup::unreadable;
use crate::game::quarto::Position;
use crate::record::atomic_file;
use crate::solver::Solver;
use crate::text::cause;

/// Time between two saves of the proofs: what is lost when the machine fails.
const SAVE_INTERVAL: Duration = Duration::from_secs(5);

/// A file of proofs.
pub(super) struct ProofFile {
    path: PathBuf,
    /// Selects the proofs to write.
    export: fn(&Solver, &[Position]) -> Vec<u8>,
    positions: Vec<Position>,
}

impl ProofFile {
    /// Reads the file, which need not exist yet, into the solver. Returns it and the number of
    /// proofs that it held. The proofs of all positions will be saved to it.
    pub(super) fn open(path: &Path, solver: &Solver) -> Result<(Self, usize), Failure> {
        Self::open_for(path, solver, |solver, _| solver.export_proofs(), Vec::new())
    }

    /// The same, but only proofs of these positions will be saved.
    pub(super) fn open_book(
        path: &Path,
        solver: &Solver,
        positions: Vec<Position>,
    ) -> Result<(Self, usize), Failure> {
        Self::open_for(path, solver, Solver::export_proofs_of, positions)
    }

    fn open_for(
        path: &Path,
        solver: &Solver,
        export: fn(&Solver, &[Position]) -> Vec<u8>,
        positions: Vec<Position>,
    ) -> Result<(Self, usize), Failure> {
        let known = read_kept(path, |bytes| solver.import_proofs(bytes))?.unwrap_or(0);
        let this = Self {
            path: path.to_owned(),
            export,
            positions,
        };
        // A file that cannot be written is reported now and not after an hour.
        this.save(solver)?;
        Ok((this, known))
    }

    /// Replaces the file atomically, so that it is complete at any moment.
    pub(super) fn save(&self, solver: &Solver) -> Result<(), Failure> {
        let proofs = (self.export)(solver, &self.positions);
        atomic_file::replace(&self.path, &proofs).map_err(|error| unwritable(&self.path, &error))
    }
}

/// What `read` makes of a file of proofs; `None` when there is none so far.
pub(super) fn read_kept<T, E: Display>(
    path: &Path,
    read: impl FnOnce(&[u8]) -> Result<T, E>,
) -> Result<Option<T>, Failure> {
    match fs::read(path) {
        Ok(bytes) => read(&bytes)
            .map(Some)
            .map_err(|bad| Failure::Usage(format!("{}: {bad}", path.display()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, &error)),
    }
}

pub(super) fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::Usage(format!(
        "{}: cannot be written: {}; choose a file in a directory that you may write to",
        path.display(),
        cause(error)
    ))
}

/// Runs `work` on another thread and saves the proofs of its solver. Ctrl-C sets `stop`; returns the result and
/// whether it was interrupted.
///
/// `progress` returns the text of the progress line, which is shown on a terminal only.
pub(super) fn run_with_progress<T: Send>(
    stop: &AtomicBool,
    proofs: Option<(&ProofFile, &Solver)>,
    progress: impl Fn() -> String,
    work: impl FnOnce() -> T + Send,
) -> Result<(T, bool), Failure> {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    let mut saved = Instant::now();
    let on_tick = || {
        bar.set_message(progress());
        bar.tick();
        if let Some((proofs, solver)) = proofs
            && saved.elapsed() >= SAVE_INTERVAL
        {
            proofs.save(solver)?;
            saved = Instant::now();
        }
        Ok(())
    };
    let outcome = interruptible::run_with_ticks(stop, on_tick, work);
    bar.finish_and_clear();
    if let Some((proofs, solver)) = proofs {
        proofs.save(solver)?;
    }
    outcome
}
