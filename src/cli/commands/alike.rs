use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::tournament::{PlayOptions, TournamentOptions};
use crate::cli::support::building::SourceBuilder;
use crate::cli::support::destination::page_file;
use crate::cli::support::failure::{Failure, Result, bail, usage};
use crate::cli::support::folder::{Records, plan_in, replace_file};
use crate::cli::support::games::{GameOptions, check_builtins};
use crate::cli::support::output::{ProgressBar, note, print_found};
use crate::cli::support::runtime::{end_orphans, run_with_ticks};
use crate::cli::support::sandbox::{SandboxOptions, announce, warn_root};
use crate::cli::support::setup::{PiecesFile, this_program};
use crate::cli::support::values::{self, TimeOptions};
use referee::bot::shell;
use referee::bot::spec::CannotStart;
use referee::class::alike::interview::{Interview, InterviewSettings};
use referee::class::alike::kept_answers::{AnswersFile, KeptAnswers};
use referee::class::alike::stages::Stages;
use referee::class::league::state::League;
use referee::class::report::alike::{AlikeReport, Further};
use referee::game::Ruleset;
use referee::record::Record;
use referee::text::{counted, escape_controls, join_parts};
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::entrants::{self, Entrant};
use referee::tournament::plan::BotPlan;

const AFTER_HELP: &str = "\
All bots are asked the same positions. Where several turns are equally good, a choice tells about
the program, not its strength; where few are right, the same wrong turn does. What other bots and
simple habits explain does not count. docs/alike.md says how often that errs.

It is a reason to look at two programs and to talk with their authors, not a verdict.

Examples:
  referee alike submissions/ -o alike.html
  referee alike submissions/ --starter template/bot.py --json
  referee alike class                       # the folder of a tournament
  referee league alike term                 # asks only versions that are new

Exit status: 0 whatever was found; 2 wrong usage or input; 1 the referee itself failed; 130
interrupted.";

#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Args {
    /// A folder of bots, of a tournament or of a league; bots; or files of records, whose bots are asked again
    #[arg(value_name = "FOLDER|RECORDS", required = true)]
    bots: Vec<String>,

    #[command(flatten)]
    asking: Asking,

    /// Keep positions and answers in this file: a further run asks only what is missing
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LeagueArgs {
    /// The folder of the league
    #[arg(value_name = "DIR")]
    folder: String,

    #[command(flatten)]
    asking: Asking,
}

#[derive(Debug, clap::Args)]
struct Asking {
    /// Starter code that all have: what it explains does not count; may be given more than once
    #[arg(long, value_name = "FILE")]
    starter: Vec<String>,

    /// How long to ask; who was not asked everything then is named, and a further run goes on there
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = values::positive_duration)]
    time: Duration,

    /// Draws the positions, and is what `REFEREE_SEED` says in the first round [default: 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=0x7fff_ffff))]
    seed: Option<u32>,

    /// Also write a page to this file
    #[arg(short, long, alias = "output", value_name = "FILE.html", value_parser = page_file)]
    out: Option<PathBuf>,

    /// Another name of --out.
    #[arg(long, hide = true, value_name = "FILE", conflicts_with = "out")]
    html: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    game: GameOptions,

    #[command(flatten)]
    times: TimeOptions,

    #[command(flatten)]
    sandbox: SandboxOptions,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let file = args.answers.clone();
    ask(
        &args.bots,
        &args.asking,
        &file.map_or(AnswersFile::Nowhere, AnswersFile::Named),
    )
}

pub(crate) fn run_league(args: &LeagueArgs) -> Result<()> {
    let folder = Path::new(&args.folder);
    if League::read(folder)?.is_none() || TournamentDirectory::at(folder).plan()?.is_none() {
        bail!(
            "{}: no league has played in this folder; choose the folder of one",
            args.folder
        );
    }
    let texts = std::slice::from_ref(&args.folder);
    ask(texts, &args.asking, &AnswersFile::of_league(folder))
}

fn ask(texts: &[String], asking: &Asking, file: &AnswersFile) -> Result<()> {
    let class = Class::find(texts, asking)?;
    let ruleset = &class.ruleset;
    let seed = asking.seed.unwrap_or(0);
    let pieces = PiecesFile::new(None, ruleset.pieces())?;
    let mut kept = KeptAnswers::read(file, &**ruleset, seed)?;
    let stop = Arc::new(AtomicBool::new(false));
    let settings = InterviewSettings {
        ruleset,
        pieces: pieces.path(),
        seed,
        until: Instant::now() + asking.time,
        stop: &stop,
    };
    let interview = Interview::new(settings, &class.bots, &class.starters);
    let (stages, interrupted) = hold(&interview, &stop, &mut kept)?;
    // Also of a run that was interrupted: what was answered need not be asked again.
    if let Some(path) = file.path() {
        replace_file(path, &serde_json::to_string(&kept)?)?;
    }
    if interrupted {
        return Err(Failure::Interrupted);
    }
    // Of the game's program.
    if let Some(failure) = ruleset.failure() {
        bail!("{failure}");
    }
    for (bot, silence) in interview.silent(&kept) {
        note!("{} {silence}", escape_controls(&bot.plan.name));
    }
    let Some(found) = interview.findings(stages, &kept) else {
        bail!(
            "no position was found in this time in which a choice says something; --time gives more"
        );
    };
    let report = AlikeReport {
        ruleset: &**ruleset,
        found: &found,
        further: match file {
            AnswersFile::Nowhere => Further::KeepAnswers,
            AnswersFile::Named(_) | AnswersFile::OfLeague(_) => Further::SameCommand,
        },
    };
    print_report(asking, &report)
}

