//! `referee puzzles run SET BOT`: asks a bot every puzzle of a set.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::load;
use super::output::{Report, junit};
use crate::bot::orphans;
use crate::bot::spec::{BotSpec, Program};
use crate::cli::support::failure::Failure;
use crate::cli::support::output::ProgressBar;
use crate::cli::support::runtime::{end_orphans, runtime, until_interrupted};
use crate::cli::support::sandbox::SandboxOptions;
use crate::cli::support::setup::{PiecesFile, palette};
use crate::cli::support::values::{self, AnswerTimes};
use crate::cli::support::{recorded, signals};
use crate::play::TimeControl;
use crate::play::questions::{Answer, Conversation, Line};
use crate::play::seat::{Seat, StartError};
use crate::puzzles::file::Loaded;
use crate::puzzles::score::{Attempt, Response, Tally};
use crate::text::cause;

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

    /// List every puzzle that it does not solve
    #[arg(long)]
    failed: bool,

    /// Print one JSON document
    #[arg(long)]
    json: bool,

    /// Also write the results to this file as `JUnit` XML, for CI systems
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// What `REFEREE_SEED` says
    #[arg(long, value_name = "N", default_value = "0", value_parser = values::within::<u32>(0..=0x7fff_ffff), allow_negative_numbers = true)]
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

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let program = recorded::program(&args.bot, "scored by puzzles")?;
    let puzzles = load(&args.set)?;
    let time = args.time.control()?;
    let name = program.name.clone();
    let spec = [BotSpec::Program(program)];
    let [BotSpec::Program(program)] = args.sandbox.of_bots(&spec)?.confine(&spec)? else {
        return Err(Failure::Referee("the bot is no program".to_owned()));
    };
    let mut attempts = Vec::new();
    let _heeded = signals::heed();
    let runtime = runtime()?;
    let bar = ProgressBar::new(puzzles.len() as u64, "puzzles");
    let done = runtime.block_on(async {
        orphans::adopt();
        let mut done = Ok(());
        let mut failed_starts = 0;
        for group in puzzles.chunk_by(|a, b| Arc::ptr_eq(&a.ruleset, &b.ruleset)) {
            let (mut bot, _pieces) = conversation(group, &program, time, args.seed)?;
            let asking = ask(&mut bot, group, &mut failed_starts, &mut attempts, &bar);
            done = until_interrupted(Box::pin(asking)).await;
            let stopped = bot.stop().await;
            done = done.and(stopped.map_err(Failure::from));
            if done.is_err() {
                break;
            }
        }
        end_orphans();
        done
    });
    bar.line.clear();
    match &done {
        Ok(()) | Err(Failure::Interrupted) => {}
        Err(_) => return done,
    }
    let report = Report {
        bot: &name,
        set: &args.set,
        attempts: &attempts,
        all: puzzles.len(),
    };
    if let Some(path) = &args.junit {
        std::fs::write(path, junit(&report)).map_err(|error| {
            let (path, cause) = (path.display(), cause(&error));
            Failure::Usage(format!("{path}: cannot be written: {cause}"))
        })?;
    }
    report.print(
        args.json,
        args.failed,
        args.require,
        &palette(&io::stdout()),
    )?;
    done?;
    let is_enough = |least| Tally::of(&attempts).share() >= least;
    if args.require.is_some_and(|least| !is_enough(least)) {
        return Err(Failure::Mistaken);
    }
    Ok(())
}

/// For puzzles by the same rules.
fn conversation<'a>(
    group: &'a [Loaded],
    program: &Program,
    time: TimeControl,
    seed: u32,
) -> Result<(Conversation<'a>, Option<PiecesFile>), Failure> {
    let Some(Loaded { puzzle, ruleset }) = group.first() else {
        return Err(Failure::Referee("no puzzles".to_owned()));
    };
    let pieces = puzzle.pieces.as_deref().map(PiecesFile::copy).transpose()?;
    let path = pieces.as_ref().map(PiecesFile::path);
    let seat = Seat::program(&**ruleset, path, program.clone(), time);
    let bot = Conversation::new(&**ruleset, seat, seed).with_limit(time);
    Ok((bot, pieces))
}

async fn ask<'a>(
    bot: &mut Conversation<'_>,
    group: &'a [Loaded],
    failed_starts: &mut u32,
    attempts: &mut Vec<Attempt<'a>>,
    bar: &ProgressBar,
) -> Result<(), Failure> {
    for Loaded { puzzle, .. } in group {
        bar.inc();
        if *failed_starts >= FAILED_STARTS {
            attempts.push(Attempt {
                puzzle,
                response: Response::NotAsked,
                time: Duration::ZERO,
            });
            continue;
        }
        if !bot.is_running() {
            bot.start().await.map_err(|error| match error {
                StartError::CannotStart(error) => error.into(),
                StartError::Exhausted(limit) => Failure::Exhausted(limit),
            })?;
        }
        let line = Line {
            start: puzzle.position.clone(),
            turns: Vec::new(),
        };
        let begun = Instant::now();
        let answer = bot.ask(&line).await?;
        let time = begun.elapsed();
        let response = match answer {
            Answer::Turn(turn) => {
                *failed_starts = 0;
                Response::Turn(turn)
            }
            Answer::Fault(fault, ended) => {
                *failed_starts = if ended.never_answered {
                    *failed_starts + 1
                } else {
                    0
                };
                Response::Fault {
                    reason: fault.reason().name(),
                    detail: fault.to_string(),
                    stderr: ended.stderr.trim_end().to_owned(),
                }
            }
        };
        attempts.push(Attempt {
            puzzle,
            response,
            time,
        });
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
