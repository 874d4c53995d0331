//! The options of a bot in the file of `--config`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Deserializer};

use crate::cli::support::duration::{self, MoveTime};
use crate::cli::support::failure::Failure;
use crate::cli::support::setup::unreadable;
use crate::record::text_file;
use crate::text::without_types;

/// A bot in a file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::cli) struct BotOptions {
    /// Its name.
    pub(in crate::cli) name: Option<String>,
    /// The command: one string as on the command line, or a list of words.
    pub(in crate::cli) command: CommandOptions,
    /// Its working directory.
    pub(in crate::cli) directory: Option<PathBuf>,
    /// Environment variables in addition to the referee's.
    #[serde(default)]
    pub(in crate::cli) environment: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "move_time")]
    pub(super) move_time: Option<MoveTime>,
    #[serde(default, deserialize_with = "time")]
    pub(super) start_time: Option<Duration>,
    #[serde(default, deserialize_with = "positive_time")]
    pub(super) game_time: Option<Duration>,
    #[serde(default, deserialize_with = "time")]
    pub(super) increment: Option<Duration>,
}

/// The part of the file of `--config` that is no option of the command line.
#[derive(Default, Deserialize)]
struct Bots {
    #[serde(default)]
    bots: Vec<BotOptions>,
}

impl BotOptions {
    /// The bots of the file of `--config`. Relative paths in it start from its folder.
    pub(in crate::cli) fn read(config: Option<&Path>) -> Result<Vec<Self>, Failure> {
        let Some(path) = config else {
            return Ok(Vec::new());
        };
        let text =
            text_file::read(path, text_file::WRITTEN).map_err(|error| unreadable(path, &error))?;
        let mut bots = toml::from_str::<Bots>(&text)
            .map_err(|error| {
                let message = without_types(&error.to_string());
                Failure::Usage(format!("{}: {message}", path.display()))
            })?
            .bots;
        let base = path.parent().unwrap_or(Path::new(""));
        for bot in &mut bots {
            if let Some(directory) = &mut bot.directory {
                *directory = base.join(&*directory);
                bot.command = bot.command.resolved(directory);
            }
            bot.command = bot.command.resolved(base);
        }
        Ok(bots)
    }

    /// A program of this name, with the options of all.
    pub(in crate::cli) fn of_file(name: &str, file: String) -> Self {
        Self {
            name: Some(name.to_owned()),
            command: CommandOptions::Words(vec![file]),
            ..Self::default()
        }
    }
}

/// A command: one string, or a list of words.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a string or a list of words")]
pub(in crate::cli) enum CommandOptions {
    Text(String),
    Words(Vec<String>),
}

impl Default for CommandOptions {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl CommandOptions {
    /// The words; `None` when the quotes of a string are not closed.
    pub(in crate::cli) fn words(&self) -> Option<Vec<String>> {
        match self {
            Self::Text(text) => shell_words::split(text).ok(),
            Self::Words(words) => Some(words.clone()),
        }
    }

    /// The same command with the files that exist relative to `base` resolved against it.
    fn resolved(&self, base: &Path) -> Self {
        let found = |word: &str| {
            let path = base.join(word);
            let is_relative_file = !Path::new(word).is_absolute() && path.exists();
            is_relative_file.then(|| path.to_string_lossy().into_owned())
        };
        if base.as_os_str().is_empty() {
            return self.clone();
        }
        if let Self::Text(text) = self
            && let Some(path) = found(text)
        {
            return Self::Words(vec![path]);
        }
        match self.words() {
            Some(words) => {
                let words = words
                    .iter()
                    .map(|word| found(word).unwrap_or_else(|| word.clone()));
                Self::Words(words.collect())
            }
            None => self.clone(),
        }
    }

    /// The command as written on the command line.
    pub(in crate::cli) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            // A single word is not quoted: it may be a path with blanks.
            Self::Words(words) if words.len() == 1 => words[0].clone(),
            Self::Words(words) => shell_words::join(words),
        }
    }
}

/// Parses a text with the parser of the command line.
fn parsed<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).map(Some).map_err(serde::de::Error::custom)
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    parsed(deserializer, duration::parse)
}

fn move_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<MoveTime>, D::Error> {
    parsed(deserializer, duration::parse_move_time)
}

fn positive_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    parsed(deserializer, duration::parse_positive)
}
