use std::io::{self, Write as _};
use std::path::Path;
use std::rc::Rc;

use tokio::sync::Semaphore;
use tokio::task::LocalSet;
use unicode_width::UnicodeWidthStr as _;

use crate::cli::commands::tournament::{Venue, play, print_notice, print_plan};
use crate::cli::support::building::SourceBuilder;
use crate::cli::support::failure::{Failure, Result, bail, usage};
use crate::cli::support::folder::title_of_folder;
use crate::cli::support::output::{ProgressLine, Stdout, note, print_stderr};
use crate::cli::support::pages::PagesOf;
use crate::cli::support::sandbox::{announce, warn_root};
use crate::cli::support::setup::{absolute, palette, terminal_width, this_program};
use crate::cli::support::signals;
use referee::class::league::lineup::Lineup;
use referee::class::league::log;
use referee::class::league::plan_change::GAME_ACCEPTED;
use referee::class::league::season::LeagueDirectory;
use referee::class::league::state::{self, League, Status, at_home};
use referee::class::report::grades::{people, students};
use referee::entrants::build::{self, BuildError};
use referee::play::TimeControl;
use referee::report::terminal::{aligned, wrapped};
use referee::stats::standings::Absence;
use referee::text::{counted, join_parts};
use referee::tournament::checkup::{Cause, Problem};
use referee::tournament::entrants::{self, Entrant, Entrants};
use referee::tournament::plan::request::PlanRequest;
use referee::tournament::plan::{BotPlan, Plan, RejectedBot};
use referee::tournament::preparation::{PreparationNotice, identical};

const NAMED: usize = 5;

const COLUMNS: usize = 120;

/// Of the names in a row of what needs attention, and of the text beside them.
const MOST_OF_A_COLUMN: usize = 40;
const LEAST_OF_A_COLUMN: usize = 40;

pub(super) struct Update<'a> {
    /// As it was given.
    pub(super) folder: &'a Path,
    pub(super) venue: Venue,
    pub(super) directory: &'a LeagueDirectory,
    pub(super) league: League,
    pub(super) old: Option<Plan>,
    pub(super) seed: u64,
}

/// Why a version that cannot be built does not play.
pub(super) fn of_build(error: &BuildError) -> Absence {
    Absence {
        by_machine: error.is_of_machine(),
        printed: error.printed().to_vec(),
        ..Absence::new(error.to_string())
    }
}

/// A version as it enters, by the program that was found in its folder.
pub(super) fn plan_of(
    name: &str,
    folder: &Path,
    program: &Path,
    limits: TimeControl,
) -> Result<BotPlan> {
    let directory = build::directory(folder, program);
    Ok(BotPlan {
        directory: directory
            .map(|directory| absolute(&directory))
            .transpose()?,
        bot: absolute(program)?,
        name: name.to_owned(),
        limits,
        ..BotPlan::default()
    })
}

