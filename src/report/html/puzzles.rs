//! A page of puzzles to solve by hand.
//!
//! Data: `editions`, each with `game`, `rules` and `set` (see `piece_style`), and `puzzles`, each an array of
//! edition, id, position, kind, value, right answers, number of turns, level, bots that failed, bots that were
//! asked.

use serde_json::{Value, json};

use super::limits::cut;
use super::{NAME_CHARS, page, piece_style};
use crate::puzzles::puzzle::Puzzle;
use crate::text::escape_controls;

/// Puzzles in this order, in one file without network; the browser keeps what was solved.
pub fn puzzles<'a>(title: &str, puzzles: impl IntoIterator<Item = &'a Puzzle>) -> String {
    let (mut editions, mut keys) = (Vec::<Value>::new(), Vec::new());
    let mut entries = Vec::<Value>::new();
    for puzzle in puzzles {
        let key = (&puzzle.game, &puzzle.rules, &puzzle.pieces);
        let edition = keys.iter().position(|known| *known == key);
        let edition = edition.unwrap_or_else(|| {
            editions.push(json!({
                "game": puzzle.game,
                "rules": puzzle.rules,
                "set": piece_style::set(&puzzle.game, puzzle.pieces.as_deref()),
            }));
            keys.push(key);
            keys.len() - 1
        });
        entries.push(json!([
            edition,
            puzzle.id,
            puzzle.position,
            puzzle.kind.name(),
            puzzle.value,
            puzzle.answers,
            puzzle.turns,
            puzzle.level,
            puzzle.failed,
            puzzle.asked,
        ]));
    }
    let title = cut(&escape_controls(title), NAME_CHARS);
    let head = json!({ "title": title });
    let data = json!({ "head": head, "editions": editions, "puzzles": entries });
    page::of_puzzles(&title, &data.to_string())
}
