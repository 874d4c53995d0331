//! `referee hunt BOT`: looks for the shortest games in which a bot commits a fault or gives away what it held.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::analysis::appraisal::Appraiser;
use crate::analysis::{Analyst, Effort};
use crate::bot::orphans;
use crate::bot::shell;
use crate::cli::support::failure::Failure;
use crate::cli::support::games::GameOptions;
use crate::cli::support::output::{ProgressBar, Stdout, print_stderr};
use crate::cli::support::recorded;
use crate::cli::support::runtime::{end_orphans, examine, run_with_ticks, runtime};
use crate::cli::support::sandbox::SandboxOptions;
use crate::cli::support::setup::{PiecesFile, unwritable};
use crate::cli::support::values::{self, AnswerTimes};
use crate::game::Game;
use crate::hunt::{EARLY_TURNS, Found, Hunt, Kind, Tally, record};
use crate::play::examiner::Examiner;
use crate::play::game_runner::GameRunner;
use crate::play::seat::Seat;
use crate::puzzles::making::Maker;
use crate::record::Record;
use crate::record::atomic_file::replace;
use crate::solver::{self, Limits, Solvers};
use crate::text::{counted, escape_controls};

/// For the value of one position: hard ones are left out.
const SOLVE: Duration = Duration::from_secs(2);

/// Of the time, for trying again what was found.
const TRYING_AGAIN: f64 = 0.1;

const AFTER_HELP: &str = "\
The protocol has no memory, so a bot is searched like a function: no question is asked twice. What
is found is asked again of a fresh process, and is said not to repeat where it does not. In a game
without a solver only faults are found.

Examples:
  referee hunt ./mybot
  referee hunt --time 5m --rules squares --record mistakes.jsonl ./mybot
  referee hunt --json ./mybot | scripts/judges/junit.py > hunt.xml
  referee rerun mistakes.jsonl ./mybot          # later: is it fixed?

Exit status: 0 nothing was found, which proves nothing; 3 something was; 2 wrong usage or input, or
a bot that cannot be started; 1 the referee itself failed; 130 interrupted.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct Args {
    /// The bot: a file, a command line or builtin:NAME
    bot: String,

    /// How long to look
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::positive_duration)]
    time: Duration,

    /// What `REFEREE_SEED` says, and how opponents play; the clock decides how far it comes [default: 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=0x7fff_ffff))]
    seed: Option<u32>,

    /// Write a game of each finding to this file, as --record of a match does
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// What to print
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        conflicts_with = "json",
        help_heading = "Output"
    )]
    format: Format,

    /// Print one JSON document
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    game: GameOptions,

    #[command(flatten)]
    times: AnswerTimes,

    #[command(flatten)]
    sandbox: SandboxOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    /// The questions at which it gave something away, for `referee puzzles`
    Puzzles,
}

/// What was found, and tried again.
struct Finding {
    found: Found,
    kind: Kind,
    repeats: bool,
    /// `win in 3 placements`; of the answer and the best one.
    words: Option<[String; 2]>,
    better: Option<String>,
    reproduce: Option<String>,
    /// Where it was played again and ended so.
    record: Option<Record>,
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let program = recorded::program(&args.bot, "hunted")?;
    let ruleset = args.game.ruleset()?;
    let pieces = args.game.pieces_file(&*ruleset)?;
    let program = args.sandbox.confine(&program)?;
    let time = args.times.control()?;
    let path = pieces.as_ref().map(PiecesFile::path);
    let seat = || Seat::program(&*ruleset, path, program.clone(), time);
    let analyst = Analyst::new(
        Effort::Time(SOLVE),
        solver::Options::default(),
        &Arc::default(),
    );
    let stop = AtomicBool::new(false);
    let seed = args.seed.unwrap_or(0);
    let begun = Instant::now();
    let until = begun + args.time.mul_f64(1.0 - TRYING_AGAIN);
    let hunt = Hunt::new(Arc::clone(&ruleset), time, seed, until, &stop);
    let bar = ProgressBar::new(args.time.as_secs(), "seconds");
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let (searched, interrupted) = run_with_ticks(
        &stop,
        || {
            bar.set_done(begun.elapsed().as_secs());
            bar.set_message(counted(hunt.questions() as u64, "question", "questions"));
            Ok(())
        },
        || search(&hunt, &seat, &analyst, workers),
    )?;
    bar.line.clear();
    let (found, tally) = hunt.into_found();
    let findings = searched.and_then(|()| {
        let findings = try_again(args, &ruleset, &seat, &analyst, found, seed);
        examine(findings)
    });
    end_orphans();
    let findings = findings?;
    let report = Report {
        args,
        name: &program.name,
        ruleset: &ruleset,
        findings: &findings,
        tally,
        took: begun.elapsed(),
    };
    report.write()?;
    if interrupted {
        return Err(Failure::Interrupted);
    }
    if findings.is_empty() {
        Ok(())
    } else {
        Err(Failure::Mistaken)
    }
}

