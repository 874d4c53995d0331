//! The games of a comparison: finds the bots, plays, and asks the test after every game.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::{Args, announce_terms};
use crate::arena::comparison::{Progress, round};
use crate::arena::directory::TournamentDirectory;
use crate::arena::entrants::{self, BotRequest, Entrant, Entrants};
use crate::arena::plan::request::PlanRequest;
use crate::arena::plan::{BotPlan, Format, Plan, RejectedBot};
use crate::arena::preparation::{Notice, Preparation, write_pieces};
use crate::arena::preparation::{identical, same_program};
use crate::arena::results::Results;
use crate::arena::{Arena, TournamentObserver};
use crate::bot::shell;
use crate::bot::spec::BotSpec;
use crate::cli::commands::tournament::{
    Notices, Options, jobs, open_journal, run_failure, stop_signals,
};
use crate::cli::support::failure::Failure;
use crate::cli::support::output::{ProgressLine, print_stderr};
use crate::cli::support::sandbox::{warn_large, warn_root};
use crate::cli::support::setup::this_program;
use crate::cli::support::signals;
use crate::cli::support::values::MoveTime;
use crate::record::FinishedRecord;
use crate::report::comparison::{Bot, Ended, Report};
use crate::sandbox::Sandbox;
use crate::seed::{Purpose, generator};
use crate::session::Ruleset;
use crate::strategy;
use crate::text::{counted, escape_controls};
use crate::tournament::comparison::draw;

pub(super) struct Outcome {
    bots: Vec<Bot>,
    progress: Progress,
    ended: Ended,
    problem: Option<String>,
    seed: u64,
}

impl Outcome {
    pub(super) fn report(&self, args: &Args, elapsed: Duration) -> Report<'_> {
        let mut bots = self.bots.iter().cloned();
        let new = bots.next().unwrap_or_else(|| Bot {
            name: String::new(),
            bot: String::new(),
            hash: String::new(),
        });
        Report {
            new,
            opponents: bots.collect(),
            comparison: &self.progress.comparison,
            forfeits: self.progress.forfeits,
            games: self.progress.games,
            elapsed,
            budget: args.budget.0,
            most: args.pairs,
            seed: self.seed,
            ended: self.ended,
            problem: self.problem.clone(),
        }
    }
}

pub(super) struct Playing<'a> {
    args: &'a Args,
    options: Options,
    ruleset: Arc<dyn Ruleset>,
    sandbox: &'a Sandbox,
    directory: TournamentDirectory,
    /// Of games played before in the same folder.
    old: Option<Plan>,
    seed: u64,
    deadline: Option<Instant>,
}

impl<'a> Playing<'a> {
    pub(super) fn new(
        args: &'a Args,
        options: Options,
        ruleset: Arc<dyn Ruleset>,
        sandbox: &'a Sandbox,
        directory: TournamentDirectory,
        begun: Instant,
    ) -> Result<Self, Failure> {
        let old = directory.plan()?;
        let given = args.seed.or(old.as_ref().map(|old| old.seed));
        let MoveTime(budget) = args.budget;
        Ok(Self {
            args,
            options,
            ruleset,
            sandbox,
            directory,
            old,
            // Short enough to type.
            seed: given.unwrap_or_else(|| u64::from(rand::random::<u32>())),
            deadline: budget.and_then(|budget| begun.checked_add(budget)),
        })
    }

