//! What is said of a turn.

use std::ops::Not;

use referee_games::solver::Value;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

/// Why a turn is remarkable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// The result got worse.
    Blunder,
    /// The result got worse, and there was an immediate win.
    MissedWin,
    /// The only turn that kept the value.
    Only,
    /// Every turn had the same value.
    Forced,
}

impl Mark {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blunder => "blunder",
            Self::MissedWin => "missed-win",
            Self::Only => "only",
            Self::Forced => "forced",
        }
    }
}

/// Invalid fields are read as missing ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Note {
    /// From 1.
    pub turn: usize,
    /// For its player; `None` when not proven.
    #[serde(with = "word")]
    pub value: Option<Value>,
    /// The value of the best turn; `None` when not proven.
    #[serde(with = "word")]
    pub best: Option<Value>,
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// A turn that would have kept `best`, when this one did not.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub better: Option<String>,
    /// Placements until the winning one, when `value` is a win or a loss and the number is known.
    #[serde(rename = "in", deserialize_with = "lenient")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plies: Option<u32>,
    /// Whether there was an immediate win that was not taken.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Not::not")]
    pub missed_win: bool,
    /// Whether the gift let the opponent win immediately, although another turn would not have.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Not::not")]
    pub lost_at_once: bool,
    /// A sentence for people.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The turn `better` and a perfect game after it, as far as it is proven.
    #[serde(deserialize_with = "lenient", skip_serializing_if = "Vec::is_empty")]
    pub better_line: Vec<String>,
}

fn lenient<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    Json::deserialize(deserializer).map(|json| serde_json::from_value(json).unwrap_or_default())
}

/// A value by its name, or `unknown`.
mod word {
    use serde::{Deserializer, Serializer};

    use super::{Value, lenient};

    pub(super) fn serialize<S: Serializer>(
        value: &Option<Value>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(value.map_or("unknown", Value::name))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Value>, D::Error> {
        let word: String = lenient(deserializer)?;
        let mut values = [Value::Loss, Value::Draw, Value::Win].into_iter();
        Ok(values.find(|value| value.name() == word))
    }
}

impl Note {
    pub const fn is_proven(&self) -> bool {
        self.value.is_some() && self.best.is_some()
    }

    pub const fn is_known(&self) -> bool {
        self.value.is_some() || self.best.is_some() || self.mark.is_some() || self.text.is_some()
    }

    /// The best value and that of the turn, when the turn lost value.
    pub fn value_loss(&self) -> Option<(Value, Value)> {
        let (best, value) = (self.best?, self.value?);
        (value < best).then_some((best, value))
    }

    /// `None` without the number of a turn.
    pub fn from_json(json: &Json) -> Option<Self> {
        let mut note = Self::deserialize(json).ok().filter(|note| note.turn > 0)?;
        note.missed_win |= note.mark == Some(Mark::MissedWin);
        Some(note)
    }
}
