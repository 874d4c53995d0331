use std::borrow::Cow;
use std::fmt::{self, Formatter};
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};
use std::marker::PhantomData;
use std::mem::replace;

use foldhash::quality::FixedState;
use referee_stats::standings::{GameTimes, ScoredGame};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use smallvec::SmallVec;

use super::annotation::{Annotation, FIELD, Tally};
use super::problem::LineProblem;
use super::{BotIndex, Ending, GameResult, Reason, Record, UnknownReason, UsageEntry, VERSION};

/// What standings, results and merging need of a [`Record`], without copying: borrowed from a line. A line is a summary
/// where it is a record: all fields of it are checked, and those that are not needed are forgotten.
#[derive(Debug)]
pub struct RecordSummary<'a> {
    v: u32,
    pub game: Cow<'a, str>,
    pub rules: Cow<'a, str>,
    /// In a tournament the number of its pair and a letter.
    pub id: Cow<'a, str>,
    bots: [BotSummary<'a>; 2],
    pub first: BotIndex,
    pub seed: u64,
    pub start: Cow<'a, str>,
    pub turns: TurnsDigest,
    movers: Option<Cow<'a, str>>,
    /// A game of Quarto has at most 17.
    pub times_ms: SmallVec<[f64; 17]>,
    info: Vec<Said>,
    result: ResultSummary,
    /// RFC 3339.
    pub started: Cow<'a, str>,
    is_game_changed: bool,
    analysis: Option<Value>,
}

/// Of a [`BotEntry`](super::BotEntry).
#[derive(Debug)]
struct BotSummary<'a> {
    name: Cow<'a, str>,
    is_changed: bool,
}

/// Of a [`ResultEntry`](super::ResultEntry).
#[derive(Debug)]
struct ResultSummary {
    winner: Option<BotIndex>,
    reason: Reason,
    by: Option<BotIndex>,
    played: Option<bool>,
}

/// As a [`ProcessEntry`](super::ProcessEntry).
#[derive(Deserialize)]
struct ProcessSummary<'a> {
    #[serde(rename = "seed")]
    _seed: u32,
    #[serde(default, rename = "move_time")]
    _move_time: Option<f64>,
    #[serde(borrow, default, rename = "since")]
    _since: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Keeps the value of a field, which may be there once.
///
/// Errors need no words: [`RecordSummary::parse`] takes those of [`Record`].
fn keep<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    field: &mut Option<T>,
    fields: &mut A,
) -> Result<(), A::Error> {
    match field.replace(fields.next_value()?) {
        None => Ok(()),
        Some(_) => Err(de::Error::custom("twice")),
    }
}

/// Checks the value of a field, which may be there once, and forgets it.
fn check<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    is_there: &mut bool,
    fields: &mut A,
) -> Result<(), A::Error> {
    fields.next_value::<T>()?;
    if replace(is_there, true) {
        return Err(de::Error::custom("twice"));
    }
    Ok(())
}

fn needed<T, E: de::Error>(field: Option<T>) -> Result<T, E> {
    field.ok_or_else(|| E::custom("missing"))
}

