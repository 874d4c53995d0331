use tempfile::TempDir;

use crate::cli::support::prelude::*;
use crate::cli::support::setup::{palette, unwritable};
use referee::arena::entrants::FolderPrograms;
use referee::bot::naming::distinct_names;
use referee::bot::submission::OWN;
use referee::checkup::{Check, Checkup, Notice, Problem, Report, Verdict};
use referee::executable::interpreter::compiling;
use referee::league::build;
use referee::league::intake::{self, Intake};
use referee::report::checks::{CheckedBot, as_csv};
use referee::report::terminal::{styled, wrapped};
use referee::sandbox::snapshot::{copy_file, copy_tree};
use referee::text::{format_duration, milliseconds as ms};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
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

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut builds = Builds::default();
    let path = Path::new(&args.bot);
    let intake = intake::to_check(path, &args.sandbox.for_repositories())?;
    let found = match &intake {
        Some(intake) => Some(builds.handed_in(intake)),
        None => folder_of_bots(path)?,
    };
    let has_programs = |found: &FolderPrograms| intake.is_some() || !found.programs.is_empty();
    let of_several = |found: &FolderPrograms| found.programs.len() + found.unusable.len() > 1;
    let is_one = !found.as_ref().is_some_and(has_programs);
    let one = is_one.then(|| builds.program(&args.bot, &args.sandbox));
    let (programs, refused, is_class) = match (one, found) {
        // Several sources may be one program.
        (Some(Ok(program)), _) => (vec![program], Vec::new(), false),
        (one, None) => (one.into_iter().collect::<Result<_>>()?, Vec::new(), false),
        (_, Some(found)) => {
            let is_class = intake.is_none() || of_several(&found);
            let (programs, refused) = bots_of(found, &args.sandbox, &mut builds)?;
            (programs, refused, is_class)
        }
    };
    let confined = args.sandbox.of_bots(&programs)?;
    let own = programs.iter();
    let own = own.map(|program| (program.name.as_str(), Some(program)));
    let names = distinct_names(&own.collect::<Vec<_>>());
    let ruleset = args.game.ruleset()?;
    let pieces = args.game.pieces_file(&*ruleset)?;
    let runner = Rc::new(GameRunner::new(Arc::clone(&ruleset), false)?);
    let (time, asked) = (args.time.control()?, Arc::default());
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
        let mut program = match confined(index) {
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
        let which = which.as_deref();
        let bar = ProgressLine::new();
        bar.show(format!("  {}", which.unwrap_or_default()));
        let mut told: Vec<Problem> = Vec::new();
        let mut notify = |notice: Notice<'_>| match notice {
            Notice::Checked(check) => {
                let is_told = |problem: &Problem| told.iter().any(|other| other.is_like(problem));
                let is_told =
                    check.verdict == Verdict::Skipped || check.problem().is_some_and(is_told);
                if !is_class && !args.json && !is_told {
                    // A closed stdout must not change the exit status.
                    let text = builds.own(&line(check, &palette));
                    let _ = bar.suspend(|| Stdout.write_all(text.as_bytes()));
                }
                told.extend(check.problem().cloned());
            }
            Notice::Asking { check, done, of } => {
                if of == 1 || bar.is_due() {
                    bar.show(format!("  {}", message(which, check, done, of)));
                }
            }
        };
        let seat = Seat::program(&*ruleset, pieces.path(), program.clone(), time);
        let checkup = Checkup::new(&runner, seat, args.budget, Arc::clone(&asked), &mut notify);
        let report = examine(async { Ok(checkup.run(false).await?) })?;
        drop(bar);
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
    if fit < checked.len() {
        return Err(WRONG);
    }
    Ok(())
}

fn summary(name: &str, report: &Report, budget: Duration, palette: &Palette) -> String {
    let mut text = String::new();
    let left_out = report.left_out();
    if !left_out.is_empty() {
        let (time, left_out) = (format_duration(budget), left_out.join(", "));
        text = format!("Left out, as {time} were over: {left_out}; --time gives more.\n");
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
    let is_skipped = |check: &&Check| check.verdict == Verdict::Skipped;
    let skipped = report.checks.iter().filter(is_skipped).count();
    if skipped > 0 {
        let checks = counted(skipped as u64, "check is not made", "checks are not made");
        let _ = writeln!(text, "{checks} until then.");
    }
    text
}

fn fix(problem: &Problem) -> String {
    let mut text = format!("    fix: {}\n", problem.fix);
    if let Some(again) = &problem.again {
        let _ = writeln!(text, "    see it again: {again}");
    }
    text
}

const LEFT_OUT: &str = "left out for want of time";

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
    let gap = if text.is_empty() { "" } else { ": " };
    let text = format!("{gap}{}", escape_controls(&text));
    let fix = problem.map_or_else(String::new, fix);
    let mut said = format!("{}{advice}{text}", check.name);
    if let Some(width) = terminal_width(&io::stdout()) {
        said = wrapped(&said, width.saturating_sub(4)).replace('\n', "\n    ");
    }
    format!("{} {said}\n{fix}", styled(style, mark))
}

/// `command`: how the bot is started.
fn as_json(bot: &CheckedBot, command: Option<&[String]>) -> Json {
    let none = Report::default();
    let report = bot.report.as_ref().unwrap_or(&none);
    let checks: Vec<Json> = report
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

fn message(which: Option<&str>, check: &str, done: usize, of: usize) -> String {
    let which = which.map_or_else(String::new, |which| format!("{which}: "));
    if of == 1 {
        format!("{which}{check} …")
    } else {
        format!("{which}{check}: {done} of {of} …")
    }
}

fn folder_of_bots(path: &Path) -> Result<Option<FolderPrograms>> {
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

#[derive(Default)]
struct Builds {
    places: Vec<TempDir>,
    names: Vec<(String, String)>,
}

impl Builds {
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
    fn program(&mut self, text: &str, options: &SandboxOptions) -> Result<Program> {
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
        } else if compiling(&source.to_string_lossy()).is_some() {
            copy_file(&name, &source, copy, &name)?;
            Path::new(".").join(text).with_extension("")
        } else {
            return as_it_is;
        };
        let sandbox = options.for_builds().sandbox()?;
        let built = examine(async { Ok(build::build(&name, copy, &sandbox).await) })?;
        let refused = |error| format!("cannot start {}: {error}", escape_controls(text));
        if built.map_err(refused)?.is_none() {
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

fn bots_of(
    found: FolderPrograms,
    options: &SandboxOptions,
    builds: &mut Builds,
) -> Result<(Vec<Program>, Refused)> {
    if !found.others.is_empty() {
        note!(
            "not checked, as these are not programs: {}",
            found.others.join(", ")
        );
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

fn text_line(bot: &CheckedBot, palette: &Palette) -> String {
    let name = &bot.name;
    let mark = styled(palette.problem, "✗");
    let bad = |what: &str| format!("{mark} {name}: {}\n", escape_controls(what));
    match &bot.report {
        Err(why) => bad(why),
        Ok(report) if report.is_fit() => {
            let mark = styled(palette.good, "✓");
            match report.left_out() {
                left if left.is_empty() => format!("{mark} {name}: fit\n"),
                left => format!("{mark} {name}: fit ({LEFT_OUT}: {})\n", left.join(", ")),
            }
        }
        Ok(report) => {
            let first = report.first_problem().map(|(check, problem)| {
                bad(&format!("{}: {}", check.name, problem.sentence())) + &fix(problem)
            });
            first.unwrap_or_default()
        }
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
