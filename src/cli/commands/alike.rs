use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::tournament::{PlayOptions, TournamentOptions};
use crate::cli::support::building::SourceBuilder;
use crate::cli::support::failure::{Failure, Result, bail, usage};
use crate::cli::support::folder::{Records, plan_in, replace_file};
use crate::cli::support::games::{GameOptions, check_builtins};
use crate::cli::support::output::{ProgressBar, note, print_found};
use crate::cli::support::runtime::{block_on, end_orphans, run_with_ticks};
use crate::cli::support::sandbox::{SandboxOptions, announce, warn_root};
use crate::cli::support::setup::{PiecesFile, this_program, unreadable, wrong_at};
use crate::cli::support::values::{self, TimeOptions};
use referee::analysis::{Analyst, Effort};
use referee::bot::shell;
use referee::class::alike::questions::{Drawn, draw};
use referee::class::alike::stages::{Stages, questions};
use referee::class::alike::{AnsweredPart, Answers, BLOCK, Part, QUESTIONS, Questionnaire};
use referee::class::league::state::League;
use referee::class::report::alike::{AlikeReport, Further};
use referee::game::Ruleset;
use referee::play::game_runner::GameError;
use referee::record::Record;
use referee::record::text_file::{self, if_there};
use referee::seed::{Purpose, generator};
use referee::solver;
use referee::stats::alike::{ROUNDS, pairs};
use referee::text::{counted, escape_controls, join_parts};
use referee::threads::{self, locked, processors};
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::entrants::{self, Entrant};
use referee::tournament::plan::BotPlan;

const NODES: u64 = 1 << 22;

const DRAWING: f64 = 0.5;

const CACHE: &str = "alike.json";

const AFTER_HELP: &str = "\
All bots are asked the same positions. Where several turns are equally good, a choice tells about
the program, not its strength; where few are right, the same wrong turn does. What other bots and
simple habits explain does not count. docs/alike.md says how often that errs.

It is a reason to look at two programs and to talk with their authors, not a verdict.

Examples:
  referee alike submissions/ --html alike.html
  referee alike submissions/ --starter template/bot.py --json
  referee alike class                       # the folder of a tournament
  referee league alike term                 # asks only versions that are new

Exit status: 0 whatever was found; 2 wrong usage or input; 1 the referee itself failed; 130
interrupted.";

#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Args {
    /// A folder of bots, of a tournament or of a league; bots; or files of records, whose bots are asked again
    #[arg(value_name = "FOLDER|RECORDS", required = true)]
    bots: Vec<String>,

    #[command(flatten)]
    asking: Asking,

    /// Keep positions and answers in this file: a further run asks only what is missing
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LeagueArgs {
    /// The folder of the league
    #[arg(value_name = "DIR")]
    folder: String,

    #[command(flatten)]
    asking: Asking,
}

#[derive(Debug, clap::Args)]
struct Asking {
    /// Starter code that all have: what it explains does not count; may be given more than once
    #[arg(long, value_name = "FILE")]
    starter: Vec<String>,

    /// How long to ask; who was not asked everything then is named, and a further run goes on there
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = values::positive_duration)]
    time: Duration,

    /// Draws the positions, and is what `REFEREE_SEED` says in the first round [default: 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=0x7fff_ffff))]
    seed: Option<u32>,

    /// Also write a page to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    game: GameOptions,

    #[command(flatten)]
    times: TimeOptions,

    #[command(flatten)]
    sandbox: SandboxOptions,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let kept = args.answers.as_deref().map_or(Kept::Nowhere, Kept::In);
    ask(&args.bots, &args.asking, kept)
}

pub(crate) fn run_league(args: &LeagueArgs) -> Result<()> {
    let folder = Path::new(&args.folder);
    if League::read(folder)?.is_none() || TournamentDirectory::at(folder).plan()?.is_none() {
        bail!(
            "{}: no league has played in this folder; choose the folder of one",
            args.folder
        );
    }
    let texts = std::slice::from_ref(&args.folder);
    ask(texts, &args.asking, Kept::InLeague(&folder.join(CACHE)))
}

