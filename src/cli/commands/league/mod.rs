mod decisions;
mod serve;
mod update;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Subcommand;
use jiff::Timestamp;

use self::decisions::{DeadlineArgs, DecisionArgs, SwitchArgs};
use self::update::Update;
use super::alike;
use super::tournament::{BotOptions, ChangesOption, TournamentOptions, Venue};
use crate::cli::commands::tournament::{Task, start};
use crate::cli::support::failure::{Failure, Result, bail, usage};
use crate::cli::support::output::{Stdout, note};
use crate::cli::support::runtime::with_bots;
use crate::cli::support::setup::{absolute, drawn_seed, unwritable, whole, wrong_at};
use crate::cli::support::values;
use referee::bot::shell;
use referee::class::league::example;
use referee::class::league::intake::{self, Intake};
use referee::class::league::roster::student_list;
use referee::class::league::season::LeagueDirectory;
use referee::class::league::state::{self, League, Refusal, Status, TakenIn};
use referee::class::league::switch::Switch;
use referee::class::league::zone::{Deadline, Zone};
use referee::entrants::build;
use referee::stats::schedule::knockout::Next;
use referee::text::{counted, join_parts};
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::plan::request::ScheduleRequest;
use referee::tournament::plan::{Format, Plan};

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct LeagueArgs {
    #[command(flatten)]
    update: Args,

    #[command(subcommand)]
    command: Option<LeagueCommand>,
}

#[derive(Debug, Subcommand)]
enum LeagueCommand {
    /// Let students hand in by the web
    ///
    /// Checks and plays what comes, all term; its folder is that of the league, which the other commands read.
    Serve(Box<serve::ServeArgs>),

    /// Play the tournament that decides a term
    ///
    /// With the newest versions, new openings and a seed that is announced before.
    Final(Box<FinalArgs>),

    /// Find bots that decide alike
    ///
    /// Of the versions that play now. Asks only those that it has not asked before.
    Alike(Box<alike::LeagueArgs>),

    /// Let a bot play no more
    ///
    /// Its games are kept for the case that it is brought back, and do not count.
    Withdraw(DecisionArgs),

    /// Bring a withdrawn bot back
    Restore(DecisionArgs),

    /// Have a disputed game played again
    ///
    /// Its record is kept in archive.jsonl and does not count.
    ReplayGame(DecisionArgs),

    /// Set the deadline, and play nothing
    ///
    /// It holds until another one is set, by this command, by --deadline or on the teacher's page.
    Deadline(DeadlineArgs),

    /// Take no more submissions by the web
    ///
    /// Of a class that is served: until `off`, its students cannot hand in. What --from takes in does not change.
    Freeze(SwitchArgs),

    /// Let visitors play against the bots
    ///
    /// Of a class that is served: without a link, in games that do not count.
    OpenTables(SwitchArgs),

    /// Replace the lost link of a student
    ///
    /// Prints the new one, where the class was served last. The one before opens nothing any more.
    NewLink(serve::LinkArgs),
}

pub(crate) fn run(args: &LeagueArgs) -> Result<()> {
    match &args.command {
        Some(LeagueCommand::Serve(args)) => serve::run(args),
        Some(LeagueCommand::Final(args)) => play_final(args),
        Some(LeagueCommand::Alike(args)) => alike::run_league(args),
        Some(LeagueCommand::Withdraw(args)) => decisions::decide(args, true),
        Some(LeagueCommand::Restore(args)) => decisions::decide(args, false),
        Some(LeagueCommand::ReplayGame(args)) => decisions::replay_game(args),
        Some(LeagueCommand::Deadline(args)) => decisions::set_deadline(args),
        Some(LeagueCommand::Freeze(args)) => decisions::turn(args, Switch::Frozen),
        Some(LeagueCommand::OpenTables(args)) => decisions::turn(args, Switch::OpenTables),
        Some(LeagueCommand::NewLink(args)) => serve::renew_link(args),
        None => run_update(&args.update),
    }
}

