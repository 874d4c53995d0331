use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::cli::support::destination::table_file;
use crate::cli::support::failure::{Failure, Result, WRONG, bail};
use crate::cli::support::games::GameOptions;
use crate::cli::support::output::{ProgressLine, Stdout, json_line, note};
use crate::cli::support::recorded;
use crate::cli::support::runtime::examine;
use crate::cli::support::sandbox::{SandboxOptions, warn_large, warn_root};
use crate::cli::support::setup::{self, palette, terminal_width, unwritable};
use crate::cli::support::values::AnswerTimes;
use referee::bot::naming::distinct_names;
use referee::bot::spec::Program;
use referee::class::league::intake::{self, Intake};
use referee::entrants::class::{self, FolderPrograms};
use referee::play::game_runner::GameRunner;
use referee::play::seat::Seat;
use referee::report::checks::{CheckedBot, LEFT_OUT, as_csv, as_json, asked_only};
use referee::report::terminal::{Palette, labelled, styled};
use referee::text::{counted, escape_controls, format_duration};
use referee::tournament::checkup::{
    Check, CheckNotice, CheckVerdict, Checkup, CheckupReport, Problem, THINKING, Thoroughness,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A file, a folder, a command line, or builtin:NAME; of a download that a league takes, every one. Sources are built
    /// first
    bot: String,

    /// The folder holds many bots: check each of them
    #[arg(long)]
    each: bool,

    /// Check again whenever a file changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["json", "out", "csv"])]
    watch: bool,

    #[command(flatten)]
    game: GameOptions,

    #[command(flatten)]
    time: AnswerTimes,

    /// Ask everything, however long the bot thinks; otherwise it is asked as much as it answers within 10 s of thinking, and
    /// what was not asked is named
    #[arg(long)]
    thorough: bool,

    #[command(flatten)]
    sandbox: SandboxOptions,

    /// Print a JSON object for each bot, a line each, for graders
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Also write a table with a line for each bot to this file
    #[arg(short, long, alias = "output", value_name = "FILE.csv", value_parser = table_file)]
    out: Option<PathBuf>,

    /// Another name of --out.
    #[arg(
        long,
        hide = true,
        value_name = "FILE",
        conflicts_with = "out",
        help_heading = "Output"
    )]
    csv: Option<PathBuf>,
}