fn ask(texts: &[String], asking: &Asking, kept: Kept<'_>) -> Result<()> {
    let (ruleset, bots, count) = class(texts, asking)?;
    let seed = asking.seed.unwrap_or(0);
    let stop = Arc::new(AtomicBool::new(false));
    let pieces = PiecesFile::new(None, ruleset.pieces())?;
    let bar = ProgressBar::new((bots.len() * QUESTIONS * ROUNDS) as u64, "answers");
    let mut known = Known::read(kept, &*ruleset, seed)?;
    let interview = Interview {
        ruleset: &ruleset,
        seed,
        bots: &bots,
        pieces: pieces.path(),
        until: Instant::now() + asking.time,
        stop: &stop,
        starters: &bots[count..],
        done: AtomicUsize::new(0),
        missing: Mutex::default(),
        faults: Mutex::default(),
    };
    let mut stages = Stages::new(count, bots.len() - count);
    let (asked, interrupted) = run_with_ticks(
        &stop,
        || bar.set_done(interview.done.load(Ordering::Relaxed) as u64),
        || interview.ask(&mut stages, &mut known),
    )?;
    bar.line.clear();
    end_orphans();
    asked?;
    // Also of a run that was interrupted: what was answered need not be asked again.
    if let Some(path) = kept.path() {
        replace_file(path, &serde_json::to_string(&known)?)?;
    }
    if interrupted {
        return Err(Failure::Interrupted);
    }
    // Of the game's program.
    if let Some(failure) = ruleset.failure() {
        bail!("{failure}");
    }
    interview.name_silent(&known);
    let further = match kept {
        Kept::Nowhere => Further::KeepAnswers,
        Kept::In(_) | Kept::InLeague(_) => Further::SameCommand,
    };
    tell(asking, &interview, &stages, &known, further)
}

/// Prints which bots are alike, and writes the page.
fn tell(
    asking: &Asking,
    interview: &Interview<'_>,
    stages: &Stages,
    known: &Known,
    further: Further,
) -> Result<()> {
    let wanted = stages.positions();
    let positions = &known.drawn.positions[..wanted.min(known.drawn.positions.len())];
    if positions.is_empty() {
        bail!(
            "no position was found in this time in which a choice says something; --time gives more"
        );
    }
    let answers = interview.counted(stages, known);
    let count = interview.bots.len() - interview.starters.len();
    let names = interview.bots[..count].iter();
    let names: Vec<String> = names.map(|bot| bot.plan.name.clone()).collect();
    let undrawn = if known.drawn.is_complete(QUESTIONS) {
        0
    } else {
        wanted - positions.len()
    };
    let report = AlikeReport {
        ruleset: &**interview.ruleset,
        positions,
        stages,
        undrawn,
        answers: &answers,
        names: &names,
        pairs: &pairs(&questions(positions, &answers), count),
        seed: interview.seed,
        further,
    };
    if let Some(path) = &asking.html {
        replace_file(path, &report.html())?;
    }
    let json = || format!("{:#}", report.json());
    print_found(asking.json, json, |_| report.text())
}

/// The rules; bots, then starter code; how many are bots.
type Class = (Arc<dyn Ruleset>, Vec<Entrant>, usize);

fn class(texts: &[String], asking: &Asking) -> Result<Class> {
    let mut options = TournamentOptions {
        play: PlayOptions {
            game: asking.game.clone(),
            time: asking.times.clone(),
            sandbox: asking.sandbox.clone(),
            jobs: None,
        },
        ..TournamentOptions::default()
    };
    let plan = plan_in(texts)?;
    let (mut wanted, recorded) = if let Some(plan) = &plan {
        options = options.or_planned(Some(plan));
        (plan.bots.clone(), None)
    } else {
        named_bots(texts, &options)?
    };
    let ruleset = match &recorded {
        Some(record) => record.ruleset().map_err(|error| usage!("{error}"))?,
        None => options.ruleset(plan.as_ref())?,
    };
    let starters = options.bots(&asking.starter)?;
    let is_starter = |bot: &BotPlan| starters.iter().any(|starter| starter.bot == bot.bot);
    wanted.retain(|bot| !is_starter(bot));
    wanted.extend(starters.iter().cloned());
    let sandbox = options.play.sandbox.sandbox()?;
    let (builder, this) = (SourceBuilder(&options.play.sandbox), this_program()?);
    let found = entrants::find(&wanted, builder.finder(&this), &sandbox)?;
    for rejected in &found.rejected {
        let why = join_parts(&rejected.absence, "\n    ");
        if is_starter(&rejected.bot) {
            bail!("{why}");
        }
        note!("{} is left out: {why}", escape_controls(&rejected.bot.name));
    }
    announce(&sandbox);
    let mut bots = found.entered;
    warn_root(bots.iter().map(|bot| &bot.program));
    check_builtins(&*ruleset, bots.iter().map(|bot| &bot.program))?;
    bots.sort_by_key(|bot| is_starter(&bot.plan));
    let count = bots.partition_point(|bot| !is_starter(&bot.plan));
    if count < 2 {
        let bots = counted(count as u64, "bot", "bots");
        bail!("{bots} can be asked, and two are needed");
    }
    Ok((ruleset, bots, count))
}

