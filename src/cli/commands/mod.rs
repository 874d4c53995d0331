//! All commands: a line each, in the order of the help.

pub(crate) mod adapt;
pub(crate) mod alike;
pub(crate) mod analyse;
pub(crate) mod ask;
pub(crate) mod board;
pub(crate) mod bot;
pub(crate) mod check;
pub(crate) mod check_game;
pub(crate) mod compare;
pub(crate) mod debug;
pub(crate) mod doctor;
pub(crate) mod grade;
pub(crate) mod hunt;
pub(crate) mod league;
pub(crate) mod matches;
pub(crate) mod new;
pub(crate) mod print;
pub(crate) mod puzzles;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod rerun;
pub(crate) mod simulate;
pub(crate) mod solve;
pub(crate) mod standings;
pub(crate) mod tournament;

use clap::{ArgMatches, FromArgMatches as _};
use tournament::shards;

use super::support::failure::Result;
use super::support::output;
use super::{program, with_options};
use referee::class::league::grading;

/// A command of the command line.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    alias: Option<&'static str>,
    content: Content,
    /// See [`output::outlive_reader`].
    outlives_reader: bool,
    /// People edit lines in it.
    #[cfg_attr(not(unix), allow(dead_code, reason = "a program is suspended on Unix"))]
    pub(crate) edits_lines: bool,
}

enum Content {
    /// Adds its options, and runs it with what was given.
    Call(
        fn(clap::Command) -> clap::Command,
        fn(&ArgMatches) -> Result<()>,
    ),
    Commands(&'static [Command]),
}

/// A command of this name that calls a function with its options.
macro_rules! command {
    ($name:literal, $about:literal, $options:ty, $call:expr) => {
        Command::new(
            $name,
            $about,
            Content::Call(with_options::<$options>, |matches| {
                let options = <$options>::from_arg_matches(matches);
                $call(&options.unwrap_or_else(|error| error.exit()))
            }),
        )
    };
}

/// Those that the help of the program lists, under their headings.
#[rustfmt::skip]
pub(crate) const GROUPS: &[(&str, &[Command])] = &[
    ("Play", &[
        command!("play", "Play a game between two people", matches::PlayArgs, matches::play).edits_lines(),
    ]),
    ("Write a bot", &[
        command!("new", "Write a starter bot", new::BotArgs, new::bot).outlives_reader(),
        command!("adapt", "Make bots of agents for another protocol", adapt::Args, adapt::run).outlives_reader(),
        command!("check", "Check that a bot keeps the protocol", check::Args, check::run).outlives_reader(),
        command!("debug", "Ask a bot the questions of a game", debug::Args, debug::run).edits_lines(),
        command!("ask", "Ask a bot questions from standard input", ask::Args, ask::run),
        command!("rerun", "Ask a changed bot recorded questions again", rerun::Args, rerun::run).outlives_reader(),
        command!("hunt", "Look for questions at which a bot breaks", hunt::Args, hunt::run).outlives_reader(),
        command!("puzzles", "Make puzzles of mistakes, and score bots", puzzles::PuzzlesArgs, puzzles::run)
            .outlives_reader(),
        command!("compare", "Compare two versions of a bot", compare::Args, compare::run).outlives_reader(),
        Command::new("game", "Write or check a game's program", Content::Commands(&[
            command!("new", "Write a game, tic-tac-toe, to change", new::Args, new::game),
            command!("check", "Check that a game's program keeps the protocol", check_game::Args, check_game::run),
        ])).outlives_reader(),
    ]),
    ("Tournaments", &[
        command!("tournament", "Run a tournament of many bots", tournament::Args, tournament::run).outlives_reader(),
        command!("league", "Run a term of submissions", league::LeagueArgs, league::run).outlives_reader(),
        command!("grade", "Grade bots against reference bots", grade::Args, grade::run).outlives_reader(),
        command!("simulate", "Simulate what a tournament could tell", simulate::Args, simulate::run),
        Command::new("shard", "Play a tournament on several machines", Content::Commands(&[
            command!("plan", "Plan a tournament, or its next round", shards::PlanArgs, shards::plan),
            command!("run", "Play a part of a planned tournament", shards::RunArgs, shards::run),
            command!("merge", "Merge the parts of a tournament", shards::MergeArgs, shards::run_merge),
        ])).outlives_reader(),
    ]),
    ("Results and positions", &[
        command!("replay", "Check and show recorded games", replay::Args, replay::run),
        command!("analyse", "Find where recorded games were decided", analyse::Args, analyse::run),
        command!("standings", "Print standings with ratings", standings::Args, standings::run),
        command!("report", "Write a page of standings and games", report::Args, report::run).outlives_reader(),
        command!("alike", "Find bots that decide alike", alike::Args, alike::run),
        command!("board", "Draw a position, or print the pieces", board::Args, board::run).alias("pieces"),
        command!("solve", "Find the exact value of a position", solve::Args, solve::run),
    ]),
    ("This machine", &[
        command!("doctor", "Report which sandboxes work here", doctor::Args, doctor::run),
        Command::new("print", "Print completions, manual pages and schemas", Content::Commands(&[
            command!("completions", "Print a completion script for a shell", print::ShellArgs, |shell: &print::ShellArgs| {
                print::completions(shell, program())
            }),
            command!("man", "Print the manual page of a command", print::ManArgs, |page: &print::ManArgs| {
                print::man(page, program())
            }),
            command!("schema", "Print the JSON Schema of a file", print::SchemaArgs, print::schema),
            command!("scale", "Print the default scale of grades", NoOptions, |_: &NoOptions| {
                output::print(grading::scale::DEFAULT)
            }),
        ])),
    ]),
];

/// What the referee starts as a built-in bot.
pub(crate) const BOT: Command = command!(
    "bot",
    "Serve a built-in strategy as a bot",
    bot::Args,
    bot::run
);

/// The one of these commands that is given, with what is given to it. The parser has required one, and knows no others;
/// it calls a command by its name even where an alias was typed.
pub(crate) fn given_command<'a>(
    mut commands: impl Iterator<Item = &'a Command>,
    given: &ArgMatches,
) -> (&'a Command, &ArgMatches) {
    given
        .subcommand()
        .and_then(|(name, given)| Some((commands.find(|command| command.name == name)?, given)))
        .expect("the parser requires one of these commands")
}

