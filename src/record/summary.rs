//! The part of a record that standings need, read without copying.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use referee_stats::standings;

use super::annotation::{Annotation, FIELD, Tally};
use super::result::{self, is_about_an_index};
use super::turns::{AnyTurns, Turns, times};
use super::{BotIndex, Ending, Reason, Record, UnknownReason, damage};

/// What standings, results and merging need of a [`Record`]. It borrows from a line, whose other fields
/// are not parsed, or from a record.
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
#[serde(bound(deserialize = "T: Deserialize<'de> + Default"))]
pub struct RecordSummary<'a, T = Turns> {
    /// Identifies the game; in a tournament the number of its pair and a letter.
    #[serde(borrow, default)]
    pub id: Cow<'a, str>,
    /// The game's name.
    #[serde(borrow, default)]
    pub game: Cow<'a, str>,
    /// The rule set's name.
    #[serde(borrow, default)]
    pub rules: Cow<'a, str>,
    /// The seed of the match or the tournament.
    #[serde(default)]
    pub seed: u64,
    #[serde(borrow)]
    bots: [BotName<'a>; 2],
    /// The bot that moved first.
    #[serde(deserialize_with = "result::first")]
    pub first: BotIndex,
    /// The board at the start.
    #[serde(borrow, default)]
    pub start: Cow<'a, str>,
    #[serde(default)]
    turns: T,
    /// The time of each turn, in milliseconds.
    #[serde(default, deserialize_with = "times")]
    pub times_ms: Cow<'a, [f64]>,
    #[serde(borrow, default)]
    movers: Option<Cow<'a, str>>,
    #[serde(borrow)]
    result: ResultSummary<'a>,
    #[serde(borrow, default, deserialize_with = "analysis")]
    analysis: Analysis<'a>,
    /// The time of the game's start: RFC 3339.
    #[serde(borrow, default)]
    pub started: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
struct BotName<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
struct ResultSummary<'a> {
    #[serde(default, deserialize_with = "result::winner")]
    winner: Option<BotIndex>,
    #[serde(borrow, deserialize_with = "result::reason")]
    reason: Reason<'a>,
    #[serde(default, deserialize_with = "result::by")]
    by: Option<BotIndex>,
    #[serde(default = "result::played")]
    played: bool,
}

/// The analysis, parsed only when it is needed.
#[derive(Clone, Copy, Debug, Default)]
enum Analysis<'a> {
    #[default]
    Missing,
    /// From a line.
    Json(&'a RawValue),
    /// From a record.
    Value(&'a Value),
}

fn analysis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Analysis<'de>, D::Error> {
    let json: Option<&RawValue> = Option::deserialize(deserializer)?;
    Ok(json.map_or(Analysis::Missing, Analysis::Json))
}

impl<'a, T: Deserialize<'a> + Default> RecordSummary<'a, T> {
    fn of_line(line: &'a [u8]) -> Result<Self, serde_json::Error> {
        // To check a whole line is quicker than to check each of its texts.
        match str::from_utf8(line) {
            Ok(line) => serde_json::from_str(line),
            Err(_) => serde_json::from_slice(line),
        }
    }
}

impl<'a> From<RecordSummary<'a, AnyTurns<'a>>> for RecordSummary<'a> {
    fn from(game: RecordSummary<'a, AnyTurns<'a>>) -> Self {
        Self {
            turns: game.turns.into(),
            id: game.id,
            game: game.game,
            rules: game.rules,
            seed: game.seed,
            bots: game.bots,
            first: game.first,
            start: game.start,
            times_ms: game.times_ms,
            movers: game.movers,
            result: game.result,
            analysis: game.analysis,
            started: game.started,
        }
    }
}

impl<'a> RecordSummary<'a> {
    /// Parses a line. The error is a sentence.
    pub fn parse(line: &'a [u8]) -> Result<Self, String> {
        let line = line.trim_ascii_end();
        // What is wrong with turns is no error here.
        let with_any = |_| RecordSummary::<AnyTurns<'_>>::of_line(line).map(Self::from);
        let game = Self::of_line(line).or_else(with_any).map_err(|error| {
            let text = error.to_string();
            let text = text.split(" at line ").next().unwrap_or(&text);
            match damage(&error) {
                Some(damage) => damage,
                None if is_about_an_index(text) => {
                    "`first`, `winner` and `by` are 0 or 1".to_owned()
                }
                None => format!("column {}: {text}", error.column()),
            }
        })?;
        game.with_two_names()
    }

