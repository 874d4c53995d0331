mod options;
mod run;
pub(crate) mod shards;

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;

use crate::cli::commands::adapt::adapter;
use crate::cli::support::building::SourceBuilder;
use crate::cli::support::failure::{Failure, Result, bail, usage};
use crate::cli::support::folder::title_of_folder;
use crate::cli::support::games::{check_builtins, check_solvable};
use crate::cli::support::logging;
use crate::cli::support::output::{ProgressLine, is_one_terminal, note, print_stderr};
use crate::cli::support::pages::{Pages, PagesOf};
use crate::cli::support::runtime::with_bots;
use crate::cli::support::sandbox::{announce, warn_large, warn_memory, warn_root};
use crate::cli::support::setup::{this_program, unreadable};
use crate::cli::support::signals::{self, Stops};
use referee::bot::shell;
use referee::entrants::adapter::Adapter;
use referee::game::Ruleset;
use referee::play::setup::now;
use referee::record::journal::{Journal, TornTail};
use referee::record::text_file;
use referee::sandbox::Sandbox;
use referee::sandbox::snapshot::RunOutputs;
use referee::server::LiveState;
use referee::text::{counted, escape_controls};
use referee::threads::processors;
use referee::tournament::bot_files::{FolderContext, KnownFiles};
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::entrants::{self, Entrant, Entrants};
use referee::tournament::plan::Plan;
use referee::tournament::plan::request::{PlanRequest, ScheduleRequest};
use referee::tournament::preparation::{PreparationNotice, ResumeRequest};
use referee::tournament::seeding::{listed, seeded};
use referee::tournament::shard::{Header, Shard};
use referee::tournament::{Arena, GameSettings, TournamentError};

pub(crate) use self::options::{
    BotOptions, ChangesOption, PlayOptions, TournamentOptions, named_from,
};

#[cfg(feature = "class-server")]
pub(crate) use self::run::write_tables;
pub(crate) use self::run::{Venue, play, print_plan, tell, warn_of_repetition, with_resume};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files, command lines or builtin:NAME; of a directory, every program in it. Without bots,
    /// the tournament in --out is resumed
    #[arg(value_name = "BOT")]
    bots: Vec<String>,

    /// The files and folders are agents for another protocol; see `referee adapt`
    #[arg(long, value_name = "ADAPTER", value_parser = adapter(), hide_short_help = true)]
    adapter: Option<&'static Adapter>,

    /// A TOML file with bots and options; the command line takes precedence
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// The folder for all files; a tournament that is there is resumed
    /// [default: a new one, named after the time]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,

    #[command(flatten)]
    changes: ChangesOption,

    #[command(flatten)]
    schedule: ScheduleRequest,

    #[command(flatten)]
    options: TournamentOptions,
}

impl Args {
    fn options(&self) -> Result<TournamentOptions> {
        let mut options = self.options.clone();
        options.request.schedule = self.schedule.clone();
        options.out.clone_from(&self.out);
        options.changes = self.changes;
        options.bots = BotOptions::read(self.config.as_deref())?;
        options.adapter = self.adapter;
        if let Some(game) = self.adapter.and_then(|adapter| adapter.game) {
            options.play.game.choose(game, "--adapter")?;
        }
        Ok(options)
    }
}

/// The bots that `--adapter` makes, in the folder of the tournament.
const ADAPTED: &str = "adapted";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Play,
    Plan,
    Announce,
    Shard(Shard, Duration),
}

pub(crate) fn run(args: &Args) -> Result<()> {
    start(&args.bots, args.options()?, Task::Play)
}

pub(crate) fn start(texts: &[String], options: TournamentOptions, task: Task) -> Result<()> {
    let named = !texts.is_empty() || !options.bots.is_empty();
    let out = out_folder(&options, named)?;
    let is_new = !out.join("plan.json").exists();
    if is_new && (!named || matches!(task, Task::Shard(..))) {
        let fix = match task {
            Task::Shard(..) => format!(
                "plan one first: referee shard plan BOT1 BOT2 --out {}",
                shell::quoted(&out.to_string_lossy())
            ),
            _ => "name bots to begin one".to_owned(),
        };
        bail!("{}: there is no tournament to resume; {fix}", out.display());
    }
    let beginning = Beginning::of(&out);
    let played = OpenTournament::new(texts, options, task, &out).and_then(|tournament| {
        with_bots(async {
            // Before the slow entry checks: a port that is taken leaves no plan behind.
            let pages = tournament.is_played().then(|| tournament.pages());
            tournament.run(pages.transpose()?, signals::heed()).await
        })
    });
    beginning.end(played)
}

