use std::cmp::Reverse;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::options::TournamentOptions;
use super::{jobs, print_notice};
use crate::cli::support::failure::{Failure, Result, usage};
use crate::cli::support::output::{ProgressBar, ProgressLine, note, print};
use crate::cli::support::pages::Pages;
use crate::cli::support::setup::{palette, terminal_width};
use crate::cli::support::signals::Stops;
use crate::cli::support::values::in_short;
use referee::bot::exhaustion::start_thread;
use referee::game::Ruleset;
use referee::record::journal::LINGERING_LOCK;
use referee::report::terminal::time;
use referee::report::terminal_view::stall_sentence;
use referee::report::tournament_summary::{summary, tables};
use referee::sandbox::Sandbox;
use referee::server::LiveState;
use referee::solver::SolverOptions;
use referee::text::counted;
use referee::tournament::analysing::{self, AnalysisProgress, add_analysis, file as analysis_file};
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::entrants::Entrant;
use referee::tournament::plan::request::PlanRequest;
use referee::tournament::plan::{Plan, RejectedBot};
use referee::tournament::preparation::PreparationNotice;
use referee::tournament::results::{Distinct, Results};
use referee::tournament::seeding::listed;
use referee::tournament::{Arena, Ended, Event, GameSettings, TournamentError, games_expected};

pub(crate) async fn play(
    mut arena: Arena<'_>,
    options: &TournamentOptions,
    pages: Pages,
    resume: &str,
    stops: &mut Stops,
) -> Result<Results> {
    let mut progress = TournamentProgress::new(&arena, pages);
    arena.stage = progress.pages.stage();
    let mut played = progress.play(arena, options, resume, stops).await;
    let is_complete = played.is_ok();
    if matches!(played, Err(Failure::Interrupted)) {
        note!("stopped; {resume}");
        played = Err(Failure::Told(130));
    }
    // What is wrong with the page matters less.
    let finished = progress.pages.finish(is_complete);
    let results = played?;
    finished?;
    Ok(results)
}

pub(crate) struct Venue {
    pub(crate) options: TournamentOptions,
    pub(crate) sandbox: Sandbox,
    pub(crate) settings: GameSettings,
}

impl Venue {
    pub(crate) fn new(
        options: TournamentOptions,
        ruleset: Arc<dyn Ruleset>,
        sandbox: Sandbox,
        entrants: &[Entrant],
        directory: &TournamentDirectory,
    ) -> Result<Self> {
        let jobs = jobs(&options, entrants, &sandbox);
        Ok(Self {
            settings: GameSettings::new(ruleset, jobs, directory)?,
            options,
            sandbox,
        })
    }

    pub(crate) fn request(&self) -> PlanRequest {
        self.options.request(&self.sandbox)
    }

    pub(crate) async fn check(
        &self,
        bots: Vec<Entrant>,
        rejected: &mut Vec<RejectedBot>,
    ) -> Result<Vec<Entrant>> {
        let line = ProgressLine::new();
        let mut notify = |notice: PreparationNotice<'_>| print_notice(&line, notice);
        let fit = self.settings.check_all(bots, rejected, &mut notify);
        Ok(fit.await?)
    }

    pub(crate) fn arena<'a>(
        &self,
        directory: &'a TournamentDirectory,
        journal_file: &'a Path,
        plan: Plan,
        entrants: Vec<Entrant>,
    ) -> Result<Arena<'a>> {
        let (journal, _) = directory.open_journal(journal_file, LINGERING_LOCK)?;
        let (settings, file) = (&self.settings, journal_file);
        Ok(Arena::open(
            settings, directory, journal, file, plan, entrants,
        )?)
    }
}

/// `resume`: how the user goes on.
pub(crate) fn with_resume(error: TournamentError, resume: &str) -> Failure {
    match error {
        TournamentError::GameProgram(_) => error.into(),
        TournamentError::Input(text) => usage!("{text}\n{resume}"),
        error => Failure::Referee(format!("{error}; {resume}")),
    }
}

pub(crate) fn tell(line: &ProgressLine, plan: &Plan, event: &Event) {
    let text = match event {
        Event::Written(_) | Event::NotWritten(_) | Event::RoundAdded | Event::WorkerEnded(_) => {
            return;
        }
        Event::Stalled { id, why, again } => format!("{id}: {}", stall_sentence(why, *again)),
        Event::FewerGames(why) => {
            format!("fewer games are played at a time from now on: {why}")
        }
        Event::Benched(benched) => {
            let name = plan.bot(benched.bot).map_or("?", |bot| bot.name.as_str());
            format!(
                "{name} forfeited {} games in a row ({}) and is benched; its remaining games against bots that have made \
                 a turn are scored as forfeits without being played (--bench-after)",
                benched.after, benched.reason
            )
        }
        Event::Stopping => {
            "finishing the current games; press Ctrl-C again to stop immediately".to_owned()
        }
    };
    line.suspend(|| note!("{text}"));
}

