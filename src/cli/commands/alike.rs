use std::sync::atomic::AtomicUsize;

use serde::{Deserialize, Serialize};

use super::tournament::{Options, PlayOptions};
use crate::cli::support::folder::plan_in;
use crate::cli::support::prelude::*;
use crate::cli::support::runtime::{block_on, end_orphans, run_with_ticks};
use referee::alike::questions::{Position, draw};
use referee::alike::{Answers, QUESTIONS, Questionnaire};
use referee::play::game_runner::GameError;
use referee::report::alike::Report;
use referee::seed::{Purpose, generator};
use referee::threads::{for_each, processors};
use referee::tournament::alike::pairs;

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
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// A folder of bots, of a tournament or of a league; bots; or files of records, whose bots are asked again
    #[arg(value_name = "FOLDER|RECORDS", required = true)]
    bots: Vec<String>,

    #[command(flatten)]
    asking: Asking,
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

    /// How long to ask; slow bots are asked fewer positions
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = values::positive_duration)]
    time: Duration,

    /// Draws the positions, and is what `REFEREE_SEED` says in the first round [default: 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=0x7fff_ffff))]
    seed: Option<u32>,

    /// Also write a page to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    game: GameOptions,

    #[command(flatten)]
    times: TimeOptions,

    #[command(flatten)]
    sandbox: SandboxOptions,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    ask(&args.bots, &args.asking, None)
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
    ask(texts, &args.asking, Some(&folder.join(CACHE)))
}

fn ask(texts: &[String], asking: &Asking, cache: Option<&Path>) -> Result<()> {
    let (ruleset, bots, count) = class(texts, asking)?;
    let (seed, begun) = (asking.seed.unwrap_or(0), Instant::now());
    let stop = Arc::new(AtomicBool::new(false));
    let pieces = PiecesFile::new(None, ruleset.pieces())?;
    let bar = ProgressBar::new(bots.len() as u64, "bots");
    let done = AtomicUsize::new(0);
    let mut known = Known::read(cache, &*ruleset, seed);
    let (answers, interrupted) = run_with_ticks(
        &stop,
        || bar.set_done(done.load(Ordering::Relaxed) as u64),
        || {
            if known.positions.len() < QUESTIONS {
                let effort = Effort::Nodes(NODES);
                let analyst = Analyst::new(effort, solver::Options::default(), &stop);
                let appraiser = analyst.appraiser(&*ruleset);
                let appraiser = appraiser.as_ref();
                let mut random = generator(seed.into(), Purpose::Alike, [0, 0]);
                let until = begun + asking.time.mul_f64(DRAWING);
                let is_over = || stop.load(Ordering::Relaxed) || Instant::now() >= until;
                known.positions = draw(&*ruleset, appraiser, &mut random, QUESTIONS, is_over);
                known.answers.clear();
            }
            let interview = Interview {
                questionnaire: Questionnaire {
                    ruleset: &ruleset,
                    positions: &known.positions,
                    seed,
                },
                bots: &bots,
                pieces: pieces.path(),
                until: begun + asking.time,
                stop: &stop,
                done: &done,
            };
            interview.answers(&mut known.answers)
        },
    )?;
    bar.line.clear();
    end_orphans();
    let answers = answers?;
    if interrupted {
        return Err(Failure::Interrupted);
    }
    if let Some(path) = cache {
        replace_file(path, &serde_json::to_string(&known)?)?;
    }
    let positions = &known.positions;
    if positions.is_empty() {
        bail!(
            "no position was found in this time in which a choice says something; --time gives more"
        );
    }
    let choices = |number: usize| answers.iter().map(move |answers| answers.choices[number]);
    let questions = positions.iter().enumerate();
    let questions = questions.map(|(number, position)| position.question(choices(number)));
    let names = bots[..count].iter().map(|bot| bot.plan.name.clone());
    let names: Vec<String> = names.collect();
    let report = Report {
        ruleset: &*ruleset,
        positions,
        answers: &answers,
        names: &names,
        pairs: &pairs(&questions.collect::<Vec<_>>(), count),
        seed,
    };
    if let Some(path) = &asking.html {
        replace_file(path, &report.html())?;
    }
    let json = || format!("{:#}", report.json());
    print_found(asking.json, json, |_| report.text())
}

/// The rules; bots, then starter code; how many are bots.
type Class = (Arc<dyn Game>, Vec<Entrant>, usize);

