//! The command line: one file per command. The only part that prints.

mod commands;
mod support;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use self::commands::{
    alike, analyse, board, bot, check, check_game, compare, debug, doctor, grade, hunt, league,
    matches, new, print, puzzles, replay, report, rerun, simulate, solve, standings, tournament,
};
use self::support::logging::LogOptions;
use self::support::prelude::*;
use self::support::{config, output};
use referee::league::grading;
use referee::report::has_word;
#[cfg(all(target_os = "linux", not(portable)))]
use referee::sandbox::supervisor;
use referee::strategy;
use referee::system::most_open_files;
use referee::text::meant;

/// Let two programs play Quarto against each other
#[derive(Debug, Parser)]
#[command(
    name = "referee",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_long_help = AFTER_HELP
)]
struct Cli {
    #[command(flatten)]
    play: matches::Args,

    #[command(flatten)]
    log: LogOptions,

    #[command(subcommand)]
    command: Option<Command>,
}

const LEAST_OPEN_FILES: u64 = 64;

const AFTER_HELP: &str = "\
A BOT is
  a file               run directly, or by the interpreter that its extension names
  a command line       such as \"python3 my_bot.py --depth 3\"
  builtin:NAME         a strategy of this program: builtin:random, builtin:greedy,
                       builtin:perfect; in quotes, since a shell reads the ? otherwise:
                       'builtin:search?depth=3' looks that many turns ahead (1 to 4),
                       'builtin:perfect?slips=0.1' plays that share of turns at random
  human                a person at this terminal; against a bot with --live, in the browser

Examples:
  referee -v players/greedy.py players/random.sh
  referee -n 100 --seed 7 --record games.jsonl builtin:greedy ./mybot
  referee replay games.jsonl --number 3

Exit status: 0 a result was reached (a forfeit is a result); 2 wrong usage or input, or a
bot that cannot be started; 1 the referee itself failed; 130 interrupted.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Play a game between two people
    Play(Box<matches::PlayArgs>),
    /// Write a starter bot
    New(new::BotArgs),
    /// Check that a bot keeps the protocol
    Check(check::Args),
    /// Ask a bot the questions of a game
    Debug(Box<debug::Args>),
    /// Ask a changed bot recorded questions again
    Rerun(Box<rerun::Args>),
    /// Look for questions at which a bot breaks
    Hunt(Box<hunt::Args>),
    /// Make puzzles of mistakes, and score bots
    Puzzles(Box<puzzles::PuzzlesArgs>),
    /// Compare two versions of a bot
    Compare(Box<compare::Args>),
    /// Write or check a game's program
    #[command(subcommand)]
    Game(GameCommand),
    /// Run a tournament of many bots
    Tournament(Box<tournament::Args>),
    /// Run a term of submissions
    League(Box<league::LeagueArgs>),
    /// Grade bots against reference bots
    Grade(Box<grade::Args>),
    /// Simulate what a tournament could tell
    Simulate(simulate::Args),
    /// Play a tournament on several machines
    #[command(subcommand)]
    Shard(ShardCommand),
    /// Check and show recorded games
    Replay(replay::Args),
    /// Find where recorded games were decided
    Analyse(analyse::Args),
    /// Find bots that decide alike
    Alike(Box<alike::Args>),
    /// Print standings with ratings
    Standings(standings::Args),
    /// Write a page of standings and games
    Report(report::Args),
    /// Draw a position, or print the pieces
    Board(board::Args),
    /// Find the exact value of a position
    Solve(solve::Args),
    /// Report which sandboxes work here
    Doctor(doctor::Args),
    /// Print completions, manual pages and schemas
    #[command(subcommand)]
    Print(PrintCommand),
    /// Serve a built-in strategy as a bot
    #[command(hide = true)]
    Bot(bot::Args),
}

#[derive(Debug, Subcommand)]
enum GameCommand {
    /// Write a game, tic-tac-toe, to change
    New(new::Args),
    /// Check that a game's program keeps the protocol
    Check(check_game::Args),
}

#[derive(Debug, Subcommand)]
enum ShardCommand {
    /// Plan a tournament, or its next round
    Plan(Box<tournament::shards::PlanArgs>),
    /// Play a part of a planned tournament
    Run(tournament::shards::RunArgs),
    /// Merge the parts of a tournament
    Merge(tournament::shards::MergeArgs),
}

#[derive(Debug, Subcommand)]
enum PrintCommand {
    /// Print a completion script for a shell
    Completions(print::ShellArgs),
    /// Print the manual page of a command
    Man(print::ManArgs),
    /// Print the JSON Schema of a file
    Schema(print::SchemaArgs),
    /// Print the default scale of grades
    Scale,
}

