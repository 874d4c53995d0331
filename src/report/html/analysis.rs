//! A record's field `analysis`, packed for the page (`referee_analysis::packed`).
//!
//! Of a turn the last note counts. Anything of another shape is ignored: a damaged analysis must not hide a game.

use referee_analysis::packed;
use serde_json::Value;

use super::MAX_TURNS;
use crate::record::Record;
use crate::record::annotation::{Annotation, FIELD};

/// `None` without analysis, or when the `room` (bytes) is used up.
pub(super) fn packed(record: &Record, room: &mut usize) -> Option<Value> {
    let mut notes = Annotation::from_json(record.more.get(FIELD)?).turns;
    let count = record.turns.len().min(MAX_TURNS);
    notes.retain(|note| note.turn <= count);
    if notes.is_empty() {
        return None;
    }
    let packed = packed::packed(&notes, count);
    *room = room.checked_sub(packed.to_string().len())?;
    Some(packed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
