//! A record's field `analysis`, packed for the page.
//!
//! ```json
//! "analysis": {"by": "referee analyse 0.1.0", "turns": [
//!   {"turn": 9, "value": "draw", "best": "win", "mark": "blunder",
//!    "better": "6 A", "in": 5, "text": "gave away a win: 6 A wins"}]}
//! ```
//!
//! - `turn`: from 1; the last entry for a turn counts.
//! - `value`: for the player after the turn, with best play; `best`: of the best turn. `win`, `draw`, `loss` or
//!   `unknown`, which is the default.
//! - `mark`: `blunder`, `missed-win`, `only`, `forced`, or a word shown unchanged. Without one, a turn worse than the best
//!   is a `blunder`.
//! - `better`: an answer that keeps the best value; `in`: turns until the end with best play; `text`: an explanation.
//! - `played_line`, `better_line`: the turn and the better one, each with a perfect game after it.
//! - `missed_win`: whether an immediate win was not taken.
//!
//! All but `turn` are optional. Anything of another shape is ignored: a damaged analysis must not hide a game.
//!
//! Packed: `[values, bests, distances, remarks]`, three strings with a character a turn (`w`, `d`, `l` or `-`; a base-36
//! digit, 0 for none), and an array of `[turn, mark, better, text, played line, better line, missed]` for turns with any
//! of these. Lines are joined by tabs; `missed` is a word if the mark says something else.

use serde_json::{Value, json};

use super::{MAX_TURNS, cut};
use crate::record::Record;
use crate::text::escape_controls;

const TEXT_CHARS: usize = 400;
const WORD_CHARS: usize = 24;

/// Letter and rank; unknown values have no rank.
fn value(entry: &Value, field: &str) -> (char, Option<u8>) {
    match entry.get(field).and_then(Value::as_str) {
        Some("win") => ('w', Some(2)),
        Some("draw") => ('d', Some(1)),
        Some("loss") => ('l', Some(0)),
        _ => ('-', None),
    }
}

fn word(entry: &Value, field: &str, chars: usize) -> String {
    let word = entry.get(field).and_then(Value::as_str).unwrap_or_default();
    cut(&escape_controls(word), chars)
}

/// Turns joined by tabs.
fn line(entry: &Value, field: &str) -> String {
    let turns = entry.get(field).and_then(Value::as_array);
    let turns = turns.into_iter().flatten().filter_map(Value::as_str);
    let turns = turns.take(MAX_TURNS);
    let turns: Vec<String> = turns
        .map(|turn| cut(&escape_controls(turn), WORD_CHARS))
        .collect();
    turns.join("\t")
}

#[derive(Clone)]
struct TurnAnalysis {
    value: char,
    best: char,
    distance: char,
    /// Mark, better answer, text, line after the turn, line after the better one, whether a win was missed.
    words: [String; 6],
}

/// Also returns the turn's index; `None` if the game has no such turn.
fn turn(entry: &Value, turns: usize) -> Option<(usize, TurnAnalysis)> {
    let number = usize::try_from(entry.get("turn")?.as_u64()?).ok()?;
    if number == 0 || number > turns {
        return None;
    }
    let (left, left_rank) = value(entry, "value");
    let (best, best_rank) = value(entry, "best");
    let mut mark = word(entry, "mark", WORD_CHARS);
    if mark.is_empty()
        && left_rank
            .zip(best_rank)
            .is_some_and(|(left, best)| left < best)
    {
        "blunder".clone_into(&mut mark);
    }
    let is_missed = entry.get("missed_win") == Some(&Value::Bool(true)) && mark != "missed-win";
    let distance = entry.get("in").and_then(Value::as_u64);
    let distance = distance.and_then(|turns| char::from_digit(u32::try_from(turns).ok()?, 36));
    let analysis = TurnAnalysis {
        value: left,
        best,
        distance: distance.unwrap_or('0'),
        words: [
            mark,
            word(entry, "better", WORD_CHARS),
            word(entry, "text", TEXT_CHARS),
            line(entry, "played_line"),
            line(entry, "better_line"),
            if is_missed { "missed" } else { "" }.to_owned(),
        ],
    };
    Some((number - 1, analysis))
}

/// `None` without analysis, or when the `room` (bytes) is used up.
pub(super) fn packed(record: &Record, room: &mut usize) -> Option<Value> {
    let entries = record.more.get("analysis")?.get("turns")?.as_array()?;
    let unknown = TurnAnalysis {
        value: '-',
        best: '-',
        distance: '0',
        words: Default::default(),
    };
    let mut turns = vec![unknown; record.turns.len().min(MAX_TURNS)];
    let mut found = false;
    for entry in entries {
        if let Some((index, analysis)) = turn(entry, turns.len()) {
            turns[index] = analysis;
            found = true;
        }
    }
    if !found {
        return None;
    }
    let row = |of: fn(&TurnAnalysis) -> char| -> String { turns.iter().map(of).collect() };
    let more: Vec<Value> = turns
        .iter()
        .enumerate()
        .filter_map(|(index, analysis)| {
            let words = analysis.words.iter().rposition(|word| !word.is_empty())?;
            let mut fields = vec![json!(index + 1)];
            fields.extend(analysis.words[..=words].iter().map(|word| json!(word)));
            Some(Value::Array(fields))
        })
        .collect();
    let packed = json!([row(|s| s.value), row(|s| s.best), row(|s| s.distance), more]);
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
            Some(json!(["-d", "-w", "03", [[2, "blunder", "7 B", "ouch"]]]))
        );
        let lines = r#"{"turns":[{"turn":2,"value":"loss","played_line":["6 A","7 -"],"better_line":[3]}]}"#;
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
        let packed = json!([[2, "blunder", "", "", "", "", "missed"]]);
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