const GROUPS: [(&str, &str); 5] = [
    ("Play", "play"),
    (
        "Write a bot",
        "new check debug rerun hunt puzzles compare game",
    ),
    ("Tournaments", "tournament league grade simulate shard"),
    (
        "Results and positions",
        "replay analyse standings report alike board solve",
    ),
    ("This machine", "doctor print"),
];

fn listed() -> Vec<&'static str> {
    let groups = GROUPS.iter();
    groups.flat_map(|(_, names)| names.split(' ')).collect()
}

/// The options of a match that `-h` shows.
const USUAL: &str = "games seed verbose record json game pieces move-time sandbox help version";

const HEADINGS: [(&str, &str); 10] = [
    ("Game", "game game-option pieces rules start adjudicate"),
    ("Time", "move-time start-time clock game-time increment"),
    (
        "Schedule",
        "format rounds groups seeds sprt pairs opening-plies openings tie-break",
    ),
    ("Bots", "restart bench-after no-check"),
    ("Analysis", "analyse time-per-move"),
    (
        "Sandbox (Linux)",
        "sandbox memory processes scratch expose env freeze",
    ),
    ("Pages", "report live live-exit live-frame private"),
    ("Output", "verbose record json csv markdown"),
    ("People", "name1 name2 piece-format hint"),
    ("Diagnosis", "log log-file log-format"),
];

/// The options that `-h` does not show.
const RARE: &str = "game-option start start-time clock increment groups seeds sprt opening-plies openings tie-break \
                    bench-after no-check memory processes scratch expose env freeze live-exit live-frame private \
                    piece-format hint from-first plan log-format restart adjudicate";

const RENAMED: [(&str, &[&str]); 9] = [
    ("plan", &["shard", "plan"]),
    ("run", &["shard", "run"]),
    ("merge", &["shard", "merge"]),
    ("new-game", &["game", "new"]),
    ("check-game", &["game", "check"]),
    ("pieces", &["board"]),
    ("completions", &["print", "completions"]),
    ("man", &["print", "man"]),
    ("schema", &["print", "schema"]),
];

fn program() -> clap::Command {
    let command = dressed(Cli::command());
    let heading = command.get_styles().get_header();
    let mut groups = format!("{heading}Commands:{heading:#}\n");
    for (group, names) in GROUPS {
        let _ = writeln!(groups, "{heading}{group}{heading:#}");
        for name in names.split(' ') {
            let command = command.find_subcommand(name);
            let about = command.and_then(clap::Command::get_about).cloned();
            let _ = writeln!(groups, "  {name:<10}  {}", about.unwrap_or_default());
        }
    }
    command
        .mut_subcommands(|command| command.hide(true))
        .mut_args(|option| {
            let is_usual = option.get_long().is_none_or(|long| has_word(USUAL, long));
            option.hide_short_help(!is_usual)
        })
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n       referee <COMMAND>\n\n{groups}\n{{all-args}}{{after-help}}"
        ))
}

/// An option has its heading, is as usual, and takes negative numbers, which its parser refuses with a sentence.
fn dressed(command: clap::Command) -> clap::Command {
    command.mut_subcommands(dressed).mut_args(|option| {
        let Some(long) = option.get_long().map(str::to_owned) else {
            return option;
        };
        let heading = HEADINGS.iter().find(|(_, longs)| has_word(longs, &long));
        let takes_value = option.get_action().takes_values();
        let option = match option.get_help_heading() {
            Some(_) => option,
            None => option.help_heading(heading.map(|(heading, _)| *heading)),
        };
        option
            .hide_short_help(has_word(RARE, &long))
            .allow_negative_numbers(takes_value)
    })
}

pub(crate) fn run() -> ExitCode {
    // A supervisor starts quickly, has one thread and logs nothing: its stderr is read as the bot's.
    #[cfg(all(target_os = "linux", not(portable)))]
    if std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == supervisor::COMMAND)
    {
        return supervisor::run(std::env::args().skip(2));
    }
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(word) = arguments.get(1)
        && let Some((_, now)) = RENAMED.iter().find(|(old, _)| word == old)
    {
        arguments.splice(1..2, now.iter().map(Into::into));
    }
    output::finish(parse(arguments).and_then(|cli| run_parsed(&cli)))
}

