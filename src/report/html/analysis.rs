//! What somebody's analysis says of a record's turns.
//!
//! A record may have a field `analysis`:
//!
//! ```json
//! "analysis": {"by": "referee analyse 0.1.0", "turns": [
//!   {"turn": 9, "value": "draw", "best": "win", "mark": "blunder",
//!    "better": "6 A", "in": 5, "text": "gave away a win: 6 A wins"}]}
//! ```
//!
//! - `turn`: 1 for the first of the record's `turns`. One entry a turn; the last one counts.
//! - `value`: what the turn left its player with, by best play afterwards; `best`: what its
//!   player could have had. `win`, `draw`, `loss` or `unknown`; missing is unknown.
//! - `mark`: `blunder`, `missed-win`, `only`, `forced`, or a word that is shown as it is. A turn without one
//!   whose value is worse than the best counts as a `blunder`.
//! - `better`: an answer that would have kept the best; `in`: turns until the end that the value
//!   promises; `text`: a sentence for people. All three may be missing.
//!
//! Whatever is not of this shape is passed over: an analysis never keeps a game from being shown.
//!
//! Packed it is an array of `[turn, value, best, mark, better, in, text]`, a value as `w`, `d`,
//! `l` or nothing, without empty fields at the end.

use serde_json::{Value, json};

use super::pack::cut;
use crate::record::Record;
use crate::text::safe;

const TEXT_CHARS: usize = 400;
const WORD_CHARS: usize = 24;

/// The letter for a value, and its rank.
fn value(entry: &Value, field: &str) -> (&'static str, u8) {
    match entry.get(field).and_then(Value::as_str) {
        Some("win") => ("w", 2),
        Some("draw") => ("d", 1),
        Some("loss") => ("l", 0),
        _ => ("", 0),
    }
}

fn word(entry: &Value, field: &str, chars: usize) -> String {
    let word = entry.get(field).and_then(Value::as_str).unwrap_or_default();
    cut(&safe(word), chars)
}

/// One turn's entry; `None` when it names no turn of the game.
fn turn(entry: &Value, turns: usize) -> Option<(usize, Value)> {
    let number = usize::try_from(entry.get("turn")?.as_u64()?).ok()?;
    if number == 0 || number > turns {
        return None;
    }
    let (left, left_rank) = value(entry, "value");
    let (best, best_rank) = value(entry, "best");
    let mut mark = word(entry, "mark", WORD_CHARS);
    if mark.is_empty() && !left.is_empty() && left_rank < best_rank {
        "blunder".clone_into(&mut mark);
    }
    let mut fields = vec![
        json!(number),
        json!(left),
        json!(best),
        json!(mark),
        json!(word(entry, "better", WORD_CHARS)),
        json!(entry.get("in").and_then(Value::as_u64).unwrap_or(0)),
        json!(word(entry, "text", TEXT_CHARS)),
    ];
    let empty = |field: &Value| *field == "" || *field == 0;
    while fields.last().is_some_and(empty) {
        fields.pop();
    }
    Some((number, Value::Array(fields)))
}

/// What there is to show; `None` when there is nothing, or no room for it.
pub(super) fn packed(record: &Record, room: &mut usize) -> Option<Value> {
    let entries = record.more.get("analysis")?.get("turns")?.as_array()?;
    let mut turns: Vec<Option<Value>> = vec![None; record.turns.len()];
    for entry in entries {
        if let Some((number, packed)) = turn(entry, record.turns.len()) {
            turns[number - 1] = Some(packed);
        }
    }
    let turns: Vec<Value> = turns.into_iter().flatten().collect();
    if turns.is_empty() {
        return None;
    }
    let packed = Value::Array(turns);
    *room = room.checked_sub(packed.to_string().len())?;
    Some(packed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(analysis: &str) -> Option<Value> {
        let line = format!(
            r#"{{"v":1,"game":"quarto","rules":"standard","id":"1","bots":[{{"name":"a","command":[]}},{{"name":"b","command":[]}}],"first":0,"seed":1,"start":"................","turns":["- K","6 A"],"times_ms":[1.0,1.0],"result":{{"winner":0,"reason":"quarto"}},"started":"","analysis":{analysis}}}"#
        );
        let record = Record::from_line(line.as_bytes()).unwrap();
        packed(&record, &mut 1000)
    }

    #[test]
    fn an_analysis_is_packed() {
        let whole = r#"{"by":"x","turns":[{"turn":2,"value":"draw","best":"win","better":"7 B","in":3,"text":"ouch"}]}"#;
        assert_eq!(
            of(whole),
            Some(json!([[2, "d", "w", "blunder", "7 B", 3, "ouch"]]))
        );
        assert_eq!(
            of(r#"{"turns":[{"turn":1,"value":"win","best":"win","mark":"only"}]}"#),
            Some(json!([[1, "w", "w", "only"]]))
        );
    }

    #[test]
    fn what_is_not_of_the_shape_is_passed_over() {
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
            Some(json!([[1]]))
        );
        let hostile = of(r#"{"turns":[{"turn":1,"text":"a\u2028\u202eb"}]}"#).unwrap();
        assert_eq!(hostile[0][6], r"a\u{2028}\u{202e}b");
    }

    #[test]
    fn long_texts_are_cut_and_room_is_kept() {
        let text = "x".repeat(2000);
        let packed = of(&format!(r#"{{"turns":[{{"turn":1,"text":"{text}"}}]}}"#)).unwrap();
        assert_eq!(packed[0][6].as_str().unwrap().chars().count(), 401);
        let both = format!(
            r#"{{"turns":[{{"turn":1,"text":"{text}"}},{{"turn":2,"text":"{text}"}},{{"turn":2,"text":"last"}}]}}"#
        );
        assert_eq!(of(&both).unwrap()[1][6], "last");
    }
}
