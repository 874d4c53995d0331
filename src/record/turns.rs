//! The turns and times of a line, as far as a summary needs them.

use std::borrow::Cow;
use std::fmt;
use std::hash::{BuildHasher as _, Hash, Hasher as _};

use foldhash::quality::{FixedState, FoldHasher};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::TurnText;
use super::result::Text;

/// A hash of the turns, computed while they are read: it is the same for a line and its record.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Turns(u64);

/// Hashes one turn after the other.
struct Hashing(FoldHasher<'static>);

impl Hashing {
    fn new() -> Self {
        Self(FixedState::default().build_hasher())
    }

    fn turn(&mut self, turn: &str) {
        turn.hash(&mut self.0);
    }

    fn end(self) -> Turns {
        Turns(self.0.finish())
    }
}

impl Turns {
    /// Those of a record.
    pub(super) fn of(turns: &[TurnText]) -> Self {
        let mut hashing = Hashing::new();
        for turn in turns {
            hashing.turn(turn);
        }
        hashing.end()
    }
}

impl Default for Turns {
    /// Those of a game without a turn.
    fn default() -> Self {
        Self::of(&[])
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
        let mut hashing = Hashing::new();
        while let Some(Text(turn)) = turns.next_element()? {
            hashing.turn(&turn);
        }
        Ok(hashing.end())
    }
}

/// Whatever a line has in the place of turns; also what a list of texts cannot be.
#[derive(Debug, Default)]
pub(super) struct AnyTurns<'a>(Option<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for AnyTurns<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self)
    }
}

impl From<AnyTurns<'_>> for Turns {
    fn from(AnyTurns(json): AnyTurns<'_>) -> Self {
        let Some(json) = json else {
            return Self::default();
        };
        serde_json::from_str(json.get()).unwrap_or_else(|_| {
            let mut hashing = Hashing::new();
            hashing.turn(json.get());
            hashing.end()
        })
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
