//! Analyses of games and bots, as text and JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::standings::turn_figures;
use super::terminal::{Palette, aligned, labelled};
use referee_match::record::Record;
use referee_match::record::annotation::{self, Annotation, Note, Tally};
use referee_text::{escape_controls, short_name};

/// Result, annotated turns, and which turns are solved, wrapped to so many `columns` of a terminal.
pub fn game_text(
    number: u64,
    record: &Record,
    analysis: &Annotation,
    columns: Option<usize>,
) -> String {
    let names = record.bots.each_ref().map(|bot| short_name(&bot.name));
    let ([a, b], first) = (&names, &names[record.first]);
    let result = escape_controls(&record.result_line());
    let heading = format!("game {number}, {a} against {b}, {first} begins: ");
    let mut out = labelled("", &format!("{heading}{result}"), columns) + "\n";
    for note in &analysis.turns {
        if let Some(text) = &note.text {
            let player = &names[annotation::player(record.first, note.turn)];
            let (turn, text) = (note.turn, escape_controls(text));
            let label = format!("  turn {turn}, {player}: ");
            let _ = writeln!(out, "{}", labelled(&label, &text, columns));
        }
    }
    let proven = proven_turns(&analysis.turns, record.turns.len());
    out + &format!("  {proven}\n\n")
}

fn proven_turns(notes: &[Note], turns: usize) -> String {
    let mut proven = notes.iter().filter(|note| note.is_proven());
    let count = proven.clone().count();
    match proven.next() {
        None => "no turn is proven".to_owned(),
        Some(_) if count == turns => "all turns are proven".to_owned(),
        Some(first) if first.turn + count == turns + 1 => {
            format!("proven from turn {} on", first.turn)
        }
        Some(_) => format!("{count} of {turns} turns are proven"),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotTally {
    pub name: String,
    pub tally: Tally,
}

impl BotTally {
    pub fn json(&self) -> Value {
        let name = std::iter::once(("name".to_owned(), json!(self.name)));
        let figures = turn_figures(&self.tally);
        let figures = figures.map(|(column, value)| (column.key.to_owned(), value));
        Value::Object(name.chain(figures).collect())
    }
}

pub fn table(bots: &[BotTally], palette: &Palette) -> String {
    let none = Tally::default();
    let heads = turn_figures(&none).map(|(column, _)| column.head.to_owned());
    let mut rows: Vec<Vec<String>> = vec![std::iter::once("bot".to_owned()).chain(heads).collect()];
    for bot in bots {
        let figures = turn_figures(&bot.tally).map(|(column, value)| column.text(&value));
        let name = std::iter::once(short_name(&bot.name));
        rows.push(name.chain(figures).collect());
    }
    aligned(&rows, palette, &[0])
}
