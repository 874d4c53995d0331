//! `referee compare NEW OLD`: is a new version of a bot better than the old one?

mod playing;

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use self::playing::{Playing, find};
use super::tournament::{GamesOptions, Options};
use crate::arena::directory::TournamentDirectory;
use crate::cli::support::failure::Failure;
use crate::cli::support::games::check_solvable;
use crate::cli::support::output::{Stdout, print_stderr};
use crate::cli::support::runtime::with_bots;
use crate::cli::support::sandbox::announce;
use crate::cli::support::setup::{palette, unreadable};
use crate::cli::support::values::{self, MoveTime};
use crate::report::comparison::{Ended, Report};
use crate::text::counted;
use crate::tournament::betting::MeanTest;
use crate::tournament::comparison::{Question, Simulation, Terms, Verdict, simulate};

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
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct Args {
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
    #[arg(long = "time", alias = "budget", value_name = "TIME", default_value = BUDGET, value_parser = values::move_time)]
    budget: MoveTime,

    /// The most comparisons: pairs of games, and with others of the pool two pairs
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pairs: u32,

    /// Play all --pairs, even when it is certain before
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    games: GamesOptions,

    /// Keep the games in this folder, as a tournament does; what was played there before counts
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Write the result as Markdown to this file, for a pull request; - for standard output
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    markdown: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Args {
    fn asks_not_worse(&self) -> bool {
        self.margin < 0.0
    }

    /// `has_pool`: both play others, too.
    fn terms(&self, has_pool: bool) -> Terms {
        Terms {
            question: if self.asks_not_worse() {
                Question::NotWorse
            } else {
                Question::Better
            },
            margin: self.margin.abs(),
            direct: f64::from(percentage(has_pool)) / 100.0,
            alpha: ERROR,
            beta: ERROR,
        }
    }

    fn test(&self, has_pool: bool) -> Result<MeanTest, Failure> {
        let test = self.terms(has_pool).test();
        test.map_err(Failure::Usage)
    }

    fn writes_markdown_to_stdout(&self) -> bool {
        self.markdown.as_deref() == Some(Path::new("-"))
    }

    fn options(&self) -> Options {
        Options {
            pairs: Some(self.pairs),
            games: self.games.clone(),
            ..Options::default()
        }
    }
}

/// How many of the comparisons are games of NEW against OLD.
const fn percentage(has_pool: bool) -> u8 {
    if has_pool { 50 } else { 100 }
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let begun = Instant::now();
    args.test(true)?;
    if args.json && args.writes_markdown_to_stdout() {
        return Err(Failure::Usage(
            "--json and --markdown - both write to standard output; give --markdown a file"
                .to_owned(),
        ));
    }
    let options = args.options();
    let ruleset = options.ruleset(None)?;
    check_solvable(&*ruleset, &[("--adjudicate", args.games.adjudicate)])?;
    let sandbox = args.games.sandbox.sandbox()?;
    let bots = find(args, &options, &sandbox)?;
    if let Some(file) = args
        .markdown
        .as_deref()
        .filter(|_| !args.writes_markdown_to_stdout())
    {
        // Before minutes of games; the content is replaced only by a result.
        let opened = OpenOptions::new().create(true).append(true).open(file);
        opened.map_err(|error| unreadable(file, &error))?;
    }
    announce(&sandbox);
    let temporary = args.out.is_none().then(tempfile::tempdir).transpose()?;
    let out = match (&args.out, &temporary) {
        (Some(out), _) => out.as_path(),
        (None, Some(temporary)) => temporary.path(),
        (None, None) => return Err(Failure::Referee("there is no folder".to_owned())),
    };
    let playing = Playing {
        args,
        options: &options,
        ruleset: &ruleset,
        sandbox: &sandbox,
        directory: TournamentDirectory::make(out)?,
        begun,
    };
    let report = with_bots(playing.play(bots))?;
    print(args, &report)?;
    if let Some(out) = &args.out {
        print_stderr(&format!("referee: all files are in {}", out.display()));
    }
    match (report.ended, report.verdict()) {
        (Ended::Interrupted, _) => Err(Failure::Interrupted),
        (_, Verdict::Better | Verdict::NotWorse) => Ok(()),
        (_, Verdict::NotBetter | Verdict::Worse) => Err(Failure::Mistaken),
        (_, Verdict::Unfit) => Err(Failure::Unfit),
        (_, Verdict::Undecided) => Err(Failure::Undecided),
    }
}

fn print(args: &Args, report: &Report) -> Result<(), Failure> {
    let text = if args.json {
        format!("{}\n", report.json())
    } else if args.writes_markdown_to_stdout() {
        report.markdown()
    } else {
        report.text(&palette(&io::stdout()))
    };
    Stdout.write_all(text.as_bytes())?;
    match &args.markdown {
        Some(file) if !args.writes_markdown_to_stdout() => {
            fs::write(file, report.markdown()).map_err(|error| unreadable(file, &error))
        }
        _ => Ok(()),
    }
}

/// Prints how many games there are at most, how long they take, and how often the answer errs.
fn announce_terms(args: &Args, others: usize, jobs: usize, seed: u64) -> Result<(), Failure> {
    let elo = args.margin.abs();
    let (is_not, is, otherwise) = if args.asks_not_worse() {
        (
            "not worse",
            "as good".to_owned(),
            format!("worse by {elo} Elo"),
        )
    } else {
        (
            "better",
            format!("better by {elo} Elo"),
            "not better".to_owned(),
        )
    };
    let error = 100.0 * ERROR;
    print_stderr(&format!(
        "referee: is NEW {is_not}? H0: it is {otherwise}; H1: it is {is}; a wrong yes or no in at most {error}% of cases \
         (α = β)"
    ));
    let expected = expected_games(args, others)?;
    let budget = match args.budget {
        MoveTime(Some(budget)) => format!("at most {}", values::in_short(budget)),
        MoveTime(None) => "no limit of time".to_owned(),
    };
    let most = counted(u64::from(args.pairs), "comparison", "comparisons");
    print_stderr(&format!(
        "referee: at most {most}, {budget}, {} at a time, seed {seed}; if it is {is}, half of all runs take more than \
         {expected} games (simulated)",
        counted(jobs as u64, "game", "games"),
    ));
    if others > 0 {
        print_stderr(&format!(
            "referee: {}% of the comparisons are with OLD, the others with {}, in equal shares",
            percentage(true),
            counted(others as u64, "other bot", "other bots"),
        ));
    }
    Ok(())
}

/// The median number of games if NEW is better by the margin or, where it is asked whether it is not worse, equal.
fn expected_games(args: &Args, others: usize) -> Result<u32, Failure> {
    let terms = args.terms(others > 0);
    let found = simulate(&Simulation {
        terms,
        elo: if args.asks_not_worse() {
            0.0
        } else {
            terms.margin
        },
        draws: 0.1,
        others,
        percentage: percentage(others > 0),
        most: args.pairs,
        comparisons: 20,
        seed: 1,
    });
    Ok(found.map_err(Failure::Usage)?.median_games)
}
