//! Analyses of games and bots, as text and JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::terminal::{Palette, aligned};
use crate::record::Record;
use crate::record::annotation::{self, Annotation, Note, Tally};
use crate::text::{escape_controls, short_name};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotTally {
    pub name: String,
    pub tally: Tally,
}

/// Result, annotated turns, and which turns are solved.
pub fn game_text(number: u64, record: &Record, analysis: &Annotation) -> String {
    let names = record.bots.each_ref().map(|bot| short_name(&bot.name));
    let mut out = format!(
        "game {number}, {} - {}: {}\n",
        names[record.first],
        names[record.first.other()],
        escape_controls(&record.result_line())
    );
    for note in &analysis.turns {
        if let Some(text) = &note.text {
            let player = &names[annotation::player(record.first, note.turn)];
            let _ = writeln!(
                out,
                "  turn {}, {player}: {}",
                note.turn,
                escape_controls(text)
            );
        }
    }
    let _ = writeln!(
        out,
        "  {}\n",
        proven_turns(&analysis.turns, record.turns.len())
    );
    out
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

/// `97.5%`; empty for none.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(String::new, |share| format!("{:.1}%", 100.0 * share))
}

pub fn table(bots: &[BotTally], palette: &Palette) -> String {
    let heads = [
        "bot",
        "turns",
        "proven",
        "kept",
        "accuracy",
        "win→draw",
        "win→loss",
        "draw→loss",
        "missed wins",
        "lost at once",
    ];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for BotTally { name, tally } in bots {
        let mut row = vec![short_name(name)];
        row.extend([tally.turns, tally.proven, tally.kept].map(|n| n.to_string()));
        row.push(percent(tally.accuracy()));
        row.extend(
            [
                tally.win_to_draw,
                tally.win_to_loss,
                tally.draw_to_loss,
                tally.missed_wins,
                tally.lost_at_once,
            ]
            .map(|n| n.to_string()),
        );
        rows.push(row);
    }
    aligned(&rows, palette, &[0])
}

pub fn tally_json(tally: &Tally) -> Value {
    json!({
        "turns": tally.turns,
        "proven": tally.proven,
        "kept": tally.kept,
        "accuracy": tally.accuracy(),
        "blunders": tally.blunders(),
        "win_to_draw": tally.win_to_draw,
        "win_to_loss": tally.win_to_loss,
        "draw_to_loss": tally.draw_to_loss,
        "missed_wins": tally.missed_wins,
        "lost_at_once": tally.lost_at_once,
    })
}
