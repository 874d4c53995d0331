//! Records of games: one JSON object a line. Readers keep unknown fields and reasons, as later versions may write,
//! unchanged.

pub mod annotation;
pub mod atomic_file;
pub mod journal;
pub mod reader;
pub mod result;
pub mod summaries;
mod summary;
pub mod text_file;

use std::sync::{Arc, OnceLock};

use referee_games::game::{Game, registry};
use referee_stats::standings::{self, GameTimes};
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use serde_json::{Map, Value};

use crate::bot::fault::sentence::LEFT;
use crate::text::short_name;

use crate::bot::info::Info;
pub use crate::bot::meter::Usage as UsageEntry;
pub use crate::protocol::ForfeitReason;
pub use result::{BotIndex, Ending, Reason, ResultEntry};
/// A turn in canonical form, such as `6 A`. Short texts are stored inline: recording a turn does not allocate.
pub use smol_str::SmolStr as TurnText;
pub use summary::RecordSummary;

/// The version of the format that this program writes.
pub const VERSION: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BotEntry {
    pub name: String,
    pub command: Vec<String>,
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
    /// Unknown fields, kept unchanged.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

const fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = match error.classify() {
        Category::Eof => "it ends too early; expected a record, a JSON object on one line",
        Category::Syntax => "it is not JSON; expected a record, a JSON object on one line",
        // A record is one line, so its line number is useless.
        Category::Data | Category::Io => text.split(" at line ").next().unwrap_or(&text),
    };
    format!("column {}: {what}", error.column())
}

impl Record {
    /// Of a built-in game. The error is a sentence.
    pub fn ruleset(&self) -> Result<Arc<dyn Game>, String> {
        registry::of_record(&self.game, &self.rules, self.pieces.as_deref())
    }

    /// 0 for the bot that acted first; turns count from 0.
    pub fn side_of(&self, turn: usize) -> usize {
        side_of(self.movers.as_deref(), turn)
    }

    /// For the summary of a match: without what bots said and what an analysis found.
    pub fn as_game(&self) -> standings::Game<'_> {
        let forfeit = |by: BotIndex| (by.index(), self.result.reason.name());
        standings::Game {
            id: &self.id,
            names: self.bots.each_ref().map(|bot| &*bot.name),
            first: self.first.index(),
            winner: self.result.winner.map(BotIndex::index),
            forfeit: self.result.by.map(forfeit),
            times: times_by_side(&self.times_ms, self.movers.as_deref()),
            tallies: None,
            sure: [0; 2],
        }
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
            (Some(_), Some(by)) if result.detail.as_deref() == Some(LEFT) => {
                format!("{how}: {by} {LEFT}.")
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

    /// The error is a sentence with the place in the line.
    pub fn from_line(line: &[u8]) -> Result<Self, String> {
        let line = line.trim_ascii_end();
        let record: Self = serde_json::from_slice(line).map_err(|error| problem(&error))?;
        match record.v {
            VERSION => Ok(record),
            v => Err(format!(
                "the record has version {v}; this program reads version {VERSION}"
            )),
        }
    }

    /// A forfeit for a reason of a later version is an error.
    pub fn ending(&self) -> Result<Ending, String> {
        let result = &self.result;
        Ending::of(result.winner, result.by, &result.reason)
    }

    /// Whether it was played, not only scored because a bot was benched.
    pub fn was_played(&self) -> bool {
        self.result.played != Some(false)
    }
}

fn side_of(movers: Option<&str>, turn: usize) -> usize {
    let mover = movers.and_then(|movers| movers.as_bytes().get(turn));
    mover.map_or(turn % 2, |&digit| usize::from(digit == b'1'))
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
