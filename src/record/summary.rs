use std::borrow::Cow;
use std::fmt;
use std::hash::{BuildHasher as _, DefaultHasher, Hash, Hasher};

use foldhash::quality::FixedState;
use referee_stats::standings::{Game, GameTimes};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::annotation::{Annotation, FIELD, Tally};
use super::{BotIndex, Ending, Reason, Record, TurnText, problem, result};

/// What standings, results and merging need of a [`Record`], without copying: borrowed from a line, whose other
/// fields are not parsed, or from a record.
///
/// ```
/// use referee::record::{BotIndex, RecordSummary};
///
/// let line = br#"{"bots":[{"name":"a"},{"name":"b"}],"first":1,
///     "result":{"winner":0,"reason":"quarto"},"times_ms":[1.5,0.5]}"#;
/// let game = RecordSummary::parse(line)?;
/// assert_eq!(game.names(), ["a", "b"]);
/// assert_eq!(game.winner(), Some(BotIndex::A));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Deserialize)]
pub struct RecordSummary<'a> {
    /// In a tournament the number of its pair and a letter.
    #[serde(borrow, default)]
    pub id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub game: Cow<'a, str>,
    #[serde(borrow, default)]
    pub rules: Cow<'a, str>,
    /// Of the match or the tournament.
    #[serde(default)]
    pub seed: u64,
    #[serde(borrow)]
    bots: [BotName<'a>; 2],
    pub first: BotIndex,
    #[serde(borrow, default)]
    pub start: Cow<'a, str>,
    #[serde(default)]
    turns: Turns,
    #[serde(default, deserialize_with = "times")]
    pub times_ms: Cow<'a, [f64]>,
    #[serde(borrow, default)]
    movers: Option<Cow<'a, str>>,
    result: ResultSummary,
    #[serde(borrow, default, deserialize_with = "analysis")]
    analysis: Analysis<'a>,
    /// RFC 3339.
    #[serde(borrow, default)]
    pub started: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
struct BotName<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
struct ResultSummary {
    #[serde(default)]
    winner: Option<BotIndex>,
    reason: Reason,
    #[serde(default)]
    by: Option<BotIndex>,
    #[serde(default = "result::played")]
    played: bool,
}

/// Parsed only when it is needed.
#[derive(Clone, Copy, Debug, Default)]
enum Analysis<'a> {
    #[default]
    Missing,
    Json(&'a RawValue),
    Value(&'a Value),
}

fn analysis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Analysis<'de>, D::Error> {
    let json: Option<&RawValue> = Option::deserialize(deserializer)?;
    Ok(json.map_or(Analysis::Missing, Analysis::Json))
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
        game.with_two_names()
    }

    pub fn of(record: &'a Record) -> Result<Self, String> {
        let result = &record.result;
        let game = Self {
            id: Cow::Borrowed(&record.id),
            game: Cow::Borrowed(&record.game),
            rules: Cow::Borrowed(&record.rules),
            seed: record.seed,
            bots: record.bots.each_ref().map(|bot| BotName {
                name: Cow::Borrowed(&bot.name),
            }),
            first: record.first,
            start: Cow::Borrowed(&record.start),
            turns: record.turns.iter().map(TurnText::as_str).collect(),
            times_ms: Cow::Borrowed(&record.times_ms),
            movers: record.movers.as_deref().map(Cow::Borrowed),
            result: ResultSummary {
                winner: result.winner,
                reason: result.reason.clone(),
                by: result.by,
                played: result.played,
            },
            analysis: match record.more.get(FIELD) {
                None | Some(Value::Null) => Analysis::Missing,
                Some(json) => Analysis::Value(json),
            },
            started: Cow::Borrowed(&record.started),
        };
        game.with_two_names()
    }

    fn with_two_names(self) -> Result<Self, String> {
        if self.bots[0].name == self.bots[1].name {
            return Err("both bots have the same name".to_owned());
        }
        Ok(self)
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

    /// Not only scored because a bot was benched.
    pub const fn was_played(&self) -> bool {
        self.result.played
    }

    pub fn rename(&mut self, bot: BotIndex, name: String) {
        self.bots[bot as usize].name = Cow::Owned(name);
    }

    /// A hash that is the same for a copy of the record, with or without an analysis, and differs between games that
    /// were played alike.
    pub fn identity(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (
            &self.id,
            self.seed,
            self.names(),
            &self.start,
            &self.started,
        )
            .hash(&mut hasher);
        (self.first as u8).hash(&mut hasher);
        self.hash_turns(&mut hasher);
        self.times_ms
            .iter()
            .for_each(|ms| ms.to_bits().hash(&mut hasher));
        hasher.finish()
    }

    /// A line and its record have the same hash.
    pub fn hash_turns(&self, state: &mut impl Hasher) {
        self.turns.hash(state);
    }

    /// If the game has been analysed.
    pub fn tallies(&self) -> Option<[Tally; 2]> {
        let annotation = match self.analysis {
            Analysis::Missing => return None,
            Analysis::Value(json) => Annotation::from_json(json),
            Analysis::Json(json) => Annotation::from_json(&serde_json::from_str(json.get()).ok()?),
        };
        Some(annotation.tallies(self.first, self.times_ms.len()))
    }

    /// Of the bot that moved first, and of the other.
    pub fn times(&self) -> [GameTimes; 2] {
        let mut times = [GameTimes::default(), GameTimes::default()];
        for (turn, &ms) in self.times_ms.iter().enumerate() {
            times[self.side_of(turn)].add(ms);
        }
        times
    }

    /// For standings, with its [`times`](Self::times).
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
        }
    }
}

