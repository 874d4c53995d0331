use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::versions::left_out;
use super::{Args, ERROR, percentage};
use crate::cli::commands::tournament::{Venue, tell, with_resume};
use crate::cli::support::failure::{Result, bail};
use crate::cli::support::output::{ProgressLine, note};
use crate::cli::support::signals::{self, Stops};
use crate::cli::support::values::{MoveTime, in_short};
use referee::report::comparison::{ComparisonEnd, ComparisonReport};
use referee::seed::{self, Purpose, generator};
use referee::stats::comparison::draw;
use referee::text::{counted, escape_controls, join_parts};
use referee::tournament::bot_files::{KnownFiles, Settled};
use referee::tournament::comparison::{ComparisonProgress, round};
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::entrants::Entrant;
use referee::tournament::experiment::Experiment;
use referee::tournament::plan::difference::PlanDifference;
use referee::tournament::plan::request::{PlanRequest, ScheduleRequest};
use referee::tournament::plan::{BotPlan, Format, Plan, RejectedBot};
use referee::tournament::results::Results;
use referee::tournament::{Arena, Ended, Event, until};

fn announce_terms(args: &Args, others: usize, jobs: usize, seed: u64) {
    let (elo, error) = (args.margin.abs(), 100.0 * ERROR);
    let asked = if args.asks_not_worse() {
        format!("is NEW not worse? H0: it is worse by {elo} Elo; H1: it is as good")
    } else {
        format!("is NEW better? H0: it is not better; H1: it is better by {elo} Elo")
    };
    note!("{asked}; a wrong yes or no in at most {error}% of cases (α = β)");
    let budget = match args.budget {
        MoveTime(Some(budget)) => format!("at most {}", in_short(budget)),
        MoveTime(None) => "no limit of time".to_owned(),
    };
    let most = counted(u64::from(args.pairs), "comparison", "comparisons");
    let games = counted(jobs as u64, "game", "games");
    note!("at most {most}, {budget}, {games} at a time, seed {seed}");
    if others > 0 {
        note!(
            "{}% of the comparisons are with OLD, the others with {}, in equal shares",
            percentage(true),
            counted(others as u64, "other bot", "other bots"),
        );
    }
}

/// One comparison, and what a folder knows of it from before.
struct ComparisonRun<'a> {
    args: &'a Args,
    venue: &'a Venue,
    experiment: Experiment<'a>,
    deadline: Option<Instant>,
    seed: u64,
    old: Option<Plan>,
}

/// The two versions, the others, and what their files are.
struct Field {
    entered: Vec<Entrant>,
    rejected: Vec<RejectedBot>,
    known: KnownFiles,
    settled: Settled,
}

/// Why no games are played.
struct NoGames {
    ended: ComparisonEnd,
    /// Why NEW cannot play.
    problem: Option<String>,
}

pub(super) async fn play(
    args: &Args,
    venue: &Venue,
    directory: &TournamentDirectory,
    begun: Instant,
    entered: Vec<Entrant>,
) -> Result<ComparisonReport> {
    let mut stops = signals::heed();
    let budget = args.budget.0;
    let old = directory.plan()?;
    let seed = args.games.seed.or(old.as_ref().map(|old| old.seed));
    let run = ComparisonRun {
        args,
        venue,
        experiment: Experiment::new(&venue.settings, directory),
        deadline: budget.and_then(|budget| begun.checked_add(budget)),
        seed: seed.unwrap_or_else(seed::drawn),
        old,
    };
    announce_terms(args, entered.len() - 2, venue.settings.jobs, run.seed);
    let mut field = Field {
        entered,
        rejected: Vec::new(),
        known: KnownFiles::read(directory)?,
        settled: Settled::default(),
    };
    let no_games = run.admit(&mut field, &mut stops).await?;
    let entered = field.entered.iter();
    let mut bots: Vec<BotPlan> = entered.map(|bot| bot.plan.clone()).collect();
    let others = bots.len() - 2;
    let opponents = run.draw_opponents(others);
    let terms = args.terms(others > 0);
    let mut progress = ComparisonProgress::new(terms.test()?, others + 1, opponents.clone());
    let (ended, problem) = if let Some(NoGames { ended, problem }) = no_games {
        (ended, problem)
    } else {
        let plan = run.plan(&field, &opponents)?;
        let arena = run.arena(plan, field)?;
        (games(args, arena, &mut progress, &mut stops).await?, None)
    };
    Ok(ComparisonReport {
        new: bots.remove(0),
        opponents: bots,
        terms,
        progress,
        elapsed: begun.elapsed(),
        budget,
        most: args.pairs,
        seed: run.seed,
        ended,
        problem,
    })
}

