//! `referee compare NEW OLD`: is a new version of a bot better than the old one?

mod playing;

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use self::playing::{Playing, find};
use super::tournament::{Options, check_solvable};
use crate::arena::directory::TournamentDirectory;
use crate::cli::support::failure::Failure;
use crate::cli::support::games::GameOptions;
use crate::cli::support::output::{Stdout, print_stderr};
use crate::cli::support::runtime::with_bots;
use crate::cli::support::sandbox::{SandboxOptions, announce};
use crate::cli::support::setup::{palette, unreadable};
use crate::cli::support::values::{self, MoveTime, TimeOptions};
use crate::report::comparison::{Ended, Report};
use crate::report::terminal::aligned;
use crate::text::counted;
use crate::tournament::betting::MeanTest;
use crate::tournament::comparison::{Outcomes, Question, Simulation, Terms, Verdict, simulate};

const BUDGET: &str = "10m";

const AFTER_HELP: &str = "\
Both play pairs of games from the same opening, with the seats swapped, until it is certain enough
whether NEW is better, or until time is up. With --pool both also play others, from the same
openings; then half of the comparisons are those of the results against them (--against-old).

Examples:
  referee compare ./mybot old/mybot
  referee compare ./mybot old/mybot --pool players/ --budget 5m --markdown comment.md
  referee compare --not-worse --margin 20 ./mybot old/mybot --json
  referee compare --simulate 1000 --margin 100

Exit status: 0 NEW is better (with --not-worse: not worse); 3 it is not, or it cannot play;
4 undecided; 2 wrong usage or input, or another bot that cannot play; 1 the referee itself
failed; 130 interrupted, after what is known so far has been printed.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(in crate::cli) struct Args {
    /// The new version: a file, a command line or builtin:NAME
    #[arg(required_unless_present = "simulate")]
    new: Option<String>,

    /// The old version, in the same forms
    #[arg(required_unless_present = "simulate")]
    old: Option<String>,

    /// Others that both play: a bot, or a folder of bots; may be given more than once
    #[arg(long, value_name = "DIR|BOT", help_heading = "Comparison")]
    pool: Vec<String>,

    /// With --pool, how many of the comparisons are games of NEW against OLD, in percent
    #[arg(hide_short_help = true, long, value_name = "PERCENT", default_value_t = 50, value_parser = values::within::<u8>(0..=100), allow_negative_numbers = true, help_heading = "Comparison")]
    against_old: u8,

    /// Ask whether NEW is not worse, instead of better
    #[arg(long, help_heading = "Comparison")]
    not_worse: bool,

    /// The difference that matters, in Elo: NEW is not better by so much, or not worse by so much
    #[arg(
        long,
        value_name = "ELO",
        default_value_t = 50.0,
        value_parser = values::decimal(50.0),
        allow_negative_numbers = true,
        help_heading = "Comparison"
    )]
    margin: f64,

    /// How probable it may be that yes (better, or not worse) is wrong
    #[arg(hide_short_help = true, long,
        value_name = "P",
        default_value_t = 0.05,
        value_parser = values::decimal(0.05),
        allow_negative_numbers = true,
        help_heading = "Comparison"
    )]
    alpha: f64,

    /// How probable it may be that no is wrong
    #[arg(hide_short_help = true, long,
        value_name = "P",
        default_value_t = 0.05,
        value_parser = values::decimal(0.05),
        allow_negative_numbers = true,
        help_heading = "Comparison"
    )]
    beta: f64,

    /// The most time, with the check of the bots; none for no limit
    #[arg(long, value_name = "TIME", default_value = BUDGET, value_parser = values::move_time, help_heading = "Comparison")]
    budget: MoveTime,

    /// The most comparisons: pairs of games, and with others of the pool two pairs
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = values::within::<u32>(1..=100_000), allow_negative_numbers = true, help_heading = "Schedule")]
    pairs: u32,

    /// Play all --pairs, also when it is certain before
    #[arg(hide_short_help = true, long, help_heading = "Comparison")]
    all: bool,

    /// Play nothing; simulate so many comparisons, and print how often they err
    #[arg(hide_short_help = true, long, value_name = "N", conflicts_with_all = ["new", "pool", "json", "markdown", "out", "all"], value_parser = values::within::<u32>(1..=1_000_000), allow_negative_numbers = true, help_heading = "Comparison")]
    simulate: Option<u32>,

    /// Random plies at the start of every pair [default: 4]
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = values::at_least::<u32>(0), allow_negative_numbers = true, conflicts_with = "openings", help_heading = "Schedule")]
    opening_plies: Option<u32>,

    /// Start games from the boards of this file instead, one per line
    #[arg(
        hide_short_help = true,
        long,
        value_name = "FILE",
        help_heading = "Schedule"
    )]
    openings: Option<PathBuf>,

    /// Everything random comes from this number; drawn, and printed, when not given
    #[arg(long, value_name = "N", value_parser = values::seed, allow_negative_numbers = true, help_heading = "Schedule")]
    seed: Option<u64>,

    #[command(flatten)]
    game: GameOptions,

    /// End a game as soon as its value is proven; the time to prove it is charged to no bot
    #[arg(long, help_heading = "Game")]
    adjudicate: bool,

    #[command(flatten)]
    time: TimeOptions,

    /// Games at once [default: half as many as there are cores]
    #[arg(short, long, value_name = "N", value_parser = values::within::<u16>(1..=65_535), allow_negative_numbers = true)]
    jobs: Option<u16>,

    /// Play without checking the bots before
    #[arg(hide_short_help = true, long)]
    no_check: bool,

    /// Keep the games in this folder, as a tournament does; what was played there before counts
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Write the result as Markdown to this file, for a pull request; - for standard output
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    markdown: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    sandbox: SandboxOptions,
}

