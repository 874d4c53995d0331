//! `--env`: variables of the environment that bots get.

use std::env::{self, VarError};

use super::failure::Failure;
use crate::text::escape;

/// Variables that the referee sets itself, and what sets them.
const OWN: [(&str, &str); 3] = [
    (
        "PATH",
        "bots search the directories of the referee's own PATH that they can see",
    ),
    ("HOME", "it is the scratch directory of a bot in a sandbox"),
    (
        "TMPDIR",
        "it is the scratch directory of a bot in a sandbox",
    ),
];

/// A variable as it is given: `NAME`, or `NAME=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Variable(String);

impl Variable {
    /// Parses a variable. The value is looked up by [`Variable::resolve`].
    pub(in crate::cli) fn parse(text: &str) -> Result<Self, String> {
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        if name.is_empty() || text.contains('\0') {
            return Err("expected NAME or NAME=VALUE".to_owned());
        }
        if name.starts_with("REFEREE_") {
            return Err(
                "the referee sets the variables whose names begin with REFEREE_ itself".to_owned(),
            );
        }
        match OWN.iter().find(|(own, _)| *own == name) {
            Some((_, why)) => Err(format!("{name} cannot be set: {why}")),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// As it was given.
    pub(in crate::cli) fn text(&self) -> &str {
        &self.0
    }

    /// Its name and its value: the one given, else that of the referee's own environment.
    pub(in crate::cli) fn resolve(&self) -> Result<(String, String), Failure> {
        let text = &self.0;
        if let Some((name, value)) = text.split_once('=') {
            return Ok((name.to_owned(), value.to_owned()));
        }
        let shown = escape(text.as_bytes());
        match env::var(text) {
            Ok(value) => Ok((text.clone(), value)),
            Err(VarError::NotPresent) => Err(Failure::Usage(format!(
                "--env {shown}: there is no such variable here; set it before the referee is started, or \
                 give its value: --env {shown}=VALUE"
            ))),
            Err(VarError::NotUnicode(_)) => Err(Failure::Usage(format!(
                "--env {shown}: its value is not UTF-8; give one: --env {shown}=VALUE"
            ))),
        }
    }
}