#[derive(Debug, clap::Args)]
// With --sandbox, `-h` would not fit a screen.
#[command(mut_arg("kind", |sandbox| sandbox.hide_short_help(true)))]
struct Args {
    /// The folder of the league; a new one is started where there is none
    #[arg(value_name = "DIR", required_unless_present = "example")]
    folder: Option<PathBuf>,

    /// Write an example into this folder, of a class in two weeks
    ///
    /// It has the downloads of both weeks, and the list of students
    #[arg(long, value_name = "DIR", exclusive = true, hide_short_help = true)]
    example: Option<PathBuf>,

    /// The submissions: a folder, a .zip or a .tar.gz, such as Moodle's
    ///
    /// With a folder, an archive or a program for each student or team
    #[arg(long, value_name = "SOURCE")]
    from: Option<PathBuf>,

    /// Who takes part, in CSV: name, team, email, id, submission; remembered
    ///
    /// A table with these columns, as far as they are known; it holds until another one is given
    #[arg(long, value_name = "FILE")]
    students: Option<PathBuf>,

    #[command(flatten)]
    deadline: DeadlineOptions,

    /// Play nothing: plan the games that are missing, to be played in parts by `referee shard run`
    #[arg(long, hide_short_help = true)]
    plan: bool,

    /// A TOML file with options; the command line takes precedence
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    config: Option<PathBuf>,

    #[command(flatten)]
    changes: ChangesOption,

    #[command(flatten)]
    options: TournamentOptions,
}

/// Of a league, also where it is served.
#[derive(Clone, Debug, clap::Args)]
struct DeadlineOptions {
    /// Only versions handed in by then play: 2026-01-31T18:00; remembered
    ///
    /// A time without an offset such as +01:00 is that of --zone, a date alone is that day to its end; it holds until another
    /// one is given, or none
    #[arg(long, value_name = "TIME")]
    deadline: Option<Deadline>,

    /// The zone of times that have none, as in archives: Europe/Brussels or +01:00; remembered [default: the machine's]
    #[arg(
        long,
        value_name = "ZONE",
        hide_short_help = true,
        allow_hyphen_values = true
    )]
    zone: Option<Zone>,

    /// Versions up to so long after the deadline play, too, and are marked as late: 24h; it is remembered
    #[arg(long, value_name = "TIME", value_parser = values::duration, hide_short_help = true)]
    accept_late: Option<Duration>,
}

impl DeadlineOptions {
    /// Remembers what is given, and says which instant a deadline is.
    fn remember(&self, league: &mut League) -> Result<()> {
        let before = league.deadline;
        league.set_deadline(self.zone.clone(), self.deadline, self.accept_late);
        // It is given every week.
        if league.deadline != before {
            decisions::log_deadline(league);
        }
        match league.deadline_text() {
            Some(deadline) if self.deadline.is_some() => note!("the deadline is {deadline}"),
            None if league.accept_late.is_some() => {
                bail!("--accept-late: there is no deadline; give one: --deadline TIME");
            }
            _ => {}
        }
        Ok(())
    }
}

impl Args {
    fn folder(&self) -> &Path {
        self.folder.as_deref().unwrap_or(Path::new(""))
    }
}

