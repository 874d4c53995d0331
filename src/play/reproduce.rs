//! The command by which a person sees the fault of a recorded bot again.

use super::environment::that_matter;
use crate::bot::fault::ASK_CHECK;
use crate::bot::spec::{Program, reproduce_command};
use crate::protocol::{ForfeitReason, env};
use crate::record::{BotIndex, Record};

/// The command that sends a recorded bot this request again, as far as the record knows it; `None` for
/// people. `pieces` is the path of the piece set's file when the set is not the built-in one.
pub fn recorded_reproduce_command(
    record: &Record,
    by: BotIndex,
    pieces: Option<&str>,
    request: &str,
) -> Option<String> {
    let program = Program::recorded(&record.bots[by].command)?;
    let process = record.processes.as_ref();
    let seed = process.and_then(|both| Some(both[by].as_ref()?.seed.to_string()));
    let variables = [
        (env::GAME, Some(record.game.as_str())),
        (env::RULES, Some(record.rules.as_str())),
        (env::PIECES, pieces),
        (env::SEED, seed.as_deref()),
    ];
    let variables = variables
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    let environment = that_matter(variables);
    let detail = record.result.detail.as_deref().unwrap_or_default();
    let first = usize::from(record.first != by);
    let answered = record.turns.len() > first;
    let request = if answered && record.result.reason == ForfeitReason::Exited.into() {
        // Asked once, it answers.
        &format!("{request}\n{request}")
    } else {
        request
    };
    // Its input stays open for a while where its end brought the answer.
    let stays_open = detail.contains(ASK_CHECK);
    Some(reproduce_command(
        &program,
        &environment,
        request,
        stays_open,
    ))
}
