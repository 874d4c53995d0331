//! `referee tournament`: many games at once, into a folder from which it can go on.

mod ending;
mod entrants;
mod options;
mod preparation;
mod progress;

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use jiff::Zoned;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use self::entrants::Entrants;
use self::options::Options;
use self::preparation::Prepare;
use self::progress::Progress;
use super::failure::Failure;
use super::games::{GameName, WithGame, with_game};
use super::sandbox::Choice;
use super::setup::tell;
use crate::arena::home::{Home, HomeError};
use crate::arena::ledger::Ledger;
use crate::arena::plan::Plan;
use crate::arena::table::TableError;
use crate::arena::{Arena, Ended, RunError};
use crate::game::dialogue::Dialogue;
use crate::game::quarto::{PieceFormat, PieceSet, Rules};
use crate::journal::{Journal, OpenError};
use crate::player::orphans;
use crate::player::sandbox::Sandbox;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
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

/// `referee tournament`
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let mut options = args.options.clone();
    if let Some(path) = &args.config {
        options = options.or(Options::read(path)?);
    }
    let named = !args.bots.is_empty() || !options.bots.is_empty();
    let out = match &options.out {
        Some(out) => out.clone(),
        None if named => PathBuf::from(
            Zoned::now()
                .strftime("tournament-%Y-%m-%d-%H%M%S")
                .to_string(),
        ),
        None => {
            return Err(Failure::Usage(
                "there are no bots; name at least two, a folder of them, or with --out the folder \
                 of a tournament that is to go on"
                    .to_owned(),
            ));
        }
    };
    let is_new = !out.join("plan.json").exists();
    if is_new && !named {
        return Err(Failure::Usage(format!(
            "{}: there is no tournament to go on with; name bots to begin one",
            out.display()
        )));
    }
    let home = Home::make(&out)?;
    let (journal, cut) = home.open_journal(&home.journal_file())?;
    if let Some(cut) = cut {
        tell(&format!(
            "referee: the last line of the journal was incomplete; its {} bytes are now in {}, and \
             the game is played again",
            cut.bytes,
            cut.kept_in.display()
        ));
    }
    let old = home.plan()?;
    if let Some(plan) = &old {
        options.sandbox = options.sandbox.or_as_before(&plan.sandbox);
    }
    let sandbox = options.sandbox.sandbox(Choice::Auto)?;
    let entrants = match (&old, named) {
        (Some(plan), false) => entrants::find_again(plan.everybody(), &sandbox)?,
        _ => entrants::find(&args.bots, &options, &sandbox)?,
    };
    if old.is_none() {
        tell(&match sandbox.kind().layers() {
            [] => {
                "referee: bots are not kept in a sandbox: they can do whatever you can".to_owned()
            }
            layers => format!("referee: bots are kept in by {}", layers.join(", ")),
        });
    }
    let jobs = jobs(&options, &entrants);
    if options.out.is_none() {
        tell(&format!("referee: everything goes into {}", out.display()));
    }
    let game = preparation::game(&options, old.as_ref())?;
    let set = game.set.clone();
    let start = Start {
        options: &options,
        entrants,
        old,
        home,
        journal,
        jobs,
        sandbox,
    };
    with_game(game.name, game.rules, set, PieceFormat::Symbol, start)
}

