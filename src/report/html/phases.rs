//! Accuracy by phase of the game: opening, middlegame, endgame.

use serde_json::{Value, json};

use crate::record::Record;
use crate::record::annotation::{Annotation, Tally};

/// The page names them.
pub(super) const PHASES: usize = 3;

pub(super) type ByPhase = [Tally; PHASES];

/// Of games with placements.
fn cells(game: &str) -> Option<usize> {
    match game {
        "quarto" => Some(16),
        "four-in-a-row" => Some(42),
        _ => None,
    }
}

/// From 1: thirds of the board, by the pieces on it before the turn; for game programs, thirds of the turns.
pub(super) fn phase(record: &Record, turn: usize) -> usize {
    let turns = record.turns.len().max(1);
    let (filled, all) = match cells(&record.game) {
        Some(cells) => {
            let start = record.start.chars().take(cells);
            let opening = start.filter(|&cell| cell != '.').count();
            // Quarto's first turn places nothing, unless a piece is in hand.
            let gives_only = record.game == "quarto" && record.turns[0].starts_with('-');
            let placed = turn.saturating_sub(1 + usize::from(gives_only));
            (opening + placed, cells)
        }
        None => (turn.saturating_sub(1), turns),
    };
    (filled * PHASES / all).min(PHASES - 1)
}

/// Of both bots, by phase.
pub(super) fn tallies(record: &Record, analysis: &Annotation) -> [ByPhase; 2] {
    let mut both = [ByPhase::default(); 2];
    for part in 0..PHASES {
        let known = analysis.turns.iter();
        let turns = known.filter(|note| {
            (1..=record.turns.len()).contains(&note.turn) && phase(record, note.turn) == part
        });
        let notes = Annotation {
            by: String::new(),
            turns: turns.cloned().collect(),
        };
        let tallies = notes.tallies(record.first, record.turns.len());
        for (bot, tally) in both.iter_mut().zip(tallies) {
            bot[part] += tally;
        }
    }
    both
}

/// By phase: `[solved turns, those that kept the value, blunders, missed wins]`.
pub(super) fn as_json(by_phase: &ByPhase) -> Value {
    let figures = by_phase.iter().map(|tally| {
        [
            tally.proven,
            tally.kept,
            tally.blunders(),
            tally.missed_wins,
        ]
    });
    json!(figures.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_a_third_of_the_board() {
        let line = r#"{"v":1,"game":"quarto","rules":"standard","id":"1","bots":[{"name":"a","command":[]},{"name":"b","command":[]}],"first":0,"seed":1,"start":"..AB............","turns":["- K","1 A","5 C"],"times_ms":[1.0,1.0,1.0],"result":{"winner":0,"reason":"quarto"},"started":""}"#;
        let record = Record::from_line(line.as_bytes()).unwrap();
        let phases: Vec<usize> = [1, 2, 5, 6, 10, 11, 20]
            .map(|turn| phase(&record, turn))
            .to_vec();
        assert_eq!(phases, [0, 0, 0, 1, 1, 2, 2]);
    }
}