fn search(
    hunt: &Hunt<'_>,
    seat: &(dyn Fn() -> Seat + Sync),
    analyst: &Analyst,
    workers: usize,
) -> Result<(), Failure> {
    let work = |number: usize| -> Result<(), Failure> {
        let appraiser = analyst.appraiser(&*hunt.ruleset);
        let runtime = runtime()?;
        let done = runtime.block_on(async {
            orphans::adopt();
            hunt.work(seat(), appraiser.as_ref(), number as u64).await
        });
        runtime.shutdown_background();
        if done.is_err() {
            hunt.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(done?)
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..workers)
            .map(|number| scope.spawn(move || work(number)))
            .collect();
        let mut done = work(0);
        for other in others {
            let other = other
                .join()
                .unwrap_or_else(|_| Err(Failure::Referee("a worker ended in a panic".to_owned())));
            done = done.and(other);
        }
        done
    })
}

/// Asks a fresh process each question again.
async fn try_again(
    args: &Args,
    ruleset: &Arc<dyn Game>,
    seat: &dyn Fn() -> Seat,
    analyst: &Analyst,
    all: BTreeMap<Kind, Found>,
    seed: u32,
) -> Result<Vec<Finding>, Failure> {
    let runner = std::rc::Rc::new(GameRunner::new(Arc::clone(ruleset), false)?);
    let time = args.times.control()?;
    let mut findings = Vec::new();
    for (number, (kind, found)) in all.into_iter().enumerate() {
        let mut examiner = Examiner::new(&runner, seat(), seed, time);
        let asked = examiner.ask(&found.line).await?;
        let repeats = match (&asked, &found.fault, &found.answer) {
            (Err(now), Some(then), _) => now.fault.reason() == then.fault.reason(),
            (Ok(now), None, Some(then)) => now.turn == *then,
            _ => false,
        };
        let fault = found.fault.as_ref();
        let alone = || {
            let fault = fault.map(|fault| &*fault.fault);
            let seat = &examiner.seat;
            seat.reproduce_command(&found.question, true, fault)
        };
        // Where the question alone is not enough, with those before it.
        let reproduce = match fault {
            Some(fault) if !repeats => fault.reproduce.clone(),
            _ => alone(),
        };
        examiner.stop().await?;
        let game = found.line.position(&**ruleset).map_err(Failure::Referee)?;
        let (words, better) = match (&found.answer, analyst.appraiser(&**ruleset)) {
            (Some(answer), Some(appraiser)) => valued(&appraiser, &*game, answer),
            _ => (None, None),
        };
        let is_whole = found.game.is_some() || found.fault.is_some() && repeats;
        let wanted = args.record.is_some() || args.format == Format::Puzzles;
        let record = if is_whole && wanted {
            let id = format!("hunt-{}", number + 1);
            Some(record(&runner, seat(), &found, id, seed).await?.record)
        } else {
            None
        };
        findings.push(Finding {
            found,
            kind,
            repeats,
            words,
            better,
            reproduce,
            record,
        });
    }
    // The shortest first.
    findings.sort_by_key(|finding| finding.found.line.turns.len());
    Ok(findings)
}

/// How the answer and the best turn end, and the best turn.
fn valued(
    appraiser: &Appraiser,
    game: &dyn Game,
    answer: &str,
) -> (Option<[String; 2]>, Option<String>) {
    let words = |text: &str| {
        let turn = game.after(text).ok()?;
        Some(appraiser.words(appraiser.turn(game, &turn)))
    };
    let better = appraiser.position(game).best.into_iter().next();
    let both = words(answer).zip(better.as_deref().and_then(words));
    (both.map(|(now, best)| [now, best]), better)
}

struct Report<'a> {
    args: &'a Args,
    name: &'a str,
    ruleset: &'a Arc<dyn Game>,
    findings: &'a [Finding],
    tally: Tally,
    took: Duration,
}

