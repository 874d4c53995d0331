//! Packs a record as an entry: a short JSON array.
//!
//! | entry | meaning |
//! |---|---|
//! | `["b", name, command]` | the next bot |
//! | `["e", game, rules, pieces]` | the next edition; `pieces` as CSV, null for the built-in set |
//! | `["t", text]` | the next text |
//! | `["g", …]` | the next game |
//!
//! Bots, editions and texts are counted from 0. A game is, after `"g"`: edition, first and second bot of the record, index
//! of the first mover, of the winner or −1, reason, start (seconds since 1970 or null), id, turns, times, winning lines,
//! and optionally fault, starting board, `analysis`, remark on the result, who made each turn if the sides did not
//! alternate (`Record::movers`), `drawings`, `info`. Nulls at the end are omitted.
//!
//! - Turns: separated by tabs.
//! - Times: three significant digits and a letter for the power of ten of a microsecond: `7a` is 7 µs, `123b` 1.23 ms.
//! - Fault: the bot's index, and four texts: answer, explanation, end of stderr, and the command that reproduces it; −1 for none.

use std::collections::HashMap;
use std::fmt::Write as _;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::figures::{COMMAND_CHARS, again};
use super::{MAX_TURNS, analysis, cut, end_of};
use crate::bot::info::{BYTES as TEXT_BYTES, NAMES};
use crate::record::{BotIndex, Record};
use crate::text::escape_controls;

const REASON_CHARS: usize = 40;
/// An answer has at most 1,024 bytes, but escapes lengthen it.
const ANSWER_CHARS: usize = 1200;
const DETAIL_CHARS: usize = 1000;
const STDERR_CHARS: usize = 4000;
const WORD_CHARS: usize = 80;

/// Bytes of texts of faults, and of analyses: a page stays small even if every game ends with a long fault. Further texts
/// are only in the record.
const TEXTS: usize = 2_400_000;
const ANALYSES: usize = 1_500_000;

#[derive(Debug)]
pub(super) struct TextStore {
    known: HashMap<Box<str>, usize>,
    /// Texts that have no entry yet.
    pub(super) new: Vec<String>,
    texts: usize,
    analyses: usize,
}

impl Default for TextStore {
    fn default() -> Self {
        Self {
            known: HashMap::new(),
            new: Vec::new(),
            texts: TEXTS,
            analyses: ANALYSES,
        }
    }
}

impl TextStore {
    /// The text's number; −1: empty, or no room.
    fn number(&mut self, text: String) -> i64 {
        let number = match self.known.get(text.as_str()) {
            _ if text.is_empty() => return -1,
            Some(&known) => known,
            None => {
                let Some(left) = self.texts.checked_sub(text.len()) else {
                    return -1;
                };
                self.texts = left;
                let number = self.known.len();
                self.known.insert(text.as_str().into(), number);
                self.new.push(text);
                number
            }
        };
        i64::try_from(number).unwrap_or(-1)
    }
}

/// And a letter for the power of ten.
fn three_digits(number: u64, out: &mut String) {
    let mut unit = 1;
    let mut letter = b'a';
    while number / unit >= 1000 {
        unit *= 10;
        letter += 1;
    }
    // Rounded; from 999.5 on, 1000 of this unit.
    let digits = number / unit + u64::from(unit > 1 && number % unit >= unit / 2);
    let _ = write!(out, "{digits}{}", char::from(letter));
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates for times out of range, as a forged record may have"
)]
fn times(record: &Record) -> String {
    let mut out = String::new();
    for &ms in record.times_ms.iter().take(MAX_TURNS) {
        three_digits((ms * 1000.0).round() as u64, &mut out);
    }
    out
}

fn turns(record: &Record) -> String {
    let turns = record.turns.iter().take(MAX_TURNS);
    let turns = turns.map(|turn| cut(&escape_controls(turn), WORD_CHARS));
    turns.collect::<Vec<_>>().join("\t")
}

fn lines(record: &Record) -> String {
    let mut out = String::new();
    for (line, property) in record.result.lines.iter().take(20) {
        let separator = if out.is_empty() { "" } else { ", " };
        let _ = write!(
            out,
            "{separator}{} {}",
            escape_controls(line),
            escape_controls(property)
        );
    }
    cut(&out, 4 * WORD_CHARS)
}

