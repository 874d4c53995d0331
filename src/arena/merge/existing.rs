//! The journal that a merge replaces. It may only hold games that the shards have, too, such as those of
//! an earlier merge.

use std::path::Path;

use super::duplicates::{Duplicates, hash};
use super::error::{MergeError, damaged, failed};
use crate::arena::plan::Plan;
use crate::arena::results::Results;
use crate::record::reader::Reader;
use crate::tournament::schedule::GameId;

/// The games of a journal, one bit a game, and a sum over their records.
#[derive(Debug, Default)]
pub(super) struct Existing {
    games: Duplicates,
    /// The sum of the hashes of its games, minus those of the merged games with the same ids.
    difference: u64,
}

impl Existing {
    /// Reads a journal; there need not be one.
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

    /// Notes a merged game.
    pub(super) fn note(&mut self, id: GameId, line: &[u8]) {
        if self.games.has(id) {
            self.difference = self.difference.wrapping_sub(hash(line));
        }
    }

    /// Whether all games of the journal are among those merged.
    pub(super) const fn is_merged(&self) -> bool {
        self.difference == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tournament::schedule::Half;

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