impl Report<'_> {
    fn write(&self) -> Result<(), Failure> {
        if let Some(path) = &self.args.record {
            let mut lines = String::new();
            for record in self
                .findings
                .iter()
                .filter_map(|finding| finding.record.as_ref())
            {
                lines += &record.to_line()?;
                lines.push('\n');
            }
            replace(path, lines.as_bytes()).map_err(|error| unwritable(path, &error))?;
        }
        let text = match self.args.format {
            _ if self.args.json => format!("{:#}\n", self.json()),
            Format::Text => self.text(),
            Format::Puzzles => self.puzzles()?,
        };
        if self.args.format != Format::Text {
            print_stderr(&format!("referee: {}", self.tried()));
        }
        Ok(Stdout.write_all(text.as_bytes())?)
    }

    /// What was tried, and no more.
    fn tried(&self) -> String {
        let Tally {
            questions,
            deepest,
            early: [asked, all],
            judged,
        } = self.tally;
        let judged = if self.ruleset.info().is_solvable() {
            format!(
                ", {} compared with the best",
                counted(judged as u64, "answer", "answers")
            )
        } else {
            String::new()
        };
        format!(
            "{} in {}, up to turn {}{judged}; {asked} of the {all} questions that can come up in the first {} turns",
            counted(questions as u64, "question", "questions"),
            values::in_short(Duration::from_secs(self.took.as_secs().max(1))),
            deepest + 1,
            EARLY_TURNS + 1,
        )
    }

    fn debug(&self, finding: &Finding) -> String {
        let bot = shell::quoted(&self.args.bot);
        let (info, mut options) = (self.ruleset.info(), String::new());
        if info.name != "quarto" {
            let _ = write!(options, "--game {} ", info.name);
        }
        if info.rules != "standard" {
            let _ = write!(options, "--rules {} ", info.rules);
        }
        format!(
            "referee debug {options}--start {} {bot}",
            shell::quoted(&finding.found.question)
        )
    }

    fn text(&self) -> String {
        let name = escape_controls(self.name);
        let mut text = String::new();
        for finding in self.findings {
            let turn = finding.found.line.turns.len() + 1;
            let _ = writeln!(text, "{name}: {} at turn {turn}", finding.title());
            let mut line = |label: &str, words: &str| {
                let _ = writeln!(text, "  {label} {}", escape_controls(words));
            };
            line("question:", &finding.found.question);
            match (&finding.found.fault, &finding.found.answer) {
                (Some(fault), _) => {
                    line("problem: ", &fault.fault.to_string());
                    line(
                        "fix:     ",
                        &fault.fault.advice(None, self.ruleset.program().is_some()),
                    );
                }
                (None, answer) => {
                    let [now, best] = finding.words.clone().unwrap_or_default();
                    line(
                        "answer:  ",
                        &format!("{} ({now})", answer.as_deref().unwrap_or("")),
                    );
                    if let Some(better) = &finding.better {
                        line("better:  ", &format!("{better} ({best})"));
                    }
                }
            }
            if !finding.repeats {
                line(
                    "note:    ",
                    "a fresh process answered otherwise: chance, a clock or earlier questions matter",
                );
            }
            if let Some(reproduce) = &finding.reproduce {
                line("again:   ", reproduce);
            }
            line("debug:   ", &self.debug(finding));
            text.push('\n');
        }
        if self.findings.is_empty() {
            let _ = writeln!(text, "{name}: nothing found, which proves nothing.");
        }
        text + &format!("Tried: {}.\n", self.tried())
    }

    fn json(&self) -> Value {
        let findings: Vec<Value> = self.findings.iter().map(|finding| {
            let Finding { found, kind, .. } = finding;
            let fault = found.fault.as_ref();
            json!({
                "kind": kind.0,
                "turn": found.line.turns.len() + 1,
                "question": found.question,
                "answer": found.answer.clone().or_else(|| fault.map(|fault| fault.fault.answer())),
                "before": kind.1.map(|(best, _)| best.name()),
                "after": kind.1.map(|(_, value)| value.name()),
                "in_words": finding.words.as_ref().map(|[now, _]| now),
                "better": finding.better,
                "problem": fault.map(|fault| fault.fault.to_string()),
                "turns": found.line.turns,
                "first": found.side == crate::game::Side::First,
                "repeats": finding.repeats,
                "reproduce": finding.reproduce,
                "debug": self.debug(finding),
            })
        }).collect();
        json!({
            "bot": self.name,
            "game": self.ruleset.name(),
            "rules": self.ruleset.rules(),
            "seconds": self.took.as_secs_f64(),
            "questions": self.tally.questions,
            "deepest_turn": self.tally.deepest + 1,
            "judged": self.tally.judged,
            "early": {"turns": EARLY_TURNS + 1, "asked": self.tally.early[0], "all": self.tally.early[1]},
            "findings": findings,
        })
    }

    fn puzzles(&self) -> Result<String, Failure> {
        let records = self
            .findings
            .iter()
            .filter(|finding| finding.kind.1.is_some());
        let records: Vec<&Record> = records
            .filter_map(|finding| finding.record.as_ref())
            .collect();
        let Some(first) = records.first() else {
            return Ok(String::new());
        };
        let solvers = Solvers::new(solver::Options::default());
        let mut maker = Maker::new(first, Arc::clone(self.ruleset), solvers);
        for record in records {
            maker.add(record).map_err(Failure::Referee)?;
        }
        let puzzles = maker
            .solve(&|| Limits::within(SOLVE), || true)
            .map_err(Failure::Referee)?;
        let mut text = String::new();
        for puzzle in puzzles {
            text += &serde_json::to_string(&puzzle)?;
            text.push('\n');
        }
        Ok(text)
    }
}

impl Finding {
    /// `win to loss`, or `illegal-move`.
    fn title(&self) -> String {
        match self.kind.1 {
            Some((best, value)) => format!("a {} given away: now a {}", best.name(), value.name()),
            None => format!("forfeit ({})", self.kind.0),
        }
    }
}
