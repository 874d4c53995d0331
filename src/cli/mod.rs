//! The command line: one file per command. The only part that prints.

mod commands;
mod support;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser, Subcommand};

use self::commands::{
    analyse, board, bot, check, check_game, compare, debug, doctor, grade, league, matches, new,
    new_game, pieces, puzzles, replay, report, rerun, schema, shell, simulate, solve, standings,
    tournament,
};
use self::support::failure::Failure;
use self::support::logging::{self, LogOptions};
use self::support::{config, output, signals, suspension};
#[cfg(all(target_os = "linux", not(portable)))]
use super::sandbox::supervisor;
use super::system::most_open_files;
use super::text::meant;
use crate::strategy;

/// Lets two programs play Quarto against each other.
#[derive(Debug, Parser)]
#[command(
    name = "referee",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = AFTER_HELP
)]
struct Cli {
    #[command(flatten)]
    play: matches::Args,

    #[command(flatten)]
    log: LogOptions,

    #[command(subcommand)]
    command: Option<Command>,
}

/// Open files of a match of two bots, with some to spare.
const LEAST_OPEN_FILES: u64 = 64;

const AFTER_HELP: &str = "\
A BOT is
  a file               run directly, or by the interpreter that its ending names
  a command line       such as \"python3 my_bot.py --depth 3\"
  builtin:NAME         a strategy of this program: builtin:random, builtin:greedy,
                       builtin:perfect; in quotes, since a shell reads the ? otherwise:
                       'builtin:search?depth=3' looks that many turns ahead (1 to 4),
                       'builtin:perfect?slips=0.1' plays that share of turns at random
  human                a person at this terminal

Examples:
  referee -v players/greedy.py players/random.sh
  referee -n 100 --seed 7 --record games.jsonl builtin:greedy ./mybot
  referee replay games.jsonl --game 3

Exit status: 0 a result was reached (a forfeit is a result); 2 wrong usage or input, or a
bot that cannot be started; 1 the referee itself failed; 130 interrupted.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Two people play at this terminal
    Play(Box<matches::PlayArgs>),
    /// Plays a tournament of many bots, many games at once, and keeps everything in a folder
    Tournament(Box<tournament::Args>),
    /// Takes in submissions, plays the games that are new, and keeps table, pages and records of a term
    League(Box<league::LeagueArgs>),
    /// Grades bots by what they can do against reference bots, for Moodle, Gradescope and Classroom 50
    Grade(Box<grade::Args>),
    /// Says what a tournament could tell, before it is played: by simulation, for each format
    Simulate(simulate::Args),
    /// Makes the plan of a tournament without playing it, or of its next round
    Plan(Box<tournament::shards::PlanArgs>),
    /// Plays a part (shard) of a planned tournament
    Run(tournament::shards::RunArgs),
    /// Merges the parts (shards) of a tournament
    Merge(tournament::shards::MergeArgs),
    /// Checks whether a bot is fit to enter a tournament, and explains what is wrong if not
    Check(check::Args),
    /// Compares two versions of a bot: is the new one better, against the old one and against others?
    Compare(Box<compare::Args>),
    /// Writes a working starter bot; without an argument, lists the languages
    New(new::Args),
    /// Writes a working game as a program, to be changed into another one; without an argument, lists the languages
    NewGame(new_game::Args),
    /// Checks whether a game's program keeps to the protocol, and says what to mend if not
    CheckGame(check_game::Args),
    /// Draws a board and lists its quartos
    Board(board::Args),
    /// Prints a piece set
    Pieces(pieces::Args),
    /// Checks recorded games against the rules and shows them
    Replay(replay::Args),
    /// Asks a bot the questions of a recorded game again, without a clock, so that a debugger can be attached
    Debug(Box<debug::Args>),
    /// Asks a changed bot the questions of recorded games again: which of its mistakes are gone, still there, or new
    Rerun(Box<rerun::Args>),
    /// Makes puzzles of the mistakes in recorded games, and scores bots by how many puzzles they solve
    Puzzles(Box<puzzles::PuzzlesArgs>),
    /// Finds the turns at which recorded games were won and lost, with exact values
    Analyse(analyse::Args),
    /// Finds the exact value of a position: win, draw or loss, and in how many placements
    Solve(solve::Args),
    /// Prints standings with ratings, from any records
    Standings(standings::Args),
    /// Writes an HTML page with standings, charts and every game
    Report(report::Args),
    /// Reports which sandboxes work on this machine, and how to fix those that do not
    Doctor(doctor::Args),
    /// Serves a built-in strategy over stdin and stdout, as a bot
    Bot(bot::Args),
    /// Prints a completion script for a shell
    Completions(shell::Args),
    /// Prints the JSON Schema of a kind of file, with which editors complete and check it
    Schema(schema::Args),
    /// Prints the manual page of the program or of a command
    Man(shell::ManArgs),
}

