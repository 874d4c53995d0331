//! Finds the bots named for a tournament (files, command lines, directories).

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::iter::once;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::TournamentError;
use super::plan::{BotPlan, RejectedBot};
use crate::bot::naming::{distinct_names, folder_name};
use crate::bot::spec::{BotSpec, CannotStart, Program};
use crate::bot::stderr::Tap;
use crate::bot::submission::{self, is_compiled, is_program, is_unready, only_program};
use crate::checkup::Problem;
use crate::game::Game;
use crate::play::seat::Seat;
use crate::sandbox::snapshot::{BotFiles, ContentHash, own_program};
use crate::sandbox::{Confinement, Sandbox};
use crate::strategy;
use crate::text::{cause, escape_controls, short_name, unreadable};
use crate::threads::locked;

#[derive(Clone, Debug, Default)]
pub struct Entrants {
    pub entered: Vec<Entrant>,
    pub rejected: Vec<RejectedBot>,
}

impl Entrants {
    pub fn names(&self) -> Vec<&str> {
        let entered = self.entered.iter().map(|bot| &bot.plan);
        let rejected = self.rejected.iter().map(|rejected| &rejected.bot);
        entered.chain(rejected).map(|bot| &*bot.name).collect()
    }

    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.entered.retain(|bot| keep(&bot.plan.name));
        self.rejected.retain(|rejected| keep(&rejected.bot.name));
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderPrograms {
    /// Paths, with names that differ from the file's.
    pub programs: Vec<(String, Option<String>)>,
    pub others: Vec<String>,
    /// Meant as bots, but they cannot be started: directories with no program or several, programs not compiled or
    /// not executable. [`find`] says why.
    pub refused: Vec<(String, Option<String>)>,
    /// Names, and why nothing can be made of them.
    pub unusable: Vec<(String, String)>,
}

/// The programs in a directory, sorted by name: runnable files, and the program of each directory in it, named after
/// that directory; or the program of the directory itself, if it is that of one bot.
pub fn programs(folder: &Path) -> Result<FolderPrograms, TournamentError> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut found = FolderPrograms::default();
    if let Some(program) = submission::program_of_one_bot(folder) {
        found.programs.push((text(&program), folder_name(folder)));
        return Ok(found);
    }
    let entries = submission::entries(folder);
    let unread = |error| TournamentError::Input(unreadable(folder, &error));
    for path in entries.map_err(unread)? {
        if path.is_dir() {
            match only_program(&path) {
                Ok(one) => found.programs.push((text(&one), folder_name(&path))),
                Err(_) => found.refused.push((text(&path), folder_name(&path))),
            }
        } else if is_program(&path) {
            found.programs.push((text(&path), None));
        } else if is_unready(&path) && !is_compiled(&path) {
            found.refused.push((text(&path), None));
        } else {
            found.others.push(escape_controls(&text(&path)));
        }
    }
    if let [(_, unnamed @ None)] = &mut found.programs[..] {
        // The folder of one bot.
        *unnamed = folder_name(folder);
    }
    if found.programs.is_empty() && found.refused.is_empty() {
        return Err(TournamentError::Input(format!(
            "{}: there is no program in it; expected files that can be run, or end like a known language",
            folder.display()
        )));
    }
    Ok(found)
}

/// Finds the programs and copies them into the sandbox. `referee` is this program's path, for built-in bots. A
/// bot without a name in `wanted` is named after its file.
pub fn find(
    wanted: &[BotPlan],
    referee: &Path,
    sandbox: &Sandbox,
) -> Result<Entrants, TournamentError> {
    let mut found = Vec::new();
    for bot in wanted {
        let program = match BotSpec::parse(&bot.bot, referee, &strategy::NAMES) {
            Ok(BotSpec::Program(mut program)) => {
                // What is built in needs no folder, and may not see this one.
                if program.builtin().is_none() {
                    program.directory = bot.directory.as_ref().map(PathBuf::from);
                }
                Ok(program)
            }
            Ok(BotSpec::Human) => {
                let problem =
                    "people do not enter tournaments; they play matches: referee human BOT";
                return Err(TournamentError::Input(problem.to_owned()));
            }
            Err(error) => Err(Problem::from(error).to_string()),
        };
        found.push((base_name(bot, program.as_ref().ok()), program));
    }
    let bots = found.iter().zip(wanted).map(|((name, program), bot)| {
        let program = program.as_ref().ok();
        (name.as_str(), program.filter(|_| bot.name.is_empty()))
    });
    let names = distinct_names(&bots.collect::<Vec<_>>());
    let folders = slugs(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let mut entrants = Entrants::default();
    let programs = || found.iter().map(|(_, program)| program);
    let all: Vec<&Program> = programs().flatten().collect();
    let given = names.into_iter().zip(folders);
    for ((bot, program), (name, slug)) in wanted.iter().zip(programs()).zip(given) {
        let mut plan = BotPlan {
            name,
            slug,
            hash: String::new(),
            version: None,
            place_before: None,
            ..bot.clone()
        };
        let mut no_space = None;
        let hashed = program.clone().and_then(|program| {
            if let Some(other) = linked_entrant(&program, &all) {
                let cause = format!(
                    "it is a link to the file of {}, which enters, too",
                    other.name
                );
                let error = CannotStart::new(&program.name, cause, "give it a file of its own");
                return Err(Problem::from(error).to_string());
            }
            // Equal commands may read each other's files.
            let others = all.iter().filter(|other| other.argv != program.argv);
            let others: Vec<&Program> = others.copied().collect();
            confine(program, &others, sandbox).map_err(|error| {
                no_space = Some(error.clone()).filter(CannotStart::is_for_want_of_space);
                Problem::from(error).to_string()
            })
        });
        if let Some(error) = no_space {
            return Err(TournamentError::Input(error.to_string()));
        }
        match hashed {
            Ok((mut program, hash, files)) => {
                plan.hash = hash.to_string();
                program.name.clone_from(&plan.name);
                entrants.entered.push(Entrant {
                    plan,
                    program,
                    files,
                });
            }
            Err(reason) => entrants.rejected.push(RejectedBot { bot: plan, reason }),
        }
    }
    Ok(entrants)
}

fn base_name(bot: &BotPlan, program: Option<&Program>) -> String {
    match program {
        _ if !bot.name.is_empty() => short_name(&bot.name),
        Some(program) => program.name.clone(),
        None => {
            let name = Path::new(&bot.bot).file_name();
            short_name(&name.map_or_else(|| bot.bot.as_str().into(), OsStr::to_string_lossy))
        }
    }
}

/// Also returns the program's own files, with the hash of the copies, or of the originals when nothing is copied.
fn confine(
    program: Program,
    others: &[&Program],
    sandbox: &Sandbox,
) -> Result<(Program, ContentHash, BotFiles), CannotStart> {
    let own = program.files(others)?;
    let program = program.confine(sandbox, others)?;
    let copied = program.confinement.as_ref().and_then(Confinement::hash);
    let hash = match copied {
        Some(hash) => hash,
        None => own.hash()?,
    };
    Ok((program, hash, own))
}

/// The entrant whose file this program links to.
fn linked_entrant<'a>(program: &Program, all: &[&'a Program]) -> Option<&'a Program> {
    let own = own_program(&program.argv).filter(|own| own.is_symlink())?;
    let end = own.canonicalize().ok()?;
    all.iter().copied().find(|other| {
        let place = own_program(&other.argv).filter(|place| !place.is_symlink());
        place.is_some_and(|place| place.canonicalize().is_ok_and(|place| place == end))
    })
}

