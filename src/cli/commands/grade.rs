use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::tournament::{
    PlayOptions, TournamentOptions, Venue, folder_context, named_from, print_notice, tell,
    with_place, with_resume,
};
use crate::cli::support::building::SourceBuilder;
use crate::cli::support::failure::{Failure, Result, bail, usage};
use crate::cli::support::folder::{plan_in, read_text};
use crate::cli::support::output::{ProgressLine, Stdout, note};
use crate::cli::support::runtime::with_bots;
use crate::cli::support::sandbox::{announce, warn_root};
use crate::cli::support::setup::{absolute, this_program};
use crate::cli::support::signals;
use referee::bot::shell;
use referee::class::league::grading::climb::{Climb, ClimbError, ClimbNotice};
use referee::class::league::grading::scale::{self, Scale};
use referee::class::league::grading::{Grade, RungResult, RungVerdict};
use referee::class::league::roster::student_list::{BotsOfStudents, StudentList};
use referee::class::league::state::League;
use referee::class::report::grades::{self, PageCommands};
use referee::game::Ruleset;
use referee::play::setup::now;
use referee::report::html::plain;
use referee::report::markup::as_html;
use referee::sandbox::Sandbox;
use referee::text::{escape_controls, join_parts};
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::entrants::{self, Entrant, Entrants};
use referee::tournament::plan::{BotPlan, Plan, RejectedBot};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of a league or a tournament, whose bots are graded; or bots: files, folders of them, command lines
    #[arg(value_name = "DIR|BOT", required = true)]
    bots: Vec<String>,

    /// The scale: a TOML file [default: that of `referee print scale`]
    #[arg(long, value_name = "FILE")]
    scale: Option<PathBuf>,

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
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,

    #[command(flatten)]
    play: PlayOptions,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let (scale, base) = read_scale(args.scale.as_deref())?;
    let old = plan_in(&args.bots)?;
    let options = TournamentOptions {
        play: args.play.clone(),
        ..TournamentOptions::default()
    };
    let options = options.or_planned(old.as_ref());
    let folder = old.as_ref().map(|_| Path::new(&args.bots[0]));
    let league = folder.map(League::read).transpose()?.flatten();
    let list = args
        .students
        .as_deref()
        .map(StudentList::read)
        .transpose()?;
    let ruleset = options.ruleset(old.as_ref())?;
    check_references(args, &*ruleset)?;
    let game = ruleset.program().map(|source| {
        let command = shell::command_line(&source.command);
        format!(" --game {}", shell::quoted(&command))
    });
    let game = game.unwrap_or_default();
    let sandbox = options.play.sandbox.sandbox()?;
    let requests = match &old {
        Some(plan) => plan.all_bots().cloned().collect(),
        None => options.bots(&args.bots)?,
    };
    let directory = folder.map(TournamentDirectory::at);
    let folders = folder_context(directory.as_ref(), false, None)?;
    let (builder, this) = (SourceBuilder(&options.play.sandbox), this_program()?);
    let mut found = entrants::find_in(&requests, builder.finder(&this), &sandbox, &folders)?;
    refuse_missing(&found, old.as_ref())?;
    if let Some(plan) = &old {
        // A rejected bot keeps the tournament's reason.
        found.retain(|name| !plan.has_rejected(name));
        found.rejected.extend(plan.rejected.iter().cloned());
    }
    keep_only(&args.only, &mut found)?;
    let references = references(&scale, &base, &options, &sandbox)?;
    announce(&sandbox);
    warn_root(found.entered.iter().map(|entrant| &entrant.program));
    let beside = folder.unwrap_or(Path::new(""));
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| beside.join("grades"));
    let directory = TournamentDirectory::make(&out)?;
    let venue = Venue::new(options, ruleset, sandbox, &found.entered, &directory)?;
    let games = (venue.settings.clone(), venue.request());
    let climb = Climb::new(games, (&scale, references), &out).playing_all(args.all);
    let climb = match folder.zip(league.as_ref()) {
        Some((folder, league)) => climb.of_league(folder, league),
        None => climb,
    };
    let (grades, rejected) = with_bots(graded(&climb, found, old.is_some(), &out))?;
    let students = bots_of_students(list.as_ref(), league.as_ref(), &grades);
    write_grades(args, &scale, &out, &game, &grades, students.as_ref())?;
    print_grades(&grades, &rejected)?;
    note!("all files are in {}", out.display());
    check_measures(&grades)
}