impl<'de: 'a, 'a> Deserialize<'de> for RecordSummary<'a> {
    fn deserialize<D: Deserializer<'de>>(record: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = RecordSummary<'de>;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("a record")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
                let (mut v, mut first, mut seed) = (None, None, None);
                let (mut game, mut rules, mut id) = (None, None, None);
                let (mut bots, mut start, mut turns) = (None, None, None);
                let (mut movers, mut times_ms, mut info) = (None, None, None);
                let (mut result, mut started, mut analysis) = (None, None, None);
                let mut game_changed = None;
                let [mut pieces, mut charged, mut usage, mut processes] = [false; 4];
                let [mut delayed, mut voids, mut tie_break] = [false; 3];
                while let Some(Text(name)) = fields.next_key()? {
                    let fields = &mut fields;
                    match &*name {
                        "v" => keep(&mut v, fields)?,
                        "game" => keep(&mut game, fields)?,
                        "rules" => keep(&mut rules, fields)?,
                        "id" => keep(&mut id, fields)?,
                        "bots" => keep(&mut bots, fields)?,
                        "first" => keep(&mut first, fields)?,
                        "seed" => keep(&mut seed, fields)?,
                        "start" => keep(&mut start, fields)?,
                        "pieces" => check::<Option<Text<'_>>, _>(&mut pieces, fields)?,
                        "turns" => keep(&mut turns, fields)?,
                        "movers" => keep::<Option<Text<'_>>, _>(&mut movers, fields)?,
                        "times_ms" => keep(&mut times_ms, fields)?,
                        "charged_ms" => check::<Each<f64>, _>(&mut charged, fields)?,
                        "info" => keep(&mut info, fields)?,
                        "result" => keep(&mut result, fields)?,
                        "started" => keep(&mut started, fields)?,
                        "usage" => check::<Both<UsageEntry>, _>(&mut usage, fields)?,
                        "processes" => {
                            check::<Both<ProcessSummary<'_>>, _>(&mut processes, fields)?;
                        }
                        "delayed" => check::<Option<Text<'_>>, _>(&mut delayed, fields)?,
                        "voids" => check::<u32, _>(&mut voids, fields)?,
                        "tie_break" => check::<bool, _>(&mut tie_break, fields)?,
                        "game_changed" => {
                            keep::<Option<Text<'_>>, _>(&mut game_changed, fields)?;
                        }
                        FIELD => keep(&mut analysis, fields)?,
                        _ => {
                            fields.next_value::<Anything>()?;
                        }
                    }
                }
                let text = |text: Option<Text<'de>>| needed(text).map(|Text(text)| text);
                Ok(RecordSummary {
                    v: needed(v)?,
                    game: text(game)?,
                    rules: text(rules)?,
                    id: text(id)?,
                    bots: needed(bots)?,
                    first: needed(first)?,
                    seed: needed(seed)?,
                    start: text(start)?,
                    turns: needed(turns)?,
                    movers: movers.flatten().map(|Text(movers)| movers),
                    times_ms: needed(times_ms)?,
                    info: info.unwrap_or_default(),
                    result: needed(result)?,
                    started: text(started)?,
                    is_game_changed: game_changed.flatten().is_some(),
                    analysis: analysis.flatten(),
                })
            }
        }
        record.deserialize_map(Fields)
    }
}

/// Of both bots, if it is known.
type Both<T> = Option<[Option<T>; 2]>;

impl<'de: 'a, 'a> Deserialize<'de> for BotSummary<'a> {
    fn deserialize<D: Deserializer<'de>>(bot: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = BotSummary<'de>;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("a bot")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
                let (mut name, mut changed, mut command) = (None, None, None);
                while let Some(Text(field)) = fields.next_key()? {
                    match &*field {
                        "name" => keep(&mut name, &mut fields)?,
                        "command" => keep::<Each<Text<'_>>, _>(&mut command, &mut fields)?,
                        "changed" => keep::<Option<Text<'_>>, _>(&mut changed, &mut fields)?,
                        _ => {
                            fields.next_value::<Anything>()?;
                        }
                    }
                }
                needed(command)?;
                let Text(name) = needed(name)?;
                Ok(BotSummary {
                    name,
                    is_changed: changed.flatten().is_some(),
                })
            }
        }
        bot.deserialize_map(Fields)
    }
}

