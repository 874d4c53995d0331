//! `referee check BOT`: checks a bot step by step, for its author; each bot of a folder in a line, for a teacher.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::arena::entrants::{self, FolderPrograms};
use crate::bot::naming::distinct_names;
use crate::bot::spec::{BotSpec, Program};
use crate::bot::submission::OWN;
use crate::checkup::{Check, Checkup, Notice, Problem, Questions, Report, Verdict};
use crate::cli::support::failure::Failure;
use crate::cli::support::games::GameOptions;
use crate::cli::support::output::{ProgressLine, Stdout, print_stderr};
use crate::cli::support::recorded;
use crate::cli::support::runtime::examine;
use crate::cli::support::sandbox::{SandboxOptions, warn_large, warn_root};
use crate::cli::support::setup::{PiecesFile, palette, terminal_width, unwritable};
use crate::cli::support::values::{self, AnswerTimes};
use crate::executable::compiler;
use crate::league::build;
use crate::league::intake::{self, Intake};
use crate::play::TimeControl;
use crate::play::game_runner::GameRunner;
use crate::play::seat::Seat;
use crate::report::checks::{CheckedBot, as_csv};
use crate::report::terminal::{Palette, styled, wrapped};
use crate::sandbox::snapshot::{copy_file, copy_tree};
use crate::text::{counted, escape_controls, format_duration, milliseconds as ms, short_name};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// A file, a command line, or builtin:NAME; of a folder of bots, or of a download that a league takes, every one.
    /// Sources are built first, as in a league
    bot: String,

    #[command(flatten)]
    game: GameOptions,

    #[command(flatten)]
    time: AnswerTimes,

    /// Time for all checks of a bot together: a slow bot is asked fewer questions, and what is left out is
    /// named
    #[arg(long = "time", alias = "budget", value_name = "TIME", default_value = "60s", value_parser = values::positive_duration)]
    budget: Duration,

    #[command(flatten)]
    sandbox: SandboxOptions,

    /// Print a JSON object for each bot, a line each, for graders
    #[arg(long)]
    json: bool,

    /// Also write a table with a line for each bot to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let mut builds = Builds::default();
    let path = Path::new(&args.bot);
    let intake =
        intake::to_check(path, &args.sandbox.for_repositories()).map_err(Failure::Usage)?;
    let mut found = match &intake {
        Some(intake) => Some(builds.handed_in(intake)),
        None => folder_of_bots(path)?,
    };
    // Several sources may be one program.
    let of_sources = found
        .as_ref()
        .filter(|found| intake.is_none() && found.programs.is_empty());
    let one = of_sources.and_then(|_| builds.program(&args.bot, &args.sandbox).ok());
    found = found.filter(|_| one.is_none());
    let is_class = found
        .as_ref()
        .is_some_and(|found| intake.is_none() || found.programs.len() + found.unusable.len() > 1);
    let (programs, refused) = match (one, found) {
        (Some(one), _) => (vec![one], Vec::new()),
        (None, Some(found)) => bots_of(found, &args.sandbox, &mut builds)?,
        (None, None) => (vec![builds.program(&args.bot, &args.sandbox)?], Vec::new()),
    };
    let bots: Vec<BotSpec> = programs.iter().cloned().map(BotSpec::Program).collect();
    let sandboxes = args.sandbox.of_bots(&bots)?;
    let own = programs
        .iter()
        .map(|program| (program.name.as_str(), Some(program)));
    let names = distinct_names(&own.collect::<Vec<_>>());
    let examination = Examination::new(args)?;
    let palette = palette(&io::stdout());
    let mut checked = Vec::new();
    let mut note = |name: String, command: Option<&[String]>, report: Result<Report, String>| {
        let bot = CheckedBot { name, report };
        let shown = match &bot.report {
            _ if args.json => format!("{}\n", as_json(&bot, command)),
            Ok(report) if !is_class => summary(&bot.name, report, args.budget, &palette),
            _ => text_line(&bot, &palette),
        };
        checked.push(bot);
        Stdout.write_all(builds.own(&shown).as_bytes())
    };
    for (name, why) in refused {
        note(name, None, Err(why))?;
    }
    for (index, name) in names.into_iter().enumerate() {
        let others: Vec<&Program> = programs
            .iter()
            .enumerate()
            .filter_map(|(other, program)| (other != index).then_some(program))
            .collect();
        let mut program = match sandboxes.confine_one(&programs[index], &others) {
            Err(error) if is_class => {
                note(name, None, Err(error.to_string()))?;
                continue;
            }
            confined => confined?,
        };
        program.name.clone_from(&name);
        if index == 0 {
            warn_root([&program].into_iter());
        }
        warn_large([&program].into_iter());
        let which = is_class.then(|| {
            let (number, of) = (index + 1, programs.len());
            format!("checking {number} of {of}: {}", escape_controls(&name))
        });
        let mut told: Vec<Problem> = Vec::new();
        let report = examination.run(&program, which.as_deref(), &mut |check| {
            let is_told = |problem: &Problem| told.iter().any(|other| other.is_like(problem));
            let is_told = check.verdict == Verdict::Skipped || check.problem().is_some_and(is_told);
            if !is_class && !args.json && !is_told {
                // A closed stdout must not change the exit status.
                let _ = Stdout.write_all(builds.own(&line(check, &palette)).as_bytes());
            }
            told.extend(check.problem().cloned());
        })?;
        note(name, Some(&program.command), Ok(report))?;
    }
    if let Some(path) = &args.csv {
        fs::write(path, builds.own(&as_csv(&checked))).map_err(|error| unwritable(path, &error))?;
    }
    let fit = checked.iter().filter(|bot| bot.is_fit()).count();
    if is_class && !args.json {
        let conclusion = format!("{fit} of {} pass the entry check.", checked.len());
        writeln!(Stdout, "{}", styled(palette.heading, &conclusion))?;
    }
    if fit == checked.len() {
        Ok(())
    } else {
        Err(Failure::Unfit)
    }
}

