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
use super::bot_files::FolderContext;
use super::plan::{BotPlan, RejectedBot};
use crate::checkup::Problem;
use referee_entrants::argument::{Located, PrepareBots, SourceBot, locate_among};
use referee_entrants::beside::FolderReadings;
use referee_games::game::Ruleset;
use referee_games::strategy;
use referee_host::executable::find_in_path;
use referee_host::system::split_command;
use referee_host::threads::locked;
use referee_match::bot::naming::{bot_name, distinct_names};
use referee_match::bot::spec::{CannotStart, Program};
use referee_match::bot::stderr::Tap;
use referee_match::play::seat::Seat;
use referee_sandbox::snapshot::{BotFiles, ContentHash, FileScope, FileSet, bot_program};
use referee_sandbox::{Confinement, Sandbox};
use referee_text::{cause, escape_path};

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

/// How the bots of a tournament are found: what builds sources, and this program, for built-in bots.
#[derive(Clone, Copy)]
pub struct Finder<'a> {
    pub referee: &'a Path,
    /// Without one, sources do not enter.
    pub builder: Option<&'a dyn PrepareBots>,
}

impl<'a> Finder<'a> {
    /// Sources do not enter.
    pub const fn without_builds(referee: &'a Path) -> Self {
        Self {
            referee,
            builder: None,
        }
    }
}

/// Finds the programs, builds those that are sources, and copies them into the sandbox. A bot without a name in `wanted`
/// is named after its file.
pub fn find(
    wanted: &[BotPlan],
    finder: Finder<'_>,
    sandbox: &Sandbox,
) -> Result<Entrants, TournamentError> {
    find_in(wanted, finder, sandbox, &FolderContext::default())
}

/// Like [`find`], with what is known of the bots' folders.
pub fn find_in(
    wanted: &[BotPlan],
    finder: Finder<'_>,
    sandbox: &Sandbox,
    context: &FolderContext,
) -> Result<Entrants, TournamentError> {
    let (mut located, readings) = (Vec::new(), FolderReadings::default());
    for bot in wanted {
        located.push(locate_bot(bot, finder.referee, &readings)?);
    }
    let names = names_of(wanted, &located);
    let lasting = wanted
        .iter()
        .map(|bot| Some(bot.slug.as_str()).filter(|slug| !slug.is_empty()));
    let wanted_slugs = names.iter().map(String::as_str).zip(lasting);
    let folders = lasting_slugs(&wanted_slugs.collect::<Vec<_>>());
    let scope = |name: &str| FileScope {
        known: context.known.get(name).cloned(),
        outputs: context.outputs.clone(),
    };
    let found = located.into_iter().zip(&names).map(|(bot, name)| {
        match (bot?, finder.builder) {
            (LocatedBot::Program(program), _) => Ok(Program {
                scope: scope(name),
                ..program
            }),
            // What is known are the sources: what was built of them all belongs to the bot.
            (LocatedBot::Sources(bot), Some(builder)) => bot.prepare(builder, &scope(name)),
            (LocatedBot::Sources(bot), None) => Err(bot.refused()),
        }
    });
    let found: Vec<Result<Program, CannotStart>> = found.collect();
    let all: Vec<&Program> = found.iter().flatten().collect();
    let mut entrants = Entrants::default();
    let given = names.into_iter().zip(folders);
    for ((bot, program), (name, slug)) in wanted.iter().zip(&found).zip(given) {
        let plan = BotPlan {
            name,
            slug,
            hash: String::new(),
            version: None,
            place_before: None,
            ..bot.clone()
        };
        match program
            .clone()
            .and_then(|program| enter(program, &plan, &all, sandbox))
        {
            Ok(entrant) => entrants.entered.push(entrant),
            Err(error) if error.is_for_want_of_space => {
                return Err(TournamentError::Input(error.to_string()));
            }
            Err(error) => entrants.rejected.push(RejectedBot {
                bot: plan,
                absence: Problem::from(error).into(),
            }),
        }
    }
    Ok(entrants)
}

/// What a bot of a plan is, before it is built.
#[allow(
    clippy::large_enum_variant,
    reason = "one for each bot of a tournament"
)]
enum LocatedBot {
    Program(Program),
    Sources(SourceBot),
}

/// The outer error is one of the tournament's, the inner one the bot's.
type LocatedOrNot = Result<LocatedBot, CannotStart>;

fn locate_bot(
    bot: &BotPlan,
    referee: &Path,
    readings: &FolderReadings,
) -> Result<LocatedOrNot, TournamentError> {
    Ok(
        match locate_among(&bot.bot, referee, &strategy::NAMES, readings) {
            Ok(Located::Program(mut program)) => {
                // What is built in needs no folder, and may not see this one.
                if program.builtin().is_none() {
                    program.directory = bot.directory.as_ref().map(PathBuf::from);
                }
                Ok(LocatedBot::Program(program))
            }
            Ok(Located::Sources(sources)) => Ok(LocatedBot::Sources(sources)),
            Ok(Located::Human) => {
                let problem =
                    "people do not enter tournaments; they play matches: referee human BOT";
                return Err(TournamentError::Input(problem.to_owned()));
            }
            Err(error) => Err(in_directory(error, bot)),
        },
    )
}

/// The names of all bots, which differ.
fn names_of(wanted: &[BotPlan], located: &[LocatedOrNot]) -> Vec<String> {
    let programs: Vec<Option<Program>> = located
        .iter()
        .map(|bot| match bot {
            Ok(LocatedBot::Program(program)) => Some(program.clone()),
            Ok(LocatedBot::Sources(sources)) => Some(sources.unbuilt()),
            Err(_) => None,
        })
        .collect();
    let named: Vec<(String, Option<&Program>)> = wanted
        .iter()
        .zip(&programs)
        .map(|(bot, program)| {
            let name = base_name(bot, program.as_ref());
            (name, program.as_ref().filter(|_| bot.name.is_empty()))
        })
        .collect();
    let named: Vec<_> = named
        .iter()
        .map(|(name, program)| (name.as_str(), *program))
        .collect();
    distinct_names(&named)
}