/// What is removed again of a tournament that does not begin.
pub(crate) struct Beginning {
    out: PathBuf,
    is_created: bool,
    missing: Vec<PathBuf>,
}

impl Beginning {
    pub(crate) fn of(out: &Path) -> Self {
        let files = ["games.jsonl", "pieces.csv"].map(|file| out.join(file));
        Self {
            out: out.to_owned(),
            is_created: !out.exists(),
            missing: files.into_iter().filter(|file| !file.exists()).collect(),
        }
    }

    pub(crate) fn end(self, result: Result<()>) -> Result<()> {
        if result.is_err() && !self.out.join("plan.json").exists() {
            for file in self.missing {
                let _ = fs::remove_file(file);
            }
            if self.is_created {
                let _ = fs::remove_dir_all(self.out.join(ADAPTED));
                let _ = fs::remove_dir(&self.out);
            }
        }
        result
    }
}

/// A tournament whose folder is open, and whose bots are found.
pub(crate) struct OpenTournament {
    task: Task,
    out: PathBuf,
    folder: OpenFolder,
    options: TournamentOptions,
    sandbox: Sandbox,
    entrants: Entrants,
    jobs: usize,
    ruleset: Arc<dyn Ruleset>,
}

impl OpenTournament {
    pub(crate) fn new(
        texts: &[String],
        options: TournamentOptions,
        task: Task,
        out: &Path,
    ) -> Result<Self> {
        let folder = OpenFolder::open(out, task)?;
        let old = folder.old.as_ref();
        let options = options.or_planned(old);
        let sandbox = options.play.sandbox.sandbox()?;
        let mut entrants = find_entrants(texts, &options, old, &folder.directory, &sandbox)?;
        if let Some(seeds) = &options.request.schedule.seeds {
            apply_seeds(seeds, &mut entrants)?;
        }
        if old.is_none() {
            announce(&sandbox);
        }
        let programs = || entrants.entered.iter().map(|entrant| &entrant.program);
        warn_root(programs());
        warn_large(programs());
        let is_played = matches!(task, Task::Play | Task::Shard(..));
        let playing: &[_] = if is_played { &entrants.entered } else { &[] };
        let jobs = jobs(&options, playing, &sandbox);
        if options.out.is_none() {
            note!("all files are written to {}", out.display());
        }
        let ruleset = options.ruleset(old)?;
        check_game(&*ruleset, &options, &entrants)?;
        Ok(Self {
            task,
            out: out.to_owned(),
            folder,
            options,
            sandbox,
            entrants,
            jobs,
            ruleset,
        })
    }

    const fn is_played(&self) -> bool {
        matches!(self.task, Task::Play | Task::Shard(..))
    }

    /// Those that the options ask for.
    fn pages(&self) -> Result<Pages> {
        let journal = &*self.folder.journal_file;
        let of = PagesOf {
            title: &title_of_folder(&self.out),
            played: Some(journal),
            records: Some(journal),
            folder: (!matches!(self.task, Task::Shard(..))).then_some(&*self.out),
            limits: &self.sandbox.bounds(),
        };
        self.options.pages.open(&of, &self.ruleset)
    }

    /// Without `pages`: makes the plan, and plays nothing. The first of `stops` lets games end that are being played.
    pub(crate) async fn run(self, pages: Option<Pages>, mut stops: Stops) -> Result<()> {
        let Self {
            task,
            folder,
            options,
            sandbox,
            entrants,
            ..
        } = self;
        let OpenFolder {
            directory,
            old,
            journal,
            journal_file,
            shard_file,
        } = folder;
        let settings = GameSettings::new(self.ruleset, self.jobs, &directory)?;
        let request = options.request(&sandbox);
        let (stops, shown) = (&mut stops, pages.as_ref());
        let preparation = Preparation {
            request: &request,
            settings: &settings,
            directory: &directory,
            changes: options.changes,
        };
        let (plan, bots) = preparation.prepare(old, entrants, stops, shown).await?;
        let Some(pages) = pages else {
            if task == Task::Plan {
                print_plan(&plan, &directory);
            }
            return Ok(());
        };
        let shard = shard_of(task, &plan, &directory)?;
        let mut arena = Arena::open(&settings, &directory, journal, &journal_file, plan, bots)?;
        arena.shard = shard;
        if let (Some(shard), Some(path)) = (shard, &shard_file) {
            let header = Header::new(&arena.plan, shard, arena.results.games);
            directory.read_kept(&arena.plan, shard, &mut arena.results)?;
            let appended = header.append(path);
            appended.map_err(|error| unreadable(path, &error))?;
        }
        if arena.results.games > 0 {
            let (before, all) = (arena.results.games, arena.expected());
            note!("resuming after {before} of {all} games");
        }
        let resume = resume_command(&directory, shard, &options);
        play(arena, &options, pages, &resume, stops).await?;
        Ok(())
    }
}

