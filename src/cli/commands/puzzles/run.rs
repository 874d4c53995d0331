//! `referee puzzles run SET BOT`: asks a bot every puzzle of a set.

use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::load;
use super::output::{Report, Tally};
use crate::cli::support::output::ProgressBar;
use crate::cli::support::prelude::*;
use crate::cli::support::recorded;
use crate::cli::support::runtime::examine;
use crate::cli::support::sandbox::SandboxOptions;
use crate::cli::support::setup::PiecesFile;
use crate::cli::support::values::AnswerTimes;
use crate::play::examiner::{Asked, Examiner, Line};
use crate::play::game_runner::GameRunner;
use crate::play::seat::Seat;
use crate::puzzles::{Loaded, Puzzle};

/// After this many starts in a row without an answer the rest is not asked.
const FAILED_STARTS: u32 = 3;

const AFTER_HELP: &str = "\
One process is asked all puzzles; after a fault the next one is asked. A fault counts as a wrong
answer.

Exit status: 0 it was scored; 3 its share is below --require; 2 wrong usage or input, or a bot that
cannot be started; 1 the referee itself failed; 130 interrupted.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// A file of puzzles, or builtin:quarto or builtin:four-in-a-row
    set: String,

    /// The bot: a file, a command line or builtin:NAME
    bot: String,

    /// The share of puzzles that it must solve, such as 80%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    require: Option<f64>,

    /// Print one JSON document
    #[arg(long)]
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

pub(super) struct Attempt<'a> {
    pub(super) puzzle: &'a Puzzle,
    /// `None` when it was not asked, since it gave no first answer to those before.
    pub(super) asked: Option<Asked>,
    /// From the question to the answer.
    pub(super) time: Duration,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let program = recorded::program(&args.bot, "scored by puzzles")?;
    let puzzles = load(&args.set)?;
    let time = args.time.control()?;
    let program = args.sandbox.confine(&program)?;
    let mut attempts = Vec::new();
    let bar = ProgressBar::new(puzzles.len() as u64, "puzzles");
    let done = examine(async {
        let mut failed_starts = 0;
        for group in puzzles.chunk_by(|a, b| Arc::ptr_eq(&a.ruleset, &b.ruleset)) {
            let Loaded { puzzle, ruleset } = &group[0];
            let pieces = puzzle.pieces.as_deref().map(PiecesFile::copy).transpose()?;
            let path = pieces.as_ref().map(PiecesFile::path);
            let seat = Seat::program(&**ruleset, path, program.clone(), time);
            let runner = Rc::new(GameRunner::new(Arc::clone(ruleset), false)?);
            let mut examiner = Examiner::new(&runner, seat, args.seed, time);
            for Loaded { puzzle, .. } in group {
                bar.inc();
                let begun = Instant::now();
                let mut asked = None;
                if failed_starts < FAILED_STARTS {
                    let line = Line {
                        start: puzzle.position.clone(),
                        turns: Vec::new(),
                    };
                    let answer = examiner.ask(&line).await?;
                    let has_failed = matches!(&answer, Err(fault) if fault.never_answered);
                    failed_starts = if has_failed { failed_starts + 1 } else { 0 };
                    asked = Some(answer);
                }
                attempts.push(Attempt {
                    puzzle,
                    asked,
                    time: begun.elapsed(),
                });
            }
            examiner.stop().await?;
        }
        Ok(())
    });
    bar.line.clear();
    if !matches!(done, Ok(()) | Err(Failure::Interrupted)) {
        return done;
    }
    let report = Report {
        bot: &program.name,
        set: &args.set,
        attempts: &attempts,
        is_complete: attempts.len() == puzzles.len(),
    };
    let text = if args.json {
        format!("{}\n", report.json())
    } else {
        report.text(args.require, &palette(&io::stdout()))
    };
    Stdout.write_all(text.as_bytes())?;
    done?;
    let share = Tally::of(&attempts).share();
    if args.require.is_some_and(|least| share < least) {
        return Err(Failure::Mistaken);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares() {
        assert_eq!(share("80%"), Ok(0.8));
        assert_eq!(share("80"), Ok(0.8));
        for wrong in ["", "%", "101%", "-1%", "NaN", "most"] {
            let error = share(wrong).unwrap_err();
            assert_eq!(error, "expected a share from 0% to 100%", "{wrong}");
        }
    }
}