#[derive(Debug, clap::Args)]
struct NoOptions {}

impl Command {
    const fn new(name: &'static str, about: &'static str, content: Content) -> Self {
        Self {
            name,
            about,
            alias: None,
            content,
            outlives_reader: false,
            edits_lines: false,
        }
    }

    const fn alias(self, alias: &'static str) -> Self {
        Self {
            alias: Some(alias),
            ..self
        }
    }

    const fn outlives_reader(self) -> Self {
        Self {
            outlives_reader: true,
            ..self
        }
    }

    const fn edits_lines(self) -> Self {
        Self {
            edits_lines: true,
            ..self
        }
    }

    /// Its part of the command line, with its options if it is one of those that `is_needed` names.
    pub(crate) fn program(&self, is_needed: &dyn Fn(&str) -> bool) -> clap::Command {
        let is_mine = is_needed(self.name) || self.alias.is_some_and(is_needed);
        let command = clap::Command::new(self.name);
        let command = match &self.content {
            Content::Call(with_options, _) if is_mine => with_options(command),
            Content::Call(..) => command,
            Content::Commands(commands) => command
                .subcommand_required(true)
                .arg_required_else_help(true)
                .subcommands(commands.iter().map(|command| command.program(is_needed))),
        };
        // A group of options has a text of its own, which is not this one's.
        command
            .about(self.about)
            .long_about(None)
            .aliases(self.alias)
    }

    pub(crate) fn run(&self, given: &ArgMatches) -> Result<()> {
        if self.outlives_reader {
            output::outlive_reader();
        }
        match &self.content {
            Content::Call(_, call) => call(given),
            Content::Commands(commands) => {
                let (command, given) = given_command(commands.iter(), given);
                command.run(given)
            }
        }
    }
}
