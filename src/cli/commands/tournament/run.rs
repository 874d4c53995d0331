//! Plays the games of a plan that are missing, shows their progress, and writes and prints the tables.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

use super::failures::run_failure;
use super::options::Options;
use super::stop_signals;
use crate::arena::analysing::{
    AnalysisError, AnalysisProgress, TournamentAnalysis, add_analysis, file as analysis_file,
};
use crate::arena::directory::TournamentDirectory;
use crate::arena::entrants::LoggedEntrant;
use crate::arena::plan::Plan;
use crate::arena::results::{Distinct, Results};
use crate::arena::scheduler::Benched;
use crate::arena::shard::Shard;
use crate::arena::{Arena, Ended, TournamentObserver, sprt};
use crate::bot::exhaustion::start_thread;
use crate::bot::shell;
use crate::cli::support::failure::Failure;
use crate::cli::support::output::{ProgressBar, ProgressLine, Stdout, print_stderr};
use crate::cli::support::pages::Pages;
use crate::cli::support::setup::{palette, terminal_width};
use crate::cli::support::values::in_short;
use crate::play::stage::Stage;
use crate::record::FinishedRecord;
use crate::record::journal::Journal;
use crate::report::serve::State;
use crate::report::terminal_view::stall_sentence;
use crate::report::tournament_summary::{SummaryError, summary, tables};
use crate::session::Ruleset;
use crate::text::counted;
use crate::tournament::schedule::GameId;

pub(in crate::cli) struct Run<'a> {
    pub(in crate::cli) options: &'a Options,
    pub(in crate::cli) ruleset: Arc<dyn Ruleset>,
    pub(in crate::cli) directory: &'a TournamentDirectory,
    pub(in crate::cli) journal: Journal,
    pub(in crate::cli) journal_file: &'a Path,
    pub(in crate::cli) jobs: usize,
    pub(in crate::cli) pages: Pages,
    pub(in crate::cli) shard: Option<Shard>,
    /// A sentence.
    pub(in crate::cli) resume: String,
}

impl Run<'_> {
    /// Plays what `results` lack, then writes and prints the tables. Returns all results.
    pub(in crate::cli) async fn play(
        self,
        plan: Plan,
        bots: Vec<LoggedEntrant>,
        results: Results,
        pieces_path: Option<String>,
        stops: mpsc::Receiver<()>,
    ) -> Result<Results, Failure> {
        let (shard, resume) = (self.shard, self.resume);
        let expected = games_expected(&plan, shard);
        let mut progress = Progress::new(expected, results.games, self.pages);
        progress.rank(&plan, &results);
        let stage = progress.stage();
        let arena = Arena {
            ruleset: self.ruleset,
            plan,
            results,
            entrants: bots,
            pieces_path,
            jobs: self.jobs,
            shard,
            stage,
        };
        let ran = arena
            .run(self.directory, self.journal, stops, &mut progress)
            .await;
        progress.clear();
        let (ended, plan, mut results) = match ran {
            Ok(ran) => ran,
            Err(error) => {
                progress.finish(State::Interrupted)?;
                return Err(run_failure(error, self.journal_file, &resume));
            }
        };
        progress.rank(&plan, &results);
        let rate = progress.rate(results.games);
        let mut analysed = true;
        if shard.is_none() {
            let (options, directory) = (self.options, self.directory);
            let concluded = async {
                if options.analyse && ended != Ended::Interrupted {
                    let time = options.time_per_move;
                    analysed = analyse(directory, results.games, time).await?;
                    if analysed {
                        progress.show_analysed(&analysis_file(directory), &plan, &results)?;
                    }
                }
                add_analysis(&mut results, directory)?;
                write_tables(directory, &plan, &results)?;
                print_summary(ended, &plan, &results)
            };
            let concluded: Result<(), Failure> = concluded.await;
            if let Err(failure) = concluded {
                progress.finish(State::Interrupted)?;
                return Err(failure);
            }
        }
        if ended == Ended::Interrupted || !analysed {
            print_stderr(&format!("referee: stopped; {resume}"));
            progress.finish(State::Interrupted)?;
            return Err(Failure::Interrupted);
        }
        let folder = self.directory.path().display();
        print_stderr(&match shard {
            None if rate == 0.0 => format!("referee: all files are in {folder}"),
            None => format!(
                "referee: {} a second; all files are in {folder}",
                games(rate)
            ),
            Some(shard) => format!(
                "referee: shard {shard} is done: {}, {rate:.0} a second; when all shards are done: \
                 referee shard merge {folder}",
                counted(results.games, "game", "games")
            ),
        });
        progress.finish(State::Finished)?;
        Ok(results)
    }
}