impl Update<'_> {
    /// `plans_only`: plays nothing.
    pub(super) async fn run(mut self, plans_only: bool) -> Result<()> {
        let mut stops = signals::heed();
        if self.old.is_none() {
            announce(&self.venue.sandbox);
        }
        let tournament = self.directory.tournament();
        tokio::select! {
            checked = self.check_new() => checked?,
            _ = stops.recv() => return Err(Failure::Interrupted),
        }
        self.check_deadline()?;
        let found = self.settle()?;
        print_notes(
            self.folder,
            &log::notes(self.directory.path(), &self.league)?,
        );
        let (plan, entered) = self.plan(found)?;
        // One more if the game has been changed.
        let notes = log::notes(self.directory.path(), &self.league)?;
        let plan = self.switch(plan)?;
        if plans_only {
            print_plan(&plan, &tournament);
            return Ok(());
        }
        let journal_file = tournament.journal_file();
        let venue = &self.venue;
        let arena = venue.arena(&tournament, &journal_file, plan, entered)?;
        let kept = arena.results.games;
        let mut pages = self.venue.options.pages.clone();
        pages.notes = notes;
        let of = PagesOf {
            title: &title_of_folder(self.folder),
            played: Some(&journal_file),
            records: Some(&journal_file),
            folder: Some(self.folder),
            limits: &self.venue.sandbox.bounds(),
        };
        let pages = pages.open(&of, &self.venue.settings.ruleset)?;
        let resume = format!("continue: referee league {}", tournament.quoted());
        let results = play(arena, &self.venue.options, pages, &resume, &mut stops).await?;
        let new = counted(results.games - kept, "new game", "new games");
        Ok(writeln!(Stdout, "{new}, {kept} kept")?)
    }

    /// Finds the bots that play, and writes down who plays with what.
    pub(super) fn settle(&mut self) -> Result<Entrants> {
        let tournament = self.directory.tournament();
        let found = self.find(&self.league.playing())?;
        let same = identical(&found.entered).into_iter();
        let same = same.map(|names| names.into_iter().map(str::to_owned).collect());
        self.league.identical = same.collect();
        self.league.write(self.directory.path())?;
        tournament.write("students.csv", &students(self.folder, &self.league))?;
        tournament.write("people.csv", &people(&self.league))?;
        Ok(found)
    }

    /// An unfit version gives way to the one before it.
    async fn check_new(&mut self) -> Result<()> {
        self.league.retry();
        loop {
            let new = self.league.unchecked();
            if new.is_empty() {
                return Ok(());
            }
            if self.build(&new).await? {
                continue;
            }
            let found = self.find(&new)?;
            warn_root(found.entered.iter().map(|entrant| &entrant.program));
            let (mut rejected, mut fit) = (found.rejected, found.entered);
            if !self.venue.options.request.games.no_check {
                fit = self.venue.check(fit, &mut rejected).await?;
            }
            if let Some(notice) = PreparationNotice::checked(fit.len(), new.len()) {
                print_notice(&ProgressLine::new(), notice);
            }
            for (name, version) in &new {
                let homes = self
                    .league
                    .bot(name)
                    .map(|bot| bot.homes(self.directory.path()));
                let status = if fit.iter().any(|bot| bot.plan.name == *name) {
                    Status::Fit
                } else {
                    let unfit = rejected.iter().find(|bot| bot.bot.name == *name);
                    let absence = unfit.map_or_else(
                        || Absence::new("it was not checked"),
                        |bot| bot.absence.clone(),
                    );
                    let homes = homes.unwrap_or_default();
                    Status::Unfit(absence.map(|text| at_home(text, &homes)))
                };
                self.league.set_status(version, &status);
            }
            self.league.write(self.directory.path())?;
        }
    }

    async fn build(&mut self, versions: &Lineup) -> Result<bool> {
        let mut sources = Vec::new();
        for (name, version) in versions {
            let folder = state::folder(self.directory.path(), version);
            if build::is_needed(&folder) {
                sources.push((name, version, folder));
            }
        }
        if sources.is_empty() {
            return Ok(false);
        }
        let count = sources.len() as u64;
        note!("building {}", counted(count, "submission", "submissions"));
        let sandbox = self.venue.options.play.sandbox.for_builds().sandbox()?;
        let permits = Rc::new(Semaphore::new(self.venue.settings.jobs));
        let local = LocalSet::new();
        let builds: Vec<_> = sources
            .into_iter()
            .map(|(name, version, folder)| {
                let (permits, sandbox) = (Rc::clone(&permits), sandbox.clone());
                let of = name.clone();
                let built = local.spawn_local(async move {
                    // The semaphore is never closed.
                    let _permit = permits.acquire().await;
                    build::build(&of, &folder, &sandbox).await
                });
                (name, version, built)
            })
            .collect();
        let mut has_failed = false;
        for (name, version, built) in builds {
            let built = local.run_until(built).await;
            let built = built.map_err(|error| Failure::Referee(error.to_string()))?;
            match built {
                Ok(Some(made)) if !made.is_empty() => {
                    let more = if made.len() > NAMED { " …" } else { "" };
                    let first = made[..made.len().min(NAMED)].join(", ");
                    note!("{name}: the build made {first}{more}");
                }
                Ok(_) => {}
                Err(error @ BuildError::Io(_)) => return Err(Failure::Referee(error.to_string())),
                Err(error) => {
                    let status = Status::Unfit(of_build(&error));
                    self.league.set_status(version, &status);
                    has_failed = true;
                }
            }
        }
        if has_failed {
            self.league.write(self.directory.path())?;
        }
        Ok(has_failed)
    }

    pub(super) fn find(&self, versions: &Lineup) -> Result<Entrants> {
        let (mut wanted, mut rejected) = (Vec::new(), Vec::new());
        for (name, version) in versions {
            let folder = state::folder(self.directory.path(), version);
            match build::program(&folder) {
                Ok(program) => {
                    let limits = self.venue.options.play.time.control()?;
                    wanted.push(plan_of(name, &folder, &program, limits)?);
                }
                Err(problem) => {
                    let problem = Problem::new(Cause::CannotStart, problem.cause, problem.fix);
                    rejected.push(self.rejected(name, &version.folder, problem.into())?);
                }
            }
        }
        let (builder, this) = (
            SourceBuilder(&self.venue.options.play.sandbox),
            this_program()?,
        );
        let mut found = entrants::find(&wanted, builder.finder(&this), &self.venue.sandbox)?;
        found.rejected.extend(rejected);
        Ok(found)
    }

    fn rejected(&self, name: &str, folder: &str, absence: Absence) -> Result<RejectedBot> {
        let bot = BotPlan {
            name: name.to_owned(),
            slug: folder.to_owned(),
            limits: self.venue.options.play.time.control()?,
            ..BotPlan::default()
        };
        Ok(RejectedBot { bot, absence })
    }

    pub(super) fn plan(&mut self, found: Entrants) -> Result<(Plan, Vec<Entrant>)> {
        let request = PlanRequest {
            by_version: true,
            ..self.venue.request()
        };
        let (ruleset, old) = (&*self.venue.settings.ruleset, self.old.as_ref());
        let playing = self.league.playing();
        if let Some(lost) = found.rejected.first() {
            // It was fit before: this machine lacks something.
            bail!("{}: {}", lost.bot.name, join_parts(&lost.absence, "\n    "));
        }
        let mut entered = found.entered;
        for entrant in &mut entered {
            let plan = &mut entrant.plan;
            if let Some(key) = playing.get(&plan.name) {
                plan.version = Some(key.version.clone());
                plan.slug.clone_from(&key.folder);
            }
        }
        entered.sort_by(|a, b| a.plan.slug.cmp(&b.plan.slug));
        let until = self.league.accepted_until();
        let bots = self.league.bots();
        let absent = bots.iter().filter(|bot| bot.playing(until).is_none());
        let absent = absent.map(|bot| {
            let problem = bot.problem_within(self.folder, until).unwrap_or_default();
            self.rejected(&bot.label, bot.folder(), problem)
        });
        let bots = entered.iter().map(|entrant| entrant.plan.clone()).collect();
        let absent = absent.collect::<Result<_>>()?;
        let mut plan = request.plan(ruleset, bots, absent, self.seed, old)?;
        let is_drawn = request.games.openings.is_none();
        plan.openings = match old {
            Some(old) if is_drawn && old.pairs == plan.pairs => old.openings.clone(),
            _ => request.openings(ruleset, &plan)?,
        };
        plan.rounds = plan.first_rounds();
        self.settle_game(&mut plan)?;
        Ok((plan, entered))
    }

    fn settle_game(&mut self, plan: &mut Plan) -> Result<()> {
        let Some(old) = &self.old else {
            return Ok(());
        };
        let accept = self.venue.options.changes.accept_changes;
        if self
            .directory
            .settle_game(&mut self.league, old, plan, accept)?
        {
            note!("the game has been changed, {GAME_ACCEPTED}");
        }
        Ok(())
    }

    /// Refuses a deadline before all submissions.
    fn check_deadline(&self) -> Result<()> {
        let bots = self.league.bots();
        let until = self.league.accepted_until();
        match until {
            Some(until) if !bots.iter().any(|bot| bot.newest(Some(until)).is_some()) => {
                let until = self.league.zone().show(until);
                Err(usage!("--deadline: nothing was handed in before {until}"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn switch(&self, plan: Plan) -> Result<Plan> {
        let adopted = self
            .directory
            .adopt(&self.league, self.old.as_ref(), plan)?;
        let plan = adopted.plan;
        if let Some(reused) = adopted.reused {
            let games = (2 * plan.pairs_so_far()).saturating_sub(reused as u64);
            let bots = counted(plan.bots.len() as u64, "bot", "bots");
            let games = counted(games, "game", "games");
            note!("{bots}: {games} to play ({reused} reused)");
        }
        Ok(plan)
    }
}

fn print_notes(folder: &Path, notes: &[[String; 3]]) {
    if notes.is_empty() {
        return;
    }
    let width = terminal_width(&io::stderr()).unwrap_or(COLUMNS);
    let columns = |of: fn(&[String; 3]) -> &String| notes.iter().map(move |note| of(note).width());
    let used = [
        columns(|note| &note[0]).max(),
        columns(|note| &note[1]).max(),
    ];
    // Long lists of names leave the rest a part of the width all the same.
    let used: usize = used
        .into_iter()
        .flatten()
        .map(|width| width.min(MOST_OF_A_COLUMN) + 2)
        .sum();
    let rest = width.saturating_sub(used + 1).max(LEAST_OF_A_COLUMN);
    let mut rows = vec![["what", "who", ""].map(str::to_owned).to_vec()];
    for [what, of, text] in notes {
        let of = wrapped(of, MOST_OF_A_COLUMN);
        let text = wrapped(text, rest);
        let (mut of, mut text) = (of.lines(), text.lines());
        let mut what = Some(what.as_str());
        loop {
            let row = [what.take(), of.next(), text.next()];
            if row == [None; 3] {
                break;
            }
            rows.push(row.map(|cell| cell.unwrap_or_default().to_owned()).to_vec());
        }
    }
    let table = aligned(&rows, &palette(&io::stderr()), &[0, 1, 2]);
    print_stderr(&format!("{table}  more: {}/students.csv", folder.display()));
}