fn parse(arguments: Vec<OsString>) -> Result<Cli> {
    let program = program();
    let arguments = config::expand(arguments, &program)?;
    let parsed = program
        .try_get_matches_from(&arguments)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    match parsed {
        Ok(cli) if cli.command.is_some() => Ok(cli),
        Ok(cli) => mistyped(&arguments).map_or(Ok(cli), Err),
        Err(error) => Err(retired(&error, &arguments)
            .or_else(|| mistyped(&arguments))
            .unwrap_or_else(|| error.exit())),
    }
}

/// A match needs no command: the parser takes a mistyped command for a bot.
fn mistyped(arguments: &[OsString]) -> Option<Failure> {
    let word = arguments.get(1)?.to_str()?;
    let near = meant(word, &listed()).filter(|near| *near != word)?;
    // A built-in bot has a hint of its own.
    let is_built_in = meant(word, &strategy::NAMES).is_some();
    if word.starts_with('-') || is_built_in || Path::new(word).exists() {
        return None;
    }
    Some(usage!(
        "there is neither a command nor a file {word}; did you mean referee {near}?"
    ))
}

fn run_parsed(cli: &Cli) -> Result<()> {
    // A built-in bot may see few files, and needs no more.
    let is_bot = matches!(cli.command, Some(Command::Bot(_)));
    // `RUST_LOG` is meant for the referee that started it, and its stderr is read as the bot's.
    if !is_bot || cli.log.are_given() {
        cli.log.start()?;
    }
    if !is_bot {
        check_open_files()?;
        signals::start(output::exit_interrupted)?;
    }
    let Some(command) = &cli.command else {
        return matches::run_command(&cli.play);
    };
    // A line editor has to restore the terminal first.
    #[cfg(unix)]
    if !is_bot && !matches!(command, Command::Play(_) | Command::Debug(_)) {
        support::suspension::start()?;
    }
    match command {
        Command::Play(args) => matches::play(args),
        Command::New(args) => new::bot(args),
        Command::Check(args) => check::run(args),
        Command::Debug(args) => debug::run(args),
        Command::Rerun(args) => rerun::run(args),
        Command::Hunt(args) => hunt::run(args),
        Command::Puzzles(args) => puzzles::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Game(GameCommand::New(args)) => new::game(args),
        Command::Game(GameCommand::Check(args)) => check_game::run(args),
        Command::Tournament(args) => tournament::run(args),
        Command::League(args) => league::run(args),
        Command::Grade(args) => grade::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Shard(ShardCommand::Plan(args)) => tournament::shards::plan(args),
        Command::Shard(ShardCommand::Run(args)) => tournament::shards::run(args),
        Command::Shard(ShardCommand::Merge(args)) => tournament::shards::run_merge(args),
        Command::Replay(args) => replay::run(args),
        Command::Analyse(args) => analyse::run(args),
        Command::Alike(args) => alike::run(args),
        Command::Standings(args) => standings::run(args),
        Command::Report(args) => report::run(args),
        Command::Board(args) => board::run(args),
        Command::Solve(args) => solve::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Print(PrintCommand::Completions(args)) => print::completions(args, program()),
        Command::Print(PrintCommand::Man(args)) => print::man(args, program()),
        Command::Print(PrintCommand::Schema(args)) => print::schema(args),
        Command::Print(PrintCommand::Scale) => output::print(grading::scale::DEFAULT),
        Command::Bot(args) => bot::run(args),
    }
}

/// A match of two bots needs them.
fn check_open_files() -> Result<()> {
    match most_open_files() {
        Some(limit) if limit < LEAST_OPEN_FILES => Err(Failure::Referee(format!(
            "only {limit} files may be open at the same time, and the referee needs {LEAST_OPEN_FILES}; raise the limit (ulimit -n {LEAST_OPEN_FILES})"
        ))),
        _ => Ok(()),
    }
}

