//! The games of a comparison: finds the bots, plays, and asks the test after every game.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::{Args, announce_terms, percentage};
use crate::arena::comparison::{Progress, round};
use crate::arena::directory::TournamentDirectory;
use crate::arena::entrants::{self, Entrant};
use crate::arena::plan::request::PlanRequest;
use crate::arena::plan::{BotPlan, Format, Plan, RejectedBot};
use crate::arena::preparation::{identical, same_program, write_pieces};
use crate::arena::results::Results;
use crate::arena::{self, until};
use crate::bot::spec::BotSpec;
use crate::cli::commands::tournament::{Options, OwnRun, check_bots, jobs};
use crate::cli::support::output::ProgressLine;
use crate::cli::support::prelude::*;
use crate::cli::support::sandbox::{warn_large, warn_root};
use crate::cli::support::setup::this_program;
use crate::cli::support::signals;
use crate::game::Game;
use crate::report::comparison::{Bot, Ended, Report};
use crate::sandbox::Sandbox;
use crate::seed::{self, Purpose, generator};
use crate::strategy;
use crate::tournament::comparison::draw;

pub(super) struct Playing<'a> {
    pub(super) args: &'a Args,
    pub(super) options: &'a Options,
    pub(super) ruleset: &'a Arc<dyn Game>,
    pub(super) sandbox: &'a Sandbox,
    pub(super) directory: TournamentDirectory,
    pub(super) begun: Instant,
}

impl Playing<'_> {
    /// Until it is decided, time is up, or Ctrl-C. `entered`: NEW, OLD, the pool.
    pub(super) async fn play(self, mut entered: Vec<Entrant>) -> Result<Report, Failure> {
        let mut stops = signals::stops();
        let budget = self.args.budget.0;
        let deadline = budget.and_then(|budget| self.begun.checked_add(budget));
        let old = self.directory.plan()?;
        let seed = self.args.games.seed.or(old.as_ref().map(|old| old.seed));
        let seed = seed.unwrap_or_else(seed::drawn);
        let jobs = jobs(self.options, &entered, self.sandbox);
        announce_terms(self.args, entered.len() - 2, jobs, seed)?;
        let pieces_path = write_pieces(&self.directory, &**self.ruleset)?;
        let (mut problem, mut ended) = (None, None);
        let mut rejected = Vec::new();
        if let Some(old) = &old {
            // Those of the pool that failed the check play no games.
            rejected.clone_from(&old.rejected);
            entered.retain(|bot| !old.has_rejected(&bot.plan.name));
        } else if !self.args.games.no_check {
            let pieces = pieces_path.as_deref();
            // Report bad openings before the checks.
            let request = self.options.request(self.sandbox);
            request.check_openings(&**self.ruleset, seed)?;
            let bots = entered.clone();
            let checked = check_bots(self.ruleset, bots, &mut rejected, jobs, pieces);
            tokio::select! {
                fit = checked => {
                    let fit = fit?;
                    problem = refused(&entered, &rejected)?;
                    if problem.is_none() {
                        entered = fit;
                    } else {
                        ended = Some(Ended::Unfit);
                    }
                }
                () = until(deadline) => ended = Some(Ended::Budget),
                _ = stops.recv() => ended = Some(Ended::Interrupted),
            }
        }
        let bots = entered.iter().map(|bot| Bot {
            name: bot.plan.name.clone(),
            bot: bot.plan.bot.clone(),
            hash: bot.plan.hash.clone(),
        });
        let mut bots: Vec<Bot> = bots.collect();
        let others = entered.len() - 2;
        let percentage = percentage(others > 0);
        let mut random = generator(seed, Purpose::Opponent, [0, 0]);
        let opponents = draw(&mut random, others + 1, percentage, self.args.pairs);
        let test = self.args.test(others > 0)?;
        let mut progress = Progress::new(test, others + 1, opponents.clone());
        let ended = if let Some(ended) = ended {
            ended
        } else {
            let plans = entered.iter().map(|bot| bot.plan.clone()).collect();
            let plan = self.plan(plans, rejected, &opponents, seed)?;
            let mut differences = Vec::new();
            if let Some(old) = &old {
                differences = old.differences(&plan);
                if differences.is_empty() && old.rounds != plan.rounds {
                    let rounds = "the pairs of games are others (--pairs)";
                    differences.push(rounds.to_owned());
                }
            }
            let run = OwnRun {
                ruleset: self.ruleset,
                directory: &self.directory,
                old: old.as_ref(),
                differences,
                plan,
                entrants: entered,
                pieces_path,
                jobs,
                deadline,
                resume: "to go on: the same command with --out and the same folder",
            };
            self.games(run, &mut progress, &mut stops).await?
        };
        Ok(Report {
            new: bots.remove(0),
            opponents: bots,
            terms: self.args.terms(others > 0),
            progress,
            elapsed: self.begun.elapsed(),
            budget,
            most: self.args.pairs,
            seed,
            ended,
            problem,
        })
    }

    async fn games(
        &self,
        run: OwnRun<'_>,
        progress: &mut Progress,
        stops: &mut mpsc::Receiver<()>,
    ) -> Result<Ended, Failure> {
        let (mut before, begun) = (None, Instant::now());
        let line = ProgressLine::new();
        let all = self.args.all;
        let is_enough = |results: &Results| {
            if before.is_none() && results.games > 0 {
                note!(
                    "{} in this folder were played before",
                    counted(results.games, "game", "games")
                );
            }
            let before = *before.get_or_insert(results.games);
            progress.advance(&results.endings, all);
            if line.is_due() {
                let played = results.games - before;
                line.report(shown(progress, results.games, played, begun.elapsed()));
            }
            !all && progress.comparison.is_decided()
        };
        let (ended, _) = run.play_until(stops, &line, is_enough).await?;
        Ok(match ended {
            arena::Ended::Interrupted => Ended::Interrupted,
            // The last games may have decided it.
            _ if !all && progress.comparison.is_decided() => Ended::Decided,
            arena::Ended::TimeUp => Ended::Budget,
            _ => Ended::Complete,
        })
    }

    fn plan(
        &self,
        bots: Vec<BotPlan>,
        rejected: Vec<RejectedBot>,
        opponents: &[usize],
        seed: u64,
    ) -> Result<Plan, Failure> {
        let request = PlanRequest {
            format: Some(Format::Gauntlet),
            rounds: Some(1),
            // Which games count must not depend on later games.
            bench_after: Some(0),
            ..self.options.request(self.sandbox)
        };
        let mut plan = request.new_plan(&**self.ruleset, bots, rejected, seed)?;
        plan.rounds = vec![round(opponents)];
        let different: BTreeSet<&String> = plan.openings.iter().collect();
        if different.len() < opponents.len() {
            note!(
                "warning: only {} for {}: of bots that always answer the same the later games are repetitions, \
                 and the error rates do not hold for them",
                counted(different.len() as u64, "opening", "different openings"),
                counted(opponents.len() as u64, "comparison", "comparisons"),
            );
        }
        Ok(plan)
    }
}

