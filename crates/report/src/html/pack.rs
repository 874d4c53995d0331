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
//! the first turns of the middlegame and of the endgame, and optionally fault, starting board, `analysis`, remark on the
//! result, who made each turn if the sides did not alternate (`Record::movers`), `drawings`, `info`. Nulls at the end are
//! omitted.
//!
//! - Turns: separated by tabs.
//! - Times: three significant digits and a letter for the power of ten of a microsecond: `7a` is 7 µs, `123b` 1.23 ms.
//! - Fault: the bot's index, and four texts: answer, explanation, end of stderr, and the command that reproduces it; −1 for none.

use std::collections::HashMap;
use std::fmt::Write as _;

use jiff::Timestamp;
use referee_analysis::packed;
use serde_json::{Map, Value, json};

use super::figures::{COMMAND_CHARS, again, phase_starts};
use super::{MAX_TURNS, cut, end_of};
use crate::integer;
use referee_match::bot::info::{BYTES as TEXT_BYTES, NAMES};
use referee_match::record::Record;
use referee_match::record::annotation::{Annotation, FIELD};
use referee_text::escape_controls;

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

#[derive(Debug, Default)]
pub(super) struct TextStore {
    known: HashMap<Box<str>, usize>,
    pub(super) new: Vec<String>,
    /// Bytes so far.
    texts: usize,
    analyses: usize,
}

impl TextStore {
    /// The text's number; −1: empty, or no room.
    fn number(&mut self, text: String) -> i64 {
        let number = match self.known.get(text.as_str()) {
            _ if text.is_empty() => return -1,
            Some(&known) => known,
            None => {
                if self.texts + text.len() > TEXTS {
                    return -1;
                }
                self.texts += text.len();
                let number = self.known.len();
                self.known.insert(text.as_str().into(), number);
                self.new.push(text);
                number
            }
        };
        i64::try_from(number).unwrap_or(-1)
    }
}

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

fn times(record: &Record) -> String {
    let mut out = String::new();
    for &ms in record.times_ms.iter().take(MAX_TURNS) {
        three_digits(integer((ms * 1000.0).round()), &mut out);
    }
    out
}

fn word(text: &str) -> String {
    cut(&escape_controls(text), WORD_CHARS)
}

fn turns(record: &Record) -> String {
    let turns = record.turns.iter().take(MAX_TURNS);
    turns.map(|turn| word(turn)).collect::<Vec<_>>().join("\t")
}

fn lines(record: &Record) -> String {
    let lines = record.result.lines.iter().take(20);
    let lines = lines.map(|(line, property)| escape_controls(&format!("{line} {property}")));
    cut(&lines.collect::<Vec<_>>().join(", "), 4 * WORD_CHARS)
}

/// Pairs of a turn and what was said of it; `None` when nothing was, or there is no room.
fn info(record: &Record, used: &mut usize) -> Option<Value> {
    let turns = record.info.iter().take(MAX_TURNS).map(|entry| {
        let values = entry.values.iter().take(NAMES).map(|(name, value)| {
            let text = |text: &str| json!(cut(&escape_controls(text), TEXT_BYTES));
            let value = match value {
                Value::Number(_) => value.clone(),
                Value::String(value) => text(value),
                other => text(&other.to_string()),
            };
            (word(name), value)
        });
        json!([entry.turn, values.collect::<Map<_, _>>()])
    });
    let turns: Value = turns.collect::<Vec<_>>().into();
    (!record.info.is_empty() && fits(&turns, used)).then_some(turns)
}

/// Whether there is room for it, which is then used.
fn fits(value: &Value, used: &mut usize) -> bool {
    let with = *used + value.to_string().len();
    if with <= ANALYSES {
        *used = with;
    }
    with <= ANALYSES
}

/// `None` without analysis, or when the room is `used` up. Of a turn the last note counts; anything of another
/// shape is ignored: a damaged analysis must not hide a game.
fn analysis(record: &Record, used: &mut usize) -> Option<Value> {
    let mut notes = Annotation::from_json(record.more.get(FIELD)?).turns;
    let count = record.turns.len().min(MAX_TURNS);
    notes.retain(|note| note.turn <= count);
    let packed = (!notes.is_empty()).then(|| packed::packed(&notes, count))?;
    fits(&packed, used).then_some(packed)
}