/// Options that are gone, of a command or, `*`, of all; and what to use instead.
const RETIRED: &str = "\
play --json: a person plays on stdout; --record FILE keeps the game
league --format --rounds --groups --seeds --sprt --out: in a league everybody meets everybody, in the folder that is named first
league --budget: a league plays all pairings; for fewer games, give a smaller --pairs
league --watch --after: give the same command again, from cron or a loop of the shell: it plays what is new
grade --print-scale: referee print scale > scale.toml
hunt --format: puzzles make FILE makes puzzles of the file of --record
simulate --draws: it is the second number of --spread, such as --spread 100,20
rerun --lost: it is --number lost
simulate --budget --oracle: what fewer or more games tell, another --pairs shows
simulate --time-per-game --jobs -j: the time is that of a game, times the number of games, by the games at a time
standings --drift --by=day --by=week --by=month: --from TIME rates the games since then
standings --prior: two virtual draws keep the ratings of perfect scores finite
solve --table --free --positions --empty: every solve says how many nodes it took, and how long
solve --resume --no-book: early positions are always answered by the built-in book
solve --book --placements --pack: the books are made by crates/games/examples/make_books.rs
solve --time: it is --time-per-move, as elsewhere
analyse --write: it is --output, as elsewhere
compare --alpha --beta: a yes and a no are each wrong in at most 5 of 100 cases
compare --against-old: with --pool half of the comparisons are games of NEW against OLD
compare --not-worse: a margin below 0 asks for it, such as --margin -50
compare --simulate: docs/compare.md says how often the answer is wrong, and how many games it takes
puzzles --failed --junit: --json has every puzzle and the answer to it
puzzles --free: positions that take longer to solve than --time-per-move are left out
report --for: --each writes the pages of all bots
board --last: replay --svg marks the last turn of a recorded game
* --game-program: it is --game PROGRAM; a game of the file is chosen by --number
* --open-files: a process of a bot may have 256 files open
* --strict: referee check FOLDER fails when a bot is not fit, before the tournament";

/// Command, options, and what to use instead.
fn all_retired() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    RETIRED.lines().filter_map(|line| {
        let (what, instead) = line.split_once(": ")?;
        let (command, options) = what.split_once(' ')?;
        Some((command, options, instead))
    })
}

/// If the parser's error is about a retired option.
fn retired(error: &clap::Error, arguments: &[OsString]) -> Option<Failure> {
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let wrong = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => format!("{}={value}", wrong.split(' ').next()?),
        _ => wrong.clone(),
    };
    let command = arguments.get(1)?;
    let (.., instead) = all_retired()
        .find(|(of, options, _)| (*of == "*" || command == of) && has_word(options, &wrong))?;
    Some(usage!("{wrong} is gone: {instead}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// With the words that name it, and those within it.
    fn walk(name: &str, command: &clap::Command, found: &mut Vec<(String, clap::Command)>) {
        found.push((name.to_owned(), command.clone()));
        for inner in command
            .get_subcommands()
            .filter(|inner| inner.get_name() != "help")
        {
            walk(&format!("{name} {}", inner.get_name()), inner, found);
        }
    }

    fn commands() -> Vec<(String, clap::Command)> {
        let mut found = Vec::new();
        walk("referee", &program(), &mut found);
        found
    }

    fn longs(command: &clap::Command) -> Vec<&str> {
        let options = command.get_arguments();
        options.filter_map(clap::Arg::get_long).collect()
    }

    #[test]
    fn options_are_few_and_those_with_a_heading_exist() {
        let commands = commands();
        let mut known: BTreeSet<&str> = commands.iter().flat_map(|(_, own)| longs(own)).collect();
        // Clap adds these to commands that do not have them yet.
        known.extend(["help", "version"]);
        assert!(known.len() <= 95, "{}: {known:?}", known.len());
        let under = || HEADINGS.iter().flat_map(|(_, longs)| longs.split(' '));
        for listed in under().chain(RARE.split(' ')) {
            assert!(known.contains(listed), "--{listed}");
        }
        let mut headed = BTreeSet::new();
        for long in under() {
            assert!(headed.insert(long), "--{long} has two headings");
        }
    }

    #[test]
    fn no_command_has_options_that_it_always_refuses() {
        for (name, command) in commands() {
            let has = |long: &str| longs(&command).contains(&long);
            match name.as_str() {
                "referee play" => assert!(!has("sandbox") && !has("restart") && !has("json")),
                "referee board" | "referee solve" => assert!(!has("game-option")),
                _ => {}
            }
            // One that is refused is retired, not declared.
            for (of, options, _) in all_retired() {
                let is_of = of == "*" || name == format!("referee {of}");
                for option in options.split(' ').filter(|_| is_of) {
                    let long = option.trim_start_matches('-');
                    assert!(!has(long), "{option} of {name}");
                }
            }
        }
    }

    #[test]
    fn the_help_is_short() {
        let command = Cli::command();
        let mut listed = listed();
        let shown = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set());
        let mut shown: Vec<&str> = shown.map(clap::Command::get_name).collect();
        listed.sort_unstable();
        shown.sort_unstable();
        assert_eq!(listed, shown);
        assert!(shown.len() <= 24);
        for (name, command) in commands() {
            let about = command
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(about.split(' ').count() <= 8, "{name}: {about}");
            let lines = command.clone().render_help().to_string().lines().count();
            assert!(lines <= 60, "{name} -h: {lines} lines");
        }
    }
}