    /// Until it is decided, time is up, or Ctrl-C.
    pub(super) async fn play(self, bots: Bots) -> Result<Outcome, Failure> {
        // Until the end: a second signal must not cut off the clean-up.
        let _heeded = signals::heed();
        let mut stops = stop_signals();
        let found = Entrants {
            entered: bots.entered,
            rejected: Vec::new(),
        };
        let jobs = jobs(&self.options, &found, self.sandbox);
        let mut entered = found.entered;
        announce_terms(self.args, entered.len() - 2, jobs, self.seed)?;
        let pieces_path = write_pieces(&self.directory, &*self.ruleset)?;
        let mut problem = None;
        let mut ended = None;
        if !self.args.no_check && self.old.is_none() {
            let mut rejected = Vec::new();
            let checked = self.check(entered.clone(), &mut rejected, jobs, pieces_path.as_deref());
            let checked = tokio::select! {
                checked = checked => Some(checked?),
                () = until(self.deadline) => {
                    ended = Some(Ended::Budget);
                    None
                }
                _ = stops.recv() => {
                    ended = Some(Ended::Interrupted);
                    None
                }
            };
            if let Some(fit) = checked {
                problem = refused(&entered, &rejected)?;
                if problem.is_none() {
                    entered = fit;
                }
            }
        }
        if problem.is_some() {
            ended = Some(Ended::Unfit);
        }
        let bots = entered.iter().map(|bot| bot_of(&bot.plan)).collect();
        let others = entered.len() - 2;
        let percentage = self.args.percentage(others > 0);
        let mut random = generator(self.seed, Purpose::Opponent, [0, 0]);
        let opponents = draw(&mut random, others + 1, percentage, self.args.pairs);
        let terms = self.args.terms(others > 0);
        let progress = Progress::new(terms, others + 1, opponents.clone())
            .map_err(|error| Failure::Usage(error.to_string()))?;
        let mut watch = Watch::new(progress, self.args.all);
        let ended = match ended {
            Some(ended) => ended,
            None => {
                self.games(
                    entered,
                    &opponents,
                    jobs,
                    pieces_path,
                    &mut stops,
                    &mut watch,
                )
                .await?
            }
        };
        Ok(Outcome {
            bots,
            progress: watch.progress,
            ended,
            problem,
            seed: self.seed,
        })
    }

    async fn check(
        &self,
        bots: Vec<Entrant>,
        rejected: &mut Vec<RejectedBot>,
        jobs: usize,
        pieces_path: Option<&str>,
    ) -> Result<Vec<Entrant>, Failure> {
        let request = self.options.request(self.sandbox);
        let preparation = Preparation {
            request: &request,
            ruleset: &self.ruleset,
            directory: &self.directory,
            jobs,
            pieces_path,
        };
        // Report bad openings before the checks.
        request.draw_openings(&*self.ruleset, self.seed, 1)?;
        let mut notices = Notices::new(self.directory.path());
        let mut notify = |notice: Notice<'_>| notices.print(notice);
        let fit = preparation.check(bots, rejected, &mut notify).await?;
        notices.clear();
        Ok(fit)
    }

    fn plan(
        &self,
        bots: Vec<BotPlan>,
        opponents: &[usize],
    ) -> Result<(PlanRequest, Plan), Failure> {
        let request = PlanRequest {
            seed: Some(self.seed),
            format: Some(Format::Gauntlet),
            rounds: Some(1),
            // Which games count must not depend on later games.
            bench_after: Some(0),
            ..self.options.request(self.sandbox)
        };
        let ruleset = &*self.ruleset;
        let mut plan = request.plan(ruleset, bots, Vec::new(), self.seed, None)?;
        plan.openings = request.openings(ruleset, &plan)?;
        plan.rounds = vec![round(opponents)];
        let different: BTreeSet<&String> = plan.openings.iter().collect();
        if different.len() < opponents.len() {
            print_stderr(&format!(
                "referee: warning: only {} for {}: of bots that always answer the same the later games are repetitions, \
                 and the error rates do not hold for them",
                counted(different.len() as u64, "opening", "different openings"),
                counted(opponents.len() as u64, "comparison", "comparisons"),
            ));
        }
        Ok((request, plan))
    }

