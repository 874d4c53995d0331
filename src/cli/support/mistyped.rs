//! A command that does not exist, of which the command line would make a bot; a bot or a file of which it would make a
//! command; a bot that is missing; a position without quotes; and a date for an option that takes none.

use std::ffi::OsString;
use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::failure::Failure;
use super::time;
use crate::strategy;
use crate::text::{escape_controls, meant};

/// The failure for `arguments`, of which the first is the name of the program, when the next one is nearly
/// a command of `program`, and no file; or when a league is to be frozen at a date.
pub(in crate::cli) fn check(arguments: &[OsString], program: &Command) -> Result<(), Failure> {
    if is_league(arguments)
        && let Some(date) = date_of_freeze(arguments)
    {
        return Err(Failure::Usage(format!(
            "--freeze takes no date: it stops a bot while its opponent thinks; for the last versions before a date: \
             --deadline {}",
            escape_controls(date)
        )));
    }
    let Some(word) = arguments.get(1).and_then(|word| word.to_str()) else {
        return Ok(());
    };
    let is_word = word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let known: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
    if word == "help"
        && let Some(wanted) = arguments.get(2).and_then(|word| word.to_str())
        && let Some(near) = meant(wanted, &known).filter(|near| *near != wanted)
    {
        return Err(Failure::Usage(format!(
            "there is no command {}; did you mean referee help {near}?",
            escape_controls(wanted)
        )));
    }
    let is_known = known.contains(&word) || ["help", "human"].contains(&word);
    if !is_word || is_known || word.starts_with('-') || Path::new(word).exists() {
        return Ok(());
    }
    // Those of whom the name of a built-in bot is expected are told of that.
    match meant(word, &known) {
        Some(near) if meant(word, &strategy::NAMES).is_none() => Err(Failure::Usage(format!(
            "there is neither a command nor a file {word}; did you mean referee {near}?"
        ))),
        _ => Ok(()),
    }
}

fn is_league(arguments: &[OsString]) -> bool {
    arguments.get(1).is_some_and(|word| word == "league")
}

/// The date or time that is given to `--freeze`.
fn date_of_freeze(arguments: &[OsString]) -> Option<&str> {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let next = words.iter().zip(words.iter().skip(1));
    let next = next.filter_map(|(word, next)| (*word == "--freeze").then_some(*next));
    let joined = words
        .iter()
        .filter_map(|word| word.strip_prefix("--freeze="));
    next.chain(joined).find(|word| time::parse(word).is_ok())
}

/// The failure when there is one argument more than there can be, which the parser takes for a command: a third bot of a match, where
/// somebody forgot quotes or wants a tournament, or what was handed in to a league.
pub(in crate::cli) fn one_too_many(
    error: &clap::Error,
    arguments: &[OsString],
    program: &Command,
) -> Option<Failure> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    if error.kind() != ErrorKind::ArgumentConflict || program.find_subcommand(word).is_some() {
        return None;
    }
    let word = escape_controls(word);
    Some(Failure::Usage(
        if let Some(start) = unquoted_start(arguments) {
            start
        } else if is_league(arguments) {
            format!(
                "a league has one folder, and {word} is one argument more; where submissions come from is said with \
             --from: --from {word}"
            )
        } else {
            format!(
                "a match has two bots, and {word} is a third; a command with arguments is one bot in quotes (\"python3 bot.py\"), \
             and referee tournament plays more than two"
            )
        },
    ))
}

/// The failure of a match without one of its bots, or both.
pub(in crate::cli) fn one_too_few(
    error: &clap::Error,
    arguments: &[OsString],
    program: &Command,
) -> Option<Failure> {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let missing = |bot: &str| missing.iter().any(|name| name == bot);
    if error.kind() != ErrorKind::MissingRequiredArgument || !missing("<BOT2>") {
        return None;
    }
    let words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let mut commands = words.filter(|word| program.find_subcommand(word).is_some());
    let text = if let Some(start) = unquoted_start(arguments) {
        start
    } else if missing("<BOT1>") {
        "a match has two bots: referee BOT1 BOT2, such as referee builtin:greedy builtin:random; referee --help says \
         what a BOT is, and lists the commands"
            .to_owned()
    } else if let Some(command) = commands.find(|word| !Path::new(word).exists()) {
        format!(
            "a match has two bots, and {command} is a command, whose name comes first: referee {command}"
        )
    } else {
        "a match has two bots, and this is one; name its opponent, too, such as builtin:random, builtin:greedy or human"
            .to_owned()
    };
    Some(Failure::Usage(text))
}

/// What is said of a position that is two words after `--start`, since nobody put it in quotes.
fn unquoted_start(arguments: &[OsString]) -> Option<String> {
    let mut words = arguments.iter().map(|word| word.to_string_lossy());
    words.find(|word| word == "--start")?;
    let (first, second) = (words.next()?, words.next()?);
    // A board and a piece; in Four In A Row a mark and a board.
    let lengths = [&first, &second].map(|word| word.chars().count());
    [[16, 1], [1, 42]].contains(&lengths).then(|| {
        let position = escape_controls(&format!("{first} {second}"));
        format!("a position is one argument, so put it in quotes: --start \"{position}\"")
    })
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;

    #[test]
    fn words_near_a_command_are_answered_with_it() {
        let program = ["tournament", "replay", "run", "bot"].map(Command::new);
        let program = Command::new("referee").subcommands(program);
        let said = |word: &str| {
            check(&["referee".into(), word.into()], &program)
                .err()
                .and_then(|failure| failure.message(0))
        };
        for (word, near) in [
            ("tornament", "tournament"),
            ("Tournament", "tournament"),
            ("replya", "replay"),
            ("rnu", "run"),
        ] {
            let expected = format!(
                "there is neither a command nor a file {word}; did you mean referee {near}?"
            );
            assert_eq!(said(word), Some(expected));
        }
        for word in [
            "run", "help", "human", "-n", "mybot", "./rnu", "rnu.py", "gredy", "src", "",
        ] {
            assert_eq!(said(word), None, "{word}");
        }
    }
}
