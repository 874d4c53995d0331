//! `referee check BOT`: checks a bot step by step, for its author; each bot of a folder in a line, for a teacher.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::arena::entrants::{self, FolderPrograms};
use crate::bot::naming::{Named, distinct_names};
use crate::bot::orphans;
use crate::bot::spec::{BotSpec, Program};
use crate::checkup::{Check, Checkup, Notice, Problem, Report, Verdict};
use crate::cli::support::failure::Failure;
use crate::cli::support::games::GameOptions;
use crate::cli::support::output::{ProgressLine, Stdout, print_stderr};
use crate::cli::support::runtime::{end_orphans, runtime, until_interrupted};
use crate::cli::support::sandbox::{SandboxOptions, warn_large, warn_root};
use crate::cli::support::setup::{PiecesFile, bot, palette};
use crate::cli::support::signals;
use crate::cli::support::values::{self, AnswerTimes};
use crate::game::quarto::PieceSet;
use crate::play::TimeControl;
use crate::play::game_runner::GameRunner;
use crate::play::seat::Seat;
use crate::report::checks::{CheckedBot, as_csv};
use crate::report::terminal::{Palette, styled};
use crate::session::Ruleset;
use crate::text::{escape_controls, format_duration, milliseconds as ms};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// A file, a command line, or builtin:NAME; of a folder of bots, as a tournament takes it, every one
    bot: String,

    #[command(flatten)]
    game: GameOptions,

    #[command(flatten)]
    time: AnswerTimes,

    /// Time for all checks of a bot together: a slow bot is asked fewer questions, and what is left out is
    /// named
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "60s", value_parser = values::positive_duration)]
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
    if let Some(found) = folder_of_bots(Path::new(&args.bot))? {
        return run_folder(args, found);
    }
    let bots = [bot(&args.bot)?];
    if bots == [BotSpec::Human] {
        return Err(Failure::Usage(
            "people are not checked; give a program".to_owned(),
        ));
    }
    let sandboxes = args.sandbox.of_bots(&bots)?;
    let [BotSpec::Program(program)] = sandboxes.confine(&bots)? else {
        return Err(Failure::Referee("a program has become a person".to_owned()));
    };
    warn_root([&program].into_iter());
    warn_large([&program].into_iter());
    let palette = palette(&io::stdout());
    let json = args.json;
    let mut shown = Shown::default();
    let mut show = |check: &Check| {
        if !json {
            // A closed stdout must not change the exit status.
            let _ = Stdout.write_all(shown.line(check, &palette).as_bytes());
        }
    };
    let examination = Examination::new(args)?;
    let report = examination.run(&program, None, &mut show)?;
    let checked = CheckedBot {
        name: program.name.clone(),
        report: Ok(report),
    };
    write_csv(args, std::slice::from_ref(&checked))?;
    let Ok(report) = &checked.report else {
        return Err(Failure::Unfit);
    };
    if args.json {
        writeln!(
            Stdout,
            "{}",
            as_json(&checked.name, Some(&program.command), report)
        )?;
    } else {
        Stdout.write_all(shown.not_checked(&palette).as_bytes())?;
        Stdout.write_all(summary(&checked.name, report, args.budget, &palette).as_bytes())?;
    }
    if report.is_fit() {
        Ok(())
    } else {
        Err(Failure::Unfit)
    }
}

fn write_csv(args: &Args, bots: &[CheckedBot]) -> Result<(), Failure> {
    let Some(path) = &args.csv else {
        return Ok(());
    };
    let text = as_csv(bots);
    fs::write(path, text).map_err(|error| {
        Failure::Usage(format!(
            "{}: cannot be written: {error}",
            path.display(),
            error = crate::text::cause(&error)
        ))
    })
}

/// Whether the bot is fit, what was left out, and the problem to fix first.
fn summary(name: &str, report: &Report, budget: Duration, palette: &Palette) -> String {
    let mut text = String::new();
    let left_out = report.left_out();
    if !left_out.is_empty() {
        text = format!(
            "Left out, as {} were over: {}; --budget gives more time.\n",
            format_duration(budget),
            left_out.join(", ")
        );
    }
    if report.is_fit() {
        let conclusion = format!("{name} is fit to enter a tournament.");
        return format!("{text}{}\n", styled(palette.heading, &conclusion));
    }
    let conclusion = format!("{name} is not fit to enter a tournament yet.");
    let _ = writeln!(text, "{}", styled(palette.heading, &conclusion));
    if let Some((check, problem)) = report.first_problem() {
        let first = format!("Mend this first: {}.", check.name);
        let _ = write!(
            text,
            "{}\n{}",
            styled(palette.heading, &first),
            fix(problem)
        );
    }
    text
}