/// Whether the bot is fit, what was left out, and the problem to fix first.
fn summary(name: &str, report: &Report, budget: Duration, palette: &Palette) -> String {
    let mut text = String::new();
    let left_out = report.left_out();
    if !left_out.is_empty() {
        text = format!(
            "Left out, as {} were over: {}; --time gives more.\n",
            format_duration(budget),
            left_out.join(", ")
        );
    }
    if report.is_fit() {
        let conclusion = format!("{name} passes the entry check.");
        return format!("{text}{}\n", styled(palette.heading, &conclusion));
    }
    let conclusion = format!("{name} fails the entry check.");
    let _ = writeln!(text, "{}", styled(palette.heading, &conclusion));
    if let Some((check, problem)) = report.first_problem() {
        let first = styled(palette.heading, &format!("Fix first: {}.", check.name));
        let _ = write!(text, "{first}\n{}", fix(problem));
    }
    let (faults, more) = report.faults();
    if more > 0 {
        let same = if faults == 1 { "fault" } else { "faults" };
        let more = counted(more, "more check", "more checks");
        let _ = writeln!(text, "The same {same} in {more}.");
    }
    let checks = report.checks.iter();
    let skipped = checks.filter(|check| check.verdict == Verdict::Skipped);
    match skipped.count() as u64 {
        0 => text,
        count => {
            text + &format!(
                "{} until then.\n",
                counted(count, "check is not made", "checks are not made")
            )
        }
    }
}

/// On lines of their own.
fn fix(problem: &Problem) -> String {
    let again = problem
        .again
        .as_ref()
        .map_or_else(String::new, |again| format!("    see it again: {again}\n"));
    format!("    fix: {}\n{again}", problem.fix)
}

const LEFT_OUT: &str = "left out for want of time";

/// With the fix below it, if it is advice: what to fix first is said in the end.
fn line(check: &Check, palette: &Palette) -> String {
    let (mark, style, text) = match &check.verdict {
        Verdict::Good(text) => ("✓", palette.good, text.clone()),
        Verdict::Bad(problem) if check.required => ("✗", palette.problem, problem.sentence()),
        Verdict::Bad(problem) => ("!", palette.faint, problem.sentence()),
        Verdict::Skipped => ("-", palette.faint, "not checked".to_owned()),
        Verdict::LeftOut => ("-", palette.faint, LEFT_OUT.to_owned()),
    };
    let problem = check.problem().filter(|_| !check.required);
    let advice = problem.map_or("", |_| " (advice)");
    let text = if text.is_empty() {
        String::new()
    } else {
        format!(": {}", escape_controls(&text))
    };
    let fix = problem.map_or_else(String::new, fix);
    let mut said = format!("{}{advice}{text}", check.name);
    if let Some(width) = terminal_width(&io::stdout()) {
        said = wrapped(&said, width.saturating_sub(4)).replace('\n', "\n    ");
    }
    format!("{} {said}\n{fix}", styled(style, mark))
}

