//! Who wants to enter: files, command lines, whole folders, and the bots of a file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::options::{BotOptions, Options};
use crate::arena::plan::{BotPlan, Limits, RejectedBot};
use crate::arena::slug::slugs;
use crate::bot::spec::{Bot, CannotStart, Program, distinct_names, is_program, short_name};
use crate::cli::support::failure::Failure;
use crate::cli::support::setup::{absolute, bot, tell, unreadable};
use crate::play::TimeControl;
use crate::sandbox::snapshot::{Belongings, ContentHash};
use crate::sandbox::{Confinement, Sandbox};
use crate::text::safe;

/// A bot as it was given.
#[derive(Clone, Debug)]
struct Given {
    /// As on the command line.
    text: String,
    name: Option<String>,
    directory: Option<PathBuf>,
    environment: BTreeMap<String, String>,
    time: TimeControl,
}

/// A bot whose program was found.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// What the plan says of it.
    pub(super) plan: BotPlan,
    /// What is run.
    pub(super) program: Program,
}

/// Everybody who wants to enter, and those who cannot.
#[derive(Clone, Debug, Default)]
pub(super) struct Entrants {
    /// Those who can.
    pub(super) candidates: Vec<Candidate>,
    /// Those who cannot.
    pub(super) rejected: Vec<RejectedBot>,
}

/// Finds the bots of the command line and of the file.
pub(super) fn find(
    texts: &[String],
    options: &Options,
    sandbox: &Sandbox,
) -> Result<Entrants, Failure> {
    let mut given = Vec::new();
    for text in texts {
        let path = Path::new(text);
        if path.is_dir() {
            for (text, name) in programs(path)? {
                given.push(Given::plain(text, name, options.time(None)));
            }
        } else {
            given.push(Given::plain(text.clone(), None, options.time(None)));
        }
    }
    for own in &options.bots {
        given.push(Given::configured(own, options.time(Some(own)))?);
    }
    look_up(&given, sandbox)
}

