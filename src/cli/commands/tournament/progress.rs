//! Shows the progress of a tournament: a bar on a terminal, a line every ten seconds elsewhere.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::arena::plan::Plan;
use crate::arena::results::Results;
use crate::arena::scheduler::Benched;
use crate::arena::{TournamentObserver, sprt};
use crate::cli::support::duration::in_short;
use crate::cli::support::failure::Failure;
use crate::cli::support::output::{ProgressLine, print_stderr};
use crate::cli::support::pages::Pages;
use crate::play::stage::Stage;
use crate::record::FinishedRecord;
use crate::report::serve::State;
use crate::report::terminal_view::stall_sentence;
use crate::text::counted;
use crate::tournament::schedule::GameId;

/// Time between two updates of the order of the pages' table.
const RANK_INTERVAL: Duration = Duration::from_secs(1);

/// The number of leading bots shown.
const LEADERS: usize = 3;

/// See the [module](self).
pub(super) struct Progress {
    bar: ProgressLine,
    /// When the order of the pages' table was last set.
    ranked: Instant,
    /// When this run began, and the number of games played before it.
    begun: Instant,
    before: u64,
    /// The number of games in all.
    expected: u64,
    pages: Pages,
}

impl Progress {
    /// Starts the display; `played` games were played by earlier runs.
    pub(super) fn new(expected: u64, played: u64, pages: Pages) -> Self {
        let bar = ProgressLine::new();
        let text = format!("{played}/{expected} games");
        bar.show(bar.with_bar(played, expected, &text));
        pages.expect(expected);
        let now = Instant::now();
        Self {
            bar,
            ranked: now,
            begun: now,
            before: played,
            expected,
            pages,
        }
    }

    /// Where games are shown while they are played, if they are.
    pub(super) fn stage(&self) -> Option<Stage> {
        self.pages.stage()
    }

    /// Orders the table of the pages as that of the tournament.
    pub(super) fn rank(&self, plan: &Plan, results: &Results) {
        self.pages
            .rank(|| (results.ranking(plan), results.course(plan)));
    }

    /// Shows these analysed games on the pages, instead of the same games without their analysis.
    pub(super) fn show_analysed(
        &self,
        file: &Path,
        plan: &Plan,
        results: &Results,
    ) -> Result<(), Failure> {
        self.pages.begin_again(file)?;
        self.rank(plan, results);
        Ok(())
    }

    /// Writes the page of `--report` and ends that of `--live`.
    pub(super) fn finish(self, state: State) -> Result<(), Failure> {
        self.pages.finish(state)
    }

    /// Clears the bar.
    pub(super) fn clear(&self) {
        self.bar.clear();
    }

    /// Prints a line above the bar.
    fn print(&self, text: &str) {
        self.bar.suspend(|| print_stderr(text));
    }

    /// Games a second in this run.
    pub(super) fn rate(&self, games: u64) -> f64 {
        let played = u32::try_from(games - self.before).unwrap_or(u32::MAX);
        f64::from(played) / self.begun.elapsed().as_secs_f64().max(1e-6)
    }

    fn line(&self, plan: &Plan, results: &Results) -> String {
        let expected = self.expected;
        let pace = pace(
            results.games.saturating_sub(self.before),
            expected.saturating_sub(results.games),
            self.begun.elapsed(),
        );
        format!(
            "{}/{expected} games{pace}{}",
            results.games,
            status(plan, results)
        )
    }
}

/// `, 12.3/s, 5s left`: the rate of the games played in this run, and how long those that are left take;
/// nothing before the first.
fn pace(played: u64, left: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    if played == 0 || seconds <= 0.0 {
        return String::new();
    }
    let count = |games: u64| f64::from(u32::try_from(games).unwrap_or(u32::MAX));
    let rate = count(played) / seconds;
    let left = Duration::try_from_secs_f64(count(left) / rate);
    let left = left.map_or_else(
        |_| String::new(),
        |left| format!(", {} left", in_short(left)),
    );
    format!(", {rate:.1}/s{left}")
}

