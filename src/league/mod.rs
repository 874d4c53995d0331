//! A league: submissions come in all term, and only new games are played.
//!
//! Its folder is that of a tournament in which the newest fit versions meet. When versions change, a new plan is made and
//! the games of unchanged versions are taken from the [`archive`]; the rest is played like an interrupted tournament.

pub mod archive;
pub mod build;
pub mod example;
pub mod grading;
pub mod intake;
pub mod log;
pub mod season;
pub mod state;

use std::path::Path;

use crate::bot::spec::{CannotStart, Program};
use crate::sandbox::{BotCommand, Sandbox};

/// A program that is not a bot, in the sandbox; `starts`: what it starts by name.
fn confined(
    sandbox: &Sandbox,
    name: &str,
    argv: Vec<String>,
    directory: &Path,
    starts: &[String],
) -> Result<Program, CannotStart> {
    let command = BotCommand {
        name,
        argv: &argv,
        builtin: None,
        directory: Some(directory),
        starts,
    };
    Ok(Program {
        confinement: sandbox.confine(command, &[])?,
        name: name.to_owned(),
        command: argv.clone(),
        argv,
        language: None,
        directory: Some(directory.to_owned()),
    })
}
