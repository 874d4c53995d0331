//! Long work of the solver: with a progress line, ended by Ctrl-C, kept in a file as it goes on.

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

/// How often the notes are saved: what is lost when the machine fails.
const SAVE: Duration = Duration::from_secs(5);

/// A file of notes.
pub(super) struct Notes {
    path: PathBuf,
    /// What of the solver's notes to write.
    choose: fn(&Solver, &[Position]) -> Vec<u8>,
    positions: Vec<Position>,
}

impl Notes {
    /// Reads the file, which need not exist yet, into the solver: and how many notes it held.
    /// Notes of all positions will be written to it.
    pub(super) fn open(path: &Path, solver: &Solver) -> Result<(Self, usize), Failure> {
        Self::open_for(path, solver, |solver, _| solver.export_proofs(), Vec::new())
    }

    /// The same, but only notes of these positions will be written.
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
        choose: fn(&Solver, &[Position]) -> Vec<u8>,
        positions: Vec<Position>,
    ) -> Result<(Self, usize), Failure> {
        let known = match fs::read(path) {
            Ok(bytes) => solver
                .import_proofs(&bytes)
                .map_err(|bad| Failure::Usage(format!("{}: {bad}", path.display())))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(unreadable(path, &error)),
        };
        let this = Self {
            path: path.to_owned(),
            choose,
            positions,
        };
        // Better now than after an hour.
        this.save(solver)?;
        Ok((this, known))
    }

    /// Writes the notes to another file first, so that there is a whole one at any moment.
    pub(super) fn save(&self, solver: &Solver) -> Result<(), Failure> {
        let notes = (self.choose)(solver, &self.positions);
        atomic_file::replace(&self.path, &notes).map_err(|error| {
            Failure::Usage(format!(
                "{}: cannot be written: {error}; choose a file in a directory you may write to",
                self.path.display()
            ))
        })
    }
}

/// Does the work on another thread. Ctrl-C sets `stop` and is reported with what was done.
///
/// `show` gives the text of the progress line, which is there on a terminal only.
pub(super) fn watched<T: Send>(
    solver: &Solver,
    stop: &AtomicBool,
    notes: Option<&Notes>,
    show: impl Fn() -> String,
    work: impl FnOnce() -> T + Send,
) -> Result<(T, bool), Failure> {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    let mut saved = Instant::now();
    let look = || {
        bar.set_message(show());
        bar.tick();
        if let Some(notes) = notes
            && saved.elapsed() >= SAVE
        {
            notes.save(solver)?;
            saved = Instant::now();
        }
        Ok(())
    };
    let outcome = interruptible::watched(stop, look, work);
    bar.finish_and_clear();
    if let Some(notes) = notes {
        notes.save(solver)?;
    }
    outcome
}

/// `1,234,567`
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
