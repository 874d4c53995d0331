//! `referee tournament`: many games at once, into a folder from which it can go on.

mod analysing;
mod ending;
mod options;
pub(in crate::cli) mod parts;
mod progress;
mod request;

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Zoned;
use tokio::sync::mpsc;

use self::options::Options;
use self::progress::Progress;
use crate::arena::analysing::add_analysis;
use crate::arena::directory::{DirectoryError, TournamentDirectory};
use crate::arena::entrants::{self, BotRequest, Entrants, EntrantsError};
use crate::arena::plan::{BotPlan, Plan};
use crate::arena::preparation::{Notice, Preparation, PreparationError, write_pieces};
use crate::arena::results::Results;
use crate::arena::shard::{Header, Shard};
use crate::arena::{Arena, Ended, RunError};
use crate::bot::orphans;
use crate::cli::support::failure::Failure;
use crate::cli::support::leftovers::end_orphans;
use crate::cli::support::sandbox::Choice;
use crate::cli::support::setup::{tell, this_program, unreadable};
use crate::cli::support::signals::StopSignals;
use crate::play::game_runner::GameError;
use crate::record::journal::{Journal, OpenError};
use crate::sandbox::Sandbox;
use crate::session::Ruleset;

/// What `referee tournament` and `referee plan` are asked for.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Files, command lines or builtin:NAME; of a directory every program enters. Without any,
    /// the tournament in --out goes on
    #[arg(value_name = "BOT")]
    bots: Vec<String>,

    /// A file with bots and options; those of the command line come first
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    options: Options,
}

/// What is done with a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// All of it is played.
    Play,
    /// Only its plan is made.
    Plan,
    /// A part of it is played; when another referee plays it, it is waited for this long.
    Shard(Shard, Duration),
}

/// `referee tournament`
pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let mut options = args.options.clone();
    if let Some(path) = &args.config {
        options = options.or(Options::read(path)?);
    }
    start(&args.bots, options, What::Play)
}

fn start(texts: &[String], options: Options, what: What) -> Result<(), Failure> {
    let named = !texts.is_empty() || !options.bots.is_empty();
    let out = folder(&options, named)?;
    let is_new = !out.join("plan.json").exists();
    if is_new && (!named || matches!(what, What::Shard(..))) {
        return Err(Failure::Usage(format!(
            "{}: there is no tournament to go on with; name bots to begin one",
            out.display()
        )));
    }
    let made = !out.exists();
    let done = open(texts, options, what, &out);
    if done.is_err() && made && !out.join("plan.json").exists() {
        // Nothing began: no traces, as far as they are ours.
        for file in ["games.jsonl", "pieces.csv"] {
            let _ = fs::remove_file(out.join(file));
        }
        let _ = fs::remove_dir(&out);
    }
    done
}

