//! `referee check BOT`: checks a bot step by step, for its author.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use crate::bot::orphans;
use crate::bot::spec::{BotSpec, Program};
use crate::checkup::{Check, Checkup, ShowCheck, Times, Verdict};
use crate::cli::support::clock::ClockName;
use crate::cli::support::duration;
use crate::cli::support::failure::Failure;
use crate::cli::support::games::{self, GameArg};
use crate::cli::support::interrupt::until_interrupted;
use crate::cli::support::leftovers::end_orphans;
use crate::cli::support::output::Stdout;
use crate::cli::support::pieces_file::PiecesFile;
use crate::cli::support::runtime::runtime;
use crate::cli::support::sandbox::{SandboxOptions, warn_large};
use crate::cli::support::setup::{RulesName, bot, match_set, palette};
use crate::cli::support::signals;
use crate::cli::support::unconfined::warn_root;
use crate::game::quarto::PieceSet;
use crate::play::TimeControl;
use crate::report::terminal::{Palette, styled};
use crate::session::registry::Choices;
use crate::text::{escape_controls, milliseconds as ms};

/// A set that no bot has built in: tests whether a bot reads `REFEREE_PIECES`.
const CUSTOM_SET: &str = include_str!("../../../sets/greek.csv");

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// A file, a command line, or builtin:NAME
    bot: String,

    /// The game
    #[arg(long, value_parser = games::parser(), default_value = "quarto")]
    game: GameArg,

    /// A piece set's CSV file
    #[arg(long, value_name = "FILE")]
    pieces: Option<PathBuf>,

    /// Which groups of cells count
    #[arg(long, value_enum, default_value = "standard")]
    rules: RulesName,

    /// Time for a move
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "10s", value_parser = duration::parse_positive)]
    move_time: Duration,

    /// Time on top for the first answer of a fresh process
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "10s", value_parser = duration::parse)]
    start_time: Duration,

    /// What clocks measure: time, without that in which a bot could run but waits for a processor; or
    /// processor time of the bot's processes, with a limit of ten times as much wall time (at least
    /// 5 s more)
    #[arg(long, value_enum, value_name = "KIND", default_value = "wall")]
    clock: ClockName,

    #[command(flatten)]
    sandbox: SandboxOptions,

    /// Print one JSON object, for graders
    #[arg(long)]
    json: bool,
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let set = match_set(args.pieces.as_ref())?;
    let pieces = match &args.pieces {
        Some(path) if !set.is_builtin() => Some(PiecesFile::new(path, set.text())?),
        _ => None,
    };
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
    let mut show = move |check: &Check| {
        if !json {
            // A closed stdout must not change the exit status.
            let _ = Stdout.write_all(line(check, &palette).as_bytes());
        }
    };
    let time = TimeControl {
        move_time: args.move_time,
        start_time: args.start_time,
        kind: args.clock.into(),
        ..TimeControl::default()
    };
    let examination = Examination {
        program: program.clone(),
        time,
        pieces: pieces.as_ref().map(|file| file.path().to_owned()),
        only_set: false,
        show: &mut show,
    };
    let (mut checks, times) = examination.run(args, set)?;
    let cannot_play = checks.iter().take(2).any(Check::is_fault);
    if args.game.has_piece_sets && !cannot_play {
        let file = PiecesFile::copy(CUSTOM_SET)?;
        let set = PieceSet::parse(CUSTOM_SET)
            .map_err(|error| Failure::Referee(format!("the built-in custom piece set: {error}")))?;
        let examination = Examination {
            program: program.clone(),
            time,
            pieces: Some(file.path().to_owned()),
            only_set: true,
            show: &mut show,
        };
        checks.extend(examination.run(args, set)?.0);
    }
    let fit = !checks.iter().any(Check::is_fault);
    if args.json {
        print_json(&program, &checks, times, fit)?;
    } else {
        let conclusion = if fit {
            "is fit to enter a tournament"
        } else {
            "is not fit to enter a tournament yet"
        };
        let conclusion = format!("{} {conclusion}.", program.name);
        writeln!(Stdout, "{}", styled(palette.heading, &conclusion))?;
    }
    if fit { Ok(()) } else { Err(Failure::Unfit) }
}

struct Examination<'a> {
    program: Program,
    time: TimeControl,
    pieces: Option<String>,
    only_set: bool,
    show: ShowCheck<'a>,
}

impl Examination<'_> {
    fn run(self, args: &Args, set: PieceSet) -> Result<(Vec<Check>, Option<Times>), Failure> {
        let ruleset = args.game.ruleset(Choices {
            rules: args.rules.into(),
            set,
            ..Choices::default()
        });
        let runtime = runtime()?;
        let only_set = self.only_set;
        // A second signal must not keep the bot from being ended.
        let _heeded = signals::heed();
        runtime.block_on(async {
            let checkup = Checkup::new(ruleset, self.program, self.time, self.pieces, self.show)?;
            orphans::adopt();
            let examined = until_interrupted(async move {
                if only_set {
                    let checks = checkup.run_set("plays with a custom piece set").await?;
                    Ok((checks, None))
                } else {
                    Ok(checkup.run().await?)
                }
            })
            .await;
            // Dropping the checkup has ended the bot; these are processes that it left behind.
            end_orphans();
            examined
        })
    }
}

/// A check as a line, with the fix below it.
fn line(check: &Check, palette: &Palette) -> String {
    let (mark, style, text, fix) = match &check.verdict {
        Verdict::Good(text) => ("✓", palette.good, text.as_str(), ""),
        Verdict::Bad(text, fix) if check.required => {
            ("✗", palette.problem, text.as_str(), fix.as_str())
        }
        Verdict::Bad(text, fix) => ("!", palette.faint, text.as_str(), fix.as_str()),
        Verdict::Skipped => ("-", palette.faint, "not checked", ""),
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
    let fix = if fix.is_empty() {
        String::new()
    } else {
        format!("    -> {fix}\n")
    };
    format!(
        "{} {}{advice}{text}\n{fix}",
        styled(style, mark),
        check.name
    )
}

fn print_json(
    program: &Program,
    checks: &[Check],
    times: Option<Times>,
    fit: bool,
) -> Result<(), Failure> {
    let checks: Vec<_> = checks
        .iter()
        .map(|check| {
            let (ok, detail, fix) = match &check.verdict {
                Verdict::Good(text) => (Some(true), Some(text), None),
                Verdict::Bad(text, fix) => (Some(false), Some(text), Some(fix)),
                Verdict::Skipped => (None, None, None),
            };
            json!({"name": check.name, "ok": ok, "required": check.required, "detail": detail, "fix": fix})
        })
        .collect();
    let times = times.map(
        |times| json!({"median": ms(times.median), "p99": ms(times.p99), "worst": ms(times.worst)}),
    );
    let report = json!({
        "bot": program.name,
        "command": program.command,
        "fit": fit,
        "checks": checks,
        "times_ms": times,
    });
    writeln!(Stdout, "{report}")?;
    Ok(())
}
