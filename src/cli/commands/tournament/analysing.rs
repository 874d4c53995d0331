//! `--analyse`: runs the analysis of a tournament with a progress bar; a signal stops it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::oneshot;

use super::stop_signals;
use crate::arena::analysing::{AnalysisError, AnalysisProgress, TournamentAnalysis};
use crate::arena::directory::TournamentDirectory;
use crate::bot::exhaustion::start_thread;
use crate::cli::support::failure::Failure;
use crate::cli::support::output::{ProgressBar, print_stderr};

/// The default of `--time-per-move`.
const TIME_PER_MOVE: Duration = Duration::from_secs(1);

/// Analyses the games that have no analysis yet. Returns whether all are analysed now; `false`
/// when interrupted.
pub(super) async fn analyse(
    directory: &TournamentDirectory,
    games: u64,
    time_per_move: Option<Duration>,
) -> Result<bool, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut stops = stop_signals();
    let analysis = TournamentAnalysis {
        directory: directory.clone(),
        time_per_move: time_per_move.unwrap_or(TIME_PER_MOVE),
        stop: Arc::clone(&stop),
    };
    let (sender, mut working) = oneshot::channel();
    start_thread("analysis", move || {
        // There is always a receiver: it is awaited below.
        let _ = sender.send(with_bar(&analysis, games));
    })?;
    let done = tokio::select! {
        biased;
        done = &mut working => done,
        _ = stops.recv() => {
            stop.store(true, Ordering::Relaxed);
            working.await
        }
    };
    done.map_err(|_| Failure::Referee("the analysis ended in a panic".to_owned()))?
}

fn with_bar(analysis: &TournamentAnalysis, games: u64) -> Result<bool, Failure> {
    let bar = ProgressBar::new(games, "games");
    let complete = analysis.run(&mut |progress| match progress {
        AnalysisProgress::Begins { done } => {
            bar.set_done(done);
            // On a terminal the bar shows the number.
            if done < games && !bar.line.is_terminal() {
                print_stderr(&format!(
                    "referee: analysing {} of {games} games",
                    games - done
                ));
            }
        }
        AnalysisProgress::Turn { turn, id } => {
            bar.set_message(format!("analysing turn {turn} of {id}"));
        }
        AnalysisProgress::Game => bar.inc(),
    });
    Ok(complete?)
}

impl From<AnalysisError> for Failure {
    fn from(error: AnalysisError) -> Self {
        match error {
            AnalysisError::Directory(error) => error.into(),
            AnalysisError::NotWritten { .. } => Self::Referee(error.to_string()),
            error => Self::Usage(error.to_string()),
        }
    }
}
