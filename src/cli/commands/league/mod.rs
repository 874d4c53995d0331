//! `referee league`: takes in submissions, plays the games that are new, and keeps a term's table.

mod decisions;
mod final_tournament;
mod update;

use std::path::{Path, PathBuf, absolute};

use clap::Subcommand;
use jiff::Timestamp;

use self::decisions::Decision;
use self::final_tournament::FinalArgs;
use self::update::Update;
use super::alike;
use super::tournament::{BotOptions, Options, Venue};
use crate::arena::directory::TournamentDirectory;
use crate::arena::plan::Plan;
use crate::cli::support::prelude::*;
use crate::cli::support::runtime::with_bots;
use crate::cli::support::values;
use crate::league::example;
use crate::league::intake::{self, Intake, people};
use crate::league::season::LeagueDirectory;
use crate::league::state::{self, League};
use crate::seed;

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
    Withdraw(Decision),

    /// Bring a withdrawn bot back
    Restore(Decision),

    /// Have a disputed game played again
    ///
    /// Its record is kept in archive.jsonl and does not count.
    ReplayGame(Decision),
}

pub(crate) fn run(args: &LeagueArgs) -> Result<(), Failure> {
    match &args.command {
        Some(LeagueCommand::Final(args)) => final_tournament::run(args),
        Some(LeagueCommand::Alike(args)) => alike::run_league(args),
        Some(LeagueCommand::Withdraw(args)) => decisions::decide(args, true),
        Some(LeagueCommand::Restore(args)) => decisions::decide(args, false),
        Some(LeagueCommand::ReplayGame(args)) => decisions::replay_game(args),
        None => run_update(&args.update),
    }
}

#[derive(Debug, clap::Args)]
struct Args {
    /// The folder of the league; a new one is started where there is none
    #[arg(value_name = "DIR", required_unless_present = "example")]
    folder: Option<PathBuf>,

    /// Write an example into this folder: the downloads of a class in two weeks, and its list of students
    #[arg(long, value_name = "DIR", exclusive = true)]
    example: Option<PathBuf>,

    /// Where submissions come from: a folder, a .zip or a .tar.gz (such as Moodle's) with a folder, an archive
    /// or a program for each student or team
    #[arg(long, value_name = "SOURCE")]
    from: Option<PathBuf>,

    /// A table in CSV of who takes part, with the columns name, team, email and id as far as these are
    /// known; it holds until another one is given
    #[arg(long, value_name = "FILE")]
    students: Option<PathBuf>,

    /// Only versions that were handed in by then play: 2026-01-31 (as the day begins, UTC) or 2026-01-31T10:00:00Z
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    deadline: Option<Timestamp>,

    /// Play nothing: plan the games that are missing, to be played in parts by `referee shard run`
    #[arg(long)]
    plan: bool,

    /// A TOML file with options; the command line takes precedence
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    options: Options,
}

impl Args {
    fn folder(&self) -> &Path {
        self.folder.as_deref().unwrap_or(Path::new(""))
    }
}

