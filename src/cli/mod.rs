//! The command line: one file per command. The only part that prints.

mod commands;
mod help;
mod support;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser};

use self::commands::{BOT, Command, GROUPS, given_command, matches};
use self::support::failure::{Failure, Result, usage};
use self::support::logging::LogOptions;
use self::support::output::{self, print};
use self::support::{config, signals};
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
}

const LEAST_OPEN_FILES: u64 = 64;

const AFTER_HELP: &str = "\
A BOT is
  a file          run directly, or by the interpreter that its extension names
  a command line  such as \"python3 my_bot.py --depth 3\"
  builtin:NAME    builtin:random, builtin:greedy or builtin:perfect; in quotes, since a shell
                  reads the ? otherwise: 'builtin:search?depth=3' looks that many turns ahead
                  (1 to 4), 'builtin:perfect?slips=0.1' plays that share of turns at random
  human           a person at this terminal; against a bot with --live, in the browser

Examples:
  referee -v players/greedy.py players/random.sh
  referee -n 100 --seed 7 --record games.jsonl builtin:greedy ./mybot
  referee replay games.jsonl --number 3

Exit status, of all commands:
  0    a result was reached (a forfeit is a result)
  1    the referee itself failed
  2    wrong usage or input, or a bot that cannot be started
  3    check, game check: unfit; rerun, hunt: mistakes; puzzles: too few; compare: not better
  4    compare: undecided
  130  interrupted by Ctrl-C, SIGTERM or SIGHUP";

/// The whole command line.
fn program() -> clap::Command {
    program_with(&|_| true)
}

/// The command line with the options of those commands alone that `is_needed` names: making them all takes longer than
/// a short command does.
fn program_with(is_needed: &dyn Fn(&str) -> bool) -> clap::Command {
    let command = help::commands_in_short(with_negative_numbers(Cli::command()));
    command.subcommands(commands().map(|command| command.program(is_needed).hide(true)))
}

/// Those of the help, and the one that it does not list.
fn commands() -> impl Iterator<Item = &'static Command> {
    GROUPS
        .iter()
        .flat_map(|(_, commands)| *commands)
        .chain([&BOT])
}

/// A command with these options.
fn with_options<A: clap::Args>(command: clap::Command) -> clap::Command {
    with_negative_numbers(A::augment_args(command))
}

