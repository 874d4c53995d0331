//! Long work of the solver: with a progress line, ended by Ctrl-C, kept in a file as it goes on.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tempfile::NamedTempFile;
use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval};

use super::super::failure::Failure;
use super::super::setup::unreadable;
use super::super::signals;
use crate::game::quarto::Position;
use crate::solver::Solver;

/// How often the progress line is written anew.
const SHOW: Duration = Duration::from_millis(200);

/// How often the notes are saved.
const SAVE: Duration = Duration::from_secs(20);

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
        Self::open_for(path, solver, |solver, _| solver.notes(), Vec::new())
    }

    /// The same, but only notes of these positions will be written.
    pub(super) fn open_book(
        path: &Path,
        solver: &Solver,
        positions: Vec<Position>,
    ) -> Result<(Self, usize), Failure> {
        Self::open_for(path, solver, Solver::notes_of, positions)
    }

    fn open_for(
        path: &Path,
        solver: &Solver,
        choose: fn(&Solver, &[Position]) -> Vec<u8>,
        positions: Vec<Position>,
    ) -> Result<(Self, usize), Failure> {
        let known = match fs::read(path) {
            Ok(bytes) => solver
                .learn(&bytes)
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
        let directory = match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let write = || {
            let mut file = NamedTempFile::new_in(directory)?;
            file.write_all(&(self.choose)(solver, &self.positions))?;
            file.as_file().sync_all()?;
            file.persist(&self.path).map_err(|failed| failed.error)
        };
        write().map(drop).map_err(|error| {
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
    stop: &Arc<AtomicBool>,
    notes: Option<&Notes>,
    show: impl Fn() -> String,
    work: impl FnOnce() -> T + Send,
) -> Result<(T, bool), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    let outcome = thread::scope(|scope| {
        let (finish, mut finished) = oneshot::channel();
        scope.spawn(move || {
            // The receiver waits for as long as there is work.
            let _ = finish.send(work());
        });
        // However this ends, the work must, too: the scope waits for it.
        let _stop_at_end = StopAtEnd(stop);
        runtime.block_on(async {
            let mut interrupted = signals::interrupted()?;
            let mut was_interrupted = false;
            let mut shows = interval(SHOW);
            let mut saves = interval(SAVE);
            shows.set_missed_tick_behavior(MissedTickBehavior::Delay);
            saves.set_missed_tick_behavior(MissedTickBehavior::Delay);
            saves.tick().await;
            loop {
                tokio::select! {
                    done = &mut finished => {
                        let done = done.map_err(|_| Failure::Referee("the solver failed".to_owned()))?;
                        return Ok((done, was_interrupted));
                    }
                    () = &mut interrupted, if !was_interrupted => {
                        was_interrupted = true;
                        stop.store(true, Ordering::Relaxed);
                    }
                    _ = shows.tick() => {
                        bar.set_message(show());
                        bar.tick();
                    }
                    _ = saves.tick(), if notes.is_some() => {
                        if let Some(notes) = notes {
                            notes.save(solver)?;
                        }
                    }
                }
            }
        })
    });
    bar.finish_and_clear();
    if let Some(notes) = notes {
        notes.save(solver)?;
    }
    outcome
}

struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
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
