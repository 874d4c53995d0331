//! The commands with which a person asks a bot the same again.

use crate::bot::spec::{Program, reproduce_command};
use crate::protocol::env;
use crate::record::{BotIndex, Record};

/// The variables on which an answer depends.
pub(super) fn that_matter(
    environment: impl IntoIterator<Item = (String, String)>,
) -> Vec<(String, String)> {
    let matters = |name: &str, value: &str| match name {
        env::RULES => value != "standard",
        env::GAME => value != "quarto",
        env::PIECES => true,
        _ => false,
    };
    let all = environment.into_iter();
    all.filter(|(name, value)| matters(name, value)).collect()
}

/// The command that sends a recorded bot this request again, as far as the record knows it; `None` for
/// people. `pieces` is the path of the piece set's file when the set is not the built-in one.
pub fn recorded_reproduce_command(
    record: &Record,
    by: BotIndex,
    pieces: Option<&str>,
    request: &str,
) -> Option<String> {
    let program = Program::recorded(&record.bots[by].command)?;
    let variables = [
        (env::GAME, Some(record.game.as_str())),
        (env::RULES, Some(record.rules.as_str())),
        (env::PIECES, pieces),
    ];
    let variables = variables
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    let environment = that_matter(variables);
    Some(reproduce_command(&program, &environment, request, false))
}