/// `command`: how the bot is started.
fn as_json(bot: &CheckedBot, command: Option<&[String]>) -> Value {
    let none = Report::default();
    let report = bot.report.as_ref().unwrap_or(&none);
    let checks: Vec<Value> = report
        .checks
        .iter()
        .map(|check| {
            let (ok, detail) = match &check.verdict {
                Verdict::Good(text) => (Some(true), Some(text.clone())),
                Verdict::Bad(problem) => (Some(false), Some(problem.sentence())),
                Verdict::Skipped => (None, None),
                Verdict::LeftOut => (None, Some(LEFT_OUT.to_owned())),
            };
            let problem = check.problem();
            json!({
                "name": check.name,
                "ok": ok,
                "required": check.required,
                "detail": detail,
                "fix": problem.map(|problem| &problem.fix),
                "reproduce": problem.and_then(|problem| problem.again.as_ref()),
            })
        })
        .collect();
    let times = report.times.map(
        |times| json!({"median": ms(times.median), "p99": ms(times.p99), "worst": ms(times.worst)}),
    );
    let mut json = json!({
        "bot": bot.name,
        "command": command,
        "fit": bot.is_fit(),
        "fix_first": report.first_problem().map(|(check, problem)| json!({
            "check": check.name,
            "detail": problem.sentence(),
            "fix": problem.fix,
            "reproduce": problem.again,
        })),
        "left_out": report.left_out(),
        "checks": checks,
        "times_ms": times,
    });
    if let Err(why) = &bot.report {
        json["refused"] = why.as_str().into();
    }
    json
}

struct Examination {
    runner: Rc<GameRunner>,
    questions: Arc<Questions>,
    pieces: Option<PiecesFile>,
    time: TimeControl,
    budget: Duration,
}

impl Examination {
    fn new(args: &Args) -> Result<Self, Failure> {
        let ruleset = args.game.ruleset()?;
        Ok(Self {
            pieces: args.game.pieces_file(&*ruleset)?,
            runner: Rc::new(GameRunner::new(ruleset, false)?),
            questions: Arc::default(),
            time: args.time.control()?,
            budget: args.budget,
        })
    }

    /// Shows each check when it is made. `which`: the bot, if there are others.
    fn run(
        &self,
        program: &Program,
        which: Option<&str>,
        show: &mut dyn FnMut(&Check),
    ) -> Result<Report, Failure> {
        let line = ProgressLine::new();
        line.show(format!("  {}", which.unwrap_or_default()));
        let mut notify = |notice: Notice<'_>| match notice {
            Notice::Checked(check) => line.suspend(|| show(check)),
            Notice::Asking { check, done, of } => {
                if of == 1 || line.is_due() {
                    line.show(format!("  {}", message(which, check, done, of)));
                }
            }
        };
        let pieces = self.pieces.as_ref().map(PiecesFile::path);
        let seat = Seat::program(self.runner.ruleset(), pieces, program.clone(), self.time);
        let questions = Arc::clone(&self.questions);
        let checkup = Checkup::new(&self.runner, seat, self.budget, questions, &mut notify);
        examine(async { Ok(checkup.run().await?) })
    }
}

fn message(which: Option<&str>, check: &str, done: usize, of: usize) -> String {
    let which = which.map_or_else(String::new, |which| format!("{which}: "));
    if of == 1 {
        format!("{which}{check} …")
    } else {
        format!("{which}{check}: {done} of {of} …")
    }
}

/// As a tournament takes them; `None` when the path is one bot.
fn folder_of_bots(path: &Path) -> Result<Option<FolderPrograms>, Failure> {
    if !path.is_dir() || path.join(OWN).is_file() {
        return Ok(None);
    }
    let found = entrants::programs(path)?;
    // One program in a folder of a folder is a class of one.
    let own = |(text, _): &(String, Option<String>)| {
        let file = Path::new(text);
        file.parent() == Some(path) && !file.is_dir()
    };
    let count = found.programs.len();
    let is_one = count == 1 || count == 0 && found.refused.len() == 1;
    let is_one = is_one && found.programs.iter().chain(&found.refused).all(own);
    Ok((!is_one).then_some(found))
}

/// Programs that are built from sources, as in a league.
#[derive(Default)]
struct Builds {
    places: Vec<TempDir>,
    /// Their paths, and what their authors would call them.
    names: Vec<(String, String)>,
}

impl Builds {
    /// What a league would take in.
    fn handed_in(&mut self, intake: &Intake) -> FolderPrograms {
        let newest = intake.submissions.iter().filter(|one| one.is_newest);
        let programs = newest.map(|one| {
            let folder = one.folder.to_string_lossy().into_owned();
            self.names.push((format!("{folder}/"), "./".to_owned()));
            (folder, Some(one.name.clone()))
        });
        let refused = intake.refused.iter();
        FolderPrograms {
            programs: programs.collect(),
            unusable: refused
                .map(|one| (one.name.clone(), one.reason.clone()))
                .collect(),
            ..FolderPrograms::default()
        }
    }

