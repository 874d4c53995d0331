//! Parses values of a configuration file with the parsers of the command line.

use std::collections::BTreeMap;

use clap::ValueEnum;
use serde::{Deserialize, Deserializer};

use super::games::{self, GameArg};

/// Parses a string with the option's command-line parser.
pub(in crate::cli) fn parsed<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).map(Some).map_err(serde::de::Error::custom)
}

/// Parses one of the possible values of an option.
pub(in crate::cli) fn word<'de, D: Deserializer<'de>, T: ValueEnum>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    parsed(deserializer, |text| {
        T::from_str(text, false).map_err(|_| {
            let words = T::value_variants().iter().filter_map(T::to_possible_value);
            let words: Vec<String> = words.map(|word| word.get_name().to_owned()).collect();
            format!("expected one of {}", words.join(", "))
        })
    })
}

/// Reads a number of at least this.
pub(in crate::cli) fn at_least<'de, D, T, const LEAST: u8>(
    deserializer: D,
) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + PartialOrd + From<u8>,
{
    let number = T::deserialize(deserializer)?;
    if number < T::from(LEAST) {
        let expected = format!("expected a number of at least {LEAST}");
        return Err(serde::de::Error::custom(expected));
    }
    Ok(Some(number))
}

/// Parses a game.
pub(in crate::cli) fn game<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<GameArg>, D::Error> {
    parsed(deserializer, GameArg::read)
}

/// Reads the options of a game's program: a table of texts, numbers and truth values.
pub(in crate::cli) fn game_options<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<(String, String)>, D::Error> {
    let table = BTreeMap::<String, toml::Value>::deserialize(deserializer)?;
    let read = table.into_iter().map(|(name, value)| {
        let value = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Float(number) => number.to_string(),
            toml::Value::Boolean(truth) => truth.to_string(),
            _ => {
                return Err(serde::de::Error::custom(
                    "expected a text, a number, true or false",
                ));
            }
        };
        games::option(&format!("{name}={value}")).map_err(serde::de::Error::custom)
    });
    read.collect()
}