    async fn games(
        &self,
        entered: Vec<Entrant>,
        opponents: &[usize],
        jobs: usize,
        pieces_path: Option<String>,
        stops: &mut mpsc::Receiver<()>,
        watch: &mut Watch,
    ) -> Result<Ended, Failure> {
        let journal_file = self.directory.journal_file();
        let (journal, _) = open_journal(&self.directory, &journal_file, Duration::ZERO)?;
        let bots = entered.iter().map(|bot| bot.plan.clone()).collect();
        let (request, mut plan) = self.plan(bots, opponents)?;
        match &self.old {
            None => self.directory.write_plan(&mut plan)?,
            Some(old) => refuse_another(old, &plan, &self.directory)?,
        }
        let mut results = Results::new(&plan);
        TournamentDirectory::read_journal(&journal_file, &plan, &mut results)?;
        if results.games > 0 {
            print_stderr(&format!(
                "referee: {} in this folder were played before",
                counted(results.games, "game", "games")
            ));
        }
        if watch.advance(&results) {
            return Ok(Ended::Decided);
        }
        let (stop, own_stops) = mpsc::channel(4);
        watch.stop = Some(stop.clone());
        let preparation = Preparation::new(&request, &self.ruleset, &self.directory);
        let arena = Arena {
            ruleset: Arc::clone(&self.ruleset),
            plan,
            results,
            entrants: preparation.with_logs(entered),
            pieces_path,
            jobs,
            shard: None,
            stage: None,
        };
        let mut ended = Ended::Complete;
        let ran = {
            let mut run = pin!(arena.run(&self.directory, journal, own_stops, watch));
            let mut time_up = pin!(until(self.deadline));
            let mut is_over = false;
            loop {
                tokio::select! {
                    ran = &mut run => break ran,
                    Some(()) = stops.recv() => ended = Ended::Interrupted,
                    () = &mut time_up, if !is_over => {
                        is_over = true;
                        ended = Ended::Budget;
                    }
                }
                // The second message ends current games. A full channel has been told to stop.
                let _ = stop.try_send(());
                let _ = stop.try_send(());
            }
        };
        watch.clear();
        let resume = "to go on: the same command with --out and the same folder";
        ran.map_err(|error| run_failure(error, &journal_file, resume))?;
        // The last games may have decided it.
        if watch.is_over() && ended != Ended::Interrupted {
            ended = Ended::Decided;
        }
        Ok(ended)
    }
}

/// Forever without a limit.
async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

fn bot_of(plan: &BotPlan) -> Bot {
    Bot {
        name: plan.name.clone(),
        bot: plan.bot.clone(),
        hash: plan.hash.clone(),
    }
}

/// Why NEW cannot play. Fails when OLD cannot; others are left out.
fn refused(entered: &[Entrant], rejected: &[RejectedBot]) -> Result<Option<String>, Failure> {
    let of = |place: usize| {
        let name = &entered[place].plan.name;
        let found = rejected.iter().find(|bot| bot.bot.name == *name);
        found.map(|bot| bot.reason.clone())
    };
    if let Some(reason) = of(0) {
        return Ok(Some(reason));
    }
    if let Some(reason) = of(1) {
        return Err(Failure::Usage(format!(
            "{}: {reason}; compare with a version that can play",
            escape_controls(&entered[1].plan.name)
        )));
    }
    for bot in rejected {
        print_stderr(&format!(
            "referee: {} is left out of the pool: {}",
            escape_controls(&bot.bot.name),
            bot.reason
        ));
    }
    Ok(None)
}

fn refuse_another(old: &Plan, now: &Plan, directory: &TournamentDirectory) -> Result<(), Failure> {
    let mut differences = old.differences(now);
    if differences.is_empty() && old.rounds != now.rounds {
        differences.push("the pairs of games are others (--pairs, --against-old)".to_owned());
    }
    if differences.is_empty() {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{}: other games are in this folder:\n  {}\nundo these changes, or choose another folder with --out",
        shell::quoted(&directory.path().to_string_lossy()),
        differences.join("\n  ")
    )))
}

/// NEW, OLD, the pool.
pub(super) struct Bots {
    entered: Vec<Entrant>,
}

