use tokio::sync::Semaphore;
use tokio::task::LocalSet;

use super::{Args, changed_settings, is_same};
use crate::cli::commands::tournament::{Venue, play, print_notice, print_plan};
use crate::cli::support::folder::title_of_folder;
use crate::cli::support::prelude::*;
use referee::arena::preparation::{Notice, identical};
use referee::checkup::Problem;
use referee::league::build::{self, BuildError};
use referee::league::log;
use referee::league::season::LeagueDirectory;
use referee::league::state::{self, Member, Status, Version, at_home, homes};
use referee::report::grades::students;
use referee::text::cut;
use referee::tournament::schedule::Round;

const NAMED: usize = 5;

const COLUMNS: usize = 120;

type Versions = BTreeMap<String, String>;

pub(super) struct Update<'a> {
    pub(super) args: &'a Args,
    pub(super) venue: Venue,
    pub(super) directory: &'a LeagueDirectory,
    pub(super) league: League,
    pub(super) old: Option<Plan>,
    pub(super) seed: u64,
}

impl Update<'_> {
    pub(super) async fn run(mut self) -> Result<()> {
        let mut stops = signals::heed();
        if self.old.is_none() {
            announce(&self.venue.sandbox);
        }
        let tournament = self.directory.tournament();
        let request = PlanRequest {
            by_version: true,
            ..self.venue.request()
        };
        tokio::select! {
            checked = self.check_new() => checked?,
            _ = stops.recv() => return Err(Failure::Interrupted),
        }
        self.check_deadline()?;
        let found = self.find(&self.playing(|_| true))?;
        let same = identical(&found.entered).into_iter();
        let same = same.map(|names| names.into_iter().map(str::to_owned).collect());
        self.league.identical = same.collect();
        self.league.write(self.directory.path())?;
        tournament.write("students.csv", &students(&self.league))?;
        let notes = log::notes(self.directory.path(), &self.league)?;
        print_notes(self.args.folder(), &notes);
        let (plan, entered) = self.plan(&request, found)?;
        let plan = self.switch(plan)?;
        if self.args.plan {
            print_plan(&plan, &tournament);
            return Ok(());
        }
        let journal_file = tournament.journal_file();
        let venue = &self.venue;
        let arena = venue.arena(&tournament, &journal_file, plan, entered)?;
        let kept = arena.results.games;
        let mut pages = self.venue.options.pages.clone();
        pages.notes = notes;
        let pages = pages.open(
            &title_of_folder(self.args.folder()),
            Some(&journal_file),
            Some(&journal_file),
            Some(self.args.folder()),
            &self.venue.sandbox.bounds(),
            &self.venue.settings.ruleset,
        )?;
        let resume = format!("continue: referee league {}", tournament.quoted());
        let results = play(arena, &self.venue.options, pages, &resume, &mut stops).await?;
        let new = counted(results.games - kept, "new game", "new games");
        Ok(writeln!(Stdout, "{new}, {kept} kept")?)
    }

    /// Of the versions that are `wanted`.
    fn playing(&self, wanted: impl Fn(&Version) -> bool) -> Versions {
        let members = self.league.members.iter();
        let playing = members.filter_map(|(name, member)| {
            let version = member.playing(self.args.deadline)?;
            wanted(version).then(|| (name.clone(), version.id.clone()))
        });
        playing.collect()
    }

    /// An unfit version gives way to the one before it.
    async fn check_new(&mut self) -> Result<()> {
        self.league.retry(build::NO_COMPILER);
        loop {
            let new = self.playing(|version| version.status == Status::New);
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
            if let Some(notice) = Notice::checked(fit.len(), new.len()) {
                print_notice(&ProgressLine::new(), notice);
            }
            for (name, id) in &new {
                let Some(member) = self.league.members.get_mut(name) else {
                    continue;
                };
                let status = if fit.iter().any(|bot| bot.plan.name == *name) {
                    Status::Fit
                } else {
                    let unfit = rejected.iter().find(|bot| bot.bot.name == *name);
                    let reason = unfit.map_or("it was not checked", |bot| &bot.reason);
                    let reason = at_home(reason, &homes(self.directory.path(), member));
                    Status::Unfit { reason }
                };
                member.set(id, &status);
            }
            self.league.write(self.directory.path())?;
        }
    }

    async fn build(&mut self, versions: &Versions) -> Result<bool> {
        let mut sources = Vec::new();
        for (name, version) in versions {
            if let Some(member) = self.league.members.get(name) {
                let folder = state::folder(self.directory.path(), member, version);
                if build::is_needed(&folder) {
                    sources.push((name, version, folder));
                }
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
                Err(BuildError::Submission(reason)) => {
                    if let Some(member) = self.league.members.get_mut(name) {
                        member.set(version, &Status::Unfit { reason });
                    }
                    has_failed = true;
                }
                Err(error @ BuildError::Io(_)) => return Err(Failure::Referee(error.to_string())),
            }
        }
        if has_failed {
            self.league.write(self.directory.path())?;
        }
        Ok(has_failed)
    }

    fn find(&self, versions: &Versions) -> Result<Entrants> {
        let (mut wanted, mut rejected) = (Vec::new(), Vec::new());
        for (name, version) in versions {
            let Some(member) = self.league.members.get(name) else {
                continue;
            };
            let folder = state::folder(self.directory.path(), member, version);
            match build::program(&folder) {
                Ok(program) => wanted.push(BotPlan {
                    directory: build::directory(&folder, &program)
                        .map(|directory| absolute(&directory))
                        .transpose()?,
                    bot: absolute(&program)?,
                    name: name.clone(),
                    limits: self.venue.options.play.time.control()?,
                    ..BotPlan::default()
                }),
                Err(problem) => {
                    let problem = Problem {
                        what: problem.cause,
                        fix: problem.fix,
                        ..Problem::default()
                    };
                    rejected.push(self.rejected(name, member, problem.to_string())?);
                }
            }
        }
        let mut found = entrants::find(&wanted, &this_program()?, &self.venue.sandbox)?;
        found.rejected.extend(rejected);
        Ok(found)
    }

    fn rejected(&self, name: &str, member: &Member, reason: String) -> Result<RejectedBot> {
        let bot = BotPlan {
            name: name.to_owned(),
            slug: member.folder.clone(),
            limits: self.venue.options.play.time.control()?,
            ..BotPlan::default()
        };
        Ok(RejectedBot { bot, reason })
    }

    fn plan(&self, request: &PlanRequest, found: Entrants) -> Result<(Plan, Vec<Entrant>)> {
        let (ruleset, old) = (&*self.venue.settings.ruleset, self.old.as_ref());
        let playing = self.playing(|_| true);
        if let Some(lost) = found.rejected.first() {
            // It was fit before: this machine lacks something.
            bail!("{}: {}", lost.bot.name, join_parts(&lost.reason, "\n    "));
        }
        let mut entered = found.entered;
        for entrant in &mut entered {
            let plan = &mut entrant.plan;
            plan.version = playing.get(&plan.name).cloned();
            if let Some(member) = self.league.members.get(&plan.name) {
                plan.slug.clone_from(&member.folder);
            }
        }
        // Older leagues go on with the same openings for all, and their bots in the order of names.
        let is_new = |round: &Round| !round.labels.is_empty() && !round.first_openings.is_empty();
        let is_old = old.is_some_and(|old| !old.rounds.iter().any(is_new));
        if !is_old {
            entered.sort_by(|a, b| a.plan.slug.cmp(&b.plan.slug));
        }
        let deadline = self.args.deadline;
        let members = self.league.members.iter();
        let absent = members.filter(|(_, member)| member.playing(deadline).is_none());
        let absent = absent.map(|(name, member)| {
            let problem = member.problem(deadline).unwrap_or_default();
            self.rejected(name, member, problem)
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
        if is_old {
            let rounds = plan.rounds.iter_mut();
            rounds.for_each(|round| round.first_openings.clear());
        }
        let changed = old.map_or_else(Vec::new, |old| changed_settings(old, &plan));
        if !changed.is_empty() {
            bail!(
                "{}: games of this league would no longer be comparable:\n  {}\nleave these options as they were, \
                 or start another league",
                self.args.folder().display(),
                changed.join("\n  ")
            );
        }
        Ok((plan, entered))
    }

    /// Refuses a deadline before all submissions.
    fn check_deadline(&self) -> Result<()> {
        let mut members = self.league.members.values();
        match self.args.deadline {
            Some(deadline) if !members.any(|member| member.newest(Some(deadline)).is_some()) => {
                Err(usage!(
                    "--deadline: nothing was handed in before {deadline:.0}; a date alone is the beginning of that \
                     day, in UTC"
                ))
            }
            _ => Ok(()),
        }
    }

    fn switch(&self, mut plan: Plan) -> Result<Plan> {
        if let Some(old) = &self.old {
            let directory = self.directory.tournament();
            if is_same(old, &plan) {
                let mut same = old.clone();
                note_places(&mut same, old, &directory, &self.league)?;
                if same != *old {
                    directory.write_plan(&mut same)?;
                }
                return Ok(same);
            }
            note_places(&mut plan, old, &directory, &self.league)?;
        }
        let (league, old) = (&self.league, self.old.as_ref());
        let kept = self.directory.change(league, old, &mut plan)?;
        let games = (2 * plan.pairs_so_far()).saturating_sub(kept as u64);
        let bots = counted(plan.bots.len() as u64, "bot", "bots");
        note!("{bots}: {games} games to play ({kept} reused)");
        Ok(plan)
    }
}

fn print_notes(folder: &Path, notes: &[[String; 3]]) {
    if notes.is_empty() {
        return;
    }
    let width = terminal_width(&io::stderr()).unwrap_or(COLUMNS);
    let mut rows = vec![["what", "who", ""].map(str::to_owned).to_vec()];
    rows.extend(notes.iter().map(|note| note.to_vec()));
    let table = aligned(&rows, &palette(&io::stderr()), &[0, 1, 2]);
    let lines = table.lines().map(|line| cut(line, width - 1) + "\n");
    let lines: String = lines.collect();
    print_stderr(&format!("{lines}  more: {}/students.csv", folder.display()));
}

fn note_places(
    new: &mut Plan,
    old: &Plan,
    directory: &TournamentDirectory,
    league: &League,
) -> Result<()> {
    let mut results = Results::new(old);
    TournamentDirectory::read_journal(&directory.journal_file(), old, &mut results)?;
    let ranking = results.ranking(old);
    let mut places = ranking.before.clone();
    if results.is_done(old) {
        let standings = results.collector.standings(&ranking)?;
        let ranks = standings.places.into_iter();
        places = ranks.map(|place| (place.name, place.rank)).collect();
    }
    for bot in &mut new.bots {
        let member = league.members.get(&bot.name).into_iter();
        let also = member.flat_map(|member| &member.also);
        let mut names = [&bot.name].into_iter().chain(also);
        bot.place_before = names.find_map(|name| places.get(name)).copied();
    }
    Ok(())
}