const RANK_INTERVAL: Duration = Duration::from_secs(1);

const LEADERS: usize = 3;

struct TournamentProgress {
    bar: ProgressLine,
    ranked: Instant,
    begun: Instant,
    before: u64,
    expected: u64,
    pages: Pages,
}

impl TournamentProgress {
    fn new(arena: &Arena<'_>, pages: Pages) -> Self {
        let (bar, before) = (ProgressLine::new(), arena.results.games);
        let expected = arena.expected();
        let text = format!("{before}/{expected} games");
        bar.show(bar.with_bar(before, expected, &text));
        pages.expect(expected);
        let now = Instant::now();
        Self {
            bar,
            ranked: now,
            begun: now,
            before,
            expected,
            pages,
        }
    }

    async fn play(
        &mut self,
        arena: Arena<'_>,
        options: &TournamentOptions,
        resume: &str,
        stops: &mut Stops,
    ) -> Result<Results> {
        let (directory, shard) = (arena.directory, arena.shard);
        self.rank(&arena.plan, &arena.results);
        let mut observer = |plan: &Plan, results: &Results, event: &Event| {
            self.event(plan, results, event);
            ControlFlow::Continue(())
        };
        let ran = arena.run(stops, &mut observer).await;
        self.bar.clear();
        let (ended, plan, mut results) = ran.map_err(|error| with_resume(error, resume))?;
        self.rank(&plan, &results);
        let played = self.played(results.games);
        let mut is_over = ended != Ended::Interrupted;
        if shard.is_none() {
            if options.analyse && is_over {
                is_over = analyse(directory, results.games, options.time_per_move, stops).await?;
                if is_over {
                    // The games on the pages get their analysis.
                    self.pages.begin_again(&analysis_file(directory))?;
                    self.rank(&plan, &results);
                }
            }
            add_analysis(&mut results, directory)?;
            write_tables(directory, &plan, &results)?;
            print_summary(ended, &plan, &results)?;
        }
        if !is_over {
            return Err(Failure::Interrupted);
        }
        let folder = directory.path().display();
        match shard {
            None if played.is_empty() => note!("all files are in {folder}"),
            None => note!("{played}; all files are in {folder}"),
            Some(shard) => note!(
                "shard {shard} is done{}{played}; when all shards are done: referee shard merge {}",
                if played.is_empty() { "" } else { ": " },
                directory.quoted()
            ),
        }
        Ok(results)
    }

    fn rank(&self, plan: &Plan, results: &Results) {
        self.pages
            .rank(|| (results.ranking(plan), results.overview(plan)));
    }

