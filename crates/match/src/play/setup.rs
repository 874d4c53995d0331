//! The settings of a game, the environment of its bots, and the commands that show a fault again.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde_json::Map;

use super::examiner::questions;
use super::seat::Seat;
use crate::bot::shell::{command_line, quoted};
use crate::bot::spec::{Program, reproduce_command};
use crate::protocol::{ForfeitReason, env};
use crate::record::{BotEntry, BotIndex, Reason, Record, ResultEntry, VERSION};
use referee_games::game::{Ruleset, registry};

/// What is played where nothing is said.
const QUARTO: &str = "quarto";
const STANDARD: &str = "standard";

/// For records and the names of files: of a clock beyond the year 9999 the last time that can be written.
pub fn now() -> Timestamp {
    Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::MAX)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameSetup<'a> {
    /// In the match or the tournament, from 0.
    pub number: u64,
    /// In its file of records.
    pub id: String,
    pub seed: u64,
    pub first: BotIndex,
    pub start: &'a str,
    pub process_seeds: [u32; 2],
}

impl GameSetup<'_> {
    pub const fn seats_by_side(&self) -> [BotIndex; 2] {
        [self.first, self.first.other()]
    }

    pub(super) fn record(
        &self,
        ruleset: &dyn Ruleset,
        bots: [BotEntry; 2],
        started: Timestamp,
    ) -> Record {
        Record {
            v: VERSION,
            game: ruleset.name().to_owned(),
            rules: ruleset.rules().to_owned(),
            id: self.id.clone(),
            bots,
            first: self.first,
            seed: self.seed,
            start: self.start.to_owned(),
            pieces: ruleset.pieces().map(str::to_owned),
            started: format!("{started:.0}"),
            ..Record::default()
        }
    }

    /// A game that is not played, since a bot of it is benched.
    pub fn unplayed(
        &self,
        ruleset: &dyn Ruleset,
        bots: [BotEntry; 2],
        benched: UnplayedReason,
    ) -> Record {
        let UnplayedReason { by, reason, why } = benched;
        let mut record = self.record(ruleset, bots, now());
        record.result = ResultEntry {
            winner: Some(by.other()),
            reason: Reason::Forfeit(reason),
            by: Some(by),
            answer: Some(String::new()),
            detail: Some(format!("not played: {why}")),
            stderr: Some(String::new()),
            played: Some(false),
            ..ResultEntry::default()
        };
        record
    }
}

/// Why a game is not played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnplayedReason {
    /// Who loses it.
    pub by: BotIndex,
    /// By which it was benched.
    pub reason: ForfeitReason,
    /// Completes a sentence that begins with "not played:".
    pub why: String,
}

pub fn bot_entry(name: &str, command: &[String]) -> BotEntry {
    BotEntry {
        name: name.to_owned(),
        command: command.to_vec(),
        changed: None,
        more: Map::new(),
    }
}

pub fn bot_entries(seats: &[Seat; 2]) -> [BotEntry; 2] {
    seats
        .each_ref()
        .map(|seat| bot_entry(seat.name(), seat.command()))
}

/// The environment that protocol.md describes, without the seed. `pieces` is the path of a piece set that is not the
/// built-in one.
pub(super) fn environment(
    ruleset: &dyn Ruleset,
    pieces: Option<&str>,
    move_time: Option<Duration>,
) -> Vec<(String, String)> {
    let move_time = move_time.map(|time| time.as_secs_f64().to_string());
    given([
        (env::GAME, Some(ruleset.name())),
        (env::RULES, Some(ruleset.rules())),
        (env::MOVE_TIME, move_time.as_deref()),
        (env::PIECES, pieces),
    ])
}

/// Those with a value.
fn given<const N: usize>(variables: [(&str, Option<&str>); N]) -> Vec<(String, String)> {
    let given = |(name, value): (&str, Option<&str>)| Some((name.to_owned(), value?.to_owned()));
    variables.into_iter().filter_map(given).collect()
}