    fn own(&self, text: &str) -> String {
        let names = self.names.iter();
        names.fold(text.to_owned(), |text, (built, own)| {
            text.replace(built, own)
        })
    }

    /// Built from a copy if it cannot be started as it is.
    fn program(&mut self, text: &str, options: &SandboxOptions) -> Result<Program, Failure> {
        let path = Path::new(text);
        let mut as_it_is = recorded::program(text, "checked");
        if let (Ok(program), Ok(file)) = (&mut as_it_is, build::program(path)) {
            program.directory = build::directory(path, &file);
        }
        // As in a league, where a source that could be interpreted is built, too.
        if !path.exists() || as_it_is.is_ok() && !(path.is_dir() && build::is_needed(path)) {
            return as_it_is;
        }
        let source = path.canonicalize()?;
        let name = source.file_name().unwrap_or_default().to_string_lossy();
        let place = tempfile::tempdir()?;
        let copy = place.path();
        let own = if source.is_dir() {
            copy_tree(&name, &source, copy)?;
            Path::new(text).join("bot")
        } else if compiler::of_file(&source).is_some() {
            copy_file(&name, &source, copy, &name)?;
            Path::new(".").join(text).with_extension("")
        } else {
            return as_it_is;
        };
        let sandbox = options.for_builds().sandbox()?;
        let built = examine(async { Ok(build::build(&name, copy, &sandbox).await) })?;
        let refused = |error| format!("cannot start {}: {error}", escape_controls(text));
        if built
            .map_err(|error| Failure::Usage(refused(error)))?
            .is_none()
        {
            return as_it_is;
        }
        let file = build::program(copy)?;
        let built = file.to_string_lossy().into_owned();
        let mut program = recorded::program(&built, "checked")?;
        program.directory = build::directory(copy, &file);
        self.names.push((built, own.to_string_lossy().into_owned()));
        self.places.push(place);
        Ok(Program {
            name: short_name(&name),
            ..program
        })
    }
}

type Refused = Vec<(String, String)>;

/// The programs, and those that cannot be started: names, and why.
fn bots_of(
    found: FolderPrograms,
    options: &SandboxOptions,
    builds: &mut Builds,
) -> Result<(Vec<Program>, Refused), Failure> {
    if !found.others.is_empty() {
        print_stderr(&format!(
            "referee: not checked, as these are not programs: {}",
            found.others.join(", ")
        ));
    }
    let (mut programs, mut refused) = (Vec::new(), found.unusable);
    for (text, name) in found.programs.into_iter().chain(found.refused) {
        match builds.program(&text, options) {
            Ok(mut program) => {
                program.name = name.unwrap_or(program.name);
                programs.push(program);
            }
            Err(Failure::Usage(why)) => {
                let file = Path::new(&text).file_name().unwrap_or_default();
                let name = name.unwrap_or_else(|| escape_controls(&file.to_string_lossy()));
                let about = format!("cannot start {}: ", escape_controls(&text));
                let why = why.strip_prefix(&about).map_or(why.clone(), str::to_owned);
                refused.push((name, why));
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok((programs, refused))
}

/// With what to fix first below it.
fn text_line(bot: &CheckedBot, palette: &Palette) -> String {
    let name = &bot.name;
    let bad = |what: &str| {
        format!(
            "{} {name}: {}\n",
            styled(palette.problem, "✗"),
            escape_controls(what)
        )
    };
    match &bot.report {
        Err(why) => bad(why),
        Ok(report) if report.is_fit() => {
            let left_out = report.left_out();
            let left_out = if left_out.is_empty() {
                String::new()
            } else {
                format!(" (left out for want of time: {})", left_out.join(", "))
            };
            format!("{} {name}: fit{left_out}\n", styled(palette.good, "✓"))
        }
        Ok(report) => report
            .first_problem()
            .map_or_else(String::new, |(check, problem)| {
                bad(&format!("{}: {}", check.name, problem.sentence())) + &fix(problem)
            }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_of_a_class_names_the_bot() {
        let which = Some("checking 5 of 10: eve");
        assert_eq!(
            message(which, "answers the opening", 0, 1),
            "checking 5 of 10: eve: answers the opening …"
        );
        assert_eq!(
            message(None, "random positions", 7, 200),
            "random positions: 7 of 200 …"
        );
    }
}