impl Args {
    /// `has_pool`: both play others, too.
    fn terms(&self, has_pool: bool) -> Terms {
        Terms {
            question: if self.not_worse {
                Question::NotWorse
            } else {
                Question::Better
            },
            margin: self.margin,
            direct: f64::from(self.percentage(has_pool)) / 100.0,
            alpha: self.alpha,
            beta: self.beta,
        }
    }

    fn test(&self, has_pool: bool) -> Result<MeanTest, Failure> {
        let test = self.terms(has_pool).test();
        test.map_err(|error| Failure::Usage(error.to_string()))
    }

    fn percentage(&self, has_pool: bool) -> u8 {
        if has_pool { self.against_old } else { 100 }
    }

    fn writes_markdown_to_stdout(&self) -> bool {
        self.markdown.as_deref() == Some(Path::new("-"))
    }

    fn options(&self) -> Options {
        Options {
            pairs: Some(self.pairs),
            opening_plies: self.opening_plies,
            openings: self.openings.clone(),
            seed: self.seed,
            game: self.game.clone(),
            adjudicate: self.adjudicate,
            time: self.time.clone(),
            jobs: self.jobs,
            no_check: self.no_check,
            sandbox: self.sandbox.clone(),
            ..Options::default()
        }
    }
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let begun = Instant::now();
    args.test(true)?;
    if let Some(comparisons) = args.simulate {
        return print_simulated(args, comparisons);
    }
    if args.json && args.writes_markdown_to_stdout() {
        return Err(Failure::Usage(
            "--json and --markdown - both write to standard output; give --markdown a file"
                .to_owned(),
        ));
    }
    let options = args.options();
    let ruleset = options.ruleset(None)?;
    check_solvable(&options, &*ruleset)?;
    let sandbox = options.sandbox.sandbox()?;
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
        deadline: args.budget.0.and_then(|budget| begun.checked_add(budget)),
    };
    let outcome = with_bots(playing.play(bots))?;
    let report = outcome.report(args, begun.elapsed());
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