/// Finds the bots of a plan again.
pub(super) fn find_again<'a>(
    bots: impl Iterator<Item = &'a BotPlan>,
    sandbox: &Sandbox,
) -> Result<Entrants, Failure> {
    let given = bots
        .map(|bot| {
            let time = TimeControl::try_from(bot.limits)
                .map_err(|error| Failure::Usage(format!("{}: {error}", bot.name)))?;
            Ok(Given {
                text: bot.bot.clone(),
                name: Some(bot.name.clone()),
                directory: bot.directory.as_ref().map(PathBuf::from),
                environment: bot.environment.clone(),
                time,
            })
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    look_up(&given, sandbox)
}

impl Given {
    fn plain(text: String, name: Option<String>, time: TimeControl) -> Self {
        Self {
            text,
            name,
            directory: None,
            environment: BTreeMap::new(),
            time,
        }
    }

    fn configured(own: &BotOptions, time: TimeControl) -> Result<Self, Failure> {
        let mut text = own.command.text();
        let directory = own.directory.as_deref().map(absolute).transpose()?;
        if directory.is_some() && !text.starts_with("builtin:") {
            // It is started elsewhere: what is here must be found from there.
            let words = own.command.words().unwrap_or_default();
            let words = words.into_iter().map(|word| {
                let path = Path::new(&word);
                if path.exists() {
                    absolute(path)
                } else {
                    Ok(word)
                }
            });
            text = match &words.collect::<Result<Vec<_>, Failure>>()?[..] {
                [one] => one.clone(),
                words => shell_words::join(words),
            };
        }
        Ok(Self {
            text,
            name: own.name.clone(),
            directory: directory.map(PathBuf::from),
            environment: own.environment.clone(),
            time,
        })
    }
}

/// Every program of a folder, by name: the files that can be run, and from each folder within
/// it the one program that is there.
fn programs(folder: &Path) -> Result<Vec<(String, Option<String>)>, Failure> {
    let mut found = Vec::new();
    let mut others = Vec::new();
    for path in entries(folder)? {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        if path.is_dir() {
            let within = entries(&path)?;
            let within: Vec<_> = within.iter().filter(|path| is_program(path)).collect();
            match within[..] {
                [one] => found.push((
                    text(one),
                    path.file_name()
                        .map(|name| name.to_string_lossy().into_owned()),
                )),
                [] => others.push(format!("{} (no program in it)", safe(&text(&path)))),
                _ => others.push(format!("{} (several programs in it)", safe(&text(&path)))),
            }
        } else if is_program(&path) {
            found.push((text(&path), None));
        } else {
            others.push(safe(&text(&path)));
        }
    }
    if found.is_empty() {
        return Err(Failure::Usage(format!(
            "{}: there is no program in it; expected files that can be run, or end like a known \
             language",
            folder.display()
        )));
    }
    if !others.is_empty() {
        tell(&format!("referee: no bots: {}", others.join(", ")));
    }
    Ok(found)
}

/// What is in a folder and not hidden, by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| unreadable(folder, &error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if !name.to_string_lossy().starts_with(['.', '_']) {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

fn look_up(given: &[Given], sandbox: &Sandbox) -> Result<Entrants, Failure> {
    let mut programs = Vec::new();
    for bot_given in given {
        programs.push(match bot(&bot_given.text) {
            Ok(Bot::Program(mut program)) => {
                program.directory.clone_from(&bot_given.directory);
                Ok(program)
            }
            Ok(Bot::Human) => {
                return Err(Failure::Usage(
                    "people do not enter tournaments; they play matches: referee human BOT"
                        .to_owned(),
                ));
            }
            Err(Failure::Usage(reason)) => Err(reason),
            Err(failure) => return Err(failure),
        });
    }
    let called: Vec<String> = given
        .iter()
        .zip(&programs)
        .map(|(given, program)| match (&given.name, program) {
            (Some(name), _) => short_name(name),
            (None, Ok(program)) => program.name.clone(),
            (None, Err(_)) => {
                let name = Path::new(&given.text).file_name();
                short_name(
                    &name.map_or_else(|| given.text.clone().into(), |name| name.to_string_lossy()),
                )
            }
        })
        .collect();
    let names = distinct_names(&called.iter().map(String::as_str).collect::<Vec<_>>());
    let folders = slugs(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let mut entrants = Entrants::default();
    let all: Vec<&Program> = programs.iter().flatten().collect();
    for (((given, program), name), slug) in given.iter().zip(&programs).zip(names).zip(folders) {
        let mut plan = BotPlan {
            name,
            slug,
            bot: given.text.clone(),
            directory: given
                .directory
                .as_ref()
                .map(|directory| directory.to_string_lossy().into_owned()),
            environment: given.environment.clone(),
            limits: Limits::from(given.time),
            hash: String::new(),
        };
        let hashed = program.clone().and_then(|program| {
            let others: Vec<&Program> = all
                .iter()
                .copied()
                .filter(|other| !same_files(other, &program))
                .collect();
            let directory = given.directory.as_deref();
            admit(program, directory, &others, sandbox).map_err(|error| error.to_string())
        });
        match hashed {
            Ok((mut program, hash)) => {
                plan.hash = hash.to_string();
                program.name.clone_from(&plan.name);
                entrants.candidates.push(Candidate { plan, program });
            }
            Err(reason) => entrants.rejected.push(RejectedBot { bot: plan, reason }),
        }
    }
    Ok(entrants)
}

/// Takes a program into the sandbox; gives the hash of what was copied, or of its files where
/// they are when there is no sandbox.
fn admit(
    program: Program,
    directory: Option<&Path>,
    others: &[&Program],
    sandbox: &Sandbox,
) -> Result<(Program, ContentHash), CannotStart> {
    let own = Belongings::of(&program, directory, others)?;
    let program = sandbox.admit(program, directory, others)?;
    let copied = program.confinement.as_ref().and_then(Confinement::hash);
    let hash = match copied {
        Some(hash) => hash,
        None => own.hash()?,
    };
    Ok((program, hash))
}

/// The command of a plan's bot, as records hold it. Its program need not be there.
pub(super) fn command(bot: &BotPlan) -> Vec<String> {
    match crate::cli::support::setup::bot(&bot.bot) {
        Ok(Bot::Program(program)) => program.command,
        _ => vec![bot.bot.clone()],
    }
}

/// The same program twice is no stranger to itself.
fn same_files(a: &Program, b: &Program) -> bool {
    a.argv == b.argv
}
