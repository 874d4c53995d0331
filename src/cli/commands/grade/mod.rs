//! `referee grade`: grades bots by what they can do against reference bots.

mod climb;
mod output;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::climb::Climb;
use crate::arena::directory::TournamentDirectory;
use crate::arena::entrants::Entrant;
use crate::arena::entrants::{self, BotRequest, Entrants};
use crate::arena::plan::{Plan, RejectedBot};
use crate::cli::commands::tournament::{Options, bots_of, jobs};
use crate::cli::support::clock::{ClockName, check_clock};
use crate::cli::support::duration::{self, MoveTime};
use crate::cli::support::failure::Failure;
use crate::cli::support::games::{self, GameArg};
use crate::cli::support::leftovers::with_bots;
use crate::cli::support::output::{Stdout, print_stderr};
use crate::cli::support::sandbox::{SandboxOptions, announce};
use crate::cli::support::setup::{RulesName, absolute, this_program, unreadable};
use crate::cli::support::unconfined::warn_root;
use crate::league::grading::scale::{self, Scale};
use crate::record::text_file;
use crate::sandbox::Sandbox;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The folder of a league or a tournament, whose bots are graded; or bots: files, folders of them, command lines
    #[arg(value_name = "DIR|BOT", required_unless_present = "print_scale")]
    bots: Vec<String>,

    /// The scale: a TOML file [default: that of --print-scale]
    #[arg(long, value_name = "FILE")]
    scale: Option<PathBuf>,

    /// Print the default scale, to begin with
    #[arg(long, exclusive = true)]
    print_scale: bool,

    /// Only the bot of this name; may be given more than once
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// Play all rungs, also after one that was not passed
    #[arg(long)]
    all: bool,

    /// The list of students, a CSV file: name, team or bot, and the columns by which Moodle knows people, such as Email
    /// address or ID number [default: that of the league]
    #[arg(long, value_name = "FILE")]
    students: Option<PathBuf>,

    /// The folder for grades and games; what was played there is not played again [default: DIR/grades, or grades]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// The game [default: that of DIR, or quarto]
    #[arg(long, value_parser = games::parser(), help_heading = "Game")]
    game: Option<GameArg>,

    /// A piece set's CSV file
    #[arg(long, value_name = "FILE", help_heading = "Game")]
    pieces: Option<PathBuf>,

    /// Which groups of cells count [default: that of DIR, or standard]
    #[arg(long, value_enum, help_heading = "Game")]
    rules: Option<RulesName>,

    /// Time for a move; none for no limit [default: that of DIR, or 10s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse_move_time, help_heading = "Time")]
    move_time: Option<MoveTime>,

    /// Time on top for the first answer of a fresh process [default: that of DIR, or 10s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Time")]
    start_time: Option<Duration>,

    /// What clocks measure: time, or processor time [default: that of DIR, or wall]
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Time")]
    clock: Option<ClockName>,

    /// Games at once [default: half as many as there are cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    #[command(flatten)]
    sandbox: SandboxOptions,
}

/// `referee grade`
pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    if args.print_scale {
        use std::io::Write as _;
        return Ok(write!(Stdout, "{}", scale::DEFAULT)?);
    }
    let (scale, base) = read_scale(args.scale.as_deref())?;
    let mut options = Options {
        game: args.game.clone(),
        pieces: args.pieces.clone(),
        rules: args.rules,
        move_time: args.move_time,
        start_time: args.start_time,
        clock: args.clock,
        jobs: args.jobs,
        sandbox: args.sandbox.clone(),
        ..Options::default()
    };
    let old = graded_tournament(&args.bots)?;
    let folder = old.as_ref().map(|_| Path::new(&args.bots[0]));
    let students = output::students(args.students.as_deref(), folder)?;
    if let Some(plan) = &old {
        options.sandbox = options.sandbox.or_planned(&plan.sandbox);
        options.time_as_planned(plan)?;
    }
    let ruleset = options.ruleset(old.as_ref())?;
    let sandbox = options.sandbox.sandbox()?;
    let requests = match &old {
        Some(plan) => bots_of(plan)?,
        None => options.bots(&args.bots)?,
    };
    let mut found = entrants::find(&requests, &this_program()?, &sandbox)?;
    refuse_missing(&found, old.as_ref())?;
    if let Some(plan) = &old {
        with_known_problems(plan, &mut found);
    }
    keep_only(&args.only, &mut found)?;
    let references = references(&scale, &base, &options, &sandbox)?;
    announce(&sandbox);
    warn_root(found.entered.iter().map(|entrant| &entrant.program));
    let out = args.out.clone().unwrap_or_else(|| match &old {
        Some(_) => Path::new(&args.bots[0]).join("grades"),
        None => PathBuf::from("grades"),
    });
    fs::create_dir_all(&out).map_err(|error| unreadable(&out, &error))?;
    let climb = Climb {
        jobs: jobs(&options, &found, &sandbox),
        options: &options,
        scale: &scale,
        ruleset,
        sandbox: &sandbox,
        references,
        out: &out,
        all: args.all,
        is_checked: old.is_some(),
    };
    let grades = with_bots(climb.grade(found))?;
    output::write(args, &scale, &out, &grades, students.as_ref())?;
    output::print(&grades)?;
    print_stderr(&format!("referee: all files are in {}", out.display()));
    Ok(())
}

