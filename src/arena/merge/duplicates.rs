//! Games that occur twice: equal records count once; of different ones it is unknown which is right.
//!
//! Hashes are kept for a bounded number of games; for more, the journals are read again.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use serde_json::Value;

use super::{MergeError, Part, damaged, failed};
use crate::arena::plan::Plan;
use crate::arena::results::Results;
use crate::record::RecordSummary;
use crate::record::reader::Reader;
use crate::tournament::schedule::{GameId, Half};

/// Hashes kept at a time, about 70 bytes each.
const AT_ONCE: usize = 400_000;

#[derive(Clone, Debug, Default)]
pub(super) struct Duplicates {
    bits: Vec<u64>,
    lines: u64,
}

struct First {
    hash: u64,
    part: usize,
    line: u64,
}

impl Duplicates {
    pub(super) fn note(&mut self, id: GameId) {
        self.lines += 1;
        let (word, bit) = place(id);
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= 1 << bit;
    }

    /// Lines that repeat a game.
    pub(super) const fn lines(&self) -> u64 {
        self.lines
    }

    /// Whether a repeated line was noted.
    pub(super) fn has(&self, id: GameId) -> bool {
        let (word, bit) = place(id);
        self.bits.get(word).is_some_and(|word| word >> bit & 1 == 1)
    }

    /// Ranges of words, each with at most `at_once` games (or a single word).
    fn windows(&self, at_once: usize) -> Vec<std::ops::Range<usize>> {
        let mut windows = Vec::new();
        let (mut start, mut games) = (0, 0);
        for (place, word) in self.bits.iter().enumerate() {
            let more = word.count_ones() as usize;
            if games > 0 && games + more > at_once {
                windows.push(start..place);
                (start, games) = (place, 0);
            }
            games += more;
        }
        if games > 0 {
            windows.push(start..self.bits.len());
        }
        windows
    }

    /// Records must be equal but for fields that depend on clocks.
    pub(super) fn compare(&self, parts: &[Part]) -> Result<(), MergeError> {
        self.compare_by(AT_ONCE, parts)
    }

    fn compare_by(&self, at_once: usize, parts: &[Part]) -> Result<(), MergeError> {
        for window in self.windows(at_once) {
            let mut firsts: HashMap<(u64, Half), First> = HashMap::new();
            for (place_of_part, part) in parts.iter().enumerate() {
                part.each(|line| {
                    let (number, line) = (line.number(), line.bytes());
                    let Some(id) =
                        id_of(line).filter(|&id| window.contains(&place(id).0) && self.has(id))
                    else {
                        return Ok(());
                    };
                    let hash = hash(line);
                    let first = firsts.entry((id.pair, id.half)).or_insert(First {
                        hash,
                        part: place_of_part,
                        line: number,
                    });
                    if first.hash != hash {
                        return Err(MergeError::Differ {
                            id,
                            first: parts[first.part].shown(first.line),
                            second: part.shown(number),
                        });
                    }
                    Ok(())
                })?;
            }
        }
        Ok(())
    }
}

impl Part {
    fn shown(&self, line: u64) -> String {
        format!("{}:{line}", self.path.display())
    }
}

fn place(id: GameId) -> (usize, u32) {
    let game = 2 * id.pair + id.half as u64;
    // The game is in the plan: its number fits an index.
    let word = usize::try_from(game / 64).unwrap_or(usize::MAX);
    (word, (game % 64) as u32)
}

fn id_of(line: &[u8]) -> Option<GameId> {
    RecordSummary::parse(line).ok()?.id.parse().ok()
}

/// Without the fields that depend on when and where it was played; the order of fields does not matter.
pub(super) fn hash(line: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    if let Ok(mut record) = serde_json::from_slice::<Value>(line) {
        if let Some(fields) = record.as_object_mut() {
            for field in [
                "times_ms",
                "charged_ms",
                "started",
                "usage",
                "voids",
                "delayed",
            ] {
                fields.remove(field);
            }
        }
        record.sort_all_objects();
        record.to_string().hash(&mut hasher);
    }
    hasher.finish()
}

/// The journal that a merge replaces. It may only hold games that the shards have, such as those of an earlier
/// merge.
#[derive(Debug, Default)]
pub(super) struct Existing {
    games: Duplicates,
    /// Sum of its games' hashes, minus those of the merged games with the same ids.
    difference: u64,
}

impl Existing {
    /// The file need not exist.
    pub(super) fn read(path: &Path, plan: &Plan) -> Result<Self, MergeError> {
        let mut existing = Self::default();
        let mut reader = Reader::open(path).map_err(failed(path))?;
        while let Some(line) = reader.next_complete_line().map_err(failed(path))? {
            let game = line.summary().map_err(damaged)?;
            let (id, _) =
                Results::examine(plan, &game).map_err(|problem| damaged(line.error(problem)))?;
            existing.games.note(id);
            existing.difference = existing.difference.wrapping_add(hash(line.bytes()));
        }
        Ok(existing)
    }