impl<'de> Deserialize<'de> for ResultSummary {
    fn deserialize<D: Deserializer<'de>>(result: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = ResultSummary;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("a result")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
                let (mut winner, mut reason, mut by, mut played) = (None, None, None, None);
                let [mut lines, mut adjudicated] = [false; 2];
                let [mut answer, mut detail, mut stderr] = [false; 3];
                while let Some(Text(name)) = fields.next_key()? {
                    let fields = &mut fields;
                    match &*name {
                        "winner" => keep::<Option<BotIndex>, _>(&mut winner, fields)?,
                        "reason" => keep(&mut reason, fields)?,
                        "lines" => {
                            check::<Each<(Text<'_>, Text<'_>)>, _>(&mut lines, fields)?;
                        }
                        "by" => keep::<Option<BotIndex>, _>(&mut by, fields)?,
                        "adjudicated" => check::<bool, _>(&mut adjudicated, fields)?,
                        "answer" => check::<Option<Text<'_>>, _>(&mut answer, fields)?,
                        "detail" => check::<Option<Text<'_>>, _>(&mut detail, fields)?,
                        "stderr" => check::<Option<Text<'_>>, _>(&mut stderr, fields)?,
                        "played" => keep::<Option<bool>, _>(&mut played, fields)?,
                        _ => {
                            fields.next_value::<Anything>()?;
                        }
                    }
                }
                Ok(ResultSummary {
                    winner: winner.flatten(),
                    reason: needed(reason)?,
                    by: by.flatten(),
                    played: played.flatten(),
                })
            }
        }
        result.deserialize_map(Fields)
    }
}

/// The values of a list, each checked and forgotten.
struct Each<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Each<T> {
    fn deserialize<D: Deserializer<'de>>(values: D) -> Result<Self, D::Error> {
        struct Check<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Check<T> {
            type Value = ();

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("a sequence")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
                while values.next_element::<T>()?.is_some() {}
                Ok(())
            }
        }
        values.deserialize_seq(Check::<T>(PhantomData))?;
        Ok(Self(PhantomData))
    }
}

/// The value of an unknown field, checked as [`Record::more`](super::Record::more) holds it: ignoring it would let
/// numbers pass that are too large, and texts that are none.
struct Anything;

impl<'de> Deserialize<'de> for Anything {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        struct Check;
        impl<'de> Visitor<'de> for Check {
            type Value = Anything;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_unit<E>(self) -> Result<Anything, E> {
                Ok(Anything)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Anything, E> {
                Ok(Anything)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Anything, E> {
                Ok(Anything)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Anything, E> {
                Ok(Anything)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Anything, E> {
                Ok(Anything)
            }

            fn visit_str<E>(self, _: &str) -> Result<Anything, E> {
                Ok(Anything)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Anything, A::Error> {
                while values.next_element::<Anything>()?.is_some() {}
                Ok(Anything)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Anything, A::Error> {
                while fields.next_entry::<Text<'_>, Anything>()?.is_some() {}
                Ok(Anything)
            }
        }
        value.deserialize_any(Check)
    }
}

/// Of an [`InfoEntry`](super::InfoEntry).
#[derive(Debug)]
struct Said {
    turn: usize,
    /// Where it is a number.
    score: Option<f64>,
}

impl<'de> Deserialize<'de> for Said {
    fn deserialize<D: Deserializer<'de>>(entry: D) -> Result<Self, D::Error> {
        struct Entry;
        impl<'de> Visitor<'de> for Entry {
            type Value = Said;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("struct InfoEntry")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut values: A) -> Result<Said, A::Error> {
                let (mut turn, mut score) = (None, None);
                while let Some(Text(name)) = values.next_key()? {
                    match name.as_ref() {
                        "turn" if turn.is_some() => {
                            return Err(de::Error::duplicate_field("turn"));
                        }
                        "turn" => turn = Some(values.next_value()?),
                        // The last one counts.
                        "score" => score = values.next_value::<Value>()?.as_f64(),
                        _ => drop(values.next_value::<Value>()?),
                    }
                }
                let turn = turn.ok_or_else(|| de::Error::missing_field("turn"))?;
                Ok(Said { turn, score })
            }
        }
        entry.deserialize_map(Entry)
    }
}

/// The turns without a list of them, which would take a fifth of the time that standings take.
#[derive(Clone, Copy, Debug, Default)]
pub struct TurnsDigest {
    /// Of their texts.
    pub hash: u64,
    pub count: usize,
}

impl<'de> Deserialize<'de> for TurnsDigest {
    fn deserialize<D: Deserializer<'de>>(texts: D) -> Result<Self, D::Error> {
        struct Texts;
        impl<'de> Visitor<'de> for Texts {
            type Value = TurnsDigest;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("a sequence")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<TurnsDigest, A::Error> {
                let mut hasher = FixedState::default().build_hasher();
                let mut count = 0;
                while let Some(Text(text)) = texts.next_element()? {
                    text.hash(&mut hasher);
                    count += 1;
                }
                let hash = hasher.finish();
                Ok(TurnsDigest { hash, count })
            }
        }
        texts.deserialize_seq(Texts)
    }
}

impl<'a> RecordSummary<'a> {
    pub fn parse(line: &'a [u8]) -> Result<Self, LineProblem> {
        let line = line.trim_ascii_end();
        // Checking a whole line is quicker than checking each of its texts.
        let game: Option<Self> = str::from_utf8(line)
            .ok()
            .and_then(|line| serde_json::from_str(line).ok());
        let game = game.filter(|game| game.v == VERSION && game.bots[0].name != game.bots[1].name);
        // A record's problem is said in the words of [`Record`], which everything else reads.
        game.ok_or_else(|| match Record::from_line(line) {
            Err(problem) => problem,
            Ok(_) => LineProblem::Content("a field of the record is there twice".to_owned()),
        })
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
    pub fn ending(&self) -> Result<Ending, UnknownReason> {
        let result = &self.result;
        Ending::of(result.winner, result.by, &result.reason)
    }

    /// Fails as [`Self::ending`] does.
    pub fn game_result(&self) -> Result<GameResult, UnknownReason> {
        Ok(GameResult {
            ending: self.ending()?,
            answered: super::answered(self.first, self.movers(), self.turns.count),
            played: self.result.played != Some(false),
        })
    }

    fn movers(&self) -> Option<&str> {
        self.movers.as_deref()
    }

    /// 0 for the bot that acted first; turns count from 0.
    pub fn side_of(&self, turn: usize) -> usize {
        super::side_of(self.movers(), turn)
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
            self.turns.hash,
            times,
        );
        FixedState::default().hash_one((&self.id, self.names(), played))
    }