/// The folder of a tournament, which no other referee plays in meanwhile.
struct OpenFolder {
    directory: TournamentDirectory,
    /// The plan that is resumed.
    old: Option<Plan>,
    journal: Journal,
    journal_file: PathBuf,
    /// The header of a shard's journal.
    shard_file: Option<PathBuf>,
}

impl OpenFolder {
    fn open(out: &Path, task: Task) -> Result<Self> {
        let directory = TournamentDirectory::make(out)?;
        let old = directory.plan()?;
        let (journal_file, shard_file) = match (task, &old) {
            (Task::Shard(shard, _), Some(plan)) => {
                let [journal, header] = directory.shard_files(shard, plan)?;
                (journal, Some(header))
            }
            _ => (directory.journal_file(), None),
        };
        let (journal, torn) = shards::open_journal(&directory, &journal_file, task)?;
        torn.iter().for_each(note_torn);
        Ok(Self {
            directory,
            old,
            journal,
            journal_file,
            shard_file,
        })
    }
}

/// Refuses what this game does not have.
fn check_game(
    ruleset: &dyn Ruleset,
    options: &TournamentOptions,
    entrants: &Entrants,
) -> Result<()> {
    check_solvable(ruleset, "--adjudicate", options.request.games.adjudicate)?;
    check_solvable(ruleset, "--analyse", options.analyse)?;
    let programs = entrants.entered.iter().map(|entrant| &entrant.program);
    check_builtins(ruleset, programs)
}

fn shard_of(task: Task, plan: &Plan, directory: &TournamentDirectory) -> Result<Option<Shard>> {
    match task {
        Task::Shard(..) if plan.sprt.is_some() => bail!(
            "a sequential test decides after every pair whether to stop, so it cannot be played in parts; use referee \
             tournament --out {}",
            directory.quoted()
        ),
        Task::Shard(shard, _) => Ok(Some(shard)),
        Task::Play | Task::Plan | Task::Announce => Ok(None),
    }
}

fn note_torn(torn: &TornTail) {
    note!(
        "the last line of the journal was incomplete; its {} bytes are now in {}, and \
         the game will be played again",
        torn.bytes,
        torn.kept_in.display()
    );
}

/// Those of the plan that is resumed, if no bots are named.
fn find_entrants(
    texts: &[String],
    options: &TournamentOptions,
    old: Option<&Plan>,
    directory: &TournamentDirectory,
    sandbox: &Sandbox,
) -> Result<Entrants> {
    let is_named = !texts.is_empty() || !options.bots.is_empty();
    let bots = match old {
        Some(plan) if !is_named => plan.all_bots().cloned().collect(),
        _ => match options.adapter {
            Some(adapter) => options.bots(&adapted(adapter, texts, directory)?)?,
            None => options.bots(texts)?,
        },
    };
    let accept = options.changes.accept_changes;
    let folders = folder_context(old.map(|_| directory), accept, options.pages.files())?;
    let (builder, this) = (SourceBuilder(&options.play.sandbox), this_program()?);
    let entrants = entrants::find_in(&bots, builder.finder(&this), sandbox, &folders)
        .map_err(|error| with_place(error.into(), old))?;
    check_own_folders(&entrants, directory.path())?;
    Ok(entrants)
}