/// Tells how it goes on.
async fn graded(
    climb: &Climb<'_>,
    found: Entrants,
    are_checked: bool,
    out: &Path,
) -> Result<(Vec<Grade>, Vec<RejectedBot>)> {
    let (mut stops, line) = (signals::heed(), ProgressLine::new());
    let mut notify = |notice: ClimbNotice<'_>| match notice {
        ClimbNotice::Check(notice) => print_notice(&line, notice),
        ClimbNotice::Game(plan, event) => tell(&line, plan, event),
        ClimbNotice::Rung(bot, result) => {
            line.clear();
            note!("{}: {}", escape_controls(&bot.name), result.sentence());
            if let (1.., Some(folder)) = (result.forfeits_of_reference, &result.folder) {
                note!(
                    "warning: the reference bot of the rung {} forfeited {} of these games; see {}",
                    result.rung,
                    result.forfeits_of_reference,
                    out.join(folder).display()
                );
            }
        }
    };
    let graded = climb
        .grade(found, are_checked, &mut stops, &mut notify)
        .await;
    line.clear();
    let resume = "continue: the same command again";
    graded.map_err(|error| match error {
        ClimbError::Tournament(error) => error.into(),
        ClimbError::Scale(error) => error.into(),
        ClimbError::Games(error) => with_resume(error, resume),
        ClimbError::UnfitReference { .. } => Failure::Usage(error.to_string()),
        ClimbError::CheckInterrupted => Failure::Interrupted,
        ClimbError::GamesInterrupted => {
            note!("stopped; {resume}");
            Failure::Told(130)
        }
    })
}

/// Refuses grades of which a rung could not be measured, once they are written.
fn check_measures(grades: &[Grade]) -> Result<()> {
    let rungs = grades.iter().flat_map(|grade| &grade.rungs);
    let unmeasured = rungs.filter(|rung| rung.verdict == RungVerdict::Unmeasured);
    let mut names: Vec<&str> = unmeasured.map(|rung| &*rung.rung).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return Ok(());
    }
    bail!(
        "the reference bot of {} forfeited games, so there is no verdict on this rung, and no points for it; repair that bot, \
         and grade again",
        names.join(", ")
    );
}

fn read_scale(path: Option<&Path>) -> Result<(Scale, PathBuf)> {
    let Some(path) = path else {
        return Ok((Scale::parse(scale::DEFAULT)?, PathBuf::new()));
    };
    let text = read_text(path)?;
    let scale = Scale::parse(&text).map_err(|error| usage!("{}: {error}", path.display()))?;
    let base = path.parent().unwrap_or(Path::new(""));
    Ok((scale, base.to_owned()))
}

/// Those of the default scale play the games of this program only.
fn check_references(args: &Args, ruleset: &dyn Ruleset) -> Result<()> {
    if ruleset.program().is_some() && args.scale.is_none() {
        bail!(
            "{} has no built-in reference bots; write a scale with bots of yours as references, by `referee print scale > \
             scale.toml` and another `bot` for each rung, and give it with --scale scale.toml",
            ruleset.name()
        );
    }
    Ok(())
}

/// A missing bot, or one that was fit before, is a mistake of the caller: no grades.
fn refuse_missing(found: &Entrants, old: Option<&Plan>) -> Result<()> {
    let is_missing = |bot: &&RejectedBot| match old {
        Some(plan) => plan.bots.iter().any(|known| known.name == bot.bot.name),
        None => !Path::new(&bot.bot.bot).exists(),
    };
    match found.rejected.iter().find(is_missing) {
        None => Ok(()),
        Some(bot) => {
            let missing = Failure::Usage(join_parts(&bot.absence, "\n    "));
            Err(with_place(missing, old))
        }
    }
}

/// All without names.
fn keep_only(names: &[String], found: &mut Entrants) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let all = found.names();
    if let Some(missing) = names.iter().find(|name| !all.contains(&name.as_str())) {
        let all = all.join(", ");
        bail!("--only {missing}: there is no such bot; there are {all}");
    }
    found.retain(|known| names.iter().any(|name| name == known));
    Ok(())
}

fn references(
    scale: &Scale,
    base: &Path,
    options: &TournamentOptions,
    sandbox: &Sandbox,
) -> Result<Vec<Entrant>> {
    let mut all = Vec::new();
    let base = absolute(&Path::new(".").join(base))?;
    let (builder, this) = (SourceBuilder(&options.play.sandbox), this_program()?);
    for rung in &scale.rungs {
        let bot = BotPlan {
            bot: named_from(&rung.bot, Path::new(&base)),
            name: format!("rung {}", rung.name),
            limits: options.play.time.control()?,
            ..BotPlan::default()
        };
        let found = entrants::find(&[bot], builder.finder(&this), sandbox)?;
        if let Some(problem) = found.rejected.first() {
            bail!("rung {}: {}", rung.name, join_parts(&problem.absence, "; "));
        }
        all.extend(found.entered);
    }
    Ok(all)
}

