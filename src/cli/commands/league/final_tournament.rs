//! `referee league final`: the tournament that decides a term.
//! It is announced first, with versions, settings and seed, which are then not chosen by the result.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::arena::directory::TournamentDirectory;
use crate::arena::plan::{Format, Plan};
use crate::bot::shell;
use crate::cli::commands::tournament::{BotOptions, Options, ScheduleOptions, Task, start};
use crate::cli::support::prelude::*;
use crate::cli::support::setup::absolute;
use crate::cli::support::values;
use crate::league::build;
use crate::league::season::LeagueDirectory;
use crate::league::state::{self, League, Status};

const FOLDER: &str = "final";

#[derive(Debug, clap::Args)]
pub(crate) struct FinalArgs {
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
    schedule: ScheduleOptions,

    #[command(flatten)]
    options: Options,
}

pub(super) fn run(args: &FinalArgs) -> Result<(), Failure> {
    let directory = TournamentDirectory::at(&final_folder(&args.folder));
    let plan = directory.plan()?;
    if args.announce {
        if plan.is_some() {
            bail!(
                "{}: the final has been announced before; move this folder away to announce another one",
                directory.path().display()
            );
        }
        return announce(args, &directory);
    }
    let Some(plan) = plan else {
        if League::read(&args.folder)?.is_none() {
            return Err(no_league(&args.folder));
        }
        let folder = args.folder.to_string_lossy();
        bail!(
            "{}: its final has not been announced; first: referee league final {} --announce",
            args.folder.display(),
            shell::quoted(&folder)
        );
    };
    let options = Options {
        out: Some(directory.path().to_owned()),
        schedule: args.schedule.clone(),
        ..args.options.clone()
    };
    note!("{}", statement(&plan));
    start(&[], options, Task::Play)
}

pub(super) fn no_league(folder: &Path) -> Failure {
    usage!(
        "{}: there is no league in this folder; choose the folder of one",
        folder.display()
    )
}

fn final_folder(league: &Path) -> PathBuf {
    league.join(FOLDER)
}

fn announce(args: &FinalArgs, directory: &TournamentDirectory) -> Result<(), Failure> {
    let shown = args.folder.display();
    let league = League::read(&args.folder)?;
    let Some(league) = league else {
        return Err(no_league(&args.folder));
    };
    let season = LeagueDirectory::open(&args.folder)?;
    let Some(of_league) = season.tournament().plan()? else {
        bail!("{shown}: no games of this league have been planned; play it first: referee league");
    };
    let mut options = args.options.clone().or_planned(&of_league)?;
    options.games.game = options.games.game.or_planned(&of_league)?;
    options.schedule = args.schedule.clone();
    if options.games.seed == Some(of_league.seed) {
        bail!(
            "--seed {}: the league has this seed, so its openings are known; choose another one, or leave it out",
            of_league.seed
        );
    }
    let format = options.schedule.format;
    let is_seeded = format.is_some_and(|format| format != Format::RoundRobin);
    let standings = season.path().join("standings.json");
    if is_seeded && options.schedule.seeds.is_none() && standings.exists() {
        options.schedule.seeds = Some(standings);
    }
    options
        .bots
        .extend(bots(&league, season.path(), args.deadline)?);
    options.out = Some(directory.path().to_owned());
    start(&[], options, Task::Announce)?;
    let plan = directory.plan()?;
    let statement = plan.as_ref().map(statement).unwrap_or_default();
    writeln!(Stdout, "{statement}")?;
    let folder = args.folder.to_string_lossy();
    note!(
        "publish this line; then play: referee league final {}",
        shell::quoted(&folder)
    );
    Ok(())
}

/// A sentence from which everything in the plan can be checked.
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

fn bots(
    league: &League,
    folder: &Path,
    deadline: Option<Timestamp>,
) -> Result<Vec<BotOptions>, Failure> {
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