    /// The summary of a record. The error is a sentence.
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
            turns: Turns::of(&record.turns),
            times_ms: Cow::Borrowed(&record.times_ms),
            movers: record.movers.as_deref().map(Cow::Borrowed),
            result: ResultSummary {
                winner: result.winner,
                reason: result.reason.borrowed(),
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

    /// The names of the two bots.
    pub fn names(&self) -> [&str; 2] {
        self.bots.each_ref().map(|bot| bot.name.as_ref())
    }

    /// Whether one of the bots has this name.
    pub fn has(&self, name: &str) -> bool {
        self.bots.iter().any(|bot| bot.name == name)
    }

    pub const fn winner(&self) -> Option<BotIndex> {
        self.result.winner
    }

    pub fn forfeit(&self) -> Option<(BotIndex, &Reason<'a>)> {
        Some((self.result.by?, &self.result.reason))
    }

    /// How the game ended; a forfeit for a reason of a later version is an error.
    pub fn ending(&self) -> Result<Ending, UnknownReason> {
        let result = &self.result;
        Ending::of(result.winner, result.by, &result.reason)
    }

    /// The side that made a turn, counted from 0: 0 for the bot that acted first.
    pub fn side_of(&self, turn: usize) -> usize {
        super::side_of(self.movers.as_deref(), turn)
    }

    /// Whether it was played, and not scored because a bot was benched.
    pub const fn was_played(&self) -> bool {
        self.result.played
    }

    /// Replaces the name of a bot.
    pub fn rename(&mut self, bot: BotIndex, name: String) {
        self.bots[bot as usize].name = Cow::Owned(name);
    }

    /// A hash of what makes it this game and no other: it is the same for a copy of the record, with or
    /// without an analysis, and differs between games that were played alike.
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

    /// Adds the turns to a hash. A line and its record have the same hash.
    pub fn hash_turns(&self, state: &mut impl Hasher) {
        self.turns.hash(state);
    }

    /// The tallies of each bot's turns, if the game has been analysed.
    pub fn tallies(&self) -> Option<[Tally; 2]> {
        let annotation = match self.analysis {
            Analysis::Missing => return None,
            Analysis::Value(json) => Annotation::from_json(json),
            Analysis::Json(json) => Annotation::from_json(&serde_json::from_str(json.get()).ok()?),
        };
        Some(annotation.tallies(self.first, self.times_ms.len()))
    }
}

impl standings::Game for RecordSummary<'_> {
    fn id(&self) -> &str {
        &self.id
    }

    fn names(&self) -> [&str; 2] {
        self.names()
    }

    fn first(&self) -> usize {
        self.first.index()
    }

    fn winner(&self) -> Option<usize> {
        self.winner().map(BotIndex::index)
    }

    fn forfeit(&self) -> Option<(usize, &str)> {
        self.forfeit()
            .map(|(by, reason)| (by.index(), reason.name()))
    }

    fn times_ms(&self) -> &[f64] {
        &self.times_ms
    }

    fn side_of(&self, turn: usize) -> usize {
        self.side_of(turn)
    }

    fn tallies(&self) -> Option<[Tally; 2]> {
        self.tallies()
    }
}

#[cfg(test)]
mod tests {
    use std::hash::DefaultHasher;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// All fields of a summary.
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
        /// The summary of a line is that of its record.
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

    /// They are no error, and games with the same ones are alike.
    #[test]
    fn turns_that_are_none_are_read_as_they_are() {
        let found = |turns: &str| {
            let names = r#""bots":[{"name":"a"},{"name":"b"}],"first":0"#;
            let line = format!(r#"{{{names},"result":{{"reason":"draw"}},"turns":{turns}}}"#);
            let game = RecordSummary::parse(line.as_bytes()).unwrap();
            let mut hasher = DefaultHasher::new();
            game.hash_turns(&mut hasher);
            hasher.finish()
        };
        let turns = [
            "[]",
            "3",
            r#"["a"]"#,
            r#"["a",1]"#,
            r#"["\ud800"]"#,
            r#"{"a":[]}"#,
        ];
        for one in turns {
            for other in turns {
                assert_eq!(found(one) == found(other), one == other, "{one} {other}");
            }
        }
        assert_eq!(found("null"), found("[]"));
        assert_eq!(found(r#"[ "\u0061" ]"#), found(r#"["a"]"#));
    }

    #[test]
    fn lines_that_are_no_games_are_rejected_with_a_reason() {
        for (bots, first, problem) in [
            (["a", "b"], 2, "`first`, `winner` and `by` are 0 or 1"),
            (["a", "a"], 0, "both bots have the same name"),
        ] {
            let line = json!({
                "bots": bots.map(|name| json!({"name": name})),
                "first": first, "result": {"reason": "draw"},
            });
            let line = line.to_string();
            let rejected = RecordSummary::parse(line.as_bytes());
            assert_eq!(rejected.unwrap_err(), problem);
        }
        let problem = RecordSummary::parse(b"{}").unwrap_err();
        assert!(problem.contains("missing field"), "{problem}");
    }
}