impl Args {
    const fn thoroughness(&self) -> Thoroughness {
        if self.thorough {
            Thoroughness::All
        } else {
            Thoroughness::Budget
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if !args.watch {
        return check(args);
    }
    let watched = Path::new(&args.bot);
    if !watched.exists() {
        bail!(
            "{}: --watch is for a file or a folder, and there is none of this name",
            args.bot
        );
    }
    loop {
        let state = state_of(watched);
        match check(args) {
            Ok(()) | Err(Failure::Told(_)) => {}
            // What keeps it from starting may be corrected.
            Err(Failure::CannotStart(error)) => note!("{}", error.in_full()),
            Err(failure) => return Err(failure),
        }
        note!("waiting for a change in {}; Ctrl-C ends this", args.bot);
        examine(async {
            while state_of(watched) == state {
                tokio::time::sleep(WATCHED_EVERY).await;
            }
            // An editor may write several files.
            tokio::time::sleep(WATCHED_EVERY).await;
            Ok(())
        })?;
        writeln!(Stdout)?;
    }
}

const WATCHED_EVERY: Duration = Duration::from_millis(250);

/// Of a file, or of all files in a folder: what changes when one of them does.
fn state_of(watched: &Path) -> BTreeMap<PathBuf, (Option<SystemTime>, u64)> {
    let mut state = BTreeMap::new();
    let mut waiting = vec![watched.to_owned()];
    while let Some(path) = waiting.pop() {
        let is_hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let Ok(meta) = fs::symlink_metadata(&path) else {
            continue;
        };
        if meta.is_dir() && (!is_hidden || path == watched) {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            waiting.extend(entries.map(|entry| entry.path()));
        }
        if meta.is_file() && state.len() < MOST_WATCHED {
            state.insert(path, (meta.modified().ok(), meta.len()));
        }
    }
    state
}

const MOST_WATCHED: usize = 20_000;

fn check(args: &Args) -> Result<()> {
    let found = find(args)?;
    let confined = args.sandbox.of_bots(&found.programs)?;
    let given = found.programs.iter();
    let given = given.map(|program| (program.name.as_str(), Some(program)));
    let names = distinct_names(&given.collect::<Vec<_>>());
    let ruleset = args.game.ruleset()?;
    let pieces = args.game.pieces_file(&*ruleset)?;
    let runner = Rc::new(GameRunner::new(Arc::clone(&ruleset), false)?);
    let (time, asked) = (args.time.control()?, Arc::default());
    let mut output = CheckOutput {
        args,
        found: &found,
        palette: palette(&io::stdout()),
        checked: Vec::new(),
    };
    for (name, why) in &found.refused {
        output.tell(name.clone(), None, Err(why.clone()))?;
    }
    for (index, name) in names.into_iter().enumerate() {
        let mut program = match confined(index) {
            Err(error) if found.is_class => {
                output.tell(name, None, Err(error.to_string()))?;
                continue;
            }
            confined => confined?,
        };
        program.name.clone_from(&name);
        if index == 0 {
            warn_root([&program].into_iter());
        }
        warn_large([&program].into_iter());
        let which = found.is_class.then(|| {
            let (number, of) = (index + 1, found.programs.len());
            format!("checking {number} of {of}: {}", escape_controls(&name))
        });
        let seat = Seat::program(&*ruleset, pieces.path(), program.clone(), time);
        let report = output.follow(which.as_deref(), |notify| {
            let asked = Arc::clone(&asked);
            let checkup = Checkup::new(&runner, seat, args.thoroughness(), asked, notify);
            examine(async { Ok(checkup.run(false).await?) })
        })?;
        output.tell(name, Some(&program.command), Ok(report))?;
    }
    output.conclude()
}

/// What is printed, and what has been found so far.
struct CheckOutput<'a> {
    args: &'a Args,
    found: &'a Found,
    palette: Palette,
    checked: Vec<CheckedBot>,
}

impl CheckOutput<'_> {
    fn tell(
        &mut self,
        name: String,
        command: Option<&[String]>,
        report: Result<CheckupReport, String>,
    ) -> io::Result<()> {
        let bot = CheckedBot { name, report };
        let text = match &bot.report {
            _ if self.args.json => json_line(as_json(&bot, command)),
            Ok(report) if !self.found.is_class => summary(&bot.name, report, &self.palette),
            _ => text_line(&bot, &self.palette),
        };
        self.checked.push(bot);
        Stdout.write_all(self.found.paths.as_given(&text).as_bytes())
    }