fn open(texts: &[String], mut options: Options, what: What, out: &Path) -> Result<(), Failure> {
    let named = !texts.is_empty() || !options.bots.is_empty();
    let directory = TournamentDirectory::make(out)?;
    let old = directory.plan()?;
    let files = match (what, &old) {
        (What::Shard(shard, _), Some(plan)) => Some(directory.shard_files(shard, plan)?),
        _ => None,
    };
    let journal_file = match &files {
        Some([journal, _]) => journal.clone(),
        None => directory.journal_file(),
    };
    let wait = match what {
        What::Shard(_, wait) => wait,
        What::Play | What::Plan => Duration::ZERO,
    };
    let (journal, cut) = parts::open_journal(&directory, &journal_file, wait)?;
    if let Some(cut) = cut {
        tell(&format!(
            "referee: the last line of the journal was incomplete; its {} bytes are now in {}, and \
             the game is played again",
            cut.bytes,
            cut.kept_in.display()
        ));
    }
    if let Some(plan) = &old {
        options.sandbox = options.sandbox.or_as_before(&plan.sandbox);
    }
    let sandbox = options.sandbox.sandbox(Choice::Auto)?;
    let bots = match (&old, named) {
        (Some(plan), false) => bots_of(plan)?,
        _ => options.bots(texts)?,
    };
    let entrants = entrants::find(&bots, &this_program()?, &sandbox)?;
    if old.is_none() {
        tell(&match sandbox.kind().layers() {
            [] => {
                "referee: bots are not kept in a sandbox: they can do whatever you can".to_owned()
            }
            layers => format!("referee: bots are kept in by {}", layers.join(", ")),
        });
    }
    let jobs = if what == What::Plan {
        1
    } else {
        jobs(&options, &entrants)
    };
    if options.out.is_none() {
        tell(&format!("referee: everything goes into {}", out.display()));
    }
    let (game, ruleset) = options.ruleset(old.as_ref())?;
    if options.adjudicate && !game.is_solvable {
        return Err(Failure::Usage(
            "--adjudicate needs a solver, and only Quarto can be solved; leave it out".to_owned(),
        ));
    }
    if options.analyse && !game.is_solvable {
        return Err(Failure::Usage(
            "--analyse needs a solver, and only Quarto can be solved; leave it out".to_owned(),
        ));
    }
    let start = Start {
        options: &options,
        ruleset,
        entrants,
        old,
        directory,
        journal,
        journal_file,
        header_file: files.map(|[_, header]| header),
        jobs,
        sandbox,
        what,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let done = runtime.block_on(async {
        orphans::adopt();
        start.play().await
    });
    end_orphans();
    done
}

/// The bots of a plan.
fn bots_of(plan: &Plan) -> Result<Vec<BotRequest>, Failure> {
    let again = |bot: &BotPlan| {
        BotRequest::again(bot).map_err(|error| Failure::Usage(format!("{}: {error}", bot.name)))
    };
    plan.everybody().map(again).collect()
}

/// The folder that was asked for, or a new one.
fn folder(options: &Options, named: bool) -> Result<PathBuf, Failure> {
    match &options.out {
        Some(out) => Ok(out.clone()),
        None if named => {
            let name = Zoned::now().strftime("tournament-%Y-%m-%d-%H%M%S");
            Ok(PathBuf::from(name.to_string()))
        }
        None => Err(Failure::Usage(
            "there are no bots; name at least two, a folder of them, or with --out the folder of a \
             tournament that is to go on"
                .to_owned(),
        )),
    }
}

/// Games at once; says so.
fn jobs(options: &Options, entrants: &Entrants) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let s = |count: usize| if count == 1 { "" } else { "s" };
    let Some(jobs) = options.jobs else {
        let jobs = (cores / 2).max(1);
        tell(&format!(
            "referee: {jobs} game{} at once, a core for each bot (of {cores} core{}; --jobs N for \
             another number)",
            s(jobs),
            s(cores)
        ));
        return jobs;
    };
    let jobs = usize::from(jobs);
    // With less time than this, a bot that has to wait for a core loses for it.
    let short = |seconds: f64| seconds < 1.0;
    let is_short = entrants.entered.iter().any(|bot| {
        let limits = &bot.plan.limits;
        short(limits.move_time) || limits.game_time.is_some_and(|time| short(time / 8.0))
    });
    if jobs * 2 > cores && is_short {
        tell(&format!(
            "referee: warning: {jobs} games at once need {} cores and there are {cores}, but the \
             clocks are short: bots will lose on time because they wait for each other; use \
             --jobs {}",
            jobs * 2,
            (cores / 2).max(1)
        ));
    }
    jobs
}

/// A tournament about to begin, or to go on.
struct Start<'a> {
    options: &'a Options,
    ruleset: Arc<dyn Ruleset>,
    entrants: Entrants,
    old: Option<Plan>,
    directory: TournamentDirectory,
    journal: Journal,
    journal_file: PathBuf,
    /// Of a shard.
    header_file: Option<PathBuf>,
    jobs: usize,
    sandbox: Sandbox,
    what: What,
}

impl Start<'_> {
    async fn play(mut self) -> Result<(), Failure> {
        let mut stops = stops()?;
        let pieces_path = write_pieces(&self.directory, &*self.ruleset)?;
        let request = self.options.request(&self.sandbox);
        let preparation = Preparation {
            request: &request,
            ruleset: &self.ruleset,
            directory: &self.directory,
            jobs: self.jobs,
            pieces_path: pieces_path.as_deref(),
        };
        let mut notify = notify;
        let entrants = std::mem::take(&mut self.entrants);
        let (plan, bots) = if let Some(old) = self.old.take() {
            preparation.resume(old, entrants, &mut notify)?
        } else {
            tokio::select! {
                begun = preparation.begin(entrants, &mut notify) => begun?,
                _ = stops.recv() => return Err(Failure::Interrupted),
            }
        };
        if self.what == What::Plan {
            ending::print_plan(&plan, &self.directory);
            return Ok(());
        }
        let shard = self.shard(&plan)?;
        let expected = shard.map_or(2 * plan.pairs_expected(), |shard| {
            let pairs = shard.pairs(&plan);
            2 * (pairs.end - pairs.start)
        });
        let results = self.played(&plan, shard, expected)?;
        let title = title(&self.directory);
        let pages = self.options.pages.open(&title, Some(&self.journal_file))?;
        let terminal = io::stderr().is_terminal();
        let mut progress = Progress::new(expected, results.games, terminal, pages);
        let arena = Arena {
            ruleset: self.ruleset,
            plan,
            results,
            entrants: bots,
            pieces_path,
            jobs: self.jobs,
            shard,
        };
        let ran = arena
            .run(&self.directory, self.journal, stops, &mut progress)
            .await;
        progress.end();
        let go_on = how_to_go_on(&self.directory, shard);
        let (ended, plan, mut results) = match ran {
            Ok(ran) => ran,
            Err(error) => {
                progress.finish()?;
                return Err(failed(error, &self.journal_file, &go_on));
            }
        };
        let rate = progress.rate(results.games);
        progress.finish()?;
        let mut analysed = true;
        if shard.is_none() {
            if self.options.analyse && ended != Ended::Interrupted {
                let time = self.options.time_per_move;
                analysed = analysing::analyse(&self.directory, results.games, time).await?;
            }
            add_analysis(&mut results, &self.directory)?;
            ending::write(&self.directory, &results)?;
            ending::print(ended, &plan, &results)?;
        }
        if ended == Ended::Interrupted || !analysed {
            let analyse = if self.options.analyse {
                " --analyse"
            } else {
                ""
            };
            tell(&format!("referee: stopped; {go_on}{analyse}"));
            return Err(Failure::Interrupted);
        }
        tell(&match shard {
            None => format!(
                "referee: {rate:.0} games a second; everything is in {}",
                self.directory.path().display()
            ),
            Some(shard) => format!(
                "referee: shard {shard} is done: {} games, {rate:.0} a second; when all are: \
                 referee merge {}",
                results.games,
                self.directory.path().display()
            ),
        });
        Ok(())
    }
}