#[derive(Clone, Debug)]
pub struct Entrant {
    pub plan: BotPlan,
    pub program: Program,
    /// At their original place.
    pub files: BotFiles,
}

impl Entrant {
    /// `pieces_path`: the piece set's file unless it is built in. `tap` receives stderr.
    pub fn seat(&self, ruleset: &dyn Game, pieces_path: Option<&str>, tap: Option<Tap>) -> Seat {
        let (program, plan) = (self.program.clone(), &self.plan);
        Seat::program(ruleset, pieces_path, program, plan.limits)
            .named(plan.name.clone())
            .with_environment(plan.environment.clone())
            .with_tap(tap)
    }
}

/// In bytes, without a number.
const LONGEST: usize = 60;

/// A name of a directory for each name of a bot: letters, also with accents, digits, `-`, `_` and `.` only, never empty,
/// never with a dot at the beginning, and all different even when case is ignored.
///
/// ```
/// use referee::arena::entrants::slugs;
///
/// let names = ["greedy.py", "../../x", "", "Greedy.py"];
/// assert_eq!(slugs(&names), ["greedy.py", "x", "bot", "Greedy.py-2"]);
/// ```
pub fn slugs(names: &[&str]) -> Vec<String> {
    let mut used = HashSet::new();
    names
        .iter()
        .map(|name| {
            let slug = slug(name);
            let others = (2..).map(|n| format!("{slug}-{n}"));
            let mut tries = once(slug.clone()).chain(others);
            let free = tries.find(|slug| used.insert(slug.to_lowercase()));
            free.unwrap_or_default()
        })
        .collect()
}

fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        if slug.len() >= LONGEST {
            break;
        }
        if ('\u{300}'..='\u{36f}').contains(&c) {
            // A separate accent.
            continue;
        }
        if c.is_alphanumeric() || (c == '.' && !slug.is_empty()) {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with(['-', '.']) {
            slug.push(if c == '_' { '_' } else { '-' });
        }
    }
    let slug = slug.trim_end_matches(['-', '.', '_']);
    if slug.is_empty() {
        "bot".to_owned()
    } else {
        slug.to_owned()
    }
}

/// Kept for a bot, in bytes.
pub const MOST_BYTES: u64 = 8 << 20;

/// Created with the first line.
#[derive(Debug)]
pub struct StderrLog {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: Option<File>,
    bytes: u64,
}

impl StderrLog {
    pub fn new(path: PathBuf) -> Self {
        let bytes = fs::metadata(&path).map_or(0, |meta| meta.len());
        let state = Mutex::new(State { file: None, bytes });
        Self { path, state }
    }

    /// Writes each line after the number of the pair in play.
    pub fn tap(self: &Arc<Self>, pair: Arc<AtomicU64>) -> Tap {
        let log = Arc::clone(self);
        Arc::new(move |line| log.write(pair.load(Ordering::Relaxed), line))
    }

    /// `line` is escaped. If the log cannot be written, the tournament continues without it.
    fn write(&self, pair: u64, line: &str) {
        let mut state = locked(&self.state);
        if state.bytes >= MOST_BYTES {
            return;
        }
        let mut text = format!("p{pair:06} {line}\n");
        state.bytes += text.len() as u64;
        if state.bytes >= MOST_BYTES {
            text.push_str("... the rest is left out: the log is full\n");
        }
        let mut append = || -> io::Result<()> {
            let file = match &mut state.file {
                Some(file) => file,
                none => {
                    fs::create_dir_all(self.path.parent().unwrap_or(&self.path))?;
                    let mut options = OpenOptions::new();
                    none.insert(options.append(true).create(true).open(&self.path)?)
                }
            };
            file.write_all(text.as_bytes())
        };
        if let Err(error) = append() {
            tracing::warn!("{}: {}", self.path.display(), cause(&error));
            state.bytes = MOST_BYTES;
        }
    }
}
