//! Analyses the games of a class while none is played, so that students see which turns decided them.

use std::error::Error;
use std::fmt::Display;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::cli::support::failure::Result;
use referee::bot::exhaustion::start_thread;
use referee::record::reader::Reader;
use referee::record::text_file;
use referee::solver::SolverOptions;
use referee::tournament::TournamentError;
use referee::tournament::analysing::{add_analysis, analyse, file};
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::results::Results;

/// To solve a turn: the decisive ones come late, and need less.
const TIME_PER_MOVE: Duration = Duration::from_millis(200);

const TT_BYTES: usize = 64 << 20;

/// On a thread of its own, until it is dropped.
pub(super) struct Analysis {
    stop: Arc<AtomicBool>,
    working: oneshot::Receiver<Result<bool, TournamentError>>,
}

impl Analysis {
    /// Goes on where it stopped. It has one core: games that do not count are played meanwhile.
    pub(super) fn begin(directory: &TournamentDirectory) -> Result<Self> {
        let (directory, stop) = (directory.clone(), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let (sender, working) = oneshot::channel();
        let solver = SolverOptions {
            tt_bytes: TT_BYTES,
            threads: 1,
        };
        start_thread("analysis", move || {
            let done = analyse(&directory, TIME_PER_MOVE, solver, &stopped, &mut |_| {});
            let _ = sender.send(done);
        })?;
        Ok(Self { stop, working })
    }

    /// Whether there is one, and it has come to its end. Waits until there is, and it does; a failure is logged.
    pub(super) async fn ended(running: &mut Option<Self>) -> bool {
        let Some(analysis) = running else {
            return std::future::pending().await;
        };
        match (&mut analysis.working).await {
            Ok(Ok(is_complete)) => is_complete,
            Ok(Err(error)) => {
                tracing::warn!(target: referee::class_server::LOG, "no analysis: {error}");
                false
            }
            // The thread has ended in a panic, which was printed.
            Err(_) => false,
        }
    }

    /// Once its file is free.
    pub(super) async fn stop(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = (&mut self.working).await;
    }
}

/// The table has what was analysed. A file of it that cannot be read is put aside, and made anew: no game waits for it.
pub(super) fn add_or_leave(results: &mut Results, directory: &TournamentDirectory) -> Result<()> {
    let played = results.clone();
    let Err(error) = add_analysis(results, directory) else {
        return Ok(());
    };
    *results = played;
    put_aside(directory, &error)
}

/// Whether the file could not be read, and was put aside.
pub(super) fn is_put_aside(directory: &TournamentDirectory) -> Result<bool> {
    let read = || -> Result<(), Box<dyn Error>> {
        let mut reader = Reader::open(&file(directory))?;
        while let Some(line) = reader.next_complete_line()? {
            line.record()?;
        }
        Ok(())
    };
    match read() {
        Err(error) if file(directory).exists() => put_aside(directory, &error).map(|()| true),
        _ => Ok(false),
    }
}

fn put_aside(directory: &TournamentDirectory, error: &dyn Display) -> Result<()> {
    let file = file(directory);
    let aside = file.with_extension("unreadable");
    tracing::warn!(
        target: referee::class_server::LOG,
        "no analysis: {error}; the file is now {}",
        aside.display()
    );
    Ok(text_file::if_there(fs::rename(file, aside)).map(drop)?)
}

impl Drop for Analysis {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