    /// If the game has been analysed.
    pub fn tallies(&self) -> Option<[Tally; 2]> {
        let annotation = Annotation::from_json(self.analysis.as_ref()?);
        Some(annotation.tallies(self.first, self.times_ms.len()))
    }

    /// Of the bot that moved first, and of the other.
    pub fn times(&self) -> [GameTimes; 2] {
        super::times_by_side(&self.times_ms, self.movers())
    }

    /// How long each bot thought, by its index.
    pub fn seconds(&self) -> [f64; 2] {
        super::seconds_by_bot(self.first, &self.times_ms, self.movers())
    }

    /// By bot: turns before which it said that it was sure to win, by a `score` of 0.8 to 1.
    pub fn sure(&self) -> [u64; 2] {
        let mut sure = [0; 2];
        for &Said { turn, score } in &self.info {
            let is_sure = score.is_some_and(|score| (0.8..=1.0).contains(&score));
            if is_sure && let Some(before) = turn.checked_sub(1) {
                sure[(self.first.index() + self.side_of(before)) % 2] += 1;
            }
        }
        sure
    }

    /// For standings, with its [`times`](Self::times).
    pub fn with_times(&self, times: [GameTimes; 2]) -> ScoredGame<'_> {
        let forfeit = self.forfeit();
        ScoredGame {
            id: &self.id,
            names: self.names(),
            first: self.first.index(),
            winner: self.winner().map(BotIndex::index),
            forfeit: forfeit.map(|(by, reason)| {
                let was_played = self.result.played != Some(false);
                (by.index(), super::ended_by(reason, was_played))
            }),
            times,
            tallies: self.tallies(),
            sure: self.sure(),
            changed: self.bots.each_ref().map(|bot| bot.is_changed),
            is_game_changed: self.is_game_changed,
        }
    }
}