fn run_update(args: &Args) -> Result<()> {
    if let Some(folder) = &args.example {
        example::write(folder).map_err(|error| unwritable(folder, &error))?;
        note!("{} are in {}", example::FILES.join(", "), folder.display());
        return Ok(());
    }
    let folder = args.folder();
    check_request(args, folder)?;
    let (league, old) = kept(args, folder)?;
    let mut options = args.options.clone().or_planned(old.as_ref());
    options.changes = args.changes;
    let sandbox = options.play.sandbox.for_repositories();
    let from = args.from.as_deref();
    let zone = args.deadline.zone.clone();
    let zone = zone.or_else(|| Some(league.as_ref()?.zone()));
    let zone = zone.unwrap_or_default();
    let intake = from.map(|source| intake::read(source, &sandbox, zone));
    let intake = intake.transpose()?;
    drop(sandbox);
    let people = args
        .students
        .as_deref()
        .map(student_list::read)
        .transpose()?;
    let directory = LeagueDirectory::open(folder)?;
    // Another referee may have worked on it until now, or a killed one may have left a plan that was yet to be moved.
    let old = directory.tournament().plan()?;
    let mut league = League::read(folder)?.unwrap_or_default();
    args.deadline.remember(&mut league)?;
    remember_analysis(&mut league, &mut options);
    if let Some(people) = people {
        league.enlist(people);
    }
    if let Some(intake) = intake {
        league.receive(&intake);
        take_in(&mut league, &directory, &intake)?;
    }
    let seed = options
        .request
        .games
        .seed
        .or(old.as_ref().map(|plan| plan.seed));
    let seed = seed.unwrap_or_else(drawn_seed);
    let sandbox = options.play.sandbox.sandbox()?;
    let ruleset = options.ruleset(old.as_ref())?;
    let tournament = directory.tournament();
    let update = Update {
        folder,
        venue: Venue::new(options, ruleset, sandbox, &[], &tournament)?,
        directory: &directory,
        league,
        old,
        seed,
    };
    with_bots(update.run(args.plan))
}

/// What the folder holds: a league, or nothing yet.
fn kept(args: &Args, folder: &Path) -> Result<(Option<League>, Option<Plan>)> {
    let league = League::read(folder)?;
    let old = TournamentDirectory::at(folder).plan()?;
    if league.is_none() && old.is_some() {
        bail!(
            "{}: this folder holds a tournament and no league; choose another one",
            folder.display()
        );
    }
    if args.from.is_none() && league.as_ref().is_none_or(League::is_empty) {
        bail!(
            "{}: there is no league yet; say where submissions come from: --from FOLDER",
            folder.display()
        );
    }
    Ok((league, old))
}

/// Refuses what no league can be made of.
fn check_request(args: &Args, folder: &Path) -> Result<()> {
    if let Some(config) = &args.config
        && !BotOptions::read(Some(config))?.is_empty()
    {
        bail!(
            "{}: [[bots]] are for a tournament; in a league the bots are the submissions of --from, so leave them out",
            config.display()
        );
    }
    let shown = folder.display();
    if folder.is_file() {
        bail!(
            "{shown}: it is a file, and a league has a folder; submissions in it are taken in by --from {shown}"
        );
    }
    if let Some(source) = &args.from
        && whole(folder).starts_with(whole(source))
    {
        bail!(
            "{}: the folder of the league, {shown}, is in it and would be taken for a submission; choose one outside",
            source.display(),
        );
    }
    Ok(())
}

/// Whether games are analysed, and for how long: what was said once holds.
fn remember_analysis(league: &mut League, options: &mut TournamentOptions) {
    if options.analyse {
        league.time_per_move = options.time_per_move;
    }
    league.analyse |= options.analyse;
    options.analyse = league.analyse;
    options.time_per_move = options.time_per_move.or(league.time_per_move);
}

fn take_in(league: &mut League, directory: &LeagueDirectory, intake: &Intake) -> Result<()> {
    let mut new = 0_u64;
    for submission in &intake.submissions {
        match state::take_in(league, directory.path(), submission)? {
            TakenIn::NewVersion => new += 1,
            TakenIn::Known => {}
            TakenIn::Unusable(problem) if problem.is_for_want_of_space => {
                let (folder, name) = (directory.path().display(), &submission.name);
                return Err(Failure::Referee(format!(
                    "{folder}: no space is left here for the files of {name}; free some, then give the same command again"
                )));
            }
            TakenIn::Unusable(problem) => {
                let refusal = Refusal {
                    reason: problem.to_string(),
                    received: submission.received,
                };
                league.refuse(&submission.sender, refusal);
            }
        }
    }
    for refused in &intake.refused {
        let refusal = Refusal {
            reason: refused.reason.clone(),
            received: refused.received,
        };
        league.refuse(&refused.sender, refusal);
    }
    league.write(directory.path())?;
    for note in &intake.notes {
        note!("{note}; it is left out");
    }
    if let Some(zone) = intake.assumed_zone() {
        note!("times without a zone are taken for those of {zone}; --zone names another");
    }
    let all = intake.submissions.len() as u64;
    let all = counted(all, "submission", "submissions");
    note!("{all}, {new} of them new");
    Ok(())
}

