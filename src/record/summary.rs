use std::borrow::Cow;
use std::fmt::{self, Formatter};
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};

use foldhash::quality::FixedState;
use referee_stats::standings::{Game, GameTimes};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;
use smallvec::SmallVec;

use super::annotation::{Annotation, Tally};
use super::{BotIndex, Ending, Reason, problem};

/// What standings, results and merging need of a [`Record`](super::Record), without copying: borrowed from a line,
/// whose other fields are not parsed.
#[derive(Debug, Deserialize)]
pub struct RecordSummary<'a> {
    /// In a tournament the number of its pair and a letter.
    #[serde(borrow, default)]
    pub id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub game: Cow<'a, str>,
    #[serde(borrow, default)]
    pub rules: Cow<'a, str>,
    #[serde(default)]
    pub seed: u64,
    #[serde(borrow)]
    bots: [BotName<'a>; 2],
    pub first: BotIndex,
    #[serde(borrow, default)]
    pub start: Cow<'a, str>,
    /// A hash of the turns' texts.
    #[serde(default, deserialize_with = "hash_of_texts")]
    pub turns: u64,
    /// A game of Quarto has at most 17.
    #[serde(default)]
    pub times_ms: SmallVec<[f64; 17]>,
    #[serde(borrow, default)]
    movers: Option<Cow<'a, str>>,
    result: ResultSummary,
    /// Parsed only when it is needed.
    #[serde(borrow, default)]
    analysis: Option<&'a RawValue>,
    #[serde(borrow, default)]
    info: Option<&'a RawValue>,
    /// RFC 3339.
    #[serde(borrow, default)]
    pub started: Cow<'a, str>,
}

/// Without a list of them, which would take a fifth of the time that standings take.
fn hash_of_texts<'de, D: Deserializer<'de>>(texts: D) -> Result<u64, D::Error> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    struct Hash;
    impl<'de> Visitor<'de> for Hash {
        type Value = u64;

        fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
            f.write_str("a list of turns")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<u64, A::Error> {
            let mut hasher = FixedState::default().build_hasher();
            while let Some(Text(text)) = texts.next_element()? {
                text.hash(&mut hasher);
            }
            Ok(hasher.finish())
        }
    }
    texts.deserialize_seq(Hash)
}

#[derive(Debug, Deserialize)]
struct BotName<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
struct ResultSummary {
    winner: Option<BotIndex>,
    reason: Reason,
    by: Option<BotIndex>,
}

impl<'a> RecordSummary<'a> {
    /// The error is a sentence.
    pub fn parse(line: &'a [u8]) -> Result<Self, String> {
        let line = line.trim_ascii_end();
        // Checking a whole line is quicker than checking each of its texts.
        let game: Result<Self, _> = match str::from_utf8(line) {
            Ok(line) => serde_json::from_str(line),
            Err(_) => serde_json::from_slice(line),
        };
        let game = game.map_err(|error| problem(&error))?;
        if game.bots[0].name == game.bots[1].name {
            return Err("both bots have the same name".to_owned());
        }
        Ok(game)
    }

    pub fn names(&self) -> [&str; 2] {
        self.bots.each_ref().map(|bot| bot.name.as_ref())
    }

    pub fn has(&self, name: &str) -> bool {
        self.bots.iter().any(|bot| bot.name == name)
    }

    pub const fn winner(&self) -> Option<BotIndex> {
        self.result.winner
    }

    pub fn forfeit(&self) -> Option<(BotIndex, &Reason)> {
        Some((self.result.by?, &self.result.reason))
    }

    /// A forfeit for a reason of a later version is an error.
    pub fn ending(&self) -> Result<Ending, String> {
        let result = &self.result;
        Ending::of(result.winner, result.by, &result.reason)
    }

    /// 0 for the bot that acted first; turns count from 0.
    pub fn side_of(&self, turn: usize) -> usize {
        super::side_of(self.movers.as_deref(), turn)
    }

    pub fn rename(&mut self, bot: BotIndex, name: String) {
        self.bots[bot as usize].name = Cow::Owned(name);
    }

    /// A hash that is the same for a copy of the record, with or without an analysis, and differs between games that
    /// were played alike.
    pub fn identity(&self) -> u64 {
        let times: SmallVec<[u64; 17]> = self.times_ms.iter().map(|ms| ms.to_bits()).collect();
        let played = (
            self.seed,
            self.first,
            &self.start,
            &self.started,
            self.turns,
            times,
        );
        FixedState::default().hash_one((&self.id, self.names(), played))
    }

    /// If the game has been analysed.
    pub fn tallies(&self) -> Option<[Tally; 2]> {
        let annotation = serde_json::from_str(self.analysis?.get()).ok()?;
        let annotation = Annotation::from_json(&annotation);
        Some(annotation.tallies(self.first, self.times_ms.len()))
    }

    /// Of the bot that moved first, and of the other.
    pub fn times(&self) -> [GameTimes; 2] {
        super::times_by_side(&self.times_ms, self.movers.as_deref())
    }

    /// By bot: turns before which it said that it was sure to win, by a `score` of 0.8 to 1.
    pub fn sure(&self) -> [u64; 2] {
        #[derive(Deserialize)]
        struct Said {
            turn: usize,
            #[serde(default)]
            score: serde_json::Value,
        }

        let said = self
            .info
            .and_then(|info| serde_json::from_str(info.get()).ok());
        let said: Vec<Said> = said.unwrap_or_default();
        let mut sure = [0; 2];
        for Said { turn, score } in said {
            let is_sure = (0.8..=1.0).contains(&score.as_f64().unwrap_or(0.0));
            if is_sure && let Some(before) = turn.checked_sub(1) {
                sure[(self.first.index() + self.side_of(before)) % 2] += 1;
            }
        }
        sure
    }

    /// For standings, with its [`times`](Self::times), and without what bots [said](Self::sure).
    pub fn with_times(&self, times: [GameTimes; 2]) -> Game<'_> {
        let forfeit = self.forfeit();
        Game {
            id: &self.id,
            names: self.names(),
            first: self.first.index(),
            winner: self.winner().map(BotIndex::index),
            forfeit: forfeit.map(|(by, reason)| (by.index(), reason.name())),
            times,
            tallies: self.tallies(),
            sure: [0; 2],
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_that_are_no_games_are_rejected_with_a_reason() {
        for (bots, first, problem) in [
            (["a", "b"], 2, "a bot has the number 2; expected 0 or 1"),
            (["a", "a"], 0, "both bots have the same name"),
        ] {
            let line = json!({
                "bots": bots.map(|name| json!({"name": name})),
                "first": first, "result": {"reason": "draw"},
            });
            let line = line.to_string();
            let rejected = RecordSummary::parse(line.as_bytes());
            let rejected = rejected.unwrap_err();
            assert!(rejected.ends_with(problem), "{rejected}");
        }
        let problem = RecordSummary::parse(b"{}").unwrap_err();
        assert!(problem.contains("missing field"), "{problem}");
    }
}
