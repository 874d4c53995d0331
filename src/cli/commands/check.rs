//! `referee check BOT`: checks a bot step by step, for its author; of a folder of bots, each with a line,
//! for a teacher.

mod examination;
mod folder;

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use self::examination::Examination;
use crate::bot::spec::BotSpec;
use crate::checkup::{Check, Problem, Report, Verdict};
use crate::cli::support::clock::ClockName;
use crate::cli::support::duration::{self, MoveTime};
use crate::cli::support::failure::Failure;
use crate::cli::support::games::{self, GameArg};
use crate::cli::support::output::Stdout;
use crate::cli::support::sandbox::{SandboxOptions, warn_large};
use crate::cli::support::setup::{RulesName, bot, palette};
use crate::cli::support::unconfined::warn_root;
use crate::report::checks::{CheckedBot, as_csv};
use crate::report::terminal::{Palette, styled};
use crate::text::{escape_controls, format_duration, milliseconds as ms};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// A file, a command line, or builtin:NAME; of a folder of bots, as a tournament takes it, every one
    bot: String,

    /// The game
    #[arg(long, value_parser = games::parser(), default_value = "quarto")]
    game: GameArg,

    /// An option of a game that is a program; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = games::option)]
    game_option: Vec<(String, String)>,

    /// A piece set's CSV file
    #[arg(long, value_name = "FILE")]
    pieces: Option<PathBuf>,

    /// Which groups of cells count
    #[arg(long, value_enum, default_value = "standard")]
    rules: RulesName,

    /// Time for a move; none for no limit
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "10s", value_parser = duration::parse_move_time)]
    move_time: MoveTime,

    /// Time on top for the first answer of a fresh process
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "10s", value_parser = duration::parse)]
    start_time: Duration,

    /// What clocks measure: time, without that in which a bot could run but waits for a processor; or
    /// processor time of the bot's processes, with a limit of ten times as much wall time (at least
    /// 5 s more)
    #[arg(long, value_enum, value_name = "KIND", default_value = "wall")]
    clock: ClockName,

    /// Time for all checks of a bot together: a slow bot is asked fewer questions, and what is left out is
    /// named
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "60s", value_parser = duration::parse_positive)]
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
    if let Some(found) = folder::of_bots(Path::new(&args.bot))? {
        return folder::run(args, found);
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

/// Writes the table of `--csv`.
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

/// The conclusion: whether the bot is fit, what was left out, and of all problems the one to mend first.
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

/// What to do about a problem, on lines of their own.
fn fix(problem: &Problem) -> String {
    let again = problem
        .again
        .as_ref()
        .map_or_else(String::new, |again| format!("    see it again: {again}\n"));
    format!("    -> {}\n{again}", problem.fix)
}

/// How many checks that were not made are named.
const LISTED: usize = 3;

/// What has been shown of a check-up.
#[derive(Default)]
struct Shown {
    /// The latest fix.
    fix: String,
    /// Checks that were not made because of an earlier fault, and have not been shown.
    skipped: Vec<&'static str>,
}

impl Shown {
    /// A check as a line, with the fix below it unless the check before had the same. Those that were not
    /// made share a line.
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

    /// The line of the checks that were not made.
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

/// What is said of a check that was not made for want of time.
const LEFT_OUT: &str = "left out for want of time";

/// A check as a line, with the fix below it.
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

/// A report as JSON. `command` is how the bot is started.
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