/// On lines of their own.
fn fix(problem: &Problem) -> String {
    let again = problem
        .again
        .as_ref()
        .map_or_else(String::new, |again| format!("    see it again: {again}\n"));
    format!("    -> {}\n{again}", problem.fix)
}

const LISTED: usize = 3;

#[derive(Default)]
struct Shown {
    fix: String,
    /// Skipped checks that have not been shown.
    skipped: Vec<&'static str>,
}

impl Shown {
    /// The fix below it is left out when the check before had the same. Skipped checks share a line.
    fn line(&mut self, check: &Check, palette: &Palette) -> String {
        if check.verdict == Verdict::Skipped {
            self.skipped.push(check.name);
            return String::new();
        }
        let fix = check.problem().map_or("", |problem| &problem.fix);
        let is_new = fix != self.fix;
        fix.clone_into(&mut self.fix);
        let skipped = self.not_checked(palette);
        format!("{skipped}{}", line(check, is_new, palette))
    }

    fn not_checked(&mut self, palette: &Palette) -> String {
        if self.skipped.is_empty() {
            return String::new();
        }
        let skipped = std::mem::take(&mut self.skipped);
        let what = if skipped.len() > LISTED {
            format!("{} checks, which need this first", skipped.len())
        } else {
            skipped.join("; ")
        };
        format!("{} not checked: {what}\n", styled(palette.faint, "-"))
    }
}

const LEFT_OUT: &str = "left out for want of time";

fn line(check: &Check, with_fix: bool, palette: &Palette) -> String {
    let (mark, style, text) = match &check.verdict {
        Verdict::Good(text) => ("✓", palette.good, text.as_str()),
        Verdict::Bad(problem) if check.required => ("✗", palette.problem, problem.what.as_str()),
        Verdict::Bad(problem) => ("!", palette.faint, problem.what.as_str()),
        Verdict::Skipped => ("-", palette.faint, "not checked"),
        Verdict::LeftOut => ("-", palette.faint, LEFT_OUT),
    };
    let advice = match check.verdict {
        Verdict::Bad(..) if !check.required => " (advice)",
        _ => "",
    };
    let text = if text.is_empty() {
        String::new()
    } else {
        format!(": {}", escape_controls(text))
    };
    let fix = check
        .problem()
        .filter(|_| with_fix)
        .map_or_else(String::new, |problem| format!("    -> {}\n", problem.fix));
    format!(
        "{} {}{advice}{text}\n{fix}",
        styled(style, mark),
        check.name
    )
}