    /// Shows how far a check is, and of a single bot what each question found.
    fn follow(
        &self,
        which: Option<&str>,
        check: impl FnOnce(&mut dyn FnMut(CheckNotice<'_>)) -> Result<CheckupReport>,
    ) -> Result<CheckupReport> {
        let bar = ProgressLine::new();
        bar.show(format!("  {}", which.unwrap_or_default()));
        let mut told: Vec<Problem> = Vec::new();
        check(&mut |notice: CheckNotice<'_>| match notice {
            CheckNotice::Checked(check) => {
                let is_told = |problem: &Problem| told.iter().any(|other| other.is_like(problem));
                let is_told =
                    check.verdict == CheckVerdict::Skipped || check.problem().is_some_and(is_told);
                if !self.found.is_class && !self.args.json && !is_told {
                    // A closed stdout must not change the exit status.
                    let text = self.found.paths.as_given(&line(check, &self.palette));
                    let _ = bar.suspend(|| Stdout.write_all(text.as_bytes()));
                }
                told.extend(check.problem().cloned());
            }
            CheckNotice::Asking { check, done, of } => {
                if of == 1 || bar.is_due() {
                    bar.show(format!("  {}", message(which, check, done, of)));
                }
            }
        })
    }

    fn conclude(&self) -> Result<()> {
        if let Some(path) = self.args.out.as_ref().or(self.args.csv.as_ref()) {
            let table = self.found.paths.as_given(&as_csv(&self.checked));
            fs::write(path, table).map_err(|error| unwritable(path, &error))?;
        }
        let fit = self.checked.iter().filter(|bot| bot.is_fit()).count();
        if self.found.is_class && !self.args.json {
            let conclusion = format!("{fit} of {} pass the entry check.", self.checked.len());
            writeln!(Stdout, "{}", styled(self.palette.heading, &conclusion))?;
        }
        if fit < self.checked.len() {
            return Err(WRONG);
        }
        Ok(())
    }
}

fn summary(name: &str, report: &CheckupReport, palette: &Palette) -> String {
    let name = escape_controls(name);
    let mut text = String::new();
    let asked_only = asked_only(report);
    if !asked_only.is_empty() {
        let (time, only) = (format_duration(THINKING), asked_only.join(", "));
        let what = format!("It thought for {time}. Asked only: {only}; --thorough asks all");
        text = labelled("", &what, terminal_width(&io::stdout())) + "\n";
    }
    if report.is_fit() {
        let conclusion = format!("{name} passes the entry check.");
        return format!("{text}{}\n", styled(palette.heading, &conclusion));
    }
    let conclusion = format!("{name} fails the entry check.");
    let _ = writeln!(text, "{}", styled(palette.heading, &conclusion));
    if let Some((check, problem)) = report.first_problem() {
        let first = format!("Fix first: {} ({}).", problem.cause.name(), check.name);
        let first = styled(palette.heading, &first);
        let _ = write!(
            text,
            "{first}\n{}",
            fix(problem, terminal_width(&io::stdout()))
        );
    }
    let (faults, more) = report.faults();
    if more > 0 {
        let same = if faults == 1 { "fault" } else { "faults" };
        let more = counted(more, "more check", "more checks");
        let _ = writeln!(text, "The same {same} in {more}.");
    }
    let is_skipped = |check: &&Check| check.verdict == CheckVerdict::Skipped;
    let skipped = report.checks.iter().filter(is_skipped).count();
    if skipped > 0 {
        let checks = counted(skipped as u64, "check is not made", "checks are not made");
        let _ = writeln!(text, "{checks} until then.");
    }
    text
}

/// Within so many columns, but for a command, which is to be copied.
fn fix(problem: &Problem, columns: Option<usize>) -> String {
    let mut text = labelled("    fix: ", &escape_controls(&problem.fix), columns) + "\n";
    if let Some(again) = &problem.again {
        let _ = writeln!(text, "    see it again: {again}");
    }
    text
}

fn line(check: &Check, palette: &Palette) -> String {
    let (mark, style, text) = match &check.verdict {
        CheckVerdict::Good(text) => ("✓", palette.good, text.clone()),
        CheckVerdict::Bad(problem) if check.required => ("✗", palette.problem, problem.sentence()),
        CheckVerdict::Bad(problem) => ("!", palette.faint, problem.sentence()),
        CheckVerdict::Skipped => ("-", palette.faint, "not checked".to_owned()),
        CheckVerdict::LeftOut => ("-", palette.faint, LEFT_OUT.to_owned()),
    };
    let problem = check.problem().filter(|_| !check.required);
    let advice = problem.map_or("", |_| " (advice)");
    let gap = if text.is_empty() { "" } else { ": " };
    let text = format!("{gap}{}", escape_controls(&text));
    let columns = terminal_width(&io::stdout());
    let fix = problem.map_or_else(String::new, |problem| fix(problem, columns));
    let said = format!("{}{advice}{text}", check.name);
    let said = labelled("  ", &said, columns);
    format!("{}{}\n{fix}", styled(style, mark), &said[1..])
}

fn message(which: Option<&str>, check: &str, done: usize, of: usize) -> String {
    let which = which.map_or_else(String::new, |which| format!("{which}: "));
    if of == 1 {
        format!("{which}{check} …")
    } else {
        format!("{which}{check}: {done} of {of} …")
    }
}

/// What is checked.
struct Found {
    programs: Vec<Program>,
    /// Names, and why nothing can be asked of them.
    refused: Vec<(String, String)>,
    is_class: bool,
    paths: Paths,
    /// What was unpacked is deleted with it.
    _intake: Option<Intake>,
}

fn find(args: &Args) -> Result<Found> {
    let path = Path::new(&args.bot);
    let intake = intake::to_check(path, &args.sandbox.for_repositories())?;
    let mut paths = Paths::default();
    let bots = match &intake {
        Some(intake) => paths.submissions(intake),
        None if args.each && path.is_dir() => {
            let bots = class::programs(path)?;
            if let Some(decided_by) = bots.is_one_by {
                note!("{} is one bot: {decided_by}", args.bot);
            }
            bots
        }
        None => {
            let program =
                recorded::program(&args.bot, "checked", &args.sandbox, &args.game.typed())?;
            return Ok(Found {
                programs: vec![program],
                refused: Vec::new(),
                is_class: false,
                paths,
                _intake: None,
            });
        }
    };
    if !bots.others.is_empty() {
        let others = escape_controls(&bots.others.join(", "));
        note!("not checked, as these are not programs: {others}");
    }
    let count = bots.programs.len() + bots.refused.len() + bots.unusable.len();
    let is_class = count > 1 || intake.is_none() && bots.is_one_by.is_none();
    let (mut programs, mut refused) = (Vec::new(), bots.unusable);
    for (text, name) in bots.programs.into_iter().chain(bots.refused) {
        let program = setup::bot_of_class(&text, &args.sandbox)
            .and_then(|bot| recorded::no_person(bot, "checked"));
        match program {
            Ok(mut program) => {
                program.name = name.unwrap_or(program.name);
                programs.push(program);
            }
            Err(failure) if !is_class => return Err(failure),
            Err(failure) => {
                let file = Path::new(&text).file_name().unwrap_or_default();
                let name = name.unwrap_or_else(|| escape_controls(&file.to_string_lossy()));
                refused.push((name, reason(failure)?));
            }
        }
    }
    Ok(Found {
        programs,
        refused,
        is_class,
        paths,
        _intake: intake,
    })
}

/// Why one of several bots cannot be asked; an error where all the others would fail in the same way.
fn reason(failure: Failure) -> Result<String> {
    match failure {
        Failure::CannotStart(error) if error.is_for_want_of_space => Err(error.into()),
        Failure::CannotStart(error) => Ok(format!("{}; {}", error.cause, error.fix)),
        Failure::Usage(why) => Ok(why),
        failure => Err(failure),
    }
}

/// What stands for the paths of unpacked submissions before people's eyes.
#[derive(Default)]
struct Paths {
    replaced: Vec<(String, String)>,
}

impl Paths {
    fn submissions(&mut self, intake: &Intake) -> FolderPrograms {
        let newest = intake.submissions.iter().filter(|one| one.is_newest);
        let programs = newest.map(|one| {
            let folder = one.folder.to_string_lossy().into_owned();
            self.replaced.push((format!("{folder}/"), "./".to_owned()));
            self.replaced.push((folder.clone(), ".".to_owned()));
            (folder, Some(intake.label(&one.sender, &one.name)))
        });
        let refused = intake.refused.iter();
        FolderPrograms {
            programs: programs.collect(),
            unusable: refused
                .map(|one| (intake.label(&one.sender, &one.name), one.reason.clone()))
                .collect(),
            ..FolderPrograms::default()
        }
    }

    fn as_given(&self, text: &str) -> String {
        let paths = self.replaced.iter();
        paths.fold(text.to_owned(), |text, (path, given)| {
            text.replace(path, given)
        })
    }
}

fn text_line(bot: &CheckedBot, palette: &Palette) -> String {
    let name = escape_controls(&bot.name);
    let mark = styled(palette.problem, "✗");
    let bad = |what: &str| format!("{mark} {name}: {}\n", escape_controls(what));
    match &bot.report {
        Err(why) => bad(why),
        Ok(report) if report.is_fit() => {
            let mark = styled(palette.good, "✓");
            match asked_only(report) {
                less if less.is_empty() => format!("{mark} {name}: fit\n"),
                less => format!("{mark} {name}: fit (asked only: {})\n", less.join(", ")),
            }
        }
        Ok(report) => {
            let first = report.first_problem().map(|(check, problem)| {
                let columns = terminal_width(&io::stdout());
                bad(&format!("{}: {}", check.name, problem.sentence())) + &fix(problem, columns)
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
