//! The notes of a game for a page.
//!
//! `[values, bests, distances, remarks]`, three strings with a character a turn (`w`, `d`, `l` or `-`; a base-36
//! digit, 0 for none), and an array of `[turn, mark, better, text, played line, better line, missed]` for turns with any
//! of these. Lines are joined by tabs; `missed` is a word if the mark says something else.

use referee_games::solver;
use referee_text::{cut, escape_controls};
use serde_json::{Value, json};

use crate::note::{Mark, Note};

const TEXT_CHARS: usize = 400;
const WORD_CHARS: usize = 24;
const LINE_TURNS: usize = 200;

const fn letter(value: Option<solver::Value>) -> char {
    match value {
        Some(solver::Value::Win) => 'w',
        Some(solver::Value::Draw) => 'd',
        Some(solver::Value::Loss) => 'l',
        None => '-',
    }
}

/// Mark, better answer, text, line after the better turn, whether a win was missed.
fn words(note: &Note) -> [String; 5] {
    let is_blunder = note.mark.is_none() && note.value_loss().is_some();
    let mark = note.mark.or(is_blunder.then_some(Mark::Blunder));
    let is_missed = note.missed_win && mark != Some(Mark::MissedWin);
    let text = |text: &Option<String>, chars| {
        let text = escape_controls(text.as_deref().unwrap_or_default());
        cut(&text, chars)
    };
    let line = |turns: &[String]| {
        let turns = turns.iter().take(LINE_TURNS);
        let turns = turns.map(|turn| cut(&escape_controls(turn), WORD_CHARS));
        turns.collect::<Vec<_>>().join("\t")
    };
    [
        mark.map_or("", Mark::name).to_owned(),
        text(&note.better, WORD_CHARS),
        text(&note.text, TEXT_CHARS),
        line(&note.better_line),
        if is_missed { "missed" } else { "" }.to_owned(),
    ]
}

/// Of the first `count` turns; no note is of a later one.
pub fn packed(notes: &[Note], count: usize) -> Value {
    let row = |unknown: char, of: fn(&Note) -> char| {
        let mut row = vec![unknown; count];
        for note in notes {
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
    json!([
        row('-', |note| letter(note.value)),
        row('-', |note| letter(note.best)),
        row('0', distance),
        more.collect::<Vec<_>>()
    ])
}
