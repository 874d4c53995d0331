//! `--game` on the command line: a game of this program, or one that is a program.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use clap::builder::{PossibleValue, TypedValueParser};

use super::failure::Failure;
use super::setup;
use crate::bot::spec::{BotSpec, Program};
use crate::game_program::GameProgram;
use crate::session::Ruleset;
use crate::session::registry::{self, Choices, GAMES, GameInfo};
use crate::strategy::RANDOM;
use crate::system::is_path;
use crate::text::{meant, quote};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum GameArg {
    Own(&'static GameInfo),
    /// As given.
    Program(String),
}

pub(in crate::cli) type GameOptions = BTreeMap<String, String>;

impl GameArg {
    fn read(text: &str) -> Result<Self, String> {
        if let Some(game) = registry::find(text) {
            return Ok(Self::Own(game));
        }
        let has_ending = Path::new(text).extension().is_some();
        if is_path(text) || has_ending || text.contains(' ') || Path::new(text).exists() {
            return Ok(Self::Program(text.to_owned()));
        }
        let names: Vec<&str> = GAMES.iter().map(|game| game.name).collect();
        let game = quote(text.as_bytes());
        Err(match meant(text, &names) {
            Some(near) => format!("there is no game {game}; did you mean {near}?"),
            None => format!(
                "there is no game {game}; expected {}, or a game's program such as ./nim.py",
                names.join(", ")
            ),
        })
    }

    /// Rules and a piece set can be chosen.
    pub(in crate::cli) fn has_piece_sets(&self) -> bool {
        matches!(self, Self::Own(game) if game.has_piece_sets)
    }

    /// Starts a program.
    pub(in crate::cli) fn ruleset(
        &self,
        choices: Choices,
        options: &GameOptions,
    ) -> Result<Arc<dyn Ruleset>, Failure> {
        match self {
            Self::Own(game) => {
                if let Some(name) = options.keys().next() {
                    return Err(Failure::Usage(format!(
                        "--game-option {name}: it is for a game that is a program; leave it out, or give the \
                         program with --game"
                    )));
                }
                Ok(game.ruleset(choices))
            }
            Self::Program(text) => Ok(Arc::new(program("--game", text, options.clone())?)),
        }
    }
}

/// `option`: the one that names the program; empty for an argument.
pub(in crate::cli) fn program(
    option: &str,
    text: &str,
    options: GameOptions,
) -> Result<GameProgram, Failure> {
    // Its forms are those of a BOT, but for `builtin:` and `human`.
    let spec = setup::bot(text).map_err(|failure| match failure {
        Failure::Usage(problem) if !option.is_empty() => {
            Failure::Usage(format!("{option}: {problem}"))
        }
        failure => failure,
    })?;
    let wrong = |problem: &str| {
        let given = format!("{option} {text}");
        Failure::Usage(format!("{}: {problem}", given.trim_start()))
    };
    let BotSpec::Program(program) = spec else {
        return Err(wrong("it is no program of a game"));
    };
    if program.builtin().is_some() {
        return Err(wrong("it is a bot, and no game"));
    }
    GameProgram::open(program, options).map_err(|error| Failure::Usage(error.to_string()))
}

/// In a game's program only builtin:random plays, if the program lists the legal answers.
pub(in crate::cli) fn check_builtins<'a>(
    ruleset: &dyn Ruleset,
    programs: impl Iterator<Item = &'a Program>,
) -> Result<(), Failure> {
    if ruleset.program().is_none() || registry::find(ruleset.name()).is_some() {
        return Ok(());
    }
    for program in programs {
        let problem = match program.builtin() {
            None => continue,
            Some(RANDOM) if ruleset.lists_answers() => continue,
            Some(RANDOM) => {
                "needs a game's program that lists the legal answers (\"answers\": true)"
            }
            Some(_) => {
                "plays the games of this program only; use builtin:random, or a bot of yours"
            }
        };
        return Err(Failure::Usage(format!("{} {problem}", program.name)));
    }
    Ok(())
}

pub(in crate::cli) fn parser() -> impl TypedValueParser<Value = GameArg> {
    GameParser
}

/// Names the built-in games in the help; accepts programs, too.
#[derive(Clone)]
struct GameParser;

impl TypedValueParser for GameParser {
    type Value = GameArg;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<GameArg, clap::Error> {
        let read = |text: &str| GameArg::read(text);
        read.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let own = GAMES
            .iter()
            .map(|game| PossibleValue::new(game.name).help(game.about));
        let program = PossibleValue::new("PROGRAM")
            .help("A game that is a program, such as ./nim.py (protocol-games.md)");
        Some(Box::new(own.chain([program])))
    }
}

pub(in crate::cli) fn option(text: &str) -> Result<(String, String), String> {
    let expected = "expected NAME=VALUE, such as heaps=3,4,5";
    let (name, value) = text.split_once('=').ok_or(expected)?;
    let is_word = |symbol: char| symbol.is_ascii_alphanumeric() || symbol == '-' || symbol == '_';
    if name.is_empty() || !name.chars().all(is_word) {
        return Err(format!(
            "{expected}, with a NAME of letters, digits, - and _"
        ));
    }
    // Records hold the options, separated by spaces, as the name of the rules.
    if value
        .chars()
        .any(|symbol| symbol.is_whitespace() || symbol.is_control())
    {
        return Err(format!("{expected}, with a VALUE without blanks"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Quarto.
pub(in crate::cli) fn default_game() -> GameArg {
    GameArg::Own(&GAMES[0])
}