/// The options of a command line that choose a game by its name, its rules and its program, quoted for this system's shell:
/// ` --game ./nim.py --game-option 'heaps=4,5,6'`; nothing for Quarto. A piece set has no name, and is not chosen.
///
/// ```
/// use referee_match::play::setup::game_options;
///
/// let program = ["./nim.py".to_owned()];
/// let options = game_options("nim", "heaps=4,5,6", Some(&program));
/// # #[cfg(unix)]
/// assert_eq!(options, " --game ./nim.py --game-option 'heaps=4,5,6'");
/// assert_eq!(game_options("quarto", "standard", None), "");
/// ```
pub fn game_options(game: &str, rules: &str, program: Option<&[String]>) -> String {
    let mut words = Vec::new();
    let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
    match program {
        Some(command) => add("--game", command_line(command)),
        None if game == QUARTO => {}
        None => add("--game", game.to_owned()),
    }
    let option = if program.is_some() {
        "--game-option"
    } else {
        "--rules"
    };
    for value in rules.split(' ').filter(|value| *value != STANDARD) {
        add(option, value.to_owned());
    }
    let quoted = words.iter().flat_map(|word| [" ".into(), quoted(word)]);
    quoted.collect()
}

/// Those of [`game_options`] for these rules.
pub fn options_of(ruleset: &dyn Ruleset) -> String {
    let program = ruleset.program().map(|source| &*source.command);
    game_options(ruleset.name(), ruleset.rules(), program)
}

/// The variables on which an answer depends.
pub(super) fn that_matter(
    environment: impl IntoIterator<Item = (String, String)>,
) -> Vec<(String, String)> {
    let matters = |name: &str, value: &str| match name {
        env::RULES => value != STANDARD,
        env::GAME => value != QUARTO,
        env::PIECES | env::SEED => true,
        _ => false,
    };
    let all = environment.into_iter();
    all.filter(|(name, value)| matters(name, value)).collect()
}

/// Whether requests list the legal answers: to a built-in bot in a game that it does not know.
pub(super) fn is_told_answers(ruleset: &dyn Ruleset, program: &Program) -> bool {
    ruleset.info().lists_answers
        && program.builtin().is_some()
        && registry::find(ruleset.name()).is_none()
}

/// The command that asks a recorded bot again what it did not answer by the rules: its questions in this game, on which
/// that may depend. `None` for people. `pieces` is the path of a piece set that is not the built-in one.
pub fn reproduce_forfeit(
    ruleset: &dyn Ruleset,
    record: &Record,
    by: BotIndex,
    pieces: Option<&str>,
) -> Option<String> {
    let questions = questions(ruleset, record, by).ok()?;
    let requests = questions
        .iter()
        .map(|question| question.line.request(ruleset));
    let requests: Vec<String> = requests.collect::<Result<_, _>>().ok()?;
    reproduce_recorded(record, by, pieces, &requests)
}

/// The command that asks a recorded bot these questions again, as far as the record knows it; `None` for people.
/// `pieces` as for [`reproduce_forfeit`].
pub fn reproduce_recorded(
    record: &Record,
    by: BotIndex,
    pieces: Option<&str>,
    requests: &[String],
) -> Option<String> {
    let program = Program::recorded(&record.bots[by].command)?;
    let has_rules =
        registry::of_record(&record.game, &record.rules, record.pieces.as_deref()).is_ok();
    // Where it was built, and how it is asked, is not known any more.
    if program.is_prepared && !has_rules {
        return None;
    }
    let process = record.processes.as_ref();
    let seed = process.and_then(|both| Some(both[by].as_ref()?.seed.to_string()));
    let variables = given([
        (env::GAME, Some(record.game.as_str())),
        (env::RULES, Some(record.rules.as_str())),
        (env::PIECES, pieces),
        (env::SEED, seed.as_deref()),
    ]);
    let requests: Vec<&str> = requests.iter().map(String::as_str).collect();
    Some(reproduce_command(
        &program,
        &that_matter(variables),
        &requests,
        record.result.reason == Reason::Forfeit(ForfeitReason::Timeout),
        has_rules,
    ))
}
