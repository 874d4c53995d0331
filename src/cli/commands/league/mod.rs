mod update;

use clap::Subcommand;
use jiff::Timestamp;

use self::update::Update;
use super::alike;
use super::tournament::{BotOptions, Options, Venue};
use crate::cli::commands::tournament::{Task, start};
use crate::cli::support::prelude::*;
use crate::cli::support::setup::{drawn_seed, whole};
use referee::arena::plan::Format;
use referee::league::intake::{self, Intake, people};
use referee::league::season::LeagueDirectory;
use referee::league::state::{self, Status};
use referee::league::{archive, build, example};

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

pub(crate) fn run(args: &LeagueArgs) -> Result<()> {
    match &args.command {
        Some(LeagueCommand::Final(args)) => play_final(args),
        Some(LeagueCommand::Alike(args)) => alike::run_league(args),
        Some(LeagueCommand::Withdraw(args)) => decide(args, true),
        Some(LeagueCommand::Restore(args)) => decide(args, false),
        Some(LeagueCommand::ReplayGame(args)) => replay_game(args),
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

fn run_update(args: &Args) -> Result<()> {
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
    let is_empty = |league: &League| league.members.is_empty();
    if args.from.is_none() && league.as_ref().is_none_or(is_empty) {
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
        options = options.or_planned(plan);
    }
    let sandbox = options.play.sandbox.for_repositories();
    let from = args.from.as_deref();
    let intake = from.map(|source| intake::read(source, &sandbox));
    let intake = intake.transpose()?;
    drop(sandbox);
    let people = args.students.as_deref().map(people::read).transpose()?;
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
        args,
        venue: Venue::new(options, ruleset, sandbox, &[], &tournament)?,
        directory: &directory,
        league,
        old,
        seed,
    };
    with_bots(update.run())
}

fn take_in(league: &mut League, directory: &LeagueDirectory, intake: &Intake) -> Result<()> {
    let mut new = 0_u64;
    for submission in &intake.submissions {
        match state::take_in(league, directory.path(), submission)? {
            Ok(is_new) => new += u64::from(is_new),
            Err(problem) if problem.is_for_want_of_space() => {
                let (folder, name) = (directory.path().display(), &submission.name);
                return Err(Failure::Referee(format!(
                    "{folder}: no space is left here for the files of {name}; free some, then give the same command again"
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
    let all = intake.submissions.len() as u64;
    let all = counted(all, "submission", "submissions");
    note!("{all}, {new} of them new");
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

#[derive(Debug, clap::Args)]
struct Decision {
    /// The folder of the league
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// The bot, as in the table, or its student; or the game's id, such as p12345678001a
    #[arg(value_name = "NAME|GAME")]
    of: String,

    /// The reason, for the league's log and tables
    #[arg(long, value_name = "TEXT", default_value = "by the teacher")]
    why: String,
}

fn open_league(folder: &Path) -> Result<(LeagueDirectory, League)> {
    let league = League::read(folder)?.ok_or_else(|| no_league(folder))?;
    Ok((LeagueDirectory::open(folder)?, league))
}

fn decide(args: &Decision, withdraws: bool) -> Result<()> {
    let (directory, mut league) = open_league(&args.folder)?;
    let given = &args.of;
    let of_student = people::bot_of(&league.people, given, None);
    let of_student = of_student.filter(|_| !league.members.contains_key(given));
    let name = of_student.unwrap_or_else(|| given.clone());
    let Some(member) = league.members.get_mut(&name) else {
        bail!("{given}: there is no such bot in this league");
    };
    member.withdrawn = withdraws.then(|| args.why.clone());
    let action = if withdraws { "withdrawn" } else { "restored" };
    league.note(action, &name, &args.why);
    league.write(directory.path())?;
    let folder = directory.tournament().quoted();
    note!("{name} is {action}; now: referee league {folder}");
    Ok(())
}

/// The game's record no longer counts, and is kept in the archive.
fn replay_game(args: &Decision) -> Result<()> {
    let (directory, mut league) = open_league(&args.folder)?;
    let tournament = directory.tournament();
    let games = tournament.journal_file();
    let Some(mut plan) = tournament.plan()? else {
        return Err(no_league(&args.folder));
    };
    let record = game_of(&games, &args.of)?;
    let [a, b] = record.bots.each_ref().map(|bot| bot.name.clone());
    archive::make_void(directory.path(), record, &args.why)?;
    let game = format!("{} ({a} and {b})", args.of);
    league.note("played again", &game, &args.why);
    league.write(directory.path())?;
    let old = plan.clone();
    directory.change(&league, Some(&old), &mut plan)?;
    let (game, folder) = (&args.of, tournament.quoted());
    note!("game {game} of {a} and {b} is to be played again; now: referee league {folder}");
    Ok(())
}

fn game_of(games: &Path, id: &str) -> Result<Record> {
    for record in Records::open(games)? {
        let (_, record) = record?;
        if record.id == id && record.was_played() {
            return Ok(record);
        }
    }
    Err(usage!(
        "{id}: no game of the league's table has this id; the page and games.jsonl show the ids"
    ))
}

const FOLDER: &str = "final";

#[derive(Debug, clap::Args)]
struct FinalArgs {
    /// The folder of the league
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Choose versions, openings and seed, and print what is to be published before the final is played
    #[arg(long)]
    announce: bool,

    /// With --announce: the versions that were handed in by then play: 2026-01-31 (as the day begins, UTC) or
    /// 2026-01-31T10:00:00Z
    #[arg(long, value_name = "TIME", value_parser = values::time, requires = "announce")]
    deadline: Option<Timestamp>,

    #[command(flatten)]
    schedule: ScheduleRequest,

    #[command(flatten)]
    options: Options,
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
    note!("{}", statement(&plan));
    start(&[], options, Task::Play)
}

fn no_league(folder: &Path) -> Failure {
    let problem = "there is no league in this folder; choose the folder of one";
    wrong_at(folder, problem)
}

fn announce_final(args: &FinalArgs, directory: &TournamentDirectory) -> Result<()> {
    let shown = args.folder.display();
    let (season, league) = open_league(&args.folder)?;
    let Some(of_league) = season.tournament().plan()? else {
        bail!("{shown}: no games of this league have been planned; play it first: referee league");
    };
    let mut options = args.options.clone().or_planned(&of_league);
    options.play.game = options.play.game.or_planned(&of_league)?;
    options.request.schedule = args.schedule.clone();
    if options.request.games.seed == Some(of_league.seed) {
        bail!(
            "--seed {}: the league has this seed, so its openings are known; choose another one, or leave it out",
            of_league.seed
        );
    }
    let schedule = &mut options.request.schedule;
    let format = schedule.format;
    let is_seeded = format.is_some_and(|format| format != Format::RoundRobin);
    let standings = season.path().join("standings.csv");
    if is_seeded && schedule.seeds.is_none() && standings.exists() {
        schedule.seeds = Some(standings);
    }
    let newest = newest(&league, season.path(), args.deadline)?;
    options.bots.extend(newest);
    options.out = Some(directory.path().to_owned());
    start(&[], options, Task::Announce)?;
    let plan = directory.plan()?;
    let statement = plan.as_ref().map(statement).unwrap_or_default();
    writeln!(Stdout, "{statement}")?;
    let folder = season.tournament().quoted();
    note!("publish this line; then play: referee league final {folder}");
    Ok(())
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
    for (name, member) in &league.members {
        let Some(version) = member.playing(deadline) else {
            note!(
                "not in the final: {name}: {}",
                join_parts(&member.problem(deadline).unwrap_or_default(), "\n    ")
            );
            continue;
        };
        if version.status != Status::Fit {
            bail!(
                "{name}: this version has not been checked yet; play the league first: referee league {}",
                shell::quoted(&folder.to_string_lossy())
            );
        }
        let files = state::folder(folder, member, &version.id);
        let program = build::program(&files)
            .map_err(|problem| usage!("{name}: {}; {}", problem.cause, problem.fix))?;
        let directory = build::directory(&files, &program);
        bots.push(BotOptions::of_file(name, absolute(&program)?, directory));
    }
    Ok(bots)
}