/// A rounded number of games.
pub(super) fn games(number: f64) -> String {
    match format!("{number:.0}").as_str() {
        "1" => "1 game".to_owned(),
        more => format!("{more} games"),
    }
}

/// The leading bots, the number of forfeits, and the state of the sequential test.
fn status(plan: &Plan, results: &Results) -> String {
    let mut order: Vec<usize> = (0..plan.bots.len())
        .filter(|&bot| results.games_of[bot] > 0)
        .collect();
    // By the share of points, compared exactly: a/b > c/d when ad > cb.
    order.sort_by(|&a, &b| {
        let share = |x: usize, y: usize| {
            u128::from(results.half_points[x]) * u128::from(results.games_of[y])
        };
        share(b, a).cmp(&share(a, b))
    });
    let top: Vec<String> = order
        .iter()
        .take(LEADERS)
        .map(|&bot| {
            let tenths = 500 * results.half_points[bot] / results.games_of[bot];
            format!("{} {}.{}%", plan.bots[bot].name, tenths / 10, tenths % 10)
        })
        .collect();
    let mut text = String::new();
    if !top.is_empty() {
        text = format!("; {}", top.join(", "));
    }
    if results.forfeits > 0 {
        let forfeits = counted(results.forfeits, "forfeit", "forfeits");
        text = format!("{text}; {forfeits}");
    }
    if let Some(Ok(test)) = plan.sprt.as_ref().map(sprt) {
        let (lower, upper) = test.bounds();
        let llr = test.llr(&results.pentanomial);
        text = format!("{text}; LLR {llr:.2} ({lower:.2}, {upper:.2})");
    }
    text
}

impl TournamentObserver for Progress {
    fn game(&mut self, plan: &Plan, results: &Results, game: &FinishedRecord) {
        if let Err(error) = self.pages.publish(game.record()) {
            tracing::warn!("a game is not on the page: {error}");
        }
        if self.ranked.elapsed() >= RANK_INTERVAL {
            self.ranked = Instant::now();
            self.rank(plan, results);
        }
        if self.bar.is_due() {
            let text = self.line(plan, results);
            let text = self.bar.with_bar(results.games, self.expected, &text);
            self.bar.report(text);
        }
    }

    fn round(&mut self, plan: &Plan, number: usize) {
        self.print(&format!(
            "referee: round {number} of {}",
            plan.rounds_planned
        ));
    }

    fn stalled(&mut self, id: GameId, why: &str, again: bool) {
        self.print(&format!("referee: {id}: {}", stall_sentence(why, again)));
    }

    fn fewer_games(&mut self, why: &str) {
        self.print(&format!(
            "referee: fewer games are played at once from now on: {why}"
        ));
    }

    fn benched(&mut self, plan: &Plan, benched: &Benched) {
        let name = plan.bot(benched.bot).map_or("?", |bot| bot.name.as_str());
        self.print(&format!(
            "referee: {name} forfeited {} games in a row ({}) and is benched; its remaining \
             games are scored as forfeits without being played (--bench-after)",
            benched.after, benched.reason
        ));
    }

    fn stopping(&mut self) {
        self.print("referee: finishing the current games; press Ctrl-C again to stop at once");
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{games, pace};

    #[test]
    fn the_pace_is_that_of_this_run() {
        assert_eq!(pace(0, 100, Duration::from_secs(3)), "");
        assert_eq!(pace(30, 60, Duration::from_secs(3)), ", 10.0/s, 6s left");
    }

    #[test]
    fn one_game_is_not_several() {
        let shown = [0.3, 0.9, 1.4, 1.6, 1234.5].map(games);
        assert_eq!(
            shown,
            ["0 games", "1 game", "1 game", "2 games", "1234 games"]
        );
    }
}