/// Confines a bot; `all` are those that enter with it.
fn enter(
    mut program: Program,
    plan: &BotPlan,
    all: &[&Program],
    sandbox: &Sandbox,
) -> Result<Entrant, CannotStart> {
    if let Some(other) = linked_entrant(&program, all) {
        let cause = format!(
            "it is a link to the file of {}, which enters, too",
            other.name
        );
        return Err(CannotStart::new(
            &program.name,
            cause,
            "give it a file of its own",
        ));
    }
    // Equal commands may read each other's files.
    let others = all.iter().filter(|other| other.argv != program.argv);
    let others: Vec<&Program> = others.copied().collect();
    let (confined, found, files) = confine(program, &others, sandbox)?;
    program = confined;
    program.name.clone_from(&plan.name);
    Ok(Entrant {
        plan: BotPlan {
            hash: found.list.hash.to_string(),
            ..plan.clone()
        },
        program,
        files,
        found,
        changed: None,
    })
}

/// Names the folder that was given with a bot.
fn in_directory(error: CannotStart, bot: &BotPlan) -> CannotStart {
    let Some(directory) = &bot.directory else {
        return error;
    };
    let folder = escape_path(directory);
    if Path::new(directory).is_dir() {
        let words = split_command(&bot.bot).unwrap_or_default();
        let is_there = |word: &String| {
            Path::new(word).exists() || find_in_path(word).is_some() || word.starts_with("builtin:")
        };
        // Then something else is wrong with it.
        if Path::new(&bot.bot).exists() || words.first().is_none_or(is_there) {
            return error;
        }
        let cause = format!("{}, also not in its folder {folder}", error.cause);
        return CannotStart { cause, ..error };
    }
    let cause = format!("there is no such folder as {folder}, in which it is to start");
    CannotStart::new(
        &error.bot,
        cause,
        "check `directory`; it begins at the folder of the configuration file",
    )
}

fn base_name(bot: &BotPlan, program: Option<&Program>) -> String {
    match program {
        _ if !bot.name.is_empty() => bot_name(&bot.name),
        Some(program) => program.name.clone(),
        None => {
            let name = Path::new(&bot.bot).file_name();
            bot_name(&name.map_or_else(|| bot.bot.as_str().into(), OsStr::to_string_lossy))
        }
    }
}

/// Also returns the program's own files, and what was found of them: copied, or in place when nothing is copied.
fn confine(
    program: Program,
    others: &[&Program],
    sandbox: &Sandbox,
) -> Result<(Program, FileSet, BotFiles), CannotStart> {
    let sources = program.sources.clone();
    let own = program.files(others)?;
    let program = program.confine(sandbox, others)?;
    // A compiler need not make the same of the same: a bot is what it was built of.
    if let Some(sources) = sources {
        return Ok((program, sources.found, sources.files));
    }
    let copied = program.confinement.as_ref().and_then(Confinement::files);
    let found = match copied {
        Some(found) => found.clone(),
        None => own.inspect()?,
    };
    Ok((program, found, own))
}

/// The entrant whose file this program links to.
fn linked_entrant<'a>(program: &Program, all: &[&'a Program]) -> Option<&'a Program> {
    let own = bot_program(&program.argv).filter(|own| own.is_symlink())?;
    let end = own.canonicalize().ok()?;
    all.iter().copied().find(|other| {
        let place = bot_program(&other.argv).filter(|place| !place.is_symlink());
        place.is_some_and(|place| place.canonicalize().is_ok_and(|place| place == end))
    })
}

#[derive(Clone, Debug)]
pub struct Entrant {
    pub plan: BotPlan,
    pub program: Program,
    /// At their original place.
    pub files: BotFiles,
    /// What was found of them.
    pub found: FileSet,
    /// The hash of its files, where they are not those with which the tournament began.
    pub changed: Option<ContentHash>,
}

impl Entrant {
    /// `pieces_path`: the piece set's file unless it is built in. `tap` receives stderr.
    pub fn seat(&self, ruleset: &dyn Ruleset, pieces_path: Option<&str>, tap: Option<Tap>) -> Seat {
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
/// use referee_tournament::entrants::slugs;
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

/// Like [`slugs`], of which some are known from before, and stay.
///
/// ```
/// use referee_tournament::entrants::lasting_slugs;
///
/// let slugs = lasting_slugs(&[("a b", None), ("a-b", Some("a-b"))]);
/// assert_eq!(slugs, ["a-b-2", "a-b"]);
/// ```
pub fn lasting_slugs(names: &[(&str, Option<&str>)]) -> Vec<String> {
    let lasting = names.iter().filter_map(|(_, known)| *known);
    let new = names.iter().filter(|(_, known)| known.is_none());
    let all: Vec<&str> = lasting.clone().chain(new.map(|(name, _)| *name)).collect();
    let mut new = slugs(&all).into_iter().skip(lasting.count());
    let slug = |(_, known): &(&str, Option<&str>)| match known {
        Some(known) => (*known).to_owned(),
        None => new.next().unwrap_or_default(),
    };
    names.iter().map(slug).collect()
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
            tracing::warn!(target: referee_match::log_target::TOURNAMENT, "{}: {}", self.path.display(), cause(&error));
            state.bytes = MOST_BYTES;
        }
    }
}