pub fn run() -> ExitCode {
    // A supervisor starts quickly, has one thread and logs nothing: its stderr is read as the bot's.
    #[cfg(all(target_os = "linux", not(portable)))]
    {
        if std::env::args_os()
            .nth(1)
            .is_some_and(|word| word == supervisor::COMMAND)
        {
            return supervisor::run(std::env::args().skip(2));
        }
    }
    run_with(std::env::args_os())
}

/// For programs that use this library; the first of `arguments` is the program's name. Wrong usage and a second Ctrl-C
/// end the process, as with [`run`]. Sandboxes and built-in bots need the program `referee` itself.
pub fn run_with<T: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = T>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let arguments = match config::expand(arguments, &Cli::command()) {
        Ok(arguments) => arguments,
        Err(failure) => return output::finish(Err(failure), logging::finish),
    };
    let parsed = Cli::try_parse_from(&arguments);
    let retired = parsed
        .as_ref()
        .err()
        .and_then(|error| retired(error, &arguments));
    let is_command = parsed.as_ref().is_ok_and(|cli| cli.command.is_some());
    let near = || {
        (!is_command)
            .then(|| nearly_a_command(&arguments))
            .flatten()
    };
    match (retired.or_else(near), parsed) {
        (Some(failure), _) => output::finish(Err(failure), logging::finish),
        (None, Ok(cli)) => run_parsed(cli),
        (None, Err(error)) => error.exit(),
    }
}

/// A match needs no command: the parser takes a mistyped command for a bot.
fn nearly_a_command(arguments: &[OsString]) -> Option<Failure> {
    let word = arguments.get(1)?.to_str()?;
    let is_name = word.starts_with(char::is_alphabetic)
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    // A built-in bot has a hint of its own.
    if !is_name || Path::new(word).exists() || meant(word, &strategy::NAMES).is_some() {
        return None;
    }
    let command = Cli::command();
    let known: Vec<&str> = command
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    let near = meant(word, &known).filter(|near| *near != word)?;
    Some(Failure::Usage(format!(
        "there is neither a command nor a file {word}; did you mean referee {near}?"
    )))
}

