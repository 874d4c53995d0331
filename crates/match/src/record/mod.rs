//! Records of games: one JSON object a line. Readers keep unknown fields and reasons, as later versions may write,
//! unchanged.

pub mod annotation;
pub mod atomic_file;
pub mod journal;
pub mod problem;
pub mod reader;
pub mod result;
pub mod summaries;
mod summary;
pub mod text_file;

use std::fmt::{self, Formatter};
use std::sync::{Arc, OnceLock};

use referee_games::game::registry::UnknownRuleset;
use referee_games::game::{Ruleset, registry};
use referee_stats::standings::{self, GameTimes};
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bot::fault::sentence::LEFT;
use crate::bot::spec::PERSON;
use referee_text::short_name;

use crate::bot::info::Info;
pub use crate::bot::meter::Usage as UsageEntry;
pub use crate::protocol::ForfeitReason;
pub use problem::LineProblem;
pub use result::{BotIndex, Conduct, Ending, GameResult, Reason, ResultEntry, UnknownReason};
/// A turn in canonical form, such as `6 A`. Short texts are stored inline: recording a turn does not allocate.
pub use smol_str::SmolStr as TurnText;
pub use summary::RecordSummary;

/// The version of the format that this program writes.
pub const VERSION: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BotEntry {
    pub name: String,
    pub command: Vec<String>,
    /// The hash of its files, where they are not those with which its tournament began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// What the process of a bot was given at its start, so that it can be asked the same again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessEntry {
    /// Its `REFEREE_SEED`.
    pub seed: u32,
    /// Its `REFEREE_MOVE_TIME`, in seconds; `None` when a move had no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub move_time: Option<f64>,
    /// The id of the first game that it played; `None` when that is this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// What a bot wrote to stderr before an answer, in lines that begin with `info`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InfoEntry {
    /// From 1.
    pub turn: usize,
    /// Numbers or text by name.
    #[serde(flatten)]
    pub values: Info,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "a record")]
pub struct Record {
    pub v: u32,
    pub game: String,
    pub rules: String,
    /// Unique within its file.
    pub id: String,
    pub bots: [BotEntry; 2],
    /// In Quarto it gave the first piece, or placed the one that was in hand.
    pub first: BotIndex,
    pub seed: u64,
    /// The board; in Quarto with the piece in hand, if there is one, as a request.
    pub start: String,
    /// CSV, when the set is not the built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pieces: Option<String>,
    /// In canonical form.
    pub turns: Vec<TurnText>,
    /// A digit a turn: 0 for the bot that acted first, 1 for the other. Only there when they did not take turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub movers: Option<String>,
    pub times_ms: Vec<f64>,
    /// Charged for each turn, where that is not its time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub charged_ms: Vec<f64>,
    /// What the bots said of their thinking, by turn; also of a turn that was not made because of a forfeit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub info: Vec<InfoEntry>,
    pub result: ResultEntry,
    /// RFC 3339, UTC.
    pub started: String,
    /// `None` where it is unknown, as for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<[Option<UsageEntry>; 2]>,
    /// `None` for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<[Option<ProcessEntry>; 2]>,
    /// Why the result is doubtful: the referee may be to blame, and the game had been void too often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed: Option<String>,
    /// How often the game was void and was played again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub voids: u32,
    /// Whether it was added to a tied match of a knockout.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tie_break: bool,
    /// The hash of the game's program, where it is not the one with which its tournament began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game_changed: Option<String>,
    /// Unknown fields, kept unchanged.
    #[serde(flatten, deserialize_with = "unknown_fields")]
    pub more: Map<String, Value>,
}

/// Of fields that are twice the last one counts, but for those that this program reads.
fn unknown_fields<'de, D: Deserializer<'de>>(fields: D) -> Result<Map<String, Value>, D::Error> {
    struct Fields;
    impl<'de> Visitor<'de> for Fields {
        type Value = Map<String, Value>;

        fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
            f.write_str("a map")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
            let mut found = Map::new();
            while let Some((name, value)) = fields.next_entry::<String, Value>()? {
                if name == annotation::FIELD && found.contains_key(&name) {
                    return Err(de::Error::duplicate_field(annotation::FIELD));
                }
                found.insert(name, value);
            }
            Ok(found)
        }
    }
    fields.deserialize_map(Fields)
}

const fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Record {
    /// Of a built-in game.
    pub fn ruleset(&self) -> Result<Arc<dyn Ruleset>, UnknownRuleset> {
        registry::of_record(&self.game, &self.rules, self.pieces.as_deref())
    }

    /// 0 for the bot that acted first; turns count from 0.
    pub fn side_of(&self, turn: usize) -> usize {
        side_of(self.movers.as_deref(), turn)
    }

    /// How long each bot thought, by its index.
    pub fn seconds(&self) -> [f64; 2] {
        seconds_by_bot(self.first, &self.times_ms, self.movers.as_deref())
    }

    /// For the summary of a match: without what bots said and what an analysis found.
    pub fn as_game(&self) -> standings::ScoredGame<'_> {
        let forfeit = |by: BotIndex| (by.index(), self.ended_by());
        standings::ScoredGame {
            id: &self.id,
            names: self.bots.each_ref().map(|bot| &*bot.name),
            first: self.first.index(),
            winner: self.result.winner.map(BotIndex::index),
            forfeit: self.result.by.map(forfeit),
            times: times_by_side(&self.times_ms, self.movers.as_deref()),
            tallies: None,
            sure: [0; 2],
            changed: self.bots.each_ref().map(|bot| bot.changed.is_some()),
            is_game_changed: self.game_changed.is_some(),
        }
    }

    /// Why it ended, in the word that tables and pages have: the reason, or [`BENCHED`] where it was not played.
    pub fn ended_by(&self) -> &str {
        ended_by(&self.result.reason, self.was_played())
    }

    /// Whether it was a person at the terminal.
    pub fn is_person(&self, bot: BotIndex) -> bool {
        self.bots[bot]
            .command
            .first()
            .is_some_and(|word| word == PERSON)
    }

    /// Whether a person ended the game by quitting.
    fn has_left(&self) -> bool {
        let result = &self.result;
        let is_person = result.by.is_some_and(|by| self.is_person(by));
        is_person && result.reason == Reason::Forfeit(ForfeitReason::Exited)
    }

    /// As a sentence: `greedy.py wins: H4 big, V3 square.`
    pub fn result_line(&self) -> String {
        let result = &self.result;
        let name = |bot: BotIndex| short_name(&self.bots[bot].name);
        let how = match result.winner {
            None => "Draw".to_owned(),
            Some(winner) => format!("{} wins", name(winner)),
        };
        let lines = result
            .lines
            .iter()
            .map(|(line, property)| format!("{line} {property}"));
        match (result.winner, result.by.map(name)) {
            (Some(_), Some(by)) if self.has_left() => format!("{how}: {by} {LEFT}."),
            (Some(_), Some(by)) if !self.was_played() => {
                format!("{how}: {by} was benched, and it was not played.")
            }
            (Some(_), Some(by)) => format!("{how}: {by} forfeits ({}).", result.reason),
            _ if result.adjudicated => format!("{how} (adjudicated)."),
            // A game that is a program need not say why.
            _ if result.winner.is_none() || result.lines.is_empty() => format!("{how}."),
            _ => format!("{how}: {}.", lines.collect::<Vec<_>>().join(", ")),
        }
    }

    pub fn to_line(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    pub fn from_line(line: &[u8]) -> Result<Self, LineProblem> {
        let line = line.trim_ascii_end();
        let record: Self =
            serde_json::from_slice(line).map_err(|error| LineProblem::of(line, &error))?;
        if record.v != VERSION {
            return Err(LineProblem::Version(record.v));
        }
        if record.bots[0].name == record.bots[1].name {
            return Err(LineProblem::SameNames);
        }
        Ok(record)
    }

    /// A forfeit for a reason of a later version is an error.
    pub fn ending(&self) -> Result<Ending, UnknownReason> {
        let result = &self.result;
        Ending::of(result.winner, result.by, &result.reason)
    }

    /// Whether it was played, not only scored because a bot was benched.
    pub fn was_played(&self) -> bool {
        self.result.played != Some(false)
    }

    /// Fails as [`Record::ending`] does.
    pub fn game_result(&self) -> Result<GameResult, UnknownReason> {
        Ok(GameResult {
            ending: self.ending()?,
            answered: answered(self.first, self.movers.as_deref(), self.turns.len()),
            played: self.was_played(),
        })
    }
}