/// The bots that are named, and those of files of records, with one of these.
fn named_bots(
    texts: &[String],
    options: &TournamentOptions,
) -> Result<(Vec<BotPlan>, Option<Record>)> {
    let (mut bots, mut recorded) = (Vec::new(), None);
    let limits = options.play.time.control()?;
    for text in texts {
        let path = Path::new(text);
        if path.extension().is_none_or(|end| end != "jsonl") {
            bots.extend(options.bots(std::slice::from_ref(text))?);
            continue;
        }
        for record in Records::open(path)? {
            let (_, record) = record?;
            for bot in &record.bots {
                let plan = BotPlan {
                    name: bot.name.clone(),
                    bot: shell::command_line(&bot.command),
                    limits,
                    ..BotPlan::default()
                };
                if !bots.contains(&plan) {
                    bots.push(plan);
                }
            }
            recorded = Some(record);
        }
    }
    Ok((bots, recorded))
}

/// What was asked and answered before.
#[derive(Default, Serialize, Deserialize)]
struct Known {
    rules: String,
    seed: u32,
    drawn: Drawn,
    answers: BTreeMap<String, Answers>,
}

impl Known {
    /// Whether all its answers are faults.
    fn is_silent(&self, bot: &Entrant) -> bool {
        let answers = self.answers.get(&key(bot));
        answers.is_some_and(Answers::is_silent)
    }

    /// What belongs to another seed or other rules, or is damaged, is forgotten, but not in a file that a person named.
    fn read(kept: Kept<'_>, ruleset: &dyn Ruleset, seed: u32) -> Result<Self> {
        let rules = format!("{:?}", ruleset.info());
        let new = Self {
            rules,
            seed,
            ..Self::default()
        };
        let Some(path) = kept.path() else {
            return Ok(new);
        };
        let text = if_there(text_file::read(path, text_file::KEPT));
        let Some(text) = text.map_err(|error| unreadable(path, &error))? else {
            return Ok(new);
        };
        let known: Option<Self> = serde_json::from_str(&text).ok();
        match (known, kept) {
            (Some(known), _) if (&known.rules, known.seed) == (&new.rules, seed) => Ok(known),
            (Some(known), Kept::In(_)) if known.rules == new.rules => {
                let problem = format!(
                    "it holds answers to other questions; go on with --seed {}, or choose another file",
                    known.seed
                );
                Err(wrong_at(path, &problem))
            }
            (Some(_), Kept::In(_)) => Err(wrong_at(
                path,
                "it holds answers of a game by other rules; choose another file",
            )),
            (None, Kept::In(_)) => Err(wrong_at(
                path,
                "it does not hold answers that --answers keeps; choose another file",
            )),
            _ => Ok(new),
        }
    }
}

/// Where answers are kept from one run to the next.
#[derive(Clone, Copy, Debug)]
enum Kept<'a> {
    Nowhere,
    /// By `--answers`.
    In(&'a Path),
    /// In the folder of a league.
    InLeague(&'a Path),
}

impl<'a> Kept<'a> {
    const fn path(self) -> Option<&'a Path> {
        match self {
            Self::Nowhere => None,
            Self::In(path) | Self::InLeague(path) => Some(path),
        }
    }
}

struct Interview<'a> {
    ruleset: &'a Arc<dyn Ruleset>,
    seed: u32,
    bots: &'a [Entrant],
    /// The last of them.
    starters: &'a [Entrant],
    pieces: Option<&'a str>,
    until: Instant,
    stop: &'a Arc<AtomicBool>,
    /// Answers, and those that need not be asked.
    done: AtomicUsize,
    /// By key: bots that cannot be started here and now. They answer nothing, which is not kept.
    missing: Mutex<HashSet<String>>,
    /// By key: the first fault of a bot in this run.
    faults: Mutex<HashMap<String, String>>,
}

/// What came of a part.
enum AskedOutcome {
    Answered(AnsweredPart),
    TimeOver,
    CannotStart,
}

/// By it the answers of a bot are kept: those of the same files are the same.
fn key(bot: &Entrant) -> String {
    format!("{} {:?}", bot.plan.hash, bot.plan.limits)
}