    pub(super) fn note(&mut self, id: GameId, line: &[u8]) {
        if self.games.has(id) {
            self.difference = self.difference.wrapping_sub(hash(line));
        }
    }

    /// Whether all games of the journal are merged.
    pub(super) const fn is_merged(&self) -> bool {
        self.difference == 0
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::tournament::schedule::Half;

    /// Both games of each pair; `winner` won the last game.
    fn part(folder: &Path, name: &str, pairs: std::ops::Range<u64>, winner: u64) -> Part {
        let mut text = String::new();
        for pair in pairs.clone() {
            for half in Half::BOTH {
                let last = pair + 1 == pairs.end && half == Half::BOTH[1];
                let winner = if last { winner } else { 0 };
                let id = GameId { pair, half };
                text.push_str(&record(&id.to_string(), winner, name));
            }
        }
        let path = folder.join(name);
        fs::write(&path, text).expect("a file");
        let headers = Vec::new();
        Part { path, headers }
    }

    /// Its time of day depends on `name`.
    fn record(id: &str, winner: u64, name: &str) -> String {
        let record = serde_json::json!({
            "v": 1, "game": "quarto", "rules": "standard", "id": id,
            "bots": [{"name": "a", "command": ["a"]}, {"name": "b", "command": ["b"]}],
            "first": 0, "seed": 1, "start": "................", "turns": [], "times_ms": [],
            "result": {"winner": winner, "reason": "quarto", "lines": []}, "started": name,
        });
        format!("{record}\n")
    }

    fn duplicates(pairs: std::ops::Range<u64>) -> Duplicates {
        let mut duplicates = Duplicates::default();
        for pair in pairs {
            for half in Half::BOTH {
                duplicates.note(GameId { pair, half });
            }
        }
        duplicates
    }

    #[test]
    fn duplicates_are_compared_however_few_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let one = || part(folder.path(), "one", 1..500, 0);
        let same = || part(folder.path(), "same", 100..400, 0);
        let other = || part(folder.path(), "other", 300..450, 1);
        for at_once in [1, 100, 1_000_000] {
            let duplicates = duplicates(100..450);
            assert_eq!(duplicates.lines(), 700);
            let good = duplicates.compare_by(at_once, &[one(), same()]);
            assert!(good.is_ok(), "{at_once}");
            let bad = duplicates.compare_by(at_once, &[one(), same(), other()]);
            let error = bad.expect_err("one differs").to_string();
            assert!(
                error.contains("p000449b") && error.contains("one:898"),
                "{error}"
            );
            assert!(error.contains("other:300"), "{error}");
        }
        let text = fs::read_to_string(folder.path().join("one")).expect("a file");
        let reordered = text
            .replace("\"v\":1,", "")
            .replace("\"turns\":[],", "\"turns\":[],\"v\":1,");
        assert_ne!(reordered, text);
        fs::write(folder.path().join("reordered"), reordered).expect("a file");
        let path = folder.path().join("reordered");
        let reordered = Part {
            path,
            headers: Vec::new(),
        };
        let good = duplicates(1..3).compare(&[one(), reordered]);
        assert!(good.is_ok());
    }

    #[test]
    fn no_window_holds_more_games() {
        let duplicates = duplicates(1..1000);
        for at_once in [64, 100, 1000] {
            let windows = duplicates.windows(at_once);
            let mut end = 0;
            for window in windows {
                assert_eq!(window.start, end);
                end = window.end;
                let games: u32 = duplicates.bits[window]
                    .iter()
                    .map(|word| word.count_ones())
                    .sum();
                assert!((1..=at_once).contains(&(games as usize)), "{games}");
            }
            assert_eq!(end, duplicates.bits.len());
        }
        assert!(Duplicates::default().windows(1).is_empty());
    }

    #[test]
    fn games_are_compared_by_what_was_played() {
        let id = GameId {
            pair: 1,
            half: Half::First,
        };
        let line = |turn: &str, ms: u32| {
            let id = id.to_string();
            format!("{{\"id\":\"{id}\",\"turns\":[\"{turn}\"],\"times_ms\":[{ms}]}}\n")
        };
        for (turn, expected) in [("- K", true), ("- L", false)] {
            let mut existing = Existing::default();
            existing.games.note(id);
            existing.difference = hash(line("- K", 1).as_bytes());
            existing.note(id, line(turn, 2).as_bytes());
            assert_eq!(existing.is_merged(), expected);
        }
    }
}
