use std::fmt::Write as _;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::json;

use super::{by_kinds_and_levels, load};
use crate::cli::support::failure::{Failure, Result, WRONG};
use crate::cli::support::output::{ProgressBar, print_found};
use crate::cli::support::recorded::{self, fault_line};
use crate::cli::support::runtime::examine;
use crate::cli::support::sandbox::SandboxOptions;
use crate::cli::support::setup::{PiecesFile, terminal_width};
use crate::cli::support::values::AnswerTimes;
use referee::play::examiner::Examiner;
use referee::play::game_runner::GameRunner;
use referee::play::seat::Seat;
use referee::report::terminal::{Palette, labelled};
use referee::study::puzzles::scoring::{Attempt, PuzzleScore, Tally};
use referee::study::puzzles::{Loaded, Puzzle, PuzzleKind};
use referee::text::{counted, escape_controls};

/// How many puzzles that are not solved are printed.
const LISTED: usize = 5;

const AFTER_HELP: &str = "\
One process is asked all puzzles; after a fault the next one is asked. A fault counts as a wrong
answer.

Exit status: 0 it was scored; 3 its share is below --require; 2 wrong usage or input, or a bot that
cannot be started; 1 the referee itself failed; 130 interrupted.";

#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct Args {
    /// A file of puzzles, or builtin:quarto or builtin:four-in-a-row
    set: String,

    /// The bot: a file, a command line or builtin:NAME
    bot: String,

    /// The share of puzzles that it must solve, such as 80%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    require: Option<f64>,

    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// What `REFEREE_SEED` says
    #[arg(long, value_name = "N", default_value = "0", value_parser = clap::value_parser!(u32).range(0..=0x7fff_ffff))]
    seed: u32,

    #[command(flatten)]
    time: AnswerTimes,

    #[command(flatten)]
    sandbox: SandboxOptions,
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse().ok();
    let number = number.filter(|share| (0.0..=100.0).contains(share));
    let expected = || "expected a share from 0% to 100%".to_owned();
    number.map(|share: f64| share / 100.0).ok_or_else(expected)
}

pub(super) fn run(args: &Args) -> Result<()> {
    let program = recorded::program(&args.bot, "scored by puzzles", &args.sandbox, "")?;
    let puzzles = load(&args.set)?;
    let time = args.time.control()?;
    let program = args.sandbox.confine(&program)?;
    let mut score = PuzzleScore::new(&program.name, &args.set, puzzles.len());
    let bar = ProgressBar::new(puzzles.len() as u64, "puzzles");
    let done = examine(async {
        for group in puzzles.chunk_by(|a, b| a.puzzle.has_rules_of(&b.puzzle)) {
            let Loaded { puzzle, ruleset } = &group[0];
            let pieces = PiecesFile::new(None, puzzle.pieces.as_deref())?;
            let seat = Seat::program(&**ruleset, pieces.path(), program.clone(), time);
            let runner = Rc::new(GameRunner::new(Arc::clone(ruleset), false)?);
            let mut examiner = Examiner::new(&runner, seat, args.seed, time);
            for Loaded { puzzle, .. } in group {
                bar.inc();
                score.ask(puzzle, &mut examiner).await?;
            }
            examiner.stop().await?;
        }
        Ok(())
    });
    bar.line.clear();
    if !matches!(done, Ok(()) | Err(Failure::Interrupted)) {
        return done;
    }
    let text = |palette: &Palette| text(&score, args.require, palette);
    print_found(args.json, || json!(&score), text)?;
    done?;
    match args.require {
        Some(least) if score.share() < least => Err(WRONG),
        _ => Ok(()),
    }
}

/// Why a puzzle is not solved.
fn problem(attempt: &Attempt<'_>) -> Option<String> {
    match &attempt.asked {
        None => Some(
            "it was not asked: its process gave no first answer three times in a row".to_owned(),
        ),
        Some(Ok(_)) if attempt.is_solved() => None,
        Some(Ok(answer)) => {
            let Puzzle { value, answers, .. } = attempt.puzzle;
            let listed: Vec<&str> = answers.iter().take(4).map(String::as_str).collect();
            let more = match answers.len() - listed.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let (turn, right) = (&answer.turn, listed.join(", "));
            let text = format!("{turn} lets the {value} slip; right: {right}{more}");
            Some(escape_controls(&text))
        }
        Some(Err(fault)) => Some(fault_line(fault)),
    }
}

/// `least`: the share that it must solve.
fn text(score: &PuzzleScore<'_>, least: Option<f64>, palette: &Palette) -> String {
    let cell = |kind, level| match score.tally(kind, level) {
        Tally { of: 0, .. } => String::new(),
        Tally { solved, of } => format!("{solved}/{of}"),
    };
    let mut kinds = PuzzleKind::ALL.to_vec();
    kinds.retain(|kind| score.tally(Some(*kind), None).of > 0);
    let columns = terminal_width(&io::stdout());
    let mut out = by_kinds_and_levels(cell, &kinds, palette);
    let failed = score.attempts().iter().filter_map(|attempt| {
        let problem = problem(attempt)?;
        let (puzzle, kind) = (attempt.puzzle, attempt.puzzle.kind.words());
        let (id, position) = (&puzzle.id, escape_controls(&puzzle.position));
        let label = format!("{id}  {position}  ");
        Some(labelled(&label, &format!("{kind}: {problem}"), columns) + "\n")
    });
    out.extend(failed.clone().take(LISTED));
    let more = failed.count().saturating_sub(LISTED);
    if more > 0 {
        let more = counted(more as u64, "other", "others");
        let _ = writeln!(out, "and {more}; --json has all");
    }
    let Tally { solved, of } = score.tally(None, None);
    let (name, share) = (escape_controls(score.bot()), 100.0 * score.share());
    let _ = write!(out, "{name} solves {solved} of {of}: {share:.1} %");
    if let Some(least) = least.filter(|least| score.share() < *least) {
        let _ = write!(out, ", less than {} %", 100.0 * least);
    }
    out.push('\n');
    out
}