fn remark(record: &Record) -> Option<String> {
    let mut parts = Vec::new();
    if record.result.adjudicated {
        let why = "the value was proven, so the game was not played to its end";
        parts.push(format!("Adjudicated: {why}."));
    }
    let again = match record.voids {
        0 => None,
        1 => Some("once, because a clock was".to_owned()),
        voids => Some(format!("{voids} times, because clocks were")),
    };
    parts.extend(again.map(|again| format!("The game was played again {again} not fair.")));
    if let Some(why) = &record.delayed {
        let why = cut(&escape_controls(why), DETAIL_CHARS);
        parts.push(format!("The result is doubtful: {why}"));
    }
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The entry; its new texts are in `store`. A private one has no stderr and no commands. `drawings`: of its positions.
pub(super) fn game(
    record: &Record,
    (edition, bots): (usize, [usize; 2]),
    is_private: bool,
    drawings: Option<&Value>,
    store: &mut TextStore,
) -> Value {
    let (result, stderr) = (&record.result, !is_private);
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
    let winner = result.winner.map_or(-1, |winner| winner as i32);
    let movers = record.movers.as_deref();
    let mut fields = vec![
        json!("g"),
        json!(edition),
        json!(bots[0]),
        json!(bots[1]),
        json!(record.first),
        json!(winner),
        json!(cut(&escape_controls(record.ended_by()), REASON_CHARS)),
        json!(started.map(Timestamp::as_second)),
        json!(word(&record.id)),
        json!(turns(record)),
        json!(times(record)),
        json!(lines(record)),
        json!(phase_starts(record)),
        json!(fault),
        json!((!empty).then(|| word(&record.start))),
        json!(analysis(record, &mut store.analyses)),
        json!(remark(record)),
        json!(movers.map(|movers| cut(&escape_controls(movers), MAX_TURNS))),
        json!(drawings),
        json!(stderr.then(|| info(record, &mut store.analyses)).flatten()),
    ];
    while fields.last().is_some_and(Value::is_null) {
        fields.pop();
    }
    Value::Array(fields)
}

#[cfg(test)]
mod analysis_tests {
    use serde_json::json;

    use super::*;

    fn of(packed: &str) -> Option<Value> {
        let line = format!(
            r#"{{"v":1,"game":"quarto","rules":"standard","id":"1","bots":[{{"name":"a","command":[]}},{{"name":"b","command":[]}}],"first":0,"seed":1,"start":"................","turns":["- K","6 A"],"times_ms":[1.0,1.0],"result":{{"winner":0,"reason":"quarto"}},"started":"","analysis":{packed}}}"#
        );
        let record = Record::from_line(line.as_bytes()).unwrap();
        analysis(&record, &mut 0)
    }

    #[test]
    fn an_analysis_is_packed() {
        let whole = r#"{"by":"x","turns":[{"turn":2,"value":"draw","best":"win","better":"7 B","in":3,"text":"ouch"}]}"#;
        assert_eq!(
            of(whole),
            Some(json!(["-d", "-w", "03", [[2, "blunder", "7 B", "ouch"]]]))
        );
        let lines =
            r#"{"turns":[{"turn":2,"value":"loss","better_line":["6 A","7 -"],"text":[3]}]}"#;
        assert_eq!(
            of(lines),
            Some(json!(["-l", "--", "00", [[2, "", "", "", "6 A\t7 -"]]]))
        );
        assert_eq!(
            of(r#"{"turns":[{"turn":1,"value":"win","best":"win","mark":"only"}]}"#),
            Some(json!(["w-", "w-", "00", [[1, "only"]]]))
        );
    }

    #[test]
    fn a_blunder_that_missed_a_win_is_both() {
        let both = r#"{"turns":[{"turn":2,"value":"loss","best":"win","mark":"blunder","missed_win":true}]}"#;
        let packed = json!([[2, "blunder", "", "", "", "missed"]]);
        assert_eq!(of(both).unwrap()[3], packed);
        let alone = r#"{"turns":[{"turn":2,"mark":"missed-win","missed_win":true}]}"#;
        assert_eq!(of(alone).unwrap()[3], json!([[2, "missed-win"]]));
    }

    #[test]
    fn other_shapes_are_ignored() {
        for analysis in [
            "null",
            "3",
            "[]",
            r#"{"turns":{}}"#,
            r#"{"turns":[1,null,"x",{}]}"#,
            r#"{"turns":[{"turn":0},{"turn":3},{"turn":-1},{"turn":"1"},{"turn":1e300}]}"#,
        ] {
            assert_eq!(of(analysis), None, "{analysis}");
        }
        assert_eq!(
            of(r#"{"turns":[{"turn":1,"value":7,"best":[],"mark":{},"in":-3,"text":null}]}"#),
            Some(json!(["--", "--", "00", []]))
        );
        let hostile = of(r#"{"turns":[{"turn":1,"text":"a\u2028\u202eb"}]}"#).unwrap();
        assert_eq!(hostile[3][0][3], r"a\u{2028}\u{202e}b");
    }

    #[test]
    fn long_texts_are_cut_and_the_last_entry_of_a_turn_counts() {
        let text = "x".repeat(2000);
        let packed = of(&format!(r#"{{"turns":[{{"turn":1,"text":"{text}"}}]}}"#)).unwrap();
        assert_eq!(packed[3][0][3].as_str().unwrap().chars().count(), 401);
        let both = format!(
            r#"{{"turns":[{{"turn":1,"text":"{text}"}},{{"turn":2,"text":"{text}"}},{{"turn":2,"text":"last"}}]}}"#
        );
        assert_eq!(of(&both).unwrap()[3][1][3], "last");
    }
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