/// These bots with those that are made of each file and folder in their place.
fn adapted(
    adapter: &Adapter,
    texts: &[String],
    directory: &TournamentDirectory,
) -> Result<Vec<String>> {
    let out = directory.path().join(ADAPTED);
    match fs::remove_dir_all(&out) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(unreadable(&out, &error));
        }
        _ => {}
    }
    let mut bots = Vec::new();
    for text in texts {
        let path = Path::new(text);
        // What is not there is a command line or a built-in bot, or is refused as a bot.
        if path.exists() {
            let made = adapter.adapt(path, &out)?;
            bots.extend(made.iter().map(|bot| bot.to_string_lossy().into_owned()));
        } else {
            bots.push(text.clone());
        }
    }
    Ok(bots)
}

fn resume_command(
    directory: &TournamentDirectory,
    shard: Option<Shard>,
    options: &TournamentOptions,
) -> String {
    let path = directory.quoted();
    let mut command = match shard {
        None => format!("to resume: referee tournament --out {path}"),
        Some(shard) => format!("to resume: referee shard run {path} --shard {shard}"),
    };
    // Options that the plan does not hold.
    if let Some(jobs) = options.play.jobs {
        let _ = write!(command, " --jobs {jobs}");
    }
    if options.analyse {
        command.push_str(" --analyse");
    }
    if let Some(time) = options.time_per_move {
        let _ = write!(command, " --time-per-move {}s", time.as_secs_f64());
    }
    if options.pages.are_on() {
        command.push_str(", with --report or --live as before");
    }
    command
}

/// Where paths of the plan's bots start, when something was not found from another folder.
pub(crate) fn with_place(failure: Failure, plan: Option<&Plan>) -> Failure {
    let begun_in = plan.and_then(|plan| plan.begun_in.as_deref());
    let here = std::env::current_dir().ok();
    let text = match &failure {
        Failure::Usage(text) => text.clone(),
        Failure::CannotStart(error) => error.to_string(),
        _ => return failure,
    };
    match (begun_in, here) {
        (Some(begun_in), Some(here)) if here != Path::new(begun_in) => {
            let place = escape_controls(begun_in);
            usage!(
                "{text}\nthis tournament was begun in {place}, where paths of its bots start; give the command there"
            )
        }
        _ => failure,
    }
}

/// What is known of bots' folders: `files` of this run do not count, nor what is new since the tournament of `directory`
/// began, unless changes are accepted.
pub(crate) fn folder_context(
    directory: Option<&TournamentDirectory>,
    accept: bool,
    files: impl IntoIterator<Item = PathBuf>,
) -> Result<FolderContext> {
    let known = match directory {
        Some(directory) if !accept => KnownFiles::read(directory)?,
        _ => KnownFiles::default(),
    };
    let files: Vec<PathBuf> = files.into_iter().chain(logging::file()).collect();
    Ok(known.context(RunOutputs::of_this_run(&files)))
}

/// Refuses outputs within the folder of a bot: when the tournament is resumed, they would change the hash of its
/// files.
fn check_own_folders(entrants: &Entrants, out: &Path) -> Result<()> {
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

fn out_folder(options: &TournamentOptions, named: bool) -> Result<PathBuf> {
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

const SEEDS: usize = 16;

/// Makes the plan of a new tournament, or finds how one goes on.
struct Preparation<'a> {
    request: &'a PlanRequest,
    settings: &'a GameSettings,
    directory: &'a TournamentDirectory,
    changes: ChangesOption,
}

impl Preparation<'_> {
    async fn prepare(
        &self,
        old: Option<Plan>,
        entrants: Entrants,
        stops: &mut Stops,
        pages: Option<&Pages>,
    ) -> Result<(Plan, Vec<Entrant>)> {
        let line = ProgressLine::new();
        let mut notify = |notice: PreparationNotice<'_>| {
            if let (PreparationNotice::Checking { done, of, .. }, Some(pages)) = (&notice, pages) {
                pages.set_state(LiveState::Checking(*done, *of));
            }
            print_notice(&line, notice);
        };
        if let Some(old) = old {
            let begun_in = old.clone();
            let ruleset = &*self.settings.ruleset;
            let resumption = ResumeRequest {
                options: self.request,
                ruleset,
                directory: self.directory,
                accept_changes: self.changes.accept_changes,
            };
            let resumed = resumption.resume(old, entrants, &mut notify);
            return resumed.map_err(|error| match error {
                missing @ TournamentError::Missing(_) => {
                    with_place(missing.into(), Some(&begun_in))
                }
                error => error.into(),
            });
        }
        let begun = tokio::select! {
            begun = self.request.begin(self.settings, self.directory, entrants, &mut notify) => begun?,
            _ = stops.recv() => return Err(Failure::Interrupted),
        };
        line.clear();
        // On one terminal the bracket is enough, which is printed at the end.
        let format = begun.0.format;
        if format.depends_on_results() && !(format.eliminates() && is_one_terminal()) {
            print_stderr(&seed_list(&begun.0));
        }
        Ok(begun)
    }
}