fn run_update(args: &Args) -> Result<(), Failure> {
    if let Some(folder) = &args.example {
        example::write(folder).map_err(|error| unwritable(folder, &error))?;
        note!("{} are in {}", example::FILES.join(", "), folder.display());
        return Ok(());
    }
    if let Some(config) = &args.config
        && !BotOptions::read(Some(config))?.is_empty()
    {
        bail!(
            "{}: [[bots]] are for a tournament; in a league the bots are the submissions of --from, so leave them out",
            config.display()
        );
    }
    let folder = args.folder();
    let shown = folder.display();
    if folder.is_file() {
        bail!(
            "{shown}: it is a file, and a league has a folder; submissions in it are taken in by --from {shown}"
        );
    }
    let league = League::read(folder)?;
    let old = TournamentDirectory::at(folder).plan()?;
    if league.is_none() && old.is_some() {
        bail!("{shown}: this folder holds a tournament and no league; choose another one");
    }
    let has_members = league
        .as_ref()
        .is_some_and(|league| !league.members.is_empty());
    if args.from.is_none() && !has_members {
        bail!("{shown}: there is no league yet; say where submissions come from: --from FOLDER");
    }
    if let Some(source) = &args.from
        && whole(folder).starts_with(whole(source))
    {
        bail!(
            "{}: the folder of the league, {shown}, is in it and would be taken for a submission; choose one outside",
            source.display(),
        );
    }
    let mut options = args.options.clone();
    if let Some(plan) = &old {
        // Options that are not given stay as they were.
        options = options.or_planned(plan)?;
    }
    let sandbox = options.games.sandbox.for_repositories();
    let intake = args
        .from
        .as_deref()
        .map(|source| intake::read(source, &sandbox));
    let intake = intake.transpose()?;
    drop(sandbox);
    let people = args.students.as_deref().map(people::read).transpose();
    let people = people?;
    let directory = LeagueDirectory::open(folder)?;
    let mut league = league.unwrap_or_default();
    league.deadline = args.deadline;
    if options.analyse {
        league.time_per_move = options.time_per_move;
    }
    league.analyse |= options.analyse;
    options.analyse = league.analyse;
    options.time_per_move = options.time_per_move.or(league.time_per_move);
    if let Some(people) = people {
        league.enlist(people);
    }
    if let Some(mut intake) = intake {
        let people = league.people.clone();
        people::join(&mut intake, &people, |name, id| league.called(name, id));
        take_in(&mut league, &directory, &intake)?;
    }
    let seed = options.games.seed.or(old.as_ref().map(|plan| plan.seed));
    let seed = seed.unwrap_or_else(|| {
        let drawn = seed::drawn();
        note!("seed {drawn}");
        drawn
    });
    let sandbox = options.games.sandbox.sandbox()?;
    let ruleset = options.ruleset(old.as_ref())?;
    let tournament = directory.tournament();
    let update = Update {
        args,
        venue: Venue::new(options, ruleset, sandbox, &[], &tournament)?,
        directory: &directory,
        league,
        old,
        seed,
    };
    with_bots(update.run())
}

/// Without links, as far as the path exists.
fn whole(path: &Path) -> PathBuf {
    let path = absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut known = path.ancestors();
    let real = known.find_map(|place| Some((place, place.canonicalize().ok()?)));
    match real {
        Some((place, real)) => path
            .strip_prefix(place)
            .map_or(real.clone(), |rest| real.join(rest)),
        None => path,
    }
}

fn take_in(
    league: &mut League,
    directory: &LeagueDirectory,
    intake: &Intake,
) -> Result<(), Failure> {
    let mut new = 0_u64;
    for submission in &intake.submissions {
        match state::take_in(league, directory.path(), submission)? {
            Ok(is_new) => new += u64::from(is_new),
            Err(problem) if problem.is_for_want_of_space() => {
                return Err(Failure::Referee(format!(
                    "{}: no space is left here for the files of {}; free some, then give the same command again",
                    directory.path().display(),
                    submission.name
                )));
            }
            Err(problem) => league.refuse(&submission.name, problem.to_string()),
        }
    }
    for refused in &intake.refused {
        league.refuse(&refused.name, refused.reason.clone());
    }
    league.write(directory.path())?;
    for note in &intake.notes {
        note!("{note}; it is left out");
    }
    note!(
        "{}, {new} of them new",
        counted(intake.submissions.len() as u64, "submission", "submissions")
    );
    Ok(())
}

fn is_same(old: &Plan, new: &Plan) -> bool {
    let mut bots = old.bots.iter().zip(&new.bots);
    let mut absent = old.rejected.iter().zip(&new.rejected);
    old.pairs == new.pairs
        && old.pairs_so_far() == new.pairs_so_far()
        && (old.bots.len(), old.rejected.len()) == (new.bots.len(), new.rejected.len())
        && bots.all(|(a, b)| (&a.name, &a.version) == (&b.name, &b.version))
        && absent.all(|(a, b)| (&a.bot.name, &a.reason) == (&b.bot.name, &b.reason))
}

/// A sentence for each setting in which the plans differ and on which games depend.
fn changed_settings(old: &Plan, new: &Plan) -> Vec<String> {
    let mut same_bots = new.clone();
    same_bots.bots.clone_from(&old.bots);
    same_bots.rejected.clone_from(&old.rejected);
    same_bots.pairs = old.pairs;
    same_bots.openings.clone_from(&old.openings);
    let mut changed = old.differences(&same_bots);
    let limits = |plan: &Plan| plan.bots.first().map(|bot| bot.limits);
    if let (Some(before), Some(now)) = (limits(old), limits(new))
        && before != now
    {
        changed.push("the time limits are other ones".to_owned());
    }
    changed
}