impl Interview<'_> {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || Instant::now() >= self.until
    }

    /// Asks block after block who may still be in a pair that stands out, until the time is over.
    fn ask(&self, stages: &mut Stages, known: &mut Known) -> Result<()> {
        loop {
            self.draw(stages.positions(), &mut known.drawn);
            let drawn = &known.drawn;
            let is_drawn =
                drawn.is_complete(QUESTIONS) || drawn.positions.len() >= stages.positions();
            let is_complete = self.ask_block(stages, known)?;
            self.check_starters(known)?;
            if !is_complete || !is_drawn {
                return Ok(());
            }
            let positions = known.drawn.positions.len().min(stages.positions());
            let answers = self.counted(stages, known);
            let goes_on = stages.advance(&known.drawn.positions[..positions], &answers);
            self.count_decided(stages);
            if !goes_on {
                return Ok(());
            }
        }
    }

    /// Refuses starter code that explains nothing, since it answers nothing.
    fn check_starters(&self, known: &Known) -> Result<()> {
        for starter in self.starters {
            if self.is_missing(starter) || known.is_silent(starter) {
                bail!(
                    "--starter {}: it gave no answer{}; `referee check {}` shows what is wrong with it",
                    starter.plan.bot,
                    self.reason(starter),
                    shell::quoted(&starter.plan.bot)
                );
            }
        }
        Ok(())
    }

    fn is_missing(&self, bot: &Entrant) -> bool {
        locked(&self.missing).contains(&key(bot))
    }

    /// Why a bot gave no answer, as far as it is known, after a colon.
    fn reason(&self, bot: &Entrant) -> String {
        let faults = locked(&self.faults);
        let fault = faults.get(&key(bot)).map(|fault| format!(": {fault}"));
        fault.unwrap_or_default()
    }

    /// Names the bots that gave no answer, of those that could be started.
    fn name_silent(&self, known: &Known) {
        for bot in self.bots {
            if !self.is_missing(bot) && known.is_silent(bot) {
                let name = escape_controls(&bot.plan.name);
                note!("{name} gave no answer{}", self.reason(bot));
            }
        }
    }

    /// Up to so many positions, in half of the time that is left.
    fn draw(&self, positions: usize, drawn: &mut Drawn) {
        if drawn.is_complete(QUESTIONS) || drawn.positions.len() >= positions {
            return;
        }
        let left = self.until.saturating_duration_since(Instant::now());
        let until = Instant::now() + left.mul_f64(DRAWING);
        let effort = Effort::Nodes(NODES);
        let analyst = Analyst::new(effort, solver::SolverOptions::default(), self.stop);
        let appraiser = analyst.appraiser(&**self.ruleset);
        let mut random = generator(self.seed.into(), Purpose::Alike, [0, 0]);
        let is_stopped = || self.stop.load(Ordering::Relaxed);
        let is_over = |found| found >= positions || is_stopped() || Instant::now() >= until;
        let (ruleset, appraiser) = (&**self.ruleset, appraiser.as_ref());
        let before = drawn.clone();
        let more = draw(ruleset, appraiser, &mut random, QUESTIONS, before, is_over);
        // The solver gave up the last position.
        if !is_stopped() {
            *drawn = more;
        }
    }

    /// The answers that count, of all bots.
    fn counted(&self, stages: &Stages, known: &Known) -> Vec<Answers> {
        let positions = known.drawn.positions.len();
        let bots = self.bots.iter().enumerate();
        bots.map(|(number, bot)| {
            let is_missing = self.is_missing(bot);
            let answers = known.answers.get(&key(bot)).filter(|_| !is_missing);
            let none = || is_missing.then(|| Answers::none(positions));
            let mut answers = answers.cloned().or_else(none).unwrap_or_default();
            answers.fit(positions);
            stages.counted(number, &answers)
        })
        .collect()
    }

    fn count_decided(&self, stages: &Stages) {
        let decided = self.bots.len() - stages.open().count();
        let blocks = QUESTIONS.div_ceil(BLOCK);
        let spared = decided * (blocks - stages.block()) * BLOCK;
        let asked = stages.block() * BLOCK * self.bots.len();
        self.done
            .store((asked + spared) * ROUNDS, Ordering::Relaxed);
    }

    /// Asks what is not known of a block: whether all has been answered.
    fn ask_block(&self, stages: &Stages, known: &mut Known) -> Result<bool> {
        let positions = &known.drawn.positions;
        let questionnaire = Questionnaire {
            ruleset: self.ruleset,
            positions: &positions[..positions.len().min(stages.positions())],
            seed: self.seed,
        };
        let mut keys = HashSet::new();
        let open = stages.open().map(|number| &self.bots[number]);
        // Two bots of the same files are asked once.
        let open = open.filter(|bot| keys.insert(key(bot)) && !self.is_missing(bot));
        let mut queue = AskingQueue::default();
        for bot in open {
            let answers = known.answers.entry(key(bot)).or_default();
            answers.fit(positions.len());
            for part in Part::of(stages.block()).filter(|part| !answers.has(*part)) {
                queue.add(bot, part, answers.faults_before(part));
            }
        }
        let (queue, found) = (Mutex::new(queue), Mutex::new(Vec::new()));
        threads::share(processors(), || {
            loop {
                let left = self.until.saturating_duration_since(Instant::now());
                let Some(part) = locked(&queue).next(left, processors()) else {
                    return;
                };
                let begun = Instant::now();
                let asked = self.ask_part(&questionnaire, &part);
                locked(&queue).took(part.bot, begun.elapsed());
                self.done.fetch_add(BLOCK, Ordering::Relaxed);
                locked(&found).push((part, asked));
            }
        });
        let mut is_complete = true;
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (part, asked) in found {
            match asked? {
                AskedOutcome::Answered(AnsweredPart { choices, fault }) => {
                    if let Some(fault) = fault {
                        let mut faults = locked(&self.faults);
                        faults.entry(key(part.bot)).or_insert(fault);
                    }
                    let answers = known.answers.entry(key(part.bot)).or_default();
                    answers.keep(part.part, &choices);
                }
                AskedOutcome::TimeOver => is_complete = false,
                AskedOutcome::CannotStart => {}
            }
        }
        Ok(is_complete)
    }

    fn ask_part(
        &self,
        questionnaire: &Questionnaire<'_>,
        asked: &AskedPart<'_>,
    ) -> Result<AskedOutcome> {
        let AskedPart { bot, part, faults } = *asked;
        if self.is_over() {
            return Ok(AskedOutcome::TimeOver);
        }
        if self.is_missing(bot) {
            return Ok(AskedOutcome::CannotStart);
        }
        let seat = bot.seat(&**self.ruleset, self.pieces, None);
        block_on(async {
            let asked = questionnaire.ask(seat, part, faults, || self.is_over());
            match asked.await {
                Err(GameError::CannotStart(error)) => {
                    if locked(&self.missing).insert(key(bot)) {
                        let name = escape_controls(&bot.plan.name);
                        note!("{name} is left out: {error}");
                    }
                    Ok::<_, Failure>(AskedOutcome::CannotStart)
                }
                asked => Ok(asked?.map_or(AskedOutcome::TimeOver, AskedOutcome::Answered)),
            }
        })
    }
}

