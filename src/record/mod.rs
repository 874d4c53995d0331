//! What is written of a game: one JSON object a line. Data only.

pub mod annotation;
pub mod journal;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of the format that this program writes.
pub const VERSION: u32 = 1;

/// A bot in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BotEntry {
    /// What it is called.
    pub name: String,
    /// The command that ran it.
    pub command: Vec<String>,
    /// Fields of later versions, kept as they are.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// How a game ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResultEntry {
    /// Index of the bot that won; `None` for a draw.
    pub winner: Option<usize>,
    /// `quarto` (or the other game's word for a line), `draw`, or a forfeit's reason.
    pub reason: String,
    /// The winning lines: name and property.
    #[serde(default)]
    pub lines: Vec<(String, String)>,
    /// Index of the bot that forfeited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<usize>,
    /// Whether the game was not played out: its value was proven, and there are no lines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adjudicated: bool,
    /// What it sent, escaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The sentence that a person reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The end of its stderr, escaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// Fields of later versions, kept as they are.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// What a bot used in a game.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsageEntry {
    /// Processor time of all its processes, in milliseconds.
    pub cpu_ms: f64,
    /// The part of it that it used while it was not its turn.
    pub cpu_other_ms: f64,
    /// The most memory that its process has had in use since it was started, in KiB; 0 when
    /// this is not known.
    pub memory_kb: u64,
}

/// A game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of the format.
    pub v: u32,
    /// The game's name.
    pub game: String,
    /// The rule set's name.
    pub rules: String,
    /// Identifies the game within its file.
    pub id: String,
    /// Who played.
    pub bots: [BotEntry; 2],
    /// Index in `bots` of the player who acted first (in Quarto, gave the first piece).
    pub first: usize,
    /// The seed of the match.
    pub seed: u64,
    /// The board at the start.
    pub start: String,
    /// CSV text of the piece set, when it is not the built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pieces: Option<String>,
    /// The answers in canonical form.
    pub turns: Vec<CompactString>,
    /// Time of each answer, in milliseconds.
    pub times_ms: Vec<f64>,
    /// How it ended.
    pub result: ResultEntry,
    /// When it started: RFC 3339, UTC.
    pub started: String,
    /// What each bot used; `None` for one of which nothing is known, such as a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<[Option<UsageEntry>; 2]>,
    /// Fields of later versions, kept as they are.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Record {
    /// The line that tells the result: `greedy.py wins: H4 big, V3 square.`
    pub fn result_line(&self) -> String {
        let name = |index: usize| self.bots.get(index).map_or("?", |bot| bot.name.as_str());
        match (self.result.winner, self.result.by) {
            (None, _) if self.result.adjudicated => "Draw (adjudicated).".to_owned(),
            (None, _) => "Draw.".to_owned(),
            (Some(winner), None) if self.result.adjudicated => {
                format!("{} wins (adjudicated).", name(winner))
            }
            (Some(winner), Some(by)) => format!(
                "{} wins: {} forfeits ({}).",
                name(winner),
                name(by),
                self.result.reason
            ),
            (Some(winner), None) => {
                let lines: Vec<String> = self
                    .result
                    .lines
                    .iter()
                    .map(|(line, property)| format!("{line} {property}"))
                    .collect();
                format!("{} wins: {}.", name(winner), lines.join(", "))
            }
        }
    }

    /// Its JSON, one line, without the newline.
    pub fn to_line(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// Reads a line. The error is a sentence with the place in the line.
    pub fn from_line(line: &[u8]) -> Result<Self, String> {
        let line = line.trim_ascii_end();
        let record: Self = serde_json::from_slice(line).map_err(|error| {
            // A record is one line, so the line number says nothing.
            let text = error.to_string();
            let text = text.split(" at line ").next().unwrap_or(&text);
            format!("column {}: {text}", error.column())
        })?;
        if record.v != VERSION {
            return Err(format!(
                "the record has version {}; this program reads version {VERSION}",
                record.v
            ));
        }
        record.check_indices()?;
        Ok(record)
    }

    /// Whether the indices of bots are 0 or 1. The error is a sentence.
    pub fn check_indices(&self) -> Result<(), String> {
        let indices = [
            ("first", Some(self.first)),
            ("winner", self.result.winner),
            ("by", self.result.by),
        ];
        for (field, index) in indices {
            if let Some(index) = index
                && index > 1
            {
                return Err(format!("`{field}` is {index}; expected 0 or 1"));
            }
        }
        Ok(())
    }
}