fn shown(progress: &Progress, games: u64, played: u64, time: Duration) -> String {
    let played = f64::from(u32::try_from(played).unwrap_or(u32::MAX));
    let pace = played / time.as_secs_f64().max(1e-6);
    let known = progress.comparison.advantage().map(|found| {
        let [low, high] = found.interval.map(|share| 100.0 * share);
        let mean = 100.0 * found.mean;
        format!("; advantage {mean:.1}% ({low:.1}% to {high:.1}%)")
    });
    format!(
        "{}, {pace:.1}/s{}",
        counted(games, "game", "games"),
        known.unwrap_or_default()
    )
}

/// Why NEW cannot play. Fails when OLD cannot; others are left out.
fn refused(entered: &[Entrant], rejected: &[RejectedBot]) -> Result<Option<String>, Failure> {
    let of = |place: usize| {
        let name = &entered[place].plan.name;
        let found = rejected.iter().find(|bot| bot.bot.name == *name);
        found.map(|bot| join_parts(&bot.reason, "\n    "))
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
        left_out(&bot.bot.name, &bot.reason);
    }
    Ok(None)
}

fn left_out(name: &str, why: &str) {
    let name = escape_controls(name);
    let why = join_parts(why, "\n    ");
    note!("{name} is left out of the pool: {why}");
}

/// NEW, OLD, the pool. Bots of a folder of the pool that cannot be started are left out.
pub(super) fn find(
    args: &Args,
    options: &Options,
    sandbox: &Sandbox,
) -> Result<Vec<Entrant>, Failure> {
    let mut wanted = Vec::new();
    for (text, place) in [(&args.new, "NEW"), (&args.old, "OLD")] {
        let mut found = options.bots(std::slice::from_ref(text))?;
        match (found.pop(), found.len()) {
            (Some(one), 0) => wanted.push(one),
            (_, more) => {
                bail!(
                    "{text}: it holds {} bots, and {place} is one; name its file",
                    more + 1
                );
            }
        }
    }
    name_versions(&mut wanted)?;
    wanted.extend(options.bots(&args.pool)?);
    let found = entrants::find(&wanted, &this_program()?, sandbox)?;
    for rejected in &found.rejected {
        let is_of_folder = wanted[2..].iter().any(|bot| bot.bot == rejected.bot.bot)
            && !args.pool.contains(&rejected.bot.bot);
        if !is_of_folder {
            return Err(Failure::Usage(join_parts(&rejected.reason, "\n    ")));
        }
        left_out(&rejected.bot.name, &rejected.reason);
    }
    let mut entered = found.entered;
    let versions: Vec<String> = entered[..2]
        .iter()
        .map(|bot| bot.plan.name.clone())
        .collect();
    let mut twice = Vec::new();
    for group in identical(&entered) {
        let of_versions = |name: &&str| versions.iter().any(|version| version == name);
        let (same, others): (Vec<&str>, Vec<&str>) = group.iter().copied().partition(of_versions);
        if same.len() == 2 {
            note!(
                "warning: {} and {} are the same program, so neither is better",
                same[0],
                same[1]
            );
        }
        if same.is_empty() {
            note!("warning: {}", same_program(&group));
        } else {
            twice.extend(others.into_iter().map(str::to_owned));
        }
    }
    for name in &twice {
        left_out(name, "it is one of the two versions");
    }
    entered.retain(|bot| !twice.contains(&bot.plan.name));
    warn_root(entered.iter().map(|bot| &bot.program));
    warn_large(entered.iter().map(|bot| &bot.program));
    Ok(entered)
}

/// Adds which is which where the names of both files are the same.
fn name_versions(bots: &mut [BotPlan]) -> Result<(), Failure> {
    let referee = this_program()?;
    for bot in bots.iter_mut().filter(|bot| bot.name.is_empty()) {
        match BotSpec::parse(&bot.bot, &referee, &strategy::NAMES) {
            Ok(spec) => spec.name().clone_into(&mut bot.name),
            // Reported when it is looked for.
            Err(_) => return Ok(()),
        }
    }
    if let [new, old] = bots
        && new.name == old.name
    {
        new.name += " (new)";
        old.name += " (old)";
    }
    Ok(())
}
