//! `referee tournament`: plays many games at the same time into a folder from which it can be resumed.

mod failures;
mod options;
mod preparation;
mod run;
pub(crate) mod shards;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::tz::TimeZone;

use self::failures::{resume_command, with_place};
use self::preparation::{apply_seeds, jobs, prepare, usual_jobs};
use crate::arena::Arena;
use crate::arena::directory::TournamentDirectory;
use crate::arena::entrants::{self, Entrants};
use crate::arena::preparation::{Preparation, write_pieces};
use crate::arena::shard::{Header, Shard};
use crate::cli::support::folder::title_of_folder;
use crate::cli::support::games::{check_builtins, check_solvable};
use crate::cli::support::prelude::*;
use crate::cli::support::runtime::with_bots;
use crate::cli::support::sandbox::{announce, warn_large, warn_root};
use crate::cli::support::setup::this_program;
use crate::cli::support::signals;
use crate::play::setup::now;
use crate::sandbox::Bound;

pub(crate) use self::options::{BotOptions, GamesOptions, Options, ScheduleOptions, resolved};
pub(crate) use self::preparation::print_notice;
pub(crate) use self::run::{OwnRun, Venue, play, print_plan, warn_of_repetition};

/// The arguments of `referee tournament` and `referee shard plan`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files, command lines or builtin:NAME; of a directory, every program in it. Without bots,
    /// the tournament in --out is resumed
    #[arg(value_name = "BOT")]
    bots: Vec<String>,

    /// A TOML file with bots and options; the command line takes precedence
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// The folder for all files; a tournament that is there is resumed
    /// [default: a new one, named after the time]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    #[command(flatten)]
    schedule: ScheduleOptions,

    #[command(flatten)]
    options: Options,
}