/// Asks, and shows how far it is; returns whether it was interrupted, too.
fn hold(
    interview: &Interview<'_>,
    stop: &AtomicBool,
    kept: &mut KeptAnswers,
) -> Result<(Stages, bool)> {
    let bar = ProgressBar::new(interview.questions() as u64, "answers");
    let leave_out = |bot: &Entrant, error: &CannotStart| {
        let name = escape_controls(&bot.plan.name);
        note!("{name} is left out: {error}");
    };
    let (asked, interrupted) = run_with_ticks(
        stop,
        || bar.set_done(interview.answered() as u64),
        || interview.ask(kept, &leave_out),
    )?;
    bar.line.clear();
    end_orphans();
    Ok((asked?, interrupted))
}

/// And writes the page.
fn print_report(asking: &Asking, report: &AlikeReport<'_>) -> Result<()> {
    if let Some(path) = asking.out.as_ref().or(asking.html.as_ref()) {
        replace_file(path, &report.html())?;
    }
    let json = || format!("{:#}", report.json());
    print_found(asking.json, json, |_| report.text())
}

/// Who is asked.
struct Class {
    ruleset: Arc<dyn Ruleset>,
    bots: Vec<Entrant>,
    /// Starter code.
    starters: Vec<Entrant>,
}

impl Class {
    fn find(texts: &[String], asking: &Asking) -> Result<Self> {
        let mut options = TournamentOptions {
            play: PlayOptions {
                game: asking.game.clone(),
                time: asking.times.clone(),
                sandbox: asking.sandbox.clone(),
                jobs: None,
            },
            ..TournamentOptions::default()
        };
        let plan = plan_in(texts)?;
        let (mut wanted, recorded) = if let Some(plan) = &plan {
            options = options.or_planned(Some(plan));
            (plan.bots.clone(), None)
        } else {
            named_bots(texts, &options)?
        };
        let ruleset = match &recorded {
            Some(record) => record.ruleset().map_err(|error| usage!("{error}"))?,
            None => options.ruleset(plan.as_ref())?,
        };
        let starters = options.bots(&asking.starter)?;
        let is_starter = |bot: &BotPlan| starters.iter().any(|starter| starter.bot == bot.bot);
        wanted.retain(|bot| !is_starter(bot));
        wanted.extend(starters.iter().cloned());
        let sandbox = options.play.sandbox.sandbox()?;
        let (builder, this) = (SourceBuilder(&options.play.sandbox), this_program()?);
        let found = entrants::find(&wanted, builder.finder(&this), &sandbox)?;
        for rejected in &found.rejected {
            let why = join_parts(&rejected.absence, "\n    ");
            if is_starter(&rejected.bot) {
                bail!("{why}");
            }
            note!("{} is left out: {why}", escape_controls(&rejected.bot.name));
        }
        announce(&sandbox);
        let entered = found.entered;
        warn_root(entered.iter().map(|bot| &bot.program));
        check_builtins(&*ruleset, entered.iter().map(|bot| &bot.program))?;
        let (starters, bots): (Vec<_>, Vec<_>) =
            entered.into_iter().partition(|bot| is_starter(&bot.plan));
        if bots.len() < 2 {
            let bots = counted(bots.len() as u64, "bot", "bots");
            bail!("{bots} can be asked, and two are needed");
        }
        Ok(Self {
            ruleset,
            bots,
            starters,
        })
    }
}

/// The bots that are named, and those of files of records, with one of these.
fn named_bots(
    texts: &[String],
    options: &TournamentOptions,
) -> Result<(Vec<BotPlan>, Option<Record>)> {
    let (mut bots, mut recorded) = (Vec::new(), None);
    let limits = options.play.time.control()?;
    for text in texts {
        let path = Path::new(text);
        if path.extension().is_none_or(|end| end != "jsonl") {
            bots.extend(options.bots(std::slice::from_ref(text))?);
            continue;
        }
        for record in Records::open(path)? {
            let (_, record) = record?;
            for bot in &record.bots {
                let plan = BotPlan {
                    name: bot.name.clone(),
                    bot: shell::command_line(&bot.command),
                    limits,
                    ..BotPlan::default()
                };
                if !bots.contains(&plan) {
                    bots.push(plan);
                }
            }
            recorded = Some(record);
        }
    }
    Ok((bots, recorded))
}