impl ComparisonRun<'_> {
    /// Leaves those out that failed the entry check: now, or when the folder was made.
    async fn admit(&self, field: &mut Field, stops: &mut Stops) -> Result<Option<NoGames>> {
        if let Some(old) = &self.old {
            // Those of the pool that failed the check play no games.
            field.rejected.clone_from(&old.rejected);
            field
                .entered
                .retain(|bot| !old.has_rejected(&bot.plan.name));
            let accepts_changes = self.args.changes.accept_changes;
            field.settled = field.known.settle(old, &mut field.entered, accepts_changes);
            return Ok(None);
        }
        if self.args.games.no_check {
            return Ok(None);
        }
        // Report bad openings before the checks.
        let request = self.venue.request();
        request.check_openings(&*self.venue.settings.ruleset, self.seed)?;
        let checked = self.venue.check(field.entered.clone(), &mut field.rejected);
        let stopped = tokio::select! {
            fit = checked => Ok(fit?),
            () = until(self.deadline) => Err(ComparisonEnd::Budget),
            _ = stops.recv() => Err(ComparisonEnd::Interrupted),
        };
        match stopped {
            Ok(fit) => {
                let problem = refused(&field.entered, &field.rejected)?;
                if problem.is_none() {
                    field.entered = fit;
                }
                Ok(problem.map(|problem| NoGames {
                    ended: ComparisonEnd::Unfit,
                    problem: Some(problem),
                }))
            }
            Err(ended) => Ok(Some(NoGames {
                ended,
                problem: None,
            })),
        }
    }

    /// Whom both play in each comparison; 0 is each other.
    fn draw_opponents(&self, others: usize) -> Vec<usize> {
        let mut random = generator(self.seed, Purpose::Opponent, [0, 0]);
        let percentage = percentage(others > 0);
        draw(&mut random, others + 1, percentage, self.args.pairs)
    }

    fn plan(&self, field: &Field, opponents: &[usize]) -> Result<Plan> {
        let request = PlanRequest {
            schedule: ScheduleRequest {
                format: Some(Format::Gauntlet),
                rounds: Some(1),
                ..ScheduleRequest::default()
            },
            // Which games count must not depend on later games.
            bench_after: Some(0),
            ..self.venue.request()
        };
        let bots = field.entered.iter().map(|bot| bot.plan.clone()).collect();
        let rejected = field.rejected.clone();
        let ruleset = &*self.venue.settings.ruleset;
        let mut plan = request.new_plan(ruleset, bots, rejected, self.seed)?;
        plan.rounds = vec![round(opponents)];
        warn_of_few_openings(&plan, opponents.len());
        Ok(plan)
    }

    /// Keeps the plan in the folder, which refuses another one than it has.
    fn arena(&self, mut plan: Plan, mut field: Field) -> Result<Arena<'_>> {
        let differences = self.old.as_ref().map(|old| {
            let (known, settled) = (&mut field.known, &mut field.settled);
            known.settle_game(old, &mut plan, self.args.changes.accept_changes, settled);
            let mut differences = old.differences_with(&plan, settled);
            if differences.is_empty() && old.rounds != plan.rounds {
                differences.push(PlanDifference::PairsOfGames);
            }
            differences
        });
        let is_new = differences.is_none();
        self.experiment.keep(&mut plan, differences)?;
        for note in &field.settled.notes {
            note!("{note}");
        }
        if is_new {
            field.known = KnownFiles::of(&field.entered);
        }
        if is_new || field.settled.has_accepted {
            field.known.write(self.experiment.directory)?;
        }
        let mut arena = self.experiment.open(plan, field.entered)?;
        arena.deadline = self.deadline;
        Ok(arena)
    }
}

async fn games(
    args: &Args,
    arena: Arena<'_>,
    progress: &mut ComparisonProgress,
    stops: &mut Stops,
) -> Result<ComparisonEnd> {
    let (before, begun) = (arena.results.games, Instant::now());
    if before > 0 {
        note!(
            "{} in this folder were played before",
            counted(before, "game", "games")
        );
    }
    let line = ProgressLine::new();
    let all = args.all;
    let resume = "to go on: the same command with --out and the same folder";
    let is_enough = |results: &Results| {
        progress.advance(&results.endings, all);
        if line.is_due() {
            let played = results.games - before;
            line.report(shown(progress, results.games, played, begun.elapsed()));
        }
        !all && progress.comparison.is_decided()
    };
    let observe = |plan: &Plan, event: &Event| tell(&line, plan, event);
    let played = arena.run_until(stops, is_enough, observe).await;
    line.clear();
    let (ended, _) = played.map_err(|error| with_resume(error, resume))?;
    Ok(match ended {
        Ended::Interrupted => ComparisonEnd::Interrupted,
        // The last games may have decided it.
        _ if !all && progress.comparison.is_decided() => ComparisonEnd::Decided,
        Ended::TimeUp => ComparisonEnd::Budget,
        _ => ComparisonEnd::Complete,
    })
}

fn warn_of_few_openings(plan: &Plan, comparisons: usize) {
    let different: BTreeSet<&String> = plan.openings.iter().collect();
    if different.len() < comparisons {
        note!(
            "warning: only {} for {}: of bots that always answer the same the later games are repetitions, \
             and the error rates do not hold for them",
            counted(different.len() as u64, "opening", "different openings"),
            counted(comparisons as u64, "comparison", "comparisons"),
        );
    }
}

fn shown(progress: &ComparisonProgress, games: u64, played: u64, time: Duration) -> String {
    let played = f64::from(u32::try_from(played).unwrap_or(u32::MAX));
    let pace = played / time.as_secs_f64().max(1e-6);
    let mut text = format!("{}, {pace:.1}/s", counted(games, "game", "games"));
    if let Some(found) = progress.comparison.advantage() {
        let [mean, low, high] =
            [found.mean, found.interval[0], found.interval[1]].map(|x| 100.0 * x);
        let _ = write!(
            text,
            "; advantage of NEW {mean:.1}% ({low:.1}% to {high:.1}%)"
        );
    }
    text
}

/// Why NEW cannot play. Fails when OLD cannot; others are left out.
fn refused(entered: &[Entrant], rejected: &[RejectedBot]) -> Result<Option<String>> {
    let of = |place: usize| {
        let name = &entered[place].plan.name;
        let found = rejected.iter().find(|bot| bot.bot.name == *name);
        found.map(|bot| join_parts(&bot.absence, "\n    "))
    };
    if let Some(reason) = of(0) {
        return Ok(Some(reason));
    }
    if let Some(reason) = of(1) {
        bail!(
            "{}, with which NEW is compared, cannot play: {reason}",
            escape_controls(&entered[1].plan.name)
        );
    }
    for bot in rejected {
        left_out(&bot.bot.name, &bot.absence);
    }
    Ok(None)
}