impl Bots {
    /// Bots of a folder of the pool that cannot be started are left out.
    pub(super) fn find(args: &Args, options: &Options, sandbox: &Sandbox) -> Result<Self, Failure> {
        let mut requests = Vec::new();
        for (text, place) in [(&args.new, "NEW"), (&args.old, "OLD")] {
            let text = text.as_deref().unwrap_or_default();
            let mut found = options.bots(&[text.to_owned()])?;
            match (found.pop(), found.len()) {
                (Some(one), 0) => requests.push(one),
                (_, more) => {
                    return Err(Failure::Usage(format!(
                        "{text}: it holds {} bots, and {place} is one; name its file",
                        more + 1
                    )));
                }
            }
        }
        name_versions(&mut requests)?;
        requests.extend(options.bots(&args.pool)?);
        let found = entrants::find(&requests, &this_program()?, sandbox)?;
        for rejected in &found.rejected {
            let is_of_folder = requests[2..]
                .iter()
                .any(|request| request.text == rejected.bot.bot)
                && !args.pool.contains(&rejected.bot.bot);
            if !is_of_folder {
                return Err(Failure::Usage(rejected.reason.clone()));
            }
            print_stderr(&format!(
                "referee: {} is left out of the pool: {}",
                rejected.bot.name, rejected.reason
            ));
        }
        let mut entered = found.entered;
        let versions: Vec<String> = entered[..2]
            .iter()
            .map(|bot| bot.plan.name.clone())
            .collect();
        let mut twice = Vec::new();
        for group in identical(&entered) {
            let of_versions = |name: &&str| versions.iter().any(|version| version == name);
            let (same, others): (Vec<&str>, Vec<&str>) =
                group.iter().copied().partition(of_versions);
            if same.len() == 2 {
                print_stderr(&format!(
                    "referee: warning: {} and {} are the same program, so neither is better",
                    same[0], same[1]
                ));
            }
            if same.is_empty() {
                print_stderr(&format!("referee: warning: {}", same_program(&group)));
            } else {
                twice.extend(others.into_iter().map(str::to_owned));
            }
        }
        for name in &twice {
            print_stderr(&format!(
                "referee: {name} is left out of the pool: it is one of the two versions"
            ));
        }
        entered.retain(|bot| !twice.contains(&bot.plan.name));
        warn_root(entered.iter().map(|bot| &bot.program));
        warn_large(entered.iter().map(|bot| &bot.program));
        Ok(Self { entered })
    }
}

/// Adds which is which where the names of both files are the same.
fn name_versions(requests: &mut [BotRequest]) -> Result<(), Failure> {
    let referee = this_program()?;
    let mut names = Vec::new();
    for request in requests.iter() {
        let name = match (
            &request.name,
            BotSpec::parse(&request.text, &referee, &strategy::NAMES),
        ) {
            (Some(name), _) => name.clone(),
            (None, Ok(spec)) => spec.name().to_owned(),
            // Reported when it is looked for.
            (None, Err(_)) => return Ok(()),
        };
        names.push(name);
    }
    let is_same = names.first() == names.last();
    for ((request, name), which) in requests.iter_mut().zip(names).zip(["new", "old"]) {
        request.name = Some(if is_same {
            format!("{name} ({which})")
        } else {
            name
        });
    }
    Ok(())
}

struct Watch {
    progress: Progress,
    all: bool,
    stop: Option<mpsc::Sender<()>>,
    line: ProgressLine,
    begun: Instant,
    before: u64,
}

impl Watch {
    fn new(progress: Progress, all: bool) -> Self {
        Self {
            progress,
            all,
            stop: None,
            line: ProgressLine::new(),
            begun: Instant::now(),
            before: 0,
        }
    }

    /// Returns whether no more games are needed.
    fn advance(&mut self, results: &Results) -> bool {
        self.progress.advance(&results.endings, self.all);
        if self.stop.is_none() {
            self.before = results.games;
        }
        self.is_over()
    }

    fn is_over(&self) -> bool {
        !self.all && self.progress.comparison.is_decided()
    }

    fn clear(&self) {
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
            // The second message ends current games: they do not count any more.
            let _ = stop.try_send(());
            let _ = stop.try_send(());
        }
        if self.line.is_due() {
            self.line.report(self.line(results.games));
        }
    }
}
