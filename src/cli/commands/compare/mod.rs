mod play;
mod versions;

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Instant;

use self::play::play;
use self::versions::find;
use crate::cli::commands::tournament::{ChangesOption, PlayOptions, TournamentOptions, Venue};
use crate::cli::support::failure::{Failure, Result, WRONG, bail};
use crate::cli::support::games::check_solvable;
use crate::cli::support::output::{note, print, print_found};
use crate::cli::support::runtime::with_bots;
use crate::cli::support::sandbox::announce;
use crate::cli::support::setup::unreadable;
use crate::cli::support::values::{self, MoveTime};
use referee::report::comparison::{ComparisonEnd, ComparisonReport};
use referee::stats::comparison::{ComparisonQuestion, ComparisonTerms, ComparisonVerdict};
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::plan::request::{GamesRequest, PlanRequest};

const BUDGET: &str = "10m";

/// How probable it may be that yes (better, or not worse) is wrong, and that no is.
const ERROR: f64 = 0.05;

const AFTER_HELP: &str = "\
Both play pairs of games from the same opening, with the seats swapped, until it is certain enough
whether NEW is better, or until time is up. With --pool both also play others, from the same
openings; then half of the comparisons are those of the results against them.

Examples:
  referee compare ./mybot old/mybot
  referee compare ./mybot old/mybot --pool players/ --time 5m --markdown comment.md
  referee compare --margin -20 ./mybot old/mybot --json

Exit status: 0 NEW is better (with a margin below 0: not worse); 3 it is not, or it cannot play;
4 undecided; 2 wrong usage or input, or another bot that cannot play; 1 the referee itself
failed; 130 interrupted, after what is known so far has been printed.";

#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The new version: a file, a command line or builtin:NAME
    new: String,

    /// The old version, in the same forms
    old: String,

    /// Others that both play: a bot, or a folder of bots; may be given more than once
    #[arg(long, value_name = "DIR|BOT")]
    pool: Vec<String>,

    /// The difference that matters, in Elo: NEW is not better by so much; below 0, such as -20, asks instead whether
    /// NEW is not worse by so much
    #[arg(long, value_name = "ELO", default_value_t = 50.0)]
    margin: f64,

    /// The most time, with the check of the bots; none for no limit
    #[arg(long = "time", value_name = "TIME", default_value = BUDGET, value_parser = values::move_time)]
    budget: MoveTime,

    /// The most comparisons: pairs of games, and with others of the pool two pairs
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "Schedule")]
    pairs: u32,

    /// Play all --pairs, even when it is certain before
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    games: GamesRequest,

    #[command(flatten)]
    play: PlayOptions,

    #[command(flatten)]
    changes: ChangesOption,

    /// Keep the games in this folder, as a tournament does; what was played there before counts
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Write the result as Markdown to this file, for a pull request; - for standard output
    #[arg(
        long,
        value_name = "FILE",
        allow_hyphen_values = true,
        help_heading = "Output"
    )]
    markdown: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Args {
    fn asks_not_worse(&self) -> bool {
        self.margin < 0.0
    }

    /// `has_pool`: both play others, too.
    fn terms(&self, has_pool: bool) -> ComparisonTerms {
        let question = if self.asks_not_worse() {
            ComparisonQuestion::NotWorse
        } else {
            ComparisonQuestion::Better
        };
        ComparisonTerms {
            question,
            margin: self.margin.abs(),
            direct: f64::from(percentage(has_pool)) / 100.0,
            alpha: ERROR,
            beta: ERROR,
        }
    }

    fn writes_markdown_to_stdout(&self) -> bool {
        self.markdown.as_deref() == Some(Path::new("-"))
    }
}

const fn percentage(has_pool: bool) -> u8 {
    if has_pool { 50 } else { 100 }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let begun = Instant::now();
    args.terms(true).test()?;
    if args.json && args.writes_markdown_to_stdout() {
        bail!("--json and --markdown - both write to standard output; give --markdown a file");
    }
    let options = TournamentOptions {
        request: PlanRequest {
            pairs: Some(args.pairs),
            games: args.games.clone(),
            ..PlanRequest::default()
        },
        play: args.play.clone(),
        ..TournamentOptions::default()
    };
    let ruleset = options.ruleset(None)?;
    check_solvable(&*ruleset, "--adjudicate", args.games.adjudicate)?;
    let sandbox = args.play.sandbox.sandbox()?;
    let bots = find(args, &options, &sandbox)?;
    if let Some(file) = &args.markdown
        && !args.writes_markdown_to_stdout()
    {
        // Before minutes of games; the content is replaced only by a result.
        let opened = OpenOptions::new().create(true).append(true).open(file);
        opened.map_err(|error| unreadable(file, &error))?;
    }
    announce(&sandbox);
    let temporary = tempfile::tempdir()?;
    let directory = TournamentDirectory::make(args.out.as_deref().unwrap_or(temporary.path()))?;
    let venue = Venue::new(options, ruleset, sandbox, &bots, &directory)?;
    let report = with_bots(play(args, &venue, &directory, begun, bots))?;
    print_report(args, &report)?;
    if let Some(out) = &args.out {
        note!("all files are in {}", out.display());
    }
    match (report.ended, report.verdict()) {
        (ComparisonEnd::Interrupted, _) => Err(Failure::Interrupted),
        (_, ComparisonVerdict::Better | ComparisonVerdict::NotWorse) => Ok(()),
        (_, ComparisonVerdict::NotBetter | ComparisonVerdict::Worse | ComparisonVerdict::Unfit) => {
            Err(WRONG)
        }
        (_, ComparisonVerdict::Undecided) => Err(Failure::Told(4)),
    }
}

fn print_report(args: &Args, report: &ComparisonReport) -> Result<()> {
    if args.writes_markdown_to_stdout() {
        print(&report.markdown())?;
    } else {
        print_found(args.json, || report.json(), |palette| report.text(palette))?;
    }
    match &args.markdown {
        Some(file) if !args.writes_markdown_to_stdout() => {
            fs::write(file, report.markdown()).map_err(|error| unreadable(file, &error))
        }
        _ => Ok(()),
    }
}