fn bots_of_students(
    list: Option<&StudentList>,
    league: Option<&League>,
    grades: &[Grade],
) -> Option<BotsOfStudents> {
    if let Some(league) = league {
        return BotsOfStudents::of_roster(&league.roster, list);
    }
    let names: Vec<&str> = grades.iter().map(|grade| &*grade.name).collect();
    Some(BotsOfStudents::of_names(list?, &names))
}

fn write_grades(
    args: &Args,
    scale: &Scale,
    out: &Path,
    game: &str,
    all: &[Grade],
    students: Option<&BotsOfStudents>,
) -> Result<()> {
    let directory = TournamentDirectory::at(out);
    directory.write("grades.csv", &grades::moodle(all, students))?;
    directory.write("grades.json", &grades::all(scale, all)?)?;
    let folder = out.to_string_lossy();
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let submission = grades::submission(variable, now());
    for grade in all {
        let own = TournamentDirectory::make(&out.join(&grade.folder))?;
        let repeat = &repeat_command(args, grade);
        let (folder, game) = (&*folder, game);
        let page = grades::page(
            scale,
            grade,
            PageCommands {
                folder,
                game,
                repeat,
            },
        );
        own.write("grade.md", &page)?;
        let (name, points, most) = (&grade.name, grade.points, grade.most_points);
        let title = format!("{name}: {points} of {most} points");
        own.write("grade.html", &plain(&title, &as_html(&page, None)))?;
        own.write("results.json", &grades::gradescope(grade)?)?;
        if let Some(submission) = &submission {
            own.write("result.json", &grades::classroom50(grade, submission)?)?;
        }
    }
    if let Some(students) = students {
        let (without, unknown) = grades::unmatched(students, all);
        let no_row = "without a row in grades.csv, as no student in the list has this bot:";
        for (what, names) in [("there is no bot of", without), (no_row, unknown)] {
            if !names.is_empty() {
                note!("warning: {what} {}", escape_controls(&names.join(", ")));
            }
        }
        for question in &students.questions {
            let bots = escape_controls(&question.bots.join(", "));
            note!(
                "warning: no row in grades.csv for {bots}: {}",
                question.text()
            );
        }
    }
    Ok(())
}

/// Grades one bot again, into another folder; does not name other students' files.
fn repeat_command(args: &Args, grade: &Grade) -> String {
    let is_own = |bot: &&String| Path::new(bot.as_str()).file_name() == Some(grade.name.as_ref());
    let own: Vec<&String> = args.bots.iter().filter(is_own).take(1).collect();
    let folders = args.bots.iter().filter(|bot| Path::new(bot).is_dir());
    let folders: Vec<&String> = folders.collect();
    let all = args.bots.iter().collect();
    let mut named = [own, folders, all].into_iter();
    let named = named.find(|named| !named.is_empty());
    let mut words = vec!["referee".to_owned(), "grade".to_owned()];
    words.extend(named.into_iter().flatten().cloned());
    if let Some(scale) = &args.scale {
        words.extend(["--scale".to_owned(), scale.to_string_lossy().into_owned()]);
    }
    words.extend(args.play.game.words());
    words.extend(["--only", &grade.name, "--out", "graded-again"].map(str::to_owned));
    shell_words::join(words)
}

/// The commands of those that were rejected are given where the teacher stands.
fn print_grades(all: &[Grade], rejected: &[RejectedBot]) -> Result<()> {
    let names = all.iter().map(|grade| escape_controls(&grade.name));
    let width = names.clone().map(|name| name.chars().count()).max();
    let width = width.unwrap_or_default();
    for (grade, name) in all.iter().zip(names) {
        let is_played = |rung: &&RungResult| rung.verdict != RungVerdict::NotPlayed;
        let played = grade.rungs.iter().filter(is_played);
        let words = played.map(|rung| format!("{}: {}", rung.rung, rung.verdict.words()));
        let words = words.collect::<Vec<_>>().join(", ");
        let late = grade.late.as_ref();
        let late = late.map(|late| format!("; {} h late, after {}", late.hours, late.deadline));
        let words = words + &late.unwrap_or_default();
        let why = rejected.iter().find(|bot| bot.bot.name == grade.name);
        let why = why.map_or(words, |bot| {
            format!("cannot play: {}", join_parts(&bot.absence, "\n    "))
        });
        let (points, most) = (grade.points, grade.most_points);
        writeln!(Stdout, "{name:width$}  {points} of {most}  {why}")?;
    }
    Ok(())
}
