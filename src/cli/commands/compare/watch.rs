//! Asks the test after every game, and shows what is known so far.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::mpsc;

use crate::arena::TournamentObserver;
use crate::arena::comparison::Progress;
use crate::arena::plan::Plan;
use crate::arena::results::Results;
use crate::cli::support::output::{draw_target, print_stderr};
use crate::record::FinishedRecord;
use crate::text::counted;

/// Time between two lines where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Time between two updates of the line on a terminal.
const BAR_INTERVAL: Duration = Duration::from_millis(200);

/// See the [module](self).
pub(super) struct Watch {
    pub(super) progress: Progress,
    /// Whether games are played after the decision.
    all: bool,
    pub(super) stop: Option<mpsc::Sender<()>>,
    bar: Option<ProgressBar>,
    begun: Instant,
    shown: Instant,
    before: u64,
}

impl Watch {
    pub(super) fn new(progress: Progress, all: bool) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, draw_target());
            // The template is a constant; if it were invalid, the default style would be used.
            if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
                bar.set_style(style);
            }
            bar
        });
        let now = Instant::now();
        Self {
            progress,
            all,
            stop: None,
            bar,
            begun: now,
            shown: now,
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
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
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
        let interval = match &self.bar {
            Some(_) => BAR_INTERVAL,
            None => LINE_INTERVAL,
        };
        if self.shown.elapsed() >= interval {
            self.shown = Instant::now();
            let line = self.line(results.games);
            match &self.bar {
                Some(bar) => {
                    bar.set_message(line);
                    bar.tick();
                }
                None => print_stderr(&format!("referee: {line}")),
            }
        }
    }
}
