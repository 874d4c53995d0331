//! A record's field `analysis`, packed for the page.
//!
//! Of a turn the last [`Note`] counts; without a mark, a turn worse than the best is a `blunder`. Anything of another shape
//! is ignored: a damaged analysis must not hide a game.
//!
//! Packed: `[values, bests, distances, remarks]`, three strings with a character a turn (`w`, `d`, `l` or `-`; a base-36
//! digit, 0 for none), and an array of `[turn, mark, better, text, played line, better line, missed]` for turns with any
//! of these. Lines are joined by tabs; `missed` is a word if the mark says something else.

use serde_json::{Value, json};

use super::{MAX_TURNS, cut};
use crate::record::Record;
use crate::record::annotation::{Annotation, FIELD, Mark, Note};
use crate::solver;
use crate::text::escape_controls;

const TEXT_CHARS: usize = 400;
const WORD_CHARS: usize = 24;

const fn letter(value: Option<solver::Value>) -> char {
    match value {
        Some(solver::Value::Win) => 'w',
        Some(solver::Value::Draw) => 'd',
        Some(solver::Value::Loss) => 'l',
        None => '-',
    }
}

/// Mark, better answer, text, line after the turn, line after the better one, whether a win was missed.
fn words(note: &Note) -> [String; 6] {
    let is_blunder = note.mark.is_none() && note.value_loss().is_some();
    let mark = note.mark.or(is_blunder.then_some(Mark::Blunder));
    let is_missed = note.missed_win && mark != Some(Mark::MissedWin);
    let text = |text: &Option<String>, chars| {
        let text = escape_controls(text.as_deref().unwrap_or_default());
        cut(&text, chars)
    };
    let line = |turns: &[String]| {
        let turns = turns.iter().take(MAX_TURNS);
        let turns = turns.map(|turn| cut(&escape_controls(turn), WORD_CHARS));
        turns.collect::<Vec<_>>().join("\t")
    };
    [
        mark.map_or("", Mark::name).to_owned(),
        text(&note.better, WORD_CHARS),
        text(&note.text, TEXT_CHARS),
        line(&note.played_line),
        line(&note.better_line),
        if is_missed { "missed" } else { "" }.to_owned(),
    ]
}

/// `None` without analysis, or when the `room` (bytes) is used up.
pub(super) fn packed(record: &Record, room: &mut usize) -> Option<Value> {
    let mut notes = Annotation::from_json(record.more.get(FIELD)?).turns;
    let count = record.turns.len().min(MAX_TURNS);
    notes.retain(|note| note.turn <= count);
    if notes.is_empty() {
        return None;
    }
    let row = |unknown: char, of: fn(&Note) -> char| {
        let mut row = vec![unknown; count];
        for note in &notes {
            row[note.turn - 1] = of(note);
        }
        row.into_iter().collect::<String>()
    };
    let distance = |note: &Note| {
        let distance = note.plies.and_then(|plies| char::from_digit(plies, 36));
        distance.unwrap_or('0')
    };
    let more = notes.iter().filter_map(|note| {
        let words = words(note);
        let last = words.iter().rposition(|word| !word.is_empty())?;
        let words = words[..=last].iter().map(|word| json!(word));
        let fields = std::iter::once(json!(note.turn)).chain(words);
        Some(fields.collect::<Value>())
    });
    let packed = json!([
        row('-', |note| letter(note.value)),
        row('-', |note| letter(note.best)),
        row('0', distance),
        more.collect::<Vec<_>>()
    ]);
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