/// Pairs of a turn and what was said of it; `None` when nothing was, or there is no room.
fn info(record: &Record, room: &mut usize) -> Option<Value> {
    let turns = record.info.iter().take(MAX_TURNS).map(|entry| {
        let values = entry.values.iter().take(NAMES).map(|(name, value)| {
            let value = match value {
                Value::Number(_) => value.clone(),
                Value::String(text) => json!(cut(&escape_controls(text), TEXT_BYTES)),
                other => json!(cut(&escape_controls(&other.to_string()), TEXT_BYTES)),
            };
            (cut(&escape_controls(name), WORD_CHARS), value)
        });
        json!([entry.turn, values.collect::<Map<_, _>>()])
    });
    let turns: Value = turns.collect::<Vec<_>>().into();
    let bytes = turns.to_string().len();
    if record.info.is_empty() || bytes > *room {
        return None;
    }
    *room -= bytes;
    Some(turns)
}

fn remark(record: &Record) -> Option<String> {
    let mut parts = Vec::new();
    if record.result.adjudicated {
        parts.push(
            "Adjudicated: the value was proven, so the game was not played to its end.".to_owned(),
        );
    }
    match record.voids {
        0 => {}
        1 => parts.push("The game was played again once, because a clock was not fair.".to_owned()),
        voids => parts.push(format!(
            "The game was played again {voids} times, because clocks were not fair."
        )),
    }
    if let Some(why) = &record.delayed {
        let why = cut(&escape_controls(why), DETAIL_CHARS);
        parts.push(format!("The result is doubtful: {why}"));
    }
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The entry; its new texts are in `store`. `stderr`: whether it and commands may be shown. `drawings`: of its positions.
pub(super) fn game(
    record: &Record,
    edition: usize,
    bots: [usize; 2],
    stderr: bool,
    drawings: Option<&Value>,
    store: &mut TextStore,
) -> Value {
    let result = &record.result;
    let fault = result.by.map(|by| {
        let text = |text: &Option<String>, chars| {
            cut(&escape_controls(text.as_deref().unwrap_or_default()), chars)
        };
        let answer = store.number(text(&result.answer, ANSWER_CHARS));
        let detail = store.number(text(&result.detail, DETAIL_CHARS));
        let end = result.stderr.as_deref().filter(|_| stderr);
        let end = store.number(end_of(end.unwrap_or_default(), STDERR_CHARS));
        let again = again(record, by).filter(|_| stderr);
        let again = store.number(text(&again, COMMAND_CHARS));
        json!([by, answer, detail, end, again])
    });
    let empty = record.start.chars().all(|cell| cell == '.');
    let started: Option<Timestamp> = record.started.parse().ok();
    let winner = match result.winner {
        None => -1,
        Some(BotIndex::A) => 0,
        Some(BotIndex::B) => 1,
    };
    let mut fields = vec![
        json!("g"),
        json!(edition),
        json!(bots[0]),
        json!(bots[1]),
        json!(record.first),
        json!(winner),
        json!(cut(&escape_controls(result.reason.name()), REASON_CHARS)),
        json!(started.map(Timestamp::as_second)),
        json!(cut(&escape_controls(&record.id), WORD_CHARS)),
        json!(turns(record)),
        json!(times(record)),
        json!(lines(record)),
        json!(fault),
        json!((!empty).then(|| cut(&escape_controls(&record.start), WORD_CHARS))),
        json!(analysis::packed(record, &mut store.analyses)),
        json!(remark(record)),
        json!(
            record
                .movers
                .as_deref()
                .map(|movers| cut(&escape_controls(movers), MAX_TURNS))
        ),
        json!(drawings),
        json!(stderr.then(|| info(record, &mut store.analyses)).flatten()),
    ];
    while fields.last().is_some_and(Value::is_null) {
        fields.pop();
    }
    Value::Array(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        for (microseconds, expected) in [
            (0, "0a"),
            (7, "7a"),
            (999, "999a"),
            (1_000, "100b"),
            (1_234, "123b"),
            (1_235, "124b"),
            (9_996, "1000b"),
            (60_000_000, "600f"),
            (u64::MAX, "184r"),
        ] {
            let mut out = String::new();
            three_digits(microseconds, &mut out);
            assert_eq!(out, expected);
        }
    }
}
