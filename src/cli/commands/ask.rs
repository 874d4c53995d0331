use std::io;
use std::rc::Rc;

use serde_json::json;
use tokio::task::spawn_blocking;

use crate::cli::support::failure::{Failure, Result, usage};
use crate::cli::support::games::{GameOptions, check_builtins};
use crate::cli::support::output::{json_line, print};
use crate::cli::support::recorded::{self, fault_text};
use crate::cli::support::runtime::examine;
use crate::cli::support::sandbox::SandboxOptions;
use crate::cli::support::values::AnswerTimes;
use referee::play::clock::Clock;
use referee::play::examiner::{Asked, Examiner};
use referee::play::game_runner::GameRunner;
use referee::play::seat::Seat;
use referee::text::quote;

const AFTER_HELP: &str = "\
A question is a line of the protocol, on standard input; its answer is one line, too: the turn, or
why the bot would have forfeited, after which the next question is that of a fresh process.

Examples:
  echo \"A..B............ C\" | referee ask ./mybot
  referee ask --json --game four-in-a-row ./mybot < questions.txt

Exit status: 0 at the end of the input, whatever the bot answered; 2 wrong usage or input, or a
bot that cannot be started; 1 the referee itself failed; 130 interrupted.";

#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The bot: a file, a command line or builtin:NAME
    bot: String,

    /// What `REFEREE_SEED` says [default: 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=0x7fff_ffff))]
    seed: Option<u32>,

    /// Print a JSON object for each question, a line each: `turn`, or `reason` and `detail`
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    game: GameOptions,

    #[command(flatten)]
    times: AnswerTimes,

    #[command(flatten)]
    sandbox: SandboxOptions,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let program = recorded::program(&args.bot, "asked", &args.sandbox, &args.game.typed())?;
    let ruleset = args.game.ruleset()?;
    check_builtins(&*ruleset, [&program].into_iter())?;
    let pieces = args.game.pieces_file(&*ruleset)?;
    let program = args.sandbox.confine(&program)?;
    let time = args.times.control()?;
    let seat = Seat::program(&*ruleset, pieces.path(), program, time);
    let runner = Rc::new(GameRunner::new(ruleset, false)?);
    let mut examiner = Examiner::new(&runner, seat, args.seed.unwrap_or(0), time);
    examine(async move {
        for number in 1.. {
            let Some(line) = next_line().await? else {
                break;
            };
            let mut game = runner.ruleset().read_request(&line).map_err(|problem| {
                let line = quote(line.as_bytes());
                usage!("line {number} of standard input, {line}: {problem}")
            })?;
            let asked = examiner.ask_on(&mut *game, &mut Clock::new(time)).await?;
            print(&printed(&asked, args.json))?;
        }
        Ok(examiner.stop().await?)
    })
}

/// `None` at the end of standard input. Signals are heeded meanwhile.
async fn next_line() -> Result<Option<String>> {
    let read = spawn_blocking(|| {
        let mut line = String::new();
        io::stdin()
            .read_line(&mut line)
            .map(|length| (length, line))
    });
    let read = read
        .await
        .map_err(|error| Failure::Referee(error.to_string()))?;
    let (length, line) = read.map_err(|error| usage!("standard input: {error}"))?;
    Ok((length > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
}

fn printed(asked: &Asked, as_json: bool) -> String {
    match asked {
        Ok(answer) if as_json => json_line(json!({ "turn": answer.turn })),
        Ok(answer) => format!("{}\n", answer.turn),
        Err(fault) if as_json => {
            let (reason, detail) = (fault.fault.reason().to_string(), fault.fault.to_string());
            let stderr = &fault.stderr;
            json_line(json!({ "reason": reason, "detail": detail, "stderr": stderr }))
        }
        Err(fault) => fault_text(fault).replace('\n', " ") + "\n",
    }
}