fn class(texts: &[String], asking: &Asking) -> Result<Class> {
    let mut options = Options {
        play: PlayOptions {
            game: asking.game.clone(),
            time: asking.times.clone(),
            sandbox: asking.sandbox.clone(),
            jobs: None,
        },
        ..Options::default()
    };
    let plan = plan_in(texts)?;
    let (mut wanted, mut recorded) = (Vec::new(), None);
    if let Some(plan) = &plan {
        options = options.or_planned(plan);
        wanted.clone_from(&plan.bots);
    } else {
        let limits = options.play.time.control()?;
        for text in texts {
            let path = Path::new(text);
            if path.extension().is_none_or(|end| end != "jsonl") {
                wanted.extend(options.bots(std::slice::from_ref(text))?);
                continue;
            }
            for record in Records::open(path)? {
                let (_, record) = record?;
                for bot in &record.bots {
                    let words = bot.command.iter().map(|word| shell::quoted(word));
                    let plan = BotPlan {
                        name: bot.name.clone(),
                        bot: match &bot.command[..] {
                            [one] => one.clone(),
                            _ => words.collect::<Vec<_>>().join(" "),
                        },
                        limits,
                        ..BotPlan::default()
                    };
                    if !wanted.contains(&plan) {
                        wanted.push(plan);
                    }
                }
                recorded = Some(record);
            }
        }
    }
    let ruleset = match &recorded {
        Some(record) => record.ruleset()?,
        None => options.ruleset(plan.as_ref())?,
    };
    let starters = options.bots(&asking.starter)?;
    let is_starter = |bot: &BotPlan| starters.iter().any(|starter| starter.bot == bot.bot);
    wanted.retain(|bot| !is_starter(bot));
    wanted.extend(starters.iter().cloned());
    let sandbox = options.play.sandbox.sandbox()?;
    let found = entrants::find(&wanted, &this_program()?, &sandbox)?;
    for rejected in &found.rejected {
        let why = join_parts(&rejected.reason, "\n    ");
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

/// What was asked and answered before.
#[derive(Default, Serialize, Deserialize)]
struct Known {
    rules: String,
    seed: u32,
    positions: Vec<Position>,
    answers: BTreeMap<String, Answers>,
}

impl Known {
    /// What belongs to another seed or other rules, or is damaged, is forgotten.
    fn read(cache: Option<&Path>, ruleset: &dyn Game, seed: u32) -> Self {
        let rules = format!("{:?}", ruleset.info());
        let text = cache.and_then(|path| text_file::read(path, text_file::KEPT).ok());
        let known: Option<Self> = text.and_then(|text| serde_json::from_str(&text).ok());
        let known = known.filter(|known| (&known.rules, known.seed) == (&rules, seed));
        known.unwrap_or(Self {
            rules,
            seed,
            ..Self::default()
        })
    }
}

struct Interview<'a> {
    questionnaire: Questionnaire<'a>,
    bots: &'a [Entrant],
    pieces: Option<&'a str>,
    until: Instant,
    stop: &'a AtomicBool,
    done: &'a AtomicUsize,
}

impl Interview<'_> {
    /// Asks several bots at a time, those whose answers are not known.
    fn answers(&self, known: &mut BTreeMap<String, Answers>) -> Result<Vec<Answers>> {
        let key = |bot: &Entrant| format!("{} {:?}", bot.plan.hash, bot.plan.limits);
        let unknown = self.bots.iter();
        let unknown = unknown.filter(|bot| !known.contains_key(&key(bot)));
        let mut asked: Vec<_> = unknown.map(|bot| (bot, Ok(Answers::default()))).collect();
        let (of, threads) = (asked.len(), processors());
        self.done.store(self.bots.len() - of, Ordering::Relaxed);
        for_each(threads, &mut asked, |number, (bot, answers)| {
            // What quick bots leave is for those after them.
            let left = self.until.saturating_duration_since(Instant::now());
            let turns = (of - number).div_ceil(threads.min(of));
            *answers = self.ask(bot, left / u32::try_from(turns).unwrap_or(u32::MAX));
            self.done.fetch_add(1, Ordering::Relaxed);
        });
        let mut all = known.clone();
        for (bot, answers) in asked {
            let answers = answers?;
            if answers.is_complete {
                known.insert(key(bot), answers.clone());
            }
            all.insert(key(bot), answers);
        }
        let answers = self.bots.iter().map(|bot| all.get(&key(bot)).cloned());
        Ok(answers.flatten().collect())
    }

    /// A bot that cannot be started answers nothing.
    fn ask(&self, bot: &Entrant, budget: Duration) -> Result<Answers> {
        let ruleset = &**self.questionnaire.ruleset;
        let time = bot.plan.limits;
        let seat = || bot.seat(ruleset, self.pieces, None);
        block_on(async {
            match self.questionnaire.ask(seat, time, budget, self.stop).await {
                Err(GameError::CannotStart(error)) => {
                    let name = escape_controls(&bot.plan.name);
                    note!("{name} is left out: {error}");
                    Ok(self.questionnaire.none())
                }
                asked => asked,
            }
        })
    }
}