impl Args {
    fn options(&self) -> Result<Options, Failure> {
        Ok(Options {
            out: self.out.clone(),
            schedule: self.schedule.clone(),
            bots: BotOptions::read(self.config.as_deref())?,
            ..self.options.clone()
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Play,
    /// Prints how to play it in parts.
    Plan,
    Announce,
    /// Waits this long for another referee that plays the same part.
    Shard(Shard, Duration),
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    start(&args.bots, args.options()?, Task::Play)
}

pub(crate) fn start(texts: &[String], options: Options, task: Task) -> Result<(), Failure> {
    let named = !texts.is_empty() || !options.bots.is_empty();
    let out = out_folder(&options, named)?;
    let is_new = !out.join("plan.json").exists();
    if is_new && (!named || matches!(task, Task::Shard(..))) {
        let fix = match task {
            Task::Shard(..) => "plan one first: referee shard plan",
            _ => "name bots to begin one",
        };
        bail!("{}: there is no tournament to resume; {fix}", out.display());
    }
    let is_created = !out.exists();
    let missing = ["games.jsonl", "pieces.csv"].map(|file| out.join(file));
    let missing: Vec<_> = missing.iter().filter(|file| !file.exists()).collect();
    let result = open(texts, options, task, &out);
    if result.is_err() && !out.join("plan.json").exists() {
        // The tournament did not begin.
        for file in missing {
            let _ = fs::remove_file(file);
        }
        if is_created {
            let _ = fs::remove_dir(&out);
        }
    }
    result
}

#[expect(clippy::too_many_lines, reason = "one story, told in its order")]
fn open(texts: &[String], mut options: Options, task: Task, out: &Path) -> Result<(), Failure> {
    let named = !texts.is_empty() || !options.bots.is_empty();
    let directory = TournamentDirectory::make(out)?;
    let old = directory.plan()?;
    let files = match (task, &old) {
        (Task::Shard(shard, _), Some(plan)) => Some(directory.shard_files(shard, plan)?),
        _ => None,
    };
    let journal_file = match &files {
        Some([journal, _]) => journal.clone(),
        None => directory.journal_file(),
    };
    let (journal, torn) = shards::open_journal(&directory, &journal_file, task)?;
    if let Some(torn) = torn {
        note!(
            "the last line of the journal was incomplete; its {} bytes are now in {}, and \
             the game will be played again",
            torn.bytes,
            torn.kept_in.display()
        );
    }
    if let Some(plan) = &old {
        options = options.or_planned(plan)?;
    }
    let sandbox = options.games.sandbox.sandbox()?;
    let bots = match (&old, named) {
        (Some(plan), false) => plan.all_bots().cloned().collect(),
        _ => options.bots(texts)?,
    };
    let mut entrants = entrants::find(&bots, &this_program()?, &sandbox)
        .map_err(|error| with_place(error.into(), old.as_ref()))?;
    check_own_folders(&entrants, out)?;
    if let Some(seeds) = &options.schedule.seeds {
        apply_seeds(seeds, &mut entrants)?;
    }
    if old.is_none() {
        announce(&sandbox);
    }
    let programs = || entrants.entered.iter().map(|entrant| &entrant.program);
    warn_root(programs());
    warn_large(programs());
    let is_played = matches!(task, Task::Play | Task::Shard(..));
    let jobs = if is_played {
        jobs(&options, &entrants.entered, &sandbox)
    } else {
        // For the entry checks.
        options.games.jobs.map_or_else(usual_jobs, usize::from)
    };
    if options.out.is_none() {
        note!("all files are written to {}", out.display());
    }
    let ruleset = options.ruleset(old.as_ref())?;
    check_solvable(&*ruleset, "--adjudicate", options.games.adjudicate)?;
    check_solvable(&*ruleset, "--analyse", options.analyse)?;
    check_builtins(&*ruleset, programs())?;
    let pages = || {
        options.pages.open(
            &title_of_folder(out),
            Some(&journal_file),
            Some(&journal_file),
            (!matches!(task, Task::Shard(..))).then_some(out),
            sandbox.bounds().iter().map(Bound::line).collect(),
            &ruleset,
        )
    };
    with_bots(async {
        let mut stops = signals::stops();
        let pieces_path = write_pieces(&directory, &*ruleset)?;
        let request = options.request(&sandbox);
        let preparation = Preparation {
            request: &request,
            ruleset: &ruleset,
            directory: &directory,
            jobs,
            pieces_path: pieces_path.as_deref(),
        };
        // Before the slow entry checks: a port that is taken leaves no plan behind.
        let pages = is_played.then(pages).transpose()?;
        let prepared = prepare(&preparation, old, entrants, &mut stops, pages.as_ref());
        let (plan, bots) = prepared.await?;
        let Some(pages) = pages else {
            if task == Task::Plan {
                print_plan(&plan, &directory);
            }
            return Ok(());
        };
        let shard = shards::shard(task, &plan, &directory)?;
        let opened = Arena::open(&ruleset, &directory, journal, &journal_file, plan, bots)?;
        let mut arena = Arena {
            pieces_path,
            jobs,
            shard,
            ..opened
        };
        if let (Some(shard), Some([_, path])) = (shard, &files) {
            let header = Header::new(&arena.plan, shard, arena.results.games);
            directory.read_kept(&arena.plan, shard, &mut arena.results)?;
            let appended = header.append(path);
            appended.map_err(|error| unreadable(path, &error))?;
        }
        if arena.results.games > 0 {
            note!(
                "resuming after {} of {} games",
                arena.results.games,
                arena.expected()
            );
        }
        let resume = resume_command(&directory, shard, &options);
        play(arena, &options, pages, &resume, &mut stops).await?;
        Ok(())
    })
}

/// Refuses outputs within the folder of a bot: when the tournament is resumed, they would change the hash of its
/// files.
fn check_own_folders(entrants: &Entrants, out: &Path) -> Result<(), Failure> {
    let out_place = out.canonicalize().unwrap_or_else(|_| out.to_owned());
    for entrant in &entrants.entered {
        if let Some(own) = entrant.files.directory().filter(|own| out_place == *own) {
            bail!(
                "--out {}: the folder {} is {}'s own, and what is written there would count as a change of the bot; \
                 choose another place",
                out.display(),
                escape_controls(&own.to_string_lossy()),
                entrant.plan.name
            );
        }
    }
    Ok(())
}

/// `--out`, or a new folder named after the time.
fn out_folder(options: &Options, named: bool) -> Result<PathBuf, Failure> {
    match &options.out {
        Some(out) => Ok(out.clone()),
        None if named => {
            let name = now()
                .to_zoned(TimeZone::system())
                .strftime("tournament-%Y-%m-%d-%H%M%S");
            Ok(PathBuf::from(name.to_string()))
        }
        None => Err(usage!(
            "there are no bots; name at least two, a folder of them, or with --out the folder of a \
             tournament to resume"
        )),
    }
}
