//! Analyses the games of a class while none is played, so that students see which turns decided them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::cli::support::failure::Result;
use referee::bot::exhaustion::start_thread;
use referee::solver::SolverOptions;
use referee::tournament::TournamentError;
use referee::tournament::analysing::analyse;
use referee::tournament::directory::TournamentDirectory;

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

impl Drop for Analysis {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