fn open_league(folder: &Path) -> Result<(LeagueDirectory, League)> {
    open_league_for(folder, "referee league")
}

/// For this command, which another referee is told meanwhile.
fn open_league_for(folder: &Path, command: &str) -> Result<(LeagueDirectory, League)> {
    let read = || League::read(folder)?.ok_or_else(|| no_league(folder));
    read()?;
    let directory = LeagueDirectory::open_for(folder, command)?;
    Ok((directory, read()?))
}

const FOLDER: &str = "final";

const FINAL_COMMAND: &str = "referee league final";

#[derive(Debug, clap::Args)]
struct FinalArgs {
    /// The folder of the league
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Choose versions, openings and seed, and print what is to be published before the final is played
    #[arg(long)]
    announce: bool,

    /// With --announce: the versions that were handed in by then play, as --deadline of the league
    #[arg(long, value_name = "TIME", requires = "announce")]
    deadline: Option<Deadline>,

    #[command(flatten)]
    schedule: ScheduleRequest,

    #[command(flatten)]
    options: TournamentOptions,
}

fn play_final(args: &FinalArgs) -> Result<()> {
    let directory = TournamentDirectory::at(&args.folder.join(FOLDER));
    let plan = directory.plan()?;
    if args.announce {
        if plan.is_some() {
            let problem = "the final has been announced before; move this folder away to announce another one";
            return Err(wrong_at(directory.path(), problem));
        }
        return announce_final(args, &directory);
    }
    let Some(plan) = plan else {
        if League::read(&args.folder)?.is_none() {
            return Err(no_league(&args.folder));
        }
        bail!(
            "{}: its final has not been announced; first: referee league final {} --announce",
            args.folder.display(),
            TournamentDirectory::at(&args.folder).quoted()
        );
    };
    let mut options = args.options.clone();
    options.request.schedule = args.schedule.clone();
    options.out = Some(directory.path().to_owned());
    let (season, mut league) = open_league_for(&args.folder, FINAL_COMMAND)?;
    note!("{}", statement(&plan));
    if is_final_over(&season, &plan)? {
        // It prints the table once more.
        return start(&[], options, Task::Play);
    }
    league.note("begins", "final", "");
    league.write(season.path())?;
    let played = start(&[], options, Task::Play);
    decisions::log_end_of_final(&mut league, &played);
    let logged = league.write(season.path());
    played.and(logged.map_err(Failure::from))
}

/// Whether all games of the final have been played, and its table is written.
fn is_final_over(season: &LeagueDirectory, plan: &Plan) -> Result<bool> {
    let directory = TournamentDirectory::at(&season.path().join(FOLDER));
    let journal = directory.journal_file();
    if !journal.exists() {
        return Ok(false);
    }
    let results = TournamentDirectory::read_journal(&journal, plan)?;
    Ok(results.is_done(plan)
        && matches!(results.next(plan)?, None | Some(Next::Winner(_)))
        // Its table is written last.
        && directory.path().join("standings.csv").exists())
}

fn no_league(folder: &Path) -> Failure {
    let problem = "there is no league in this folder; choose the folder of one";
    wrong_at(folder, problem)
}