pub(crate) fn print_notice(line: &ProgressLine, notice: PreparationNotice<'_>) {
    let text = match notice {
        PreparationNotice::Checking { names, done, of } => {
            // On a terminal always: the next notice may be far away.
            if line.is_terminal || line.is_due() {
                let names = escape_controls(&names.join(", "));
                let now = if names.is_empty() { "" } else { "; now " };
                line.report(format!("checked {done} of {of} bots{now}{names}"));
            }
            return;
        }
        PreparationNotice::Text(text) => format!("referee: {text}"),
    };
    line.clear();
    print_stderr(&text);
}

fn seed_list(plan: &Plan) -> String {
    let by = plan.seeded_by.as_deref().map_or_else(
        || "in the order given, those of a folder by name".to_owned(),
        |file| format!("by {}", escape_controls(file)),
    );
    let seeds = plan.bots.iter().enumerate().take(SEEDS);
    let seeds = seeds.map(|(place, bot)| format!("{} {}", place + 1, bot.name));
    let seeds = seeds.collect::<Vec<_>>().join(", ");
    let mut text = format!("referee: seeds, {by}: {seeds}");
    let more = plan.bots.len().saturating_sub(SEEDS);
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    if plan.seeded_by.is_none() {
        text.push_str("; --seeds FILE takes the order of a standings file");
    }
    text
}

fn apply_seeds(path: &Path, entrants: &mut Entrants) -> Result<()> {
    let path = if path.is_dir() {
        path.join("standings.csv")
    } else {
        path.to_owned()
    };
    let text = text_file::read(&path, text_file::KEPT);
    let text = text.map_err(|error| unreadable(&path, &error))?;
    let names = entrants.names();
    let seeded =
        seeded(&text, &names).map_err(|problem| usage!("--seeds {}: {problem}", path.display()))?;
    let unnamed = seeded.unnamed.iter();
    let unnamed = unnamed.filter(|&&bot| bot < entrants.entered.len());
    let unnamed: Vec<&str> = unnamed.map(|&bot| names[bot]).collect();
    if !unnamed.is_empty() {
        note!(
            "warning: {} has no place for {}: seeded last and in the order given",
            path.display(),
            listed(unnamed.into_iter())
        );
    }
    if seeded.others > 0 {
        let names = counted(seeded.others as u64, "name", "names");
        note!("{} has {names} without a bot here", path.display());
    }
    let bots = std::mem::take(&mut entrants.entered).into_iter();
    let mut bots: Vec<_> = bots.map(Some).collect();
    let order = seeded.order.iter();
    let in_order = order.filter_map(|&bot| bots.get_mut(bot)?.take());
    entrants.entered = in_order.collect();
    Ok(())
}

fn usual_jobs() -> usize {
    (processors() / 2).max(1)
}

pub(crate) fn jobs(options: &TournamentOptions, entrants: &[Entrant], sandbox: &Sandbox) -> usize {
    let cores = processors();
    let jobs = options.play.jobs.map_or_else(usual_jobs, usize::from);
    // Below one second a wait for a core matters.
    let short = |time: Duration| time < Duration::from_secs(1);
    let is_short = entrants.iter().any(|bot| {
        let limits = &bot.plan.limits;
        limits.move_time.is_some_and(short) || limits.game_time.is_some_and(|time| short(time / 8))
    });
    if jobs * 2 > cores && is_short {
        let consequence = if cfg!(all(target_os = "linux", not(portable))) {
            "bots will wait for each other, which is not charged to them but delays the games"
        } else {
            "bots will lose on time because they wait for each other"
        };
        note!(
            "warning: {jobs} games at a time need {} cores and there are {cores}, but the \
             clocks are short: {consequence}; use --jobs {}",
            jobs * 2,
            usual_jobs()
        );
    }
    warn_memory(sandbox, jobs.saturating_mul(2));
    jobs
}