fn print(args: &Args, report: &Report<'_>) -> Result<(), Failure> {
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
    let terms = args.terms(others > 0);
    let elo = terms.margin;
    let percent = |share: f64| format!("{}%", (1e6 * share).round() / 1e4);
    let (alpha, beta) = (percent(terms.alpha), percent(terms.beta));
    let (is_not, is, otherwise) = match terms.question {
        Question::Better => (
            "better",
            format!("better by {elo} Elo"),
            "not better".to_owned(),
        ),
        Question::NotWorse => (
            "not worse",
            "as good".to_owned(),
            format!("worse by {elo} Elo"),
        ),
    };
    print_stderr(&format!(
        "referee: is NEW {is_not}? A yes is wrong in at most {alpha} of all cases in which it is {otherwise}, a no in at \
         most {beta} of those in which it is {is}"
    ));
    let expected = expected_games(args, others)?;
    let budget = match args.budget {
        MoveTime(Some(budget)) => format!("at most {}", values::in_short(budget)),
        MoveTime(None) => "no limit of time".to_owned(),
    };
    let most = counted(u64::from(args.pairs), "comparison", "comparisons");
    print_stderr(&format!(
        "referee: at most {most}, {budget}, {} at once, seed {seed}; if it is {is}, half of all runs take more than \
         {expected} games (simulated)",
        counted(jobs as u64, "game", "games"),
    ));
    if others > 0 {
        print_stderr(&format!(
            "referee: {}% of the comparisons are with OLD, the others with {}, in equal shares",
            args.against_old,
            counted(others as u64, "other bot", "other bots"),
        ));
    }
    Ok(())
}

/// Simulated comparisons of an estimate.
const FEW: u32 = 20;

/// Size of the simulated pool, and shares of drawn games.
const POOL: usize = 4;
const DRAWS: [f64; 3] = [0.0, 0.1, 0.5];

fn simulated(simulation: &Simulation) -> Result<Outcomes, Failure> {
    simulate(simulation).map_err(|error| Failure::Usage(error.to_string()))
}

/// The median number of games if NEW is better by the margin or, with `--not-worse`, equal.
fn expected_games(args: &Args, others: usize) -> Result<u32, Failure> {
    let terms = args.terms(others > 0);
    let found = simulated(&Simulation {
        terms,
        elo: match terms.question {
            Question::Better => terms.margin,
            Question::NotWorse => 0.0,
        },
        draws: DRAWS[1],
        others,
        percentage: args.percentage(others > 0),
        most: args.pairs,
        comparisons: FEW,
        seed: 1,
    })?;
    Ok(found.median_games)
}

/// How comparisons end, by true difference, with and without a pool.
fn print_simulated(args: &Args, comparisons: u32) -> Result<(), Failure> {
    let heads = [
        "pool",
        "draws",
        "difference",
        "yes",
        "no",
        "undecided",
        "games",
    ];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for others in [0, POOL] {
        let terms = args.terms(others > 0);
        for draws in DRAWS {
            for factor in [-1.0, 0.0, 1.0, 2.0] {
                let elo = factor * terms.margin;
                let found = simulated(&Simulation {
                    terms,
                    elo,
                    draws,
                    others,
                    percentage: args.percentage(others > 0),
                    most: args.pairs,
                    comparisons,
                    seed: args.seed.unwrap_or(1),
                })?;
                let share = |count: u32| {
                    format!("{:.1}%", 100.0 * f64::from(count) / f64::from(comparisons))
                };
                rows.push(vec![
                    others.to_string(),
                    format!("{:.0}%", 100.0 * draws),
                    format!("{elo:+} Elo"),
                    share(found.yes),
                    share(found.no),
                    share(found.undecided),
                    found.median_games.to_string(),
                ]);
            }
        }
    }
    let table = aligned(&rows, &palette(&io::stdout()), &[]);
    Ok(Stdout.write_all(table.as_bytes())?)
}