/// `command`: how the bot is started.
fn as_json(name: &str, command: Option<&[String]>, report: &Report) -> Value {
    let checks: Vec<Value> = report
        .checks
        .iter()
        .map(|check| {
            let (ok, detail) = match &check.verdict {
                Verdict::Good(text) => (Some(true), Some(text.as_str())),
                Verdict::Bad(problem) => (Some(false), Some(problem.what.as_str())),
                Verdict::Skipped => (None, None),
                Verdict::LeftOut => (None, Some(LEFT_OUT)),
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
    json!({
        "bot": name,
        "command": command,
        "fit": report.is_fit(),
        "mend_first": report.first_problem().map(|(check, problem)| json!({
            "check": check.name,
            "detail": problem.what,
            "fix": problem.fix,
            "reproduce": problem.again,
        })),
        "left_out": report.left_out(),
        "checks": checks,
        "times_ms": times,
    })
}

/// No bot has it built in: shows whether a bot reads `REFEREE_PIECES`.
const CUSTOM_SET: &str = include_str!("../../../sets/greek.csv");

/// After this time a check shows its progress.
const LONG: Duration = Duration::from_secs(1);

struct Examination {
    ruleset: Arc<dyn Ruleset>,
    pieces: Option<PiecesFile>,
    /// The game with the custom set, if it has piece sets.
    custom: Option<(Arc<dyn Ruleset>, PiecesFile)>,
    time: TimeControl,
    budget: Duration,
}

impl Examination {
    fn new(args: &Args) -> Result<Self, Failure> {
        let ruleset = args.game.ruleset()?;
        let custom = if args.game.has_piece_sets() {
            let set = PieceSet::parse(CUSTOM_SET).map_err(|error| {
                Failure::Referee(format!("the built-in custom piece set: {error}"))
            })?;
            let custom = args.game.ruleset_with(|choices| choices.set = set)?;
            Some((custom, PiecesFile::copy(CUSTOM_SET)?))
        } else {
            None
        };
        Ok(Self {
            pieces: args.game.pieces_file(&*ruleset)?,
            ruleset,
            custom,
            time: args.time.control()?,
            budget: args.budget,
        })
    }

    /// Shows each check when it is made. `which`: the bot, if there are others.
    fn run(
        &self,
        program: &Program,
        which: Option<String>,
        show: &mut dyn FnMut(&Check),
    ) -> Result<Report, Failure> {
        let begun = Instant::now();
        let runtime = runtime()?;
        let mut progress = Progress::new(which);
        // A second signal must not keep the bot from being killed.
        let _heeded = signals::heed();
        let mut show = |notice: Notice<'_>| progress.show(notice, show);
        let report = runtime.block_on(async {
            orphans::adopt();
            let examined = until_interrupted(async {
                let runner = GameRunner::new(Arc::clone(&self.ruleset), false)?;
                let pieces = self.pieces.as_ref().map(PiecesFile::path);
                let seat = self.seat(&*self.ruleset, pieces, program);
                let mut report = Checkup::new(&runner, seat, self.budget, &mut show)
                    .run()
                    .await?;
                let cannot_play = report.checks.iter().take(2).any(Check::is_fault);
                if let Some((ruleset, file)) = &self.custom
                    && !cannot_play
                {
                    let runner = GameRunner::new(Arc::clone(ruleset), false)?;
                    let seat = self.seat(&**ruleset, Some(file.path()), program);
                    let left = self.budget.saturating_sub(begun.elapsed());
                    let checkup = Checkup::new(&runner, seat, left, &mut show);
                    let custom = checkup.run_set("plays with a custom piece set").await?;
                    report.checks.extend(custom.checks);
                }
                Ok(report)
            })
            .await;
            // Dropping the check-up has killed the bot; it may have left processes.
            end_orphans();
            examined
        });
        progress.clear();
        report
    }

    fn seat(&self, ruleset: &dyn Ruleset, pieces: Option<&str>, program: &Program) -> Seat {
        Seat::program(ruleset, pieces, program.clone(), self.time)
    }
}

/// On a terminal: a line that is replaced.
struct Progress {
    line: ProgressLine,
    which: Option<String>,
    /// The current check, and its start.
    current: Option<(&'static str, Instant)>,
}

impl Progress {
    fn new(which: Option<String>) -> Self {
        let line = ProgressLine::new();
        line.show(format!("  {}", which.as_deref().unwrap_or_default()));
        Self {
            line,
            which,
            current: None,
        }
    }

    fn show(&mut self, notice: Notice<'_>, show: &mut dyn FnMut(&Check)) {
        match notice {
            Notice::Checked(check) => self.line.suspend(|| show(check)),
            Notice::Asking { check, done, of } => {
                let since = match self.current {
                    Some((name, since)) if name == check => since,
                    _ => {
                        let now = Instant::now();
                        self.current = Some((check, now));
                        self.line
                            .show(format!("  {}", self.which.as_deref().unwrap_or_default()));
                        now
                    }
                };
                if since.elapsed() > LONG || of == 1 {
                    self.line.show(format!(
                        "  {}",
                        message(self.which.as_deref(), check, done, of)
                    ));
                }
            }
        }
    }

    fn clear(&self) {
        self.line.clear();
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
    if !path.is_dir() {
        return Ok(None);
    }
    let found = entrants::programs(path)?;
    // One program in a folder of a folder is a class of one.
    let own = |(text, _): &(String, Option<String>)| {
        let file = Path::new(text);
        file.parent() == Some(path) && !file.is_dir()
    };
    let is_one = found.programs.len() == 1
        && found.programs.iter().all(own)
        && found.refused.iter().all(own);
    Ok((!is_one).then_some(found))
}

fn run_folder(args: &Args, found: FolderPrograms) -> Result<(), Failure> {
    if !found.others.is_empty() {
        print_stderr(&format!(
            "referee: not checked, as these are no programs: {}",
            found.others.join(", ")
        ));
    }
    let mut specs = Vec::new();
    let mut unstartable = Vec::new();
    for (text, name) in found.programs.into_iter().chain(found.refused) {
        match bot(&text) {
            Ok(BotSpec::Program(mut program)) => {
                if let Some(name) = name {
                    program.name = name;
                }
                specs.push(program);
            }
            Ok(BotSpec::Human) => {}
            Err(Failure::Usage(why)) => {
                let file = Path::new(&text).file_name().unwrap_or_default();
                let name = name.unwrap_or_else(|| escape_controls(&file.to_string_lossy()));
                let about = format!("cannot start {}: ", escape_controls(&text));
                let why = why.strip_prefix(&about).map_or(why.clone(), str::to_owned);
                unstartable.push((name, why));
            }
            Err(failure) => return Err(failure),
        }
    }
    let bots: Vec<BotSpec> = specs.iter().cloned().map(BotSpec::Program).collect();
    let sandboxes = args.sandbox.of_bots(&bots)?;
    let files: Vec<_> = specs.iter().map(Program::own_file).collect();
    let bases: Vec<Named<'_>> = specs
        .iter()
        .zip(&files)
        .map(|(program, file)| (program.name.as_str(), file.as_deref()))
        .collect();
    let names = distinct_names(&bases);
    let examination = Examination::new(args)?;
    let palette = palette(&io::stdout());
    let mut checked = Vec::new();
    let mut note = |name: String, command: Option<&[String]>, report: Result<Report, String>| {
        let bot = CheckedBot { name, report };
        let shown = if args.json {
            format!("{}\n", json_line(&bot, command))
        } else {
            text_line(&bot, &palette)
        };
        checked.push(bot);
        Stdout.write_all(shown.as_bytes())
    };
    for (name, why) in unstartable {
        note(name, None, Err(why))?;
    }
    for (index, name) in names.into_iter().enumerate() {
        let others: Vec<&Program> = specs
            .iter()
            .enumerate()
            .filter_map(|(other, program)| (other != index).then_some(program))
            .collect();
        let mut program = match sandboxes.confine_one(&specs[index], &others) {
            Ok(program) => program,
            Err(error) => {
                note(name, None, Err(error.to_string()))?;
                continue;
            }
        };
        program.name.clone_from(&name);
        if index == 0 {
            warn_root([&program].into_iter());
        }
        warn_large([&program].into_iter());
        let which = format!(
            "checking {} of {}: {}",
            index + 1,
            specs.len(),
            escape_controls(&name)
        );
        let report = examination.run(&program, Some(which), &mut |_| {})?;
        note(name, Some(&program.command), Ok(report))?;
    }
    write_csv(args, &checked)?;
    let fit = checked.iter().filter(|bot| bot.is_fit()).count();
    if !args.json {
        let conclusion = format!("{fit} of {} are fit to enter a tournament.", checked.len());
        writeln!(Stdout, "{}", styled(palette.heading, &conclusion))?;
    }
    if fit == checked.len() {
        Ok(())
    } else {
        Err(Failure::Unfit)
    }
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
        Ok(report) => match report.first_problem() {
            Some((check, problem)) => {
                let Problem { what, .. } = problem;
                format!(
                    "{}{}",
                    bad(&format!("{}: {what}", check.name)),
                    fix(problem)
                )
            }
            None => bad("not fit"),
        },
    }
}

fn json_line(bot: &CheckedBot, command: Option<&[String]>) -> String {
    match &bot.report {
        Ok(report) => as_json(&bot.name, command, report).to_string(),
        Err(why) => {
            let mut json = as_json(&bot.name, command, &Report::default());
            json["fit"] = false.into();
            json["refused"] = why.as_str().into();
            json.to_string()
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