    fn event(&mut self, plan: &Plan, results: &Results, event: &Event) {
        if matches!(event, Event::Stopping) {
            self.pages.set_state(LiveState::Stopping);
        }
        if matches!(event, Event::RoundAdded) {
            self.ranked = Instant::now();
            self.rank(plan, results);
            let expected = games_expected(plan, None);
            if self.expected != expected {
                self.expected = expected;
                self.pages.expect_instead(expected);
            }
        }
        let Event::Written(game) = event else {
            tell(&self.bar, plan, event);
            return;
        };
        if let Err(error) = self.pages.publish(game.record()) {
            tracing::warn!(target: referee::log_target::PAGE, "a game is not on the page: {error}");
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

    /// `60 games in 5m 12s`, without those of earlier runs; empty without a game of this run.
    fn played(&self, games: u64) -> String {
        let played = counted(games - self.before, "game", "games");
        match self.begun.elapsed() {
            _ if games == self.before => String::new(),
            elapsed if elapsed < Duration::from_mins(1) => {
                format!("{played} in {}", time(elapsed))
            }
            elapsed => format!("{played} in {}", in_short(elapsed)),
        }
    }

    fn line(&self, plan: &Plan, results: &Results) -> String {
        let expected = self.expected;
        let (games, status) = (results.games, status(plan, results));
        let (played, left) = (games - self.before, expected.saturating_sub(games));
        let pace = pace(played, left, self.begun.elapsed());
        format!("{games}/{expected} games{pace}{status}")
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

fn status(plan: &Plan, results: &Results) -> String {
    let shares = plan.bots.iter().enumerate().filter_map(|(place, bot)| {
        let games = results.games_of[place];
        let tenths = (1000 * results.half_points[place] + games).checked_div(2 * games)?;
        Some((tenths, &bot.name))
    });
    let mut shares: Vec<(u64, &String)> = shares.collect();
    shares.sort_by_key(|(tenths, _)| Reverse(*tenths));
    let top = shares.into_iter().take(LEADERS);
    let top = top.map(|(tenths, name)| format!("{name} {}.{}%", tenths / 10, tenths % 10));
    let top: Vec<String> = top.collect();
    let mut parts = vec![String::new()];
    if plan.format.depends_on_results() {
        let (round, of) = (plan.rounds_begun(), plan.rounds_planned);
        let extra = plan.rounds.last().is_some_and(|round| round.tie_break);
        let extra = if extra { ", tie-break games" } else { "" };
        parts.push(format!("round {round} of {of}{extra}"));
    }
    if !top.is_empty() {
        parts.push(top.join(", "));
    }
    if results.forfeits > 0 {
        parts.push(counted(results.forfeits, "forfeit", "forfeits"));
    }
    if let Some(test) = &plan.sprt {
        let (lower, upper) = test.bounds();
        let llr = test.llr(&results.pentanomial);
        parts.push(format!("LLR {llr:.2} ({lower:.2}, {upper:.2})"));
    }
    parts.join("; ")
}

const TIME_PER_MOVE: Duration = Duration::from_secs(1);

async fn analyse(
    directory: &TournamentDirectory,
    games: u64,
    time_per_move: Option<Duration>,
    stops: &mut Stops,
) -> Result<bool> {
    let (stop, directory) = (Arc::new(AtomicBool::new(false)), directory.clone());
    let (time, stopped) = (time_per_move.unwrap_or(TIME_PER_MOVE), Arc::clone(&stop));
    let (sender, mut working) = oneshot::channel();
    start_thread("analysis", move || {
        let bar = ProgressBar::new(games, "games");
        let complete = analysing::analyse(
            &directory,
            time,
            SolverOptions::default(),
            &stopped,
            &mut |progress| match progress {
                AnalysisProgress::Begins { done } => {
                    bar.set_done(done);
                    if done < games && !bar.line.is_terminal {
                        note!("analysing {} of {games} games", games - done);
                    }
                }
                AnalysisProgress::Turn { turn, id } => {
                    bar.set_message(format!("analysing turn {turn} of {id}"));
                }
                AnalysisProgress::Game => bar.inc(),
            },
        );
        drop(bar);
        let _ = sender.send(complete);
    })?;
    let done = tokio::select! {
        biased;
        done = &mut working => done,
        _ = stops.recv() => {
            stop.store(true, Ordering::Relaxed);
            working.await
        }
    };
    let done = done.map_err(|_| Failure::Referee("the analysis ended in a panic".to_owned()))?;
    Ok(done?)
}

pub(crate) fn write_tables(
    directory: &TournamentDirectory,
    plan: &Plan,
    results: &Results,
) -> Result<()> {
    for (name, text) in tables(plan, results)? {
        directory.write(name, &text)?;
    }
    Ok(())
}

pub(super) fn print_summary(ended: Ended, plan: &Plan, results: &Results) -> Result<()> {
    let width = terminal_width(&io::stdout());
    let palette = palette(&io::stdout());
    print(&summary(ended, plan, results, &palette, width)?)?;
    warn_of_repetition(&results.distinct);
    let silent = results.silent().filter(|&bot| results.half_points[bot] > 0);
    let silent = silent.map(|bot| plan.bots[bot].name.as_str());
    let names: Vec<&str> = silent.collect();
    if !names.is_empty() {
        note!(
            "warning: {} made no turn in any game; games won are others' forfeits",
            listed(names.into_iter())
        );
    }
    Ok(())
}

pub(crate) fn warn_of_repetition(distinct: &Distinct) {
    if distinct.is_repetitive() {
        note!(
            "warning: deterministic bots play the same game again from the same opening, so \
             the errors of the ratings are larger than shown; use more openings (--opening-plies)"
        );
    }
}

pub(crate) fn print_plan(plan: &Plan, directory: &TournamentDirectory) {
    let path = directory.quoted();
    note!(
        "{} games of {} bots in {}; play them in parts: referee shard run {path} --shard \
         I/N, then referee shard merge {path}",
        2 * plan.pairs_so_far(),
        plan.bots.len(),
        match plan.rounds_begun() {
            1 => "round 1".to_owned(),
            rounds => format!("rounds 1 to {rounds}"),
        },
    );
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
}