fn run_parsed(cli: Cli) -> ExitCode {
    // A built-in bot may see few files, and needs no more.
    let is_bot = matches!(cli.command, Some(Command::Bot(_)));
    // `RUST_LOG` is meant for the referee that started it, and its stderr is read as the bot's.
    let logs = !is_bot || cli.log.are_given();
    let ready = if logs { cli.log.start() } else { Ok(()) };
    let ready = ready.and_then(|()| {
        if is_bot {
            return Ok(());
        }
        check_open_files()?;
        signals::start(|| output::exit_interrupted(logging::finish))
    });
    let result = ready.and_then(|()| match cli.command {
        None => matches::run_command(&cli.play),
        Some(Command::Play(args)) => matches::play(&args),
        Some(Command::Tournament(args)) => {
            suspension::start().and_then(|()| tournament::run(&args))
        }
        Some(Command::League(args)) => suspension::start().and_then(|()| league::run(&args)),
        Some(Command::Grade(args)) => suspension::start().and_then(|()| grade::run(&args)),
        Some(Command::Simulate(args)) => simulate::run(&args),
        Some(Command::Plan(args)) => tournament::shards::plan(&args),
        Some(Command::Run(args)) => {
            suspension::start().and_then(|()| tournament::shards::run(&args))
        }
        Some(Command::Merge(args)) => tournament::shards::run_merge(&args),
        Some(Command::Check(args)) => suspension::start().and_then(|()| check::run(&args)),
        Some(Command::Compare(args)) => suspension::start().and_then(|()| compare::run(&args)),
        Some(Command::New(args)) => new::run(&args),
        Some(Command::NewGame(args)) => new_game::run(&args),
        Some(Command::CheckGame(args)) => check_game::run(&args),
        Some(Command::Board(args)) => board::run(&args),
        Some(Command::Pieces(args)) => pieces::run(&args),
        Some(Command::Replay(args)) => replay::run(&args),
        Some(Command::Debug(args)) => debug::run(&args),
        Some(Command::Rerun(args)) => rerun::run(&args),
        Some(Command::Puzzles(args)) => puzzles::run(&args),
        Some(Command::Analyse(args)) => analyse::run(&args),
        Some(Command::Solve(args)) => solve::run(&args),
        Some(Command::Standings(args)) => standings::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Doctor(args)) => doctor::run(&args),
        Some(Command::Bot(args)) => bot::run(&args),
        Some(Command::Completions(args)) => shell::completions(&args, Cli::command()),
        Some(Command::Schema(args)) => schema::run(&args),
        Some(Command::Man(args)) => shell::man(&args, Cli::command()),
    });
    output::finish(result, logging::finish)
}

/// A match of two bots needs them.
fn check_open_files() -> Result<(), Failure> {
    let limit = most_open_files();
    match limit {
        Some(limit) if limit < LEAST_OPEN_FILES => Err(Failure::Referee(format!(
            "only {limit} files may be open at once, and the referee needs {LEAST_OPEN_FILES}; raise the limit (ulimit -n {LEAST_OPEN_FILES})"
        ))),
        _ => Ok(()),
    }
}

/// Options that are gone: command, option, and what to use instead.
const RETIRED: &[(&str, &str, &str)] = &[
    (
        "league",
        "--budget",
        "a league plays all pairings; for fewer games, give a smaller --pairs",
    ),
    (
        "simulate",
        "--budget",
        "what fewer games tell, a smaller --pairs shows",
    ),
    (
        "simulate",
        "--oracle",
        "what more games tell, a larger --pairs shows",
    ),
    ("standings", "--drift", SINCE),
    ("standings", "--by day", SINCE),
    ("standings", "--by week", SINCE),
    ("standings", "--by month", SINCE),
    ("solve", "--table", MEASURED),
    ("solve", "--free", MEASURED),
    ("solve", "--positions", MEASURED),
    ("solve", "--empty", MEASURED),
    ("solve", "--resume", QUICK),
    ("solve", "--no-book", QUICK),
    ("solve", "--book", MADE),
    ("solve", "--placements", MADE),
    ("solve", "--pack", MADE),
];

const SINCE: &str = "--from TIME rates the games since then";

const MEASURED: &str = "every solve says how many nodes it took, and how long";

const QUICK: &str = "early positions are always answered by the built-in book";

const MADE: &str = "the books are made by crates/games/examples/make_books.rs";

/// If the parser's error is about a retired option.
pub(in crate::cli) fn retired(error: &clap::Error, arguments: &[OsString]) -> Option<Failure> {
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let wrong = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => format!("{} {value}", wrong.split(' ').next()?),
        _ => wrong.clone(),
    };
    let command = arguments.get(1)?;
    let (_, option, instead) = RETIRED
        .iter()
        .find(|(name, option, _)| command == name && wrong == *option)?;
    Some(Failure::Usage(format!("{option} is gone: {instead}")))
}