pub(super) fn games_expected(plan: &Plan, shard: Option<Shard>) -> u64 {
    shard.map_or(2 * plan.pairs_expected(), |shard| {
        let pairs = shard.pairs(plan);
        2 * (pairs.end - pairs.start)
    })
}

/// Time between two updates of the ranking on the pages.
const RANK_INTERVAL: Duration = Duration::from_secs(1);

const LEADERS: usize = 3;

struct Progress {
    bar: ProgressLine,
    ranked: Instant,
    /// The start of this run, and the games of earlier runs.
    begun: Instant,
    before: u64,
    expected: u64,
    pages: Pages,
}

impl Progress {
    /// `played`: games of earlier runs.
    fn new(expected: u64, played: u64, pages: Pages) -> Self {
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

    fn stage(&self) -> Option<Stage> {
        self.pages.stage()
    }

    /// Ranks the pages' table as the tournament does.
    fn rank(&self, plan: &Plan, results: &Results) {
        self.pages
            .rank(|| (results.ranking(plan), results.course(plan)));
    }

    /// Replaces the games on the pages by those of `file`, which have an analysis.
    fn show_analysed(&self, file: &Path, plan: &Plan, results: &Results) -> Result<(), Failure> {
        self.pages.begin_again(file)?;
        self.rank(plan, results);
        Ok(())
    }

    fn finish(self, state: State) -> Result<(), Failure> {
        self.pages.finish(state)
    }

    fn clear(&self) {
        self.bar.clear();
    }

    fn print(&self, text: &str) {
        self.bar.suspend(|| print_stderr(text));
    }

    fn rate(&self, games: u64) -> f64 {
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

/// `, 12.3/s, 5s left`; empty before the first game of this run.
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

fn games(number: f64) -> String {
    match format!("{number:.0}").as_str() {
        "1" => "1 game".to_owned(),
        more => format!("{more} games"),
    }
}

fn status(plan: &Plan, results: &Results) -> String {
    let mut order: Vec<usize> = (0..plan.bots.len())
        .filter(|&bot| results.games_of[bot] > 0)
        .collect();
    // By share of points, exactly: a/b > c/d when ad > cb.
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

const TIME_PER_MOVE: Duration = Duration::from_secs(1);

/// Analyses the games without an analysis. Returns false when interrupted.
async fn analyse(
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

pub(super) fn write_tables(
    directory: &TournamentDirectory,
    plan: &Plan,
    results: &Results,
) -> Result<(), Failure> {
    for (name, text) in tables(plan, results)? {
        directory.write(name, &text)?;
    }
    Ok(())
}

/// Prints the standings and the summary; warns when many games were the same.
pub(super) fn print_summary(ended: Ended, plan: &Plan, results: &Results) -> Result<(), Failure> {
    let out = summary(
        ended,
        plan,
        results,
        &palette(&io::stdout()),
        terminal_width(&io::stdout()),
    )?;
    io::Write::write_all(&mut Stdout, out.as_bytes())?;
    warn_of_repetition(&results.distinct);
    Ok(())
}

pub(in crate::cli) fn warn_of_repetition(distinct: &Distinct) {
    if distinct.is_repetitive() {
        print_stderr(
            "referee: warning: deterministic bots play the same game again from the same opening, so \
             the errors of the ratings are larger than shown; use more openings (--opening-plies)",
        );
    }
}

pub(in crate::cli) fn print_plan(plan: &Plan, directory: &TournamentDirectory) {
    let path = directory.path().to_string_lossy();
    let path = shell::quoted(&path);
    print_stderr(&format!(
        "referee: {} games of {} bots in round{} {}; play them in parts: referee shard run {path} --shard \
         I/N, then referee shard merge {path}",
        2 * plan.pairs_so_far(),
        plan.bots.len(),
        if plan.rounds.len() == 1 { "" } else { "s" },
        match plan.rounds.len() {
            1 => "1".to_owned(),
            many => format!("1 to {many}"),
        },
    ));
}

impl From<SummaryError> for Failure {
    fn from(error: SummaryError) -> Self {
        match error {
            SummaryError::Sprt(error) => Self::Usage(error.to_string()),
            error @ SummaryError::Ratings(_) => Self::Referee(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::time::Duration;

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