/// What is played.
struct GameSetup {
    name: GameName,
    rules: Rules,
    set: PieceSet,
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
    let is_short = entrants.candidates.iter().any(|bot| {
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
    entrants: Entrants,
    old: Option<Plan>,
    home: Home,
    journal: Journal,
    jobs: usize,
    sandbox: Sandbox,
}

impl WithGame for Start<'_> {
    type Output = Result<(), Failure>;

    fn with<G>(self, game: G) -> Self::Output
    where
        G: Dialogue + Clone + Send + Sync + 'static,
        G::Position: Send + Sync,
    {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        orphans::adopt();
        let done = runtime.block_on(self.play(game));
        orphans::sweep();
        done
    }
}

impl Start<'_> {
    async fn play<G>(self, game: G) -> Result<(), Failure>
    where
        G: Dialogue + Clone + Send + Sync + 'static,
        G::Position: Send + Sync,
    {
        let mut stops = stops()?;
        let pieces_path = preparation::pieces_file(&self.home, &game)?;
        let prepare = Prepare {
            options: self.options,
            game: &game,
            home: &self.home,
            jobs: self.jobs,
            sandbox: &self.sandbox,
            pieces_path: pieces_path.as_deref(),
        };
        let (plan, bots) = if let Some(old) = self.old {
            prepare.go_on(old, self.entrants)?
        } else {
            tokio::select! {
                begun = prepare.begin(self.entrants) => begun?,
                _ = stops.recv() => return Err(Failure::Interrupted),
            }
        };
        let mut ledger = Ledger::new(&plan);
        Home::read_journal(&self.home.journal_file(), &plan, &mut ledger)?;
        if ledger.games > 0 {
            tell(&format!(
                "referee: going on after {} of {} games",
                ledger.games,
                2 * plan.pairs_expected()
            ));
        }
        let title = title(&self.home);
        let journal = self.home.journal_file();
        let pages = self.options.pages.open(&title, Some(&journal))?;
        let mut progress = Progress::new(&plan, &ledger, io::stderr().is_terminal(), pages);
        let arena = Arena {
            openings: preparation::openings(&game, &plan)?,
            game,
            plan,
            ledger,
            bots,
            pieces_path,
            jobs: self.jobs,
        };
        let ran = arena
            .run(&self.home, self.journal, stops, &mut progress)
            .await;
        progress.end();
        let (ended, plan, ledger) = match ran {
            Ok(ran) => ran,
            Err(error) => {
                progress.finish()?;
                return Err(failed(error, &self.home));
            }
        };
        ending::write(&self.home, &ledger)?;
        ending::print(ended, &plan, &ledger)?;
        let rate = progress.rate(ledger.games);
        progress.finish()?;
        if ended == Ended::Interrupted {
            tell(&format!("referee: stopped; {}", how_to_go_on(&self.home)));
            return Err(Failure::Interrupted);
        }
        tell(&format!(
            "referee: {rate:.0} games a second; everything is in {}",
            self.home.path().display()
        ));
        Ok(())
    }
}

/// What pages are headed by: the name of the folder.
fn title(home: &Home) -> String {
    let path = home.path();
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// A message for every signal that wants this process to end.
fn stops() -> io::Result<mpsc::Receiver<()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let (tell, told) = mpsc::channel(4);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
            if tell.send(()).await.is_err() {
                break;
            }
        }
    });
    Ok(told)
}

fn how_to_go_on(home: &Home) -> String {
    let path = home.path().to_string_lossy();
    format!(
        "to go on: referee tournament --out {}",
        shell_words::quote(&path)
    )
}

fn failed(error: RunError, home: &Home) -> Failure {
    let go_on = how_to_go_on(home);
    match error {
        RunError::Table(TableError::CannotStart(error)) => {
            Failure::Usage(format!("{error}\n{go_on}"))
        }
        RunError::NotWritten(error) => Failure::Referee(format!(
            "{}: cannot write: {error}; no more games were begun, and every game that was counted \
             is in it; make room, then {go_on}",
            home.journal_file().display()
        )),
        error => Failure::Referee(format!("{error}; {go_on}")),
    }
}

impl From<HomeError> for Failure {
    fn from(error: HomeError) -> Self {
        match error {
            HomeError::Journal(OpenError::Locked { path }) => Self::Usage(format!(
                "{path}: another referee is playing this tournament; wait for it, or choose \
                 another folder with --out"
            )),
            HomeError::Io { .. } => Self::Referee(error.to_string()),
            error => Self::Usage(error.to_string()),
        }
    }
}
