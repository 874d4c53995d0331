//! Asks the test after every game, and shows what is known so far.

use std::time::Instant;

use tokio::sync::mpsc;

use crate::arena::TournamentObserver;
use crate::arena::comparison::Progress;
use crate::arena::plan::Plan;
use crate::arena::results::Results;
use crate::cli::support::output::ProgressLine;
use crate::record::FinishedRecord;
use crate::text::counted;

/// See the [module](self).
pub(super) struct Watch {
    pub(super) progress: Progress,
    /// Whether games are played after the decision.
    all: bool,
    pub(super) stop: Option<mpsc::Sender<()>>,
    line: ProgressLine,
    begun: Instant,
    before: u64,
}

impl Watch {
    pub(super) fn new(progress: Progress, all: bool) -> Self {
        Self {
            progress,
            all,
            stop: None,
            line: ProgressLine::new(),
            begun: Instant::now(),
            before: 0,
        }
    }

    /// Takes in what has been played; whether no more games are needed.
    pub(super) fn advance(&mut self, results: &Results) -> bool {
        self.progress.advance(&results.endings, self.all);
        if self.stop.is_none() {
            self.before = results.games;
        }
        self.is_over()
    }

    pub(super) fn is_over(&self) -> bool {
        !self.all && self.progress.comparison.is_decided()
    }

    pub(super) fn clear(&self) {
        self.line.clear();
    }

    fn line(&self, games: u64) -> String {
        let played = u32::try_from(games.saturating_sub(self.before)).unwrap_or(u32::MAX);
        let pace = f64::from(played) / self.begun.elapsed().as_secs_f64().max(1e-6);
        let known = self.progress.comparison.advantage().map(|found| {
            let [low, high] = found.interval.map(|share| 100.0 * share);
            format!(
                "; advantage {:.1}% ({low:.1}% to {high:.1}%)",
                100.0 * found.mean
            )
        });
        format!(
            "{}, {pace:.1}/s{}",
            counted(games, "game", "games"),
            known.unwrap_or_default()
        )
    }
}

impl TournamentObserver for Watch {
    fn game(&mut self, _: &Plan, results: &Results, _: &FinishedRecord) {
        if self.advance(results)
            && let Some(stop) = &self.stop
        {
            // The second message ends the games that are being played: they do not count any more.
            let _ = stop.try_send(());
            let _ = stop.try_send(());
        }
        if self.line.is_due() {
            self.line.report(self.line(results.games));
        }
    }
}