/// Its options take negative numbers, which their parsers refuse with a sentence; else clap would take them for options.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    command
        .mut_subcommands(with_negative_numbers)
        .mut_args(|argument| {
            let is_option = argument.get_long().is_some();
            let takes_value = argument.get_action().takes_values();
            argument.allow_negative_numbers(is_option && takes_value)
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
    output::finish(run_arguments(std::env::args_os().collect()))
}

fn run_arguments(arguments: Vec<OsString>) -> Result<()> {
    let arguments = with_command_first(arguments);
    if let Some(text) = help::topic(&arguments) {
        return print(&text);
    }
    let (arguments, parsed) = parse(arguments)?;
    match parsed {
        Ok(matches) if matches.subcommand_name().is_some() => run_command(&matches),
        Ok(matches) => match Cli::from_arg_matches(&matches) {
            Ok(cli) => mistyped(&arguments).map_or_else(|| run_match(&cli), Err),
            Err(error) => Err(mistyped(&arguments).unwrap_or_else(|| error.exit())),
        },
        Err(error) => Err(mistyped(&arguments).unwrap_or_else(|| error.exit())),
    }
}

/// Options may come before a command, too: `referee --sandbox none check bot.py`. A match takes such a word for a bot, which
/// it is where there is a file of that name.
fn with_command_first(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_command = |word: &OsString| {
        commands().any(|command| word == command.name) && !Path::new(word).exists()
    };
    let begins_with_option = arguments.get(1).is_some_and(is_option);
    let Some(place) = arguments
        .iter()
        .position(is_command)
        .filter(|_| begins_with_option)
    else {
        return arguments;
    };
    if are_options(&arguments[1..place]) {
        arguments[1..=place].rotate_right(1);
    }
    arguments
}

fn is_option(word: &OsString) -> bool {
    let word = word.as_encoded_bytes();
    word.len() > 1 && word[0] == b'-'
}

/// Whether these words are options of some command, and their values.
fn are_options(words: &[OsString]) -> bool {
    let program = program();
    let known: Vec<&clap::Arg> = std::iter::once(&program)
        .chain(program.get_subcommands())
        .flat_map(clap::Command::get_arguments)
        .collect();
    let option = |word: &str| {
        let is_it = |argument: &&&clap::Arg| match word.strip_prefix("--") {
            Some(long) => argument.get_long() == Some(long),
            None => {
                argument.get_short() == word.strip_prefix('-').and_then(|rest| rest.parse().ok())
            }
        };
        known.iter().find(is_it).copied()
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(word) = word.to_str().filter(|word| word.starts_with('-')) else {
            return false;
        };
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        match option(name) {
            Some(option) if option.get_action().takes_values() && name == word => {
                if words.next().is_none() {
                    return false;
                }
            }
            Some(_) => {}
            // Several short ones, such as `-vv`, take no value.
            None if !word.starts_with("--") => {}
            None => return false,
        }
    }
    true
}

/// With what the file of `--config` adds.
fn parse(arguments: Vec<OsString>) -> Result<(Vec<OsString>, clap::error::Result<ArgMatches>)> {
    let is_given = |name: &str| arguments.iter().any(|word| word == name);
    let mut command = program_with(&is_given);
    if let Some(arguments) = help::arguments(&arguments, &command) {
        let parsed = help::in_full(command).try_get_matches_from(&arguments);
        return Ok((arguments, parsed));
    }
    let parsed = command.try_get_matches_from_mut(&arguments);
    if let Ok(matches) = &parsed
        && let Some(arguments) = config::expand(&arguments, &command, matches)?
    {
        let parsed = program().try_get_matches_from(&arguments);
        return Ok((arguments, parsed));
    }
    Ok((arguments, parsed))
}

/// A match needs no command: the parser takes a mistyped command for a bot.
fn mistyped(arguments: &[OsString]) -> Option<Failure> {
    let word = arguments.get(1)?.to_str()?;
    let commands: Vec<&str> = commands().map(|command| command.name).collect();
    if word == "help" || commands.contains(&word) {
        return None;
    }
    // A built-in bot has a hint of its own.
    let is_built_in = meant(word, &strategy::NAMES).is_some();
    let is_bot = is_built_in || word.contains([':', '.', '/', ' ']) || Path::new(word).exists();
    if word.starts_with('-') || is_bot {
        return None;
    }
    let near = || meant(word, &commands).map(str::to_owned);
    let near = within_another(word).or_else(near)?;
    Some(usage!(
        "there is neither a command nor a file {word}; did you mean referee {near}?"
    ))
}

/// The command of this name within another one, such as `print man`.
fn within_another(word: &str) -> Option<String> {
    let program = program();
    let mut groups = program.get_subcommands();
    let group =
        groups.find(|group| group.get_name() != "help" && group.find_subcommand(word).is_some())?;
    Some(format!("{} {word}", group.get_name()))
}

fn run_match(cli: &Cli) -> Result<()> {
    cli.log.start()?;
    start_process()?;
    matches::run_command(&cli.play)
}

fn run_command(matches: &ArgMatches) -> Result<()> {
    let log = LogOptions::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
    let (command, matches) = given_command(commands(), matches);
    // A built-in bot may see few files, and needs no more. `RUST_LOG` is meant for the referee that
    // started it, and its stderr is read as the bot's.
    let is_bot = command.name == BOT.name;
    if !is_bot || log.are_given() {
        log.start()?;
    }
    if !is_bot {
        start_process()?;
        // A line editor has to restore the terminal first.
        #[cfg(unix)]
        if !command.edits_lines {
            support::suspension::start()?;
        }
    }
    command.run(matches)
}

/// What everything needs that starts bots or writes files.
fn start_process() -> Result<()> {
    check_open_files()?;
    signals::start(output::exit_interrupted)
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

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

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

    fn programs() -> Vec<(String, clap::Command)> {
        let mut found = Vec::new();
        walk("referee", &program(), &mut found);
        found
    }

    fn longs(command: &clap::Command) -> Vec<&str> {
        let options = command.get_arguments();
        let shown = options.filter(|option| !option.is_hide_set());
        shown.filter_map(clap::Arg::get_long).collect()
    }

    #[test]
    fn options_are_few() {
        let commands = programs();
        let mut known: BTreeSet<&str> = commands.iter().flat_map(|(_, own)| longs(own)).collect();
        // Clap adds these to commands that do not have them yet.
        known.extend(["help", "version"]);
        assert!(known.len() <= 102, "{}: {known:?}", known.len());
    }

    #[test]
    fn a_command_may_come_after_its_options() {
        let ordered = |line: &str| {
            let words = line.split(' ').map(OsString::from).collect();
            let words = with_command_first(words);
            let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
            words.join(" ")
        };
        for (given, expected) in [
            (
                "referee --sandbox none check bot.py",
                "referee check --sandbox none bot.py",
            ),
            (
                "referee --json replay f.jsonl",
                "referee replay --json f.jsonl",
            ),
            (
                "referee --seed=3 -v tournament a b",
                "referee tournament --seed=3 -v a b",
            ),
            // Values, bots, and what is no option of any command.
            ("referee --name1 check a b", "referee --name1 check a b"),
            ("referee a check", "referee a check"),
            ("referee -v a check", "referee -v a check"),
            ("referee --nonsense check a", "referee --nonsense check a"),
            (
                "referee check --sandbox none",
                "referee check --sandbox none",
            ),
        ] {
            assert_eq!(ordered(given), expected);
        }
    }

    /// What a person looks for in two commands stands under the same heading in both.
    #[test]
    fn an_option_has_one_heading() {
        const OTHER: [&str; 2] = ["format", "report"];
        let mut headings: BTreeMap<String, Option<String>> = BTreeMap::new();
        for (name, command) in programs() {
            for option in command.get_arguments() {
                let Some(long) = option.get_long() else {
                    continue;
                };
                let heading = option.get_help_heading().map(str::to_owned);
                let first = headings.entry(long.to_owned()).or_insert(heading.clone());
                assert!(
                    *first == heading || OTHER.contains(&long),
                    "{name} --{long}: {heading:?}"
                );
            }
        }
    }

    #[test]
    fn no_command_has_options_that_it_always_refuses() {
        for (name, command) in programs() {
            let has = |long: &str| longs(&command).contains(&long);
            match name.as_str() {
                "referee play" => assert!(!has("sandbox") && !has("restart") && !has("json")),
                "referee board" | "referee solve" => assert!(!has("game-option")),
                _ => {}
            }
        }
    }

    #[test]
    fn the_help_is_short() {
        let listed: usize = GROUPS.iter().map(|(_, commands)| commands.len()).sum();
        assert!(listed <= 25, "{listed}");
        for (name, command) in programs() {
            let about = command
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(about.split(' ').count() <= 8, "{name}: {about}");
            let lines = command.clone().render_help().to_string().lines().count();
            assert!(lines <= 40, "{name} -h: {lines} lines");
        }
        let mut found = Vec::new();
        walk("referee", &help::in_full(program()), &mut found);
        for (name, mut command) in found {
            let lines = command.render_help().to_string().lines().count();
            assert!(lines <= 120, "{name} --help: {lines} lines");
        }
    }
}