/// A hash of the turns, computed while they are read: it is the same for a line and its record.
#[derive(Clone, Copy, Debug, Hash)]
struct Turns(u64);

impl<'a> FromIterator<&'a str> for Turns {
    fn from_iter<T: IntoIterator<Item = &'a str>>(turns: T) -> Self {
        let mut hasher = FixedState::default().build_hasher();
        turns.into_iter().for_each(|turn| turn.hash(&mut hasher));
        Self(hasher.finish())
    }
}

impl Default for Turns {
    fn default() -> Self {
        [].into_iter().collect()
    }
}

impl<'de> Deserialize<'de> for Turns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(EachTurn)
    }
}

struct EachTurn;

impl<'de> Visitor<'de> for EachTurn {
    type Value = Turns;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut turns: A) -> Result<Turns, A::Error> {
        let mut hasher = FixedState::default().build_hasher();
        while let Some(turn) = turns.next_element::<TurnText>()? {
            turn.as_str().hash(&mut hasher);
        }
        Ok(Turns(hasher.finish()))
    }
}

/// Games have more turns than a list that is made for an unknown number of them begins with.
const USUAL_TURNS: usize = 24;

pub(super) fn times<'de, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Cow<'a, [f64]>, D::Error> {
    deserializer.deserialize_seq(EachTime).map(Cow::Owned)
}

struct EachTime;

impl<'de> Visitor<'de> for EachTime {
    type Value = Vec<f64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Vec<f64>, A::Error> {
        let mut times = Vec::with_capacity(USUAL_TURNS);
        while let Some(time) = from.next_element()? {
            times.push(time);
        }
        Ok(times)
    }
}

#[cfg(test)]
mod tests {
    use std::hash::DefaultHasher;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn contents(game: &RecordSummary<'_>) -> String {
        let mut turns = DefaultHasher::new();
        game.hash_turns(&mut turns);
        let RecordSummary {
            id,
            game: name,
            rules,
            seed,
            first,
            start,
            times_ms,
            started,
            ..
        } = game;
        format!(
            "{:?}",
            (
                (id, name, rules, seed, first, start, times_ms, started),
                (game.names(), game.winner(), game.forfeit(), game.ending()),
                (game.was_played(), game.tallies(), turns.finish()),
            )
        )
    }

    fn index() -> impl Strategy<Value = Value> {
        prop_oneof![Just(json!(0)), Just(json!(1)), Just(Value::Null)]
    }

    proptest! {
        #[test]
        fn a_summary_is_that_of_the_record(
            (id, start, started) in ("\\PC{0,9}", "[A-P.\"\\\\]{16}", "\\PC{0,9}"),
            (first, winner, by) in (0..2u8, index(), index()),
            reason in prop_oneof!["quarto|draw|timeout|exited|later", "\\PC{0,9}"],
            turns in prop::collection::vec("\\PC{0,30}", 0..5),
            times in prop::collection::vec(0.0..1e6, 0..5),
            played in prop::option::of(any::<bool>()),
            analysis in prop_oneof![
                Just(Value::Null),
                Just(json!(3)),
                Just(json!({"turns": [{"turn": 1, "value": "loss", "best": "win"}]})),
            ],
            spaces in any::<bool>(),
        ) {
            let mut value = json!({
                "v": 1, "game": "quarto", "rules": "standard", "id": id,
                "bots": [{"name": "a", "command": ["x"]}, {"name": "b", "command": []}],
                "first": first, "seed": 7, "start": start, "turns": turns, "times_ms": times,
                "result": {"winner": winner, "reason": reason, "lines": [], "by": by},
                "started": started, "analysis": analysis, "later": [1],
            });
            if let Some(played) = played {
                value["result"]["played"] = json!(played);
            }
            let line = if spaces {
                serde_json::to_string_pretty(&value).unwrap()
            } else {
                value.to_string()
            };
            let record = Record::from_line(line.as_bytes()).unwrap();
            let of_record = RecordSummary::of(&record).unwrap();
            let parsed = RecordSummary::parse(line.as_bytes()).unwrap();
            prop_assert_eq!(contents(&parsed), contents(&of_record));
        }
    }

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
