//! A command that does not exist, of which the command line would make a bot; and a bot of which it would make a command.

use std::ffi::OsString;
use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::failure::Failure;
use crate::strategy;
use crate::text::{escape_controls, meant};

/// The failure for `arguments`, of which the first is the name of the program, when the next one is nearly
/// a command of `program`, and no file.
pub(in crate::cli) fn check(arguments: &[OsString], program: &Command) -> Result<(), Failure> {
    let Some(word) = arguments.get(1).and_then(|word| word.to_str()) else {
        return Ok(());
    };
    let is_word = word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let known: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
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

/// The failure when a match was given three bots, of which the parser takes the last for a command: somebody forgot
/// quotes, or wants a tournament.
pub(in crate::cli) fn third_bot(error: &clap::Error, program: &Command) -> Option<Failure> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let is_third =
        error.kind() == ErrorKind::ArgumentConflict && program.find_subcommand(word).is_none();
    is_third.then(|| {
        Failure::Usage(format!(
            "a match has two bots, and {} is a third; a command with arguments is one bot in quotes (\"python3 bot.py\"), \
             and referee tournament plays more than two",
            escape_controls(word)
        ))
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
