//! The environment that protocol.md describes.

use std::time::Duration;

use crate::bot::spec::Program;
use crate::protocol::env;
use crate::session::{Ruleset, registry};

/// The environment of a bot, except for its seed. `pieces` is the path of the piece set's file when the
/// set is not the built-in one.
pub(super) fn environment(
    ruleset: &dyn Ruleset,
    pieces: Option<&str>,
    move_time: Option<Duration>,
) -> Vec<(String, String)> {
    let mut variables = vec![
        (env::GAME, ruleset.name().to_owned()),
        (env::RULES, ruleset.rules().to_owned()),
    ];
    variables.extend(move_time.map(|time| (env::MOVE_TIME, time.as_secs_f64().to_string())));
    variables.extend(pieces.map(|path| (env::PIECES, path.to_owned())));
    variables
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// The variables on which an answer depends.
pub(super) fn that_matter(
    environment: impl IntoIterator<Item = (String, String)>,
) -> Vec<(String, String)> {
    let matters = |name: &str, value: &str| match name {
        env::RULES => value != "standard",
        env::GAME => value != "quarto",
        env::PIECES | env::SEED => true,
        _ => false,
    };
    let all = environment.into_iter();
    all.filter(|(name, value)| matters(name, value)).collect()
}

/// Whether the requests to a program list the legal answers: to a built-in bot in a game that it does not know.
pub(super) fn is_told_answers(ruleset: &dyn Ruleset, program: &Program) -> bool {
    ruleset.lists_answers()
        && program.builtin().is_some()
        && registry::find(ruleset.name()).is_none()
}
