//! The analysis in a record: values and marks of turns, and their sums for a bot.
//!
//! It is in the field `analysis`: `{"by":"referee
//! 0.1.0","turns":[{"turn":9,"value":"loss","best":"draw","mark":"blunder","better":"6 B",…},…]}`.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::BotIndex;
use referee_games::solver::Value;

pub use referee_analysis::note::{Mark, Note};
pub use referee_stats::standings::TurnTally as Tally;

pub const FIELD: &str = "analysis";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotation {
    /// The program that made the analysis.
    pub by: String,
    /// In the order of the turns.
    pub turns: Vec<Note>,
}

impl Annotation {
    pub fn to_json(&self) -> Json {
        json!({ "by": self.by, "turns": self.turns })
    }

    /// Invalid parts are left out.
    pub fn from_json(json: &Json) -> Self {
        let entries = json["turns"].as_array();
        let notes = entries.into_iter().flatten().filter_map(Note::from_json);
        // One entry a turn: the last one counts.
        let turns: BTreeMap<usize, Note> = notes.map(|note| (note.turn, note)).collect();
        Self {
            by: json["by"].as_str().unwrap_or_default().to_owned(),
            turns: turns.into_values().collect(),
        }
    }

    /// Of the two bots in a game of `turns` turns. `first` is the bot that moved first.
    pub fn tallies(&self, first: BotIndex, turns: usize) -> [Tally; 2] {
        let mut tallies = [Tally::default(); 2];
        for turn in 1..=turns {
            tallies[player(first, turn)].turns += 1;
        }
        for note in self.turns.iter().filter(|note| note.turn <= turns) {
            count(&mut tallies[player(first, note.turn)], note);
        }
        tallies
    }
}

/// Turns count from 1; `first` made turn 1.
pub fn player(first: BotIndex, turn: usize) -> BotIndex {
    if turn % 2 == 1 { first } else { first.other() }
}

fn count(tally: &mut Tally, note: &Note) {
    let one = |yes: bool| u64::from(yes);
    tally.proven += one(note.is_proven());
    tally.kept += one(note.is_proven() && note.value_loss().is_none());
    tally.win_to_draw += one(note.value_loss() == Some((Value::Win, Value::Draw)));
    tally.win_to_loss += one(note.value_loss() == Some((Value::Win, Value::Loss)));
    tally.draw_to_loss += one(note.value_loss() == Some((Value::Draw, Value::Loss)));
    tally.missed_wins += one(note.missed_win);
    tally.lost_at_once += one(note.lost_at_once);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let annotation = Annotation {
            by: "a test".to_owned(),
            turns: vec![
                Note {
                    turn: 8,
                    value: Some(Value::Win),
                    best: Some(Value::Win),
                    mark: Some(Mark::Only),
                    plies: Some(3),
                    ..Note::default()
                },
                Note {
                    turn: 9,
                    value: Some(Value::Loss),
                    best: None,
                    better: Some("6 B".to_owned()),
                    lost_at_once: true,
                    text: Some("`6 K` lost at once.".to_owned()),
                    ..Note::default()
                },
            ],
        };
        assert_eq!(Annotation::from_json(&annotation.to_json()), annotation);
        assert_eq!(annotation.to_json()["turns"][1]["best"], "unknown");
    }

    #[test]
    fn invalid_parts_of_an_analysis_are_left_out() {
        for text in [
            "7",
            "null",
            "[]",
            "{}",
            r#"{"turns":{}}"#,
            r#"{"turns":[1,null,{}]}"#,
        ] {
            let json = serde_json::from_str(text).unwrap();
            assert_eq!(
                Annotation::from_json(&json),
                Annotation::default(),
                "{text}"
            );
        }
        let json = json!({"turns": [
            {"turn": 2, "value": "win", "best": "draw"},
            {"turn": 0, "value": "win"},
            {"turn": -1}, {"turn": 1.5}, {"turn": "3"},
            {"turn": 2, "value": "a lot", "best": 3, "in": -4, "mark": "brilliant", "text": []},
            {"turn": 1, "mark": "missed-win", "better": 7},
        ]});
        let notes = Annotation::from_json(&json).turns;
        let turns: Vec<usize> = notes.iter().map(|note| note.turn).collect();
        assert_eq!(turns, [1, 2]);
        assert!(notes[0].missed_win && notes[0].better.is_none());
        assert_eq!(
            notes[1],
            Note {
                turn: 2,
                ..Note::default()
            }
        );
    }

    #[test]
    fn turns_are_counted_for_the_bot_that_made_them() {
        let note = |turn, best, value| Note {
            turn,
            value: Some(value),
            best: Some(best),
            ..Note::default()
        };
        let annotation = Annotation {
            by: String::new(),
            turns: vec![
                note(1, Value::Win, Value::Draw),
                note(2, Value::Draw, Value::Loss),
                note(3, Value::Win, Value::Win),
                note(4, Value::Win, Value::Loss),
                note(9, Value::Win, Value::Loss),
            ],
        };
        let [a, b] = annotation.tallies(BotIndex::B, 5);
        assert_eq!((b.turns, b.proven, b.kept, b.win_to_draw), (3, 2, 1, 1));
        assert_eq!((a.turns, a.blunders(), a.kept), (2, 2, 0));
        assert_eq!(b.accuracy(), Some(0.5));
        assert_eq!(Tally::default().accuracy(), None);
    }
}