/// The scale, and the folder from which its paths start.
fn read_scale(path: Option<&Path>) -> Result<(Scale, PathBuf), Failure> {
    let Some(path) = path else {
        let scale = Scale::parse(scale::DEFAULT);
        let scale = scale.map_err(|error| Failure::Referee(error.to_string()))?;
        return Ok((scale, PathBuf::new()));
    };
    let text =
        text_file::read(path, text_file::WRITTEN).map_err(|error| unreadable(path, &error))?;
    let scale = Scale::parse(&text)
        .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
    let base = path.parent().unwrap_or(Path::new(""));
    Ok((scale, base.to_owned()))
}

/// The plan of the tournament or league whose bots are graded; `None` when bots were named.
fn graded_tournament(texts: &[String]) -> Result<Option<Plan>, Failure> {
    match texts {
        [one] if Path::new(one).join("plan.json").is_file() => {
            Ok(TournamentDirectory::at(Path::new(one)).plan()?)
        }
        _ => Ok(None),
    }
}

/// A bot that is not there, or was fit before, is a mistake of the caller: nobody gets a grade for it.
fn refuse_missing(found: &Entrants, old: Option<&Plan>) -> Result<(), Failure> {
    let is_missing = |bot: &&RejectedBot| match old {
        Some(plan) => plan.bots.iter().any(|known| known.name == bot.bot.name),
        None => !Path::new(&bot.bot.bot).exists(),
    };
    match found.rejected.iter().find(is_missing) {
        None => Ok(()),
        Some(bot) => Err(Failure::Usage(bot.reason.clone())),
    }
}

/// A bot that did not enter the tournament is not graded, for the same reason.
fn with_known_problems(plan: &Plan, found: &mut Entrants) {
    let is_out = |name: &str| plan.rejected.iter().any(|known| known.bot.name == name);
    found.entered.retain(|entrant| !is_out(&entrant.plan.name));
    found
        .rejected
        .retain(|rejected| !is_out(&rejected.bot.name));
    found.rejected.extend(plan.rejected.iter().cloned());
}

/// Leaves out all bots but those of these names, if there are any.
fn keep_only(names: &[String], found: &mut Entrants) -> Result<(), Failure> {
    if names.is_empty() {
        return Ok(());
    }
    let entered = found.entered.iter().map(|entrant| &*entrant.plan.name);
    let rejected = found.rejected.iter().map(|rejected| &*rejected.bot.name);
    let all: Vec<&str> = entered.chain(rejected).collect();
    if let Some(missing) = names.iter().find(|name| !all.contains(&name.as_str())) {
        return Err(Failure::Usage(format!(
            "--only {missing}: there is no such bot; there are {}",
            all.join(", ")
        )));
    }
    found
        .entered
        .retain(|entrant| names.contains(&entrant.plan.name));
    found
        .rejected
        .retain(|rejected| names.contains(&rejected.bot.name));
    Ok(())
}

/// The reference bots, one a rung.
fn references(
    scale: &Scale,
    base: &Path,
    options: &Options,
    sandbox: &Sandbox,
) -> Result<Vec<Entrant>, Failure> {
    let mut all = Vec::new();
    for rung in &scale.rungs {
        let request = BotRequest {
            text: resolved(&rung.bot, base)?,
            name: Some(format!("rung {}", rung.name)),
            time: check_clock(options.time(None))?,
            ..BotRequest::default()
        };
        let mut found = entrants::find(&[request], &this_program()?, sandbox)?;
        match (found.entered.pop(), found.rejected.pop()) {
            (Some(entrant), _) => all.push(entrant),
            (None, problem) => {
                let reason = problem.map(|problem| problem.reason).unwrap_or_default();
                return Err(Failure::Usage(format!("rung {}: {reason}", rung.name)));
            }
        }
    }
    Ok(all)
}

/// A bot of the scale, with the files that exist relative to the scale's folder resolved against it.
fn resolved(text: &str, base: &Path) -> Result<String, Failure> {
    if text.starts_with("builtin:") {
        // No command line: its question mark is none of a shell's.
        return Ok(text.to_owned());
    }
    if base.join(text).exists() {
        return absolute(&base.join(text));
    }
    let Ok(words) = shell_words::split(text) else {
        return Ok(text.to_owned());
    };
    let words = words.into_iter().map(|word| {
        let path = base.join(&word);
        if path.is_file() {
            absolute(&path)
        } else {
            Ok(word)
        }
    });
    Ok(shell_words::join(
        words.collect::<Result<Vec<_>, Failure>>()?,
    ))
}
