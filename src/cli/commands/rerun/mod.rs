//! `referee rerun FILE BOT`: asks a changed bot the questions of recorded games again, up to its first other answer, and
//! judges what became of its mistakes.

mod asking;
mod choice;
mod output;

use std::io;
use std::path::PathBuf;

use self::asking::Asking;
use self::choice::{Choice, Chosen};
use crate::bot::orphans;
use crate::bot::spec::BotSpec;
use crate::cli::support::asked_bot::AskedBotOptions;
use crate::cli::support::duration::{self, MoveTime};
use crate::cli::support::failure::Failure;
use crate::cli::support::folder::{GameChoice, records_of};
use crate::cli::support::interrupt::until_interrupted;
use crate::cli::support::leftovers::end_orphans;
use crate::cli::support::output::print_stderr;
use crate::cli::support::recorded;
use crate::cli::support::recorded_game::RecordedRules;
use crate::cli::support::runtime::runtime;
use crate::cli::support::setup::palette;
use crate::cli::support::signals;
use crate::text::counted;

const AFTER_HELP: &str = "\
The bot is asked what it was asked in the game, with the same seed, environment and time for a
move, as long as it answers as before. Its first other answer is judged, if the game has a solver.
Of a process that had played other games of the file before, all lines are sent, from the first.

Examples:
  referee rerun games.jsonl --lost ./mybot
  referee rerun tournament-2026-01-31-100000 --game p000012a ./mybot
  referee rerun games.jsonl --lost --as oldbot --json ./newbot

Exit status: 0 nothing that was wrong is still there, and nothing is new; 3 otherwise; 2 wrong
usage or input, or a bot that cannot be started; 1 the referee itself failed; 130 interrupted.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct Args {
    /// A file of records, as --record writes it, or the folder of a tournament
    file: PathBuf,

    /// The bot: a file, a command line or builtin:NAME
    bot: String,

    /// Only the games that it lost, by a forfeit or otherwise
    #[arg(long, conflicts_with = "game")]
    lost: bool,

    /// Only this game: 1 for the first of the file, or its id, such as p000012a
    #[arg(long, value_name = "N|ID")]
    game: Option<GameChoice>,

    /// The time for a move [default: as in the game, else 10s; where there was no limit, an answer has 1 min]
    #[arg(long, value_name = "TIME", value_parser = duration::parse_move_time)]
    move_time: Option<MoveTime>,

    /// Print one JSON document
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    asked: AskedBotOptions,
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let program = recorded::program(&args.bot, "asked again")?;
    let file = records_of(&args.file)?;
    let rules = RecordedRules::new(&args.asked.game_program);
    let Chosen { games, chosen } = Choice {
        rules: &rules,
        program: &program,
        part: args.asked.part.as_deref(),
        game: args.game.as_ref(),
        is_lost: args.lost,
    }
    .read(&file)?;
    let name = program.name.clone();
    let spec = [BotSpec::Program(program)];
    let [BotSpec::Program(program)] = args.asked.sandbox.of_bots(&spec)?.confine(&spec)? else {
        return Err(Failure::Referee("the bot is no program".to_owned()));
    };
    let mut asking = Asking::new(args, program, &games);
    let _heeded = signals::heed();
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        orphans::adopt();
        let done = until_interrupted(Box::pin(asking.run(&chosen))).await;
        let stopped = asking.stop().await;
        end_orphans();
        done.and(stopped.map_err(Failure::from))
    });
    // The solver may still be at a position.
    runtime.shutdown_background();
    let (results, unseen) = asking.finish();
    if unseen > 0 {
        print_stderr(&format!(
            "referee: in {} its process had played others before, which are not all in this file; it was not sent those lines",
            counted(unseen, "game", "games")
        ));
    }
    let is_complete = done.is_ok();
    match &done {
        Err(Failure::Interrupted) | Ok(()) => {}
        Err(_) => return done,
    }
    let report = output::Report {
        name: &name,
        games: &results,
        is_complete,
    };
    report.print(args.json, &palette(&io::stdout()))?;
    done?;
    if report.is_wrong() {
        return Err(Failure::Mistaken);
    }
    Ok(())
}