impl Start<'_> {
    /// The part that is played; not every tournament can be played in parts.
    fn shard(&self, plan: &Plan) -> Result<Option<Shard>, Failure> {
        match self.what {
            What::Shard(..) if plan.sprt.is_some() => Err(Failure::Usage(
                "a sequential test looks at one pair after the other, so it cannot be played in \
                 parts; use referee tournament --out DIR"
                    .to_owned(),
            )),
            What::Shard(shard, _) => Ok(Some(shard)),
            What::Play | What::Plan => Ok(None),
        }
    }

    /// What the journal holds, of this many games; a shard's header is written now.
    fn played(&self, plan: &Plan, shard: Option<Shard>, expected: u64) -> Result<Results, Failure> {
        let mut results = Results::new(plan);
        TournamentDirectory::read_journal(&self.journal_file, plan, &mut results)?;
        if results.games > 0 {
            tell(&format!(
                "referee: going on after {} of {expected} games",
                results.games,
            ));
        }
        if let (Some(shard), Some(path)) = (shard, &self.header_file) {
            let header = Header::new(plan, shard, results.games);
            let appended = header.append(path);
            appended.map_err(|error| unreadable(path, &error))?;
        }
        Ok(results)
    }
}

/// Says what people should know while a tournament is prepared.
fn notify(notice: Notice<'_>) {
    tell(&match notice {
        Notice::Seed(seed) => format!("referee: seed {seed}"),
        Notice::Checked { passed, of } => {
            format!("referee: {passed} of {of} bots passed the entry check")
        }
        Notice::Rejected(away) => {
            format!("referee: {} does not enter: {}", away.bot.name, away.reason)
        }
        Notice::BegunByVersion(old) => format!(
            "referee: this tournament was begun by version {old}; this is version {}",
            env!("CARGO_PKG_VERSION")
        ),
    });
}

/// What pages are headed by: the name of the folder.
fn title(directory: &TournamentDirectory) -> String {
    let path = directory.path();
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// A message for every signal that wants this process to end.
fn stops() -> io::Result<mpsc::Receiver<()>> {
    let mut signals = StopSignals::listen()?;
    let (tell, told) = mpsc::channel(4);
    tokio::spawn(async move {
        loop {
            signals.recv().await;
            if tell.send(()).await.is_err() {
                break;
            }
        }
    });
    Ok(told)
}

fn how_to_go_on(directory: &TournamentDirectory, shard: Option<Shard>) -> String {
    let path = directory.path().to_string_lossy();
    let path = shell_words::quote(&path);
    match shard {
        None => format!("to go on: referee tournament --out {path}"),
        Some(shard) => format!("to go on: referee run {path} --shard {shard}"),
    }
}

fn failed(error: RunError, journal: &Path, go_on: &str) -> Failure {
    match error {
        RunError::Game(GameError::CannotStart(error)) => {
            Failure::Usage(format!("{error}\n{go_on}"))
        }
        RunError::NotWritten(error) => Failure::Referee(format!(
            "{}: cannot write: {error}; no more games were begun, and every game that was counted \
             is in it; make room, then {go_on}",
            journal.display()
        )),
        error => Failure::Referee(format!("{error}; {go_on}")),
    }
}

impl From<DirectoryError> for Failure {
    fn from(error: DirectoryError) -> Self {
        match error {
            DirectoryError::Journal(OpenError::Locked { path }) => Self::Usage(format!(
                "{path}: another referee is playing this tournament; wait for it, or choose \
                 another folder with --out"
            )),
            DirectoryError::Io { .. } => Self::Referee(error.to_string()),
            error => Self::Usage(error.to_string()),
        }
    }
}

impl From<EntrantsError> for Failure {
    fn from(error: EntrantsError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<PreparationError> for Failure {
    fn from(error: PreparationError) -> Self {
        match error {
            PreparationError::Directory(error) => error.into(),
            PreparationError::Io(error) => error.into(),
            error => Self::Usage(error.to_string()),
        }
    }
}