/// In place of a reason, of a game that was scored as a forfeit without being played.
pub const BENCHED: &str = "benched";

fn ended_by(reason: &Reason, was_played: bool) -> &str {
    if was_played { reason.name() } else { BENCHED }
}

/// Which bots made at least one of so many turns.
fn answered(first: BotIndex, movers: Option<&str>, turns: usize) -> [bool; 2] {
    let mut answered = [false; 2];
    for turn in 0..turns {
        answered[(first.index() + side_of(movers, turn)) % 2] = true;
        if answered == [true; 2] {
            break;
        }
    }
    answered
}

fn side_of(movers: Option<&str>, turn: usize) -> usize {
    let mover = movers.and_then(|movers| movers.as_bytes().get(turn));
    mover.map_or(turn % 2, |&digit| usize::from(digit == b'1'))
}

/// How long each bot thought, by its index.
fn seconds_by_bot(first: BotIndex, times_ms: &[f64], movers: Option<&str>) -> [f64; 2] {
    let mut seconds = [0.0; 2];
    for (turn, &ms) in times_ms.iter().enumerate() {
        seconds[(first.index() + side_of(movers, turn)) % 2] += ms / 1000.0;
    }
    seconds
}

/// Of the bot that moved first, and of the other.
fn times_by_side(times_ms: &[f64], movers: Option<&str>) -> [GameTimes; 2] {
    let room = times_ms.len() / 2 + 1;
    let mut times = [0, 1].map(|_| GameTimes::with_capacity(room));
    for (turn, &ms) in times_ms.iter().enumerate() {
        times[side_of(movers, turn)].add(ms);
    }
    times
}

/// The record of a finished game, and its line, serialized when it is first needed.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedRecord {
    record: Record,
    line: OnceLock<Arc<str>>,
}

impl FinishedRecord {
    pub const fn new(record: Record) -> Self {
        Self {
            record,
            line: OnceLock::new(),
        }
    }

    pub const fn record(&self) -> &Record {
        &self.record
    }

    /// One line of JSON, with its newline.
    pub fn line(&self) -> &Arc<str> {
        self.line.get_or_init(|| {
            // Serializing texts, numbers and objects into memory cannot fail.
            let mut line = self.record.to_line().unwrap_or_default();
            line.push('\n');
            line.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = r#"{"v":1,"game":"quarto","rules":"standard","id":"7-1","bots":[{"name":"a","command":[]},{"name":"b","command":[]}],"first":0,"seed":7,"start":"................","turns":[],"times_ms":[],"result":"#;

    #[test]
    fn rare_fields_keep_their_place_in_the_line() {
        let result = r#"{"winner":0,"reason":"timeout","lines":[],"by":1,"answer":"","detail":"d","stderr":"","played":false,"x":1}"#;
        let rest = r#","started":"s","usage":[null,{"cpu_ms":1.5,"cpu_other_ms":0.5,"memory_kb":9}],"delayed":"why","voids":2,"later":{"y":[]}}"#;
        let line = [BEGIN, result, rest].concat();
        let record = Record::from_line(line.as_bytes()).unwrap();
        assert_eq!(record.to_line().unwrap(), line);
        assert_eq!(record.delayed.as_deref(), Some("why"));
        assert_eq!((record.voids, record.was_played()), (2, false));
    }

    #[test]
    fn rare_fields_are_only_written_where_they_say_something() {
        let result = r#"{"winner":null,"reason":"draw","lines":[]}"#;
        let line = [BEGIN, result, r#","started":"s"}"#].concat();
        let record = Record::from_line(line.as_bytes()).unwrap();
        assert_eq!(record.to_line().unwrap(), line);
        assert_eq!(record.delayed, None);
        assert_eq!((record.voids, record.was_played()), (0, true));
    }
}