fn announce_final(args: &FinalArgs, directory: &TournamentDirectory) -> Result<()> {
    let shown = args.folder.display();
    let (season, mut league) = open_league_for(&args.folder, FINAL_COMMAND)?;
    let Some(of_league) = season.tournament().plan()? else {
        bail!(
            "{shown}: no games of this league have been planned; play it first: referee league {}",
            season.tournament().quoted()
        );
    };
    let mut options = args.options.clone();
    options.request.schedule = args.schedule.clone();
    let final_request = FinalRequest {
        folder: season.path(),
        league: &league,
        of_league: &of_league,
        deadline: args.deadline,
    };
    start(&[], final_request.options(options)?, Task::Announce)?;
    let plan = directory.plan()?;
    let statement = plan.as_ref().map(statement).unwrap_or_default();
    league.note("announced", "final", &statement);
    league.write(season.path())?;
    writeln!(Stdout, "{statement}")?;
    let folder = season.tournament().quoted();
    note!("publish this line; then play: referee league final {folder}");
    Ok(())
}

/// Of a league whose final is to be announced.
struct FinalRequest<'a> {
    folder: &'a Path,
    league: &'a League,
    of_league: &'a Plan,
    deadline: Option<Deadline>,
}

impl FinalRequest<'_> {
    /// These options, with the versions that play and what else is that of the league.
    fn options(&self, options: TournamentOptions) -> Result<TournamentOptions> {
        let mut options = options.or_planned(Some(self.of_league));
        options.play.game = options.play.game.or_planned(self.of_league)?;
        options.request = options.request.or_played_as(self.of_league);
        let seed = self.of_league.seed;
        if options.request.games.seed == Some(seed) {
            bail!(
                "--seed {seed}: the league has this seed, so its openings are known; choose another one, or leave it out"
            );
        }
        let schedule = &mut options.request.schedule;
        let format = schedule.format;
        let is_seeded = format.is_some_and(|format| format != Format::RoundRobin);
        let standings = self.folder.join("standings.csv");
        if is_seeded && schedule.seeds.is_none() && standings.exists() {
            schedule.seeds = Some(standings);
        }
        let zone = self.league.zone();
        let deadline = self.deadline.and_then(|deadline| deadline.last(&zone));
        let newest = newest(self.league, self.folder, deadline)?;
        options.bots.extend(newest);
        options.out = Some(self.folder.join(FOLDER));
        Ok(options)
    }
}

fn statement(plan: &Plan) -> String {
    // As announced: rounds that depend on results came later.
    let mut announced = plan.clone();
    announced.rounds = plan.first_rounds();
    let hash = announced.computed_hash().unwrap_or(announced.hash);
    format!(
        "final of {}, {}, {} a pairing, seed {}, plan {}",
        counted(plan.bots.len() as u64, "bot", "bots"),
        plan.format.in_words(),
        counted(u64::from(plan.pairs), "pair", "pairs"),
        plan.seed,
        hash
    )
}

fn newest(league: &League, folder: &Path, deadline: Option<Timestamp>) -> Result<Vec<BotOptions>> {
    let mut bots = Vec::new();
    let deadline = deadline.or_else(|| league.accepted_until());
    for bot in league.bots() {
        let name = &bot.label;
        let Some(version) = bot.playing(deadline) else {
            note!(
                "not in the final: {name}: {}",
                join_parts(
                    bot.problem_within(folder, deadline).unwrap_or_default(),
                    "\n    "
                )
            );
            continue;
        };
        if *version.status != Status::Fit {
            let folder = shell::quoted(&folder.to_string_lossy()).into_owned();
            match (deadline, league.accepted_until()) {
                // The league as it is would not check it.
                (Some(of_final), Some(until)) if version.received > until => bail!(
                    "{name}: this version came after the deadline of the league, and has not been checked; give the \
                     league that of the final, `referee league deadline {folder} {}`, and play it: `referee league {folder}`",
                    league.zone().show(of_final)
                ),
                _ => bail!(
                    "{name}: this version has not been checked yet; play the league first: `referee league {folder}`"
                ),
            }
        }
        let files = state::folder(folder, &version.key());
        let program = build::program(&files)
            .map_err(|problem| usage!("{name}: {}; {}", problem.cause, problem.fix))?;
        let directory = build::directory(&files, &program);
        bots.push(BotOptions::of_file(name, absolute(&program)?, directory));
    }
    Ok(bots)
}