/// What one process is asked of a bot.
#[derive(Clone, Copy)]
struct AskedPart<'a> {
    bot: &'a Entrant,
    part: Part,
    /// In the blocks before it.
    faults: usize,
}

/// The parts of a block, in the order in which they are asked: first one of each bot, which tells how long it takes. Then
/// the longest, so that no slow bot is left for the end; or the shortest, where the time is not enough for all.
#[derive(Default)]
struct AskingQueue<'a> {
    waiting: Vec<AskedPart<'a>>,
    /// By name: how long a part took in this block; `None` while the first one is asked.
    took: HashMap<&'a str, Option<Duration>>,
}

impl<'a> AskingQueue<'a> {
    fn add(&mut self, bot: &'a Entrant, part: Part, faults: usize) {
        self.waiting.push(AskedPart { bot, part, faults });
    }

    fn next(&mut self, left: Duration, threads: usize) -> Option<AskedPart<'a>> {
        let time = |part: &AskedPart<'_>| self.took.get(part.bot.plan.name.as_str()).copied();
        let known = |part: &AskedPart<'_>| time(part).flatten().unwrap_or_default();
        let all: Duration = self.waiting.iter().map(known).sum();
        let is_enough = all / u32::try_from(threads).unwrap_or(u32::MAX) <= left;
        let mut places = 0..self.waiting.len();
        let new = places.find(|place| time(&self.waiting[*place]).is_none());
        let place = new.or_else(|| {
            let by_time = |place: &usize| known(&self.waiting[*place]);
            let places = 0..self.waiting.len();
            if is_enough {
                places.rev().max_by_key(by_time)
            } else {
                places.min_by_key(by_time)
            }
        })?;
        let part = self.waiting.remove(place);
        self.took.entry(&part.bot.plan.name).or_default();
        Some(part)
    }

    fn took(&mut self, bot: &'a Entrant, time: Duration) {
        self.took.insert(&bot.plan.name, Some(time));
    }
}
