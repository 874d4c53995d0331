use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::cli::support::failure::{Failure, Result, WRONG};
use crate::cli::support::folder::replace_file;
use crate::cli::support::games::GameOptions;
use crate::cli::support::output::{ProgressBar, print_found};
use crate::cli::support::recorded;
use crate::cli::support::runtime::{end_orphans, examine, run_with_ticks};
use crate::cli::support::sandbox::SandboxOptions;
use crate::cli::support::setup::terminal_width;
use crate::cli::support::values::{self, AnswerTimes, in_short};
use referee::analysis::{Analyst, Effort};
use referee::bot::fault::crash;
use referee::bot::shell;
use referee::executable::interpreter::Language;
use referee::game::Ruleset;
use referee::play::seat::Seat;
use referee::report::terminal::labelled;
use referee::solver;
use referee::study::hunt::{EARLY_TURNS, Hunt, HuntTally};
use referee::study::second_try::{HuntFinding, SecondTry};
use referee::text::{counted, escape_controls};

const SOLVE: Duration = Duration::from_secs(2);

const TRYING_AGAIN: f64 = 0.1;

const AFTER_HELP: &str = "\
The protocol has no memory, so a bot is searched like a function: only early questions are asked
twice. What is found is asked again of a fresh process, and is said not to repeat where it does not.
In a game without a solver only faults are found.

Examples:
  referee hunt ./mybot
  referee hunt --time 5m --rules squares --record mistakes.jsonl ./mybot
  referee hunt --json ./mybot | scripts/judges/junit.py > hunt.xml
  referee rerun mistakes.jsonl ./mybot          # later: is it fixed?

Exit status: 0 nothing was found, which proves nothing; 3 something was; 2 wrong usage or input, or
a bot that cannot be started; 1 the referee itself failed; 130 interrupted.";

#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The bot: a file, a command line or builtin:NAME
    bot: String,

    /// How long to look
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::positive_duration)]
    time: Duration,

    /// What `REFEREE_SEED` says, and how opponents play; the clock decides how far it comes [default: 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=0x7fff_ffff))]
    seed: Option<u32>,

    /// Write a game of each finding to this file, as --record of a match does
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    record: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    game: GameOptions,

    #[command(flatten)]
    times: AnswerTimes,

    #[command(flatten)]
    sandbox: SandboxOptions,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let program = recorded::program(&args.bot, "hunted", &args.sandbox, &args.game.typed())?;
    let ruleset = args.game.ruleset()?;
    let pieces = args.game.pieces_file(&*ruleset)?;
    let program = args.sandbox.confine(&program)?;
    let time = args.times.control()?;
    let seat = || Seat::program(&*ruleset, pieces.path(), program.clone(), time);
    let effort = Effort::Time(SOLVE);
    let analyst = Analyst::new(effort, solver::SolverOptions::default(), &Arc::default());
    let stop = AtomicBool::new(false);
    let seed = args.seed.unwrap_or(0);
    let begun = Instant::now();
    let hunt = Hunt {
        ruleset: Arc::clone(&ruleset),
        time,
        seed,
        until: begun + args.time.mul_f64(1.0 - TRYING_AGAIN),
        stop: &stop,
        shared: Mutex::default(),
    };
    let search = || hunt.search(&seat, &analyst);
    let (searched, interrupted) = with_progress(&hunt, args.time, begun, search)?;
    let (found, tally) = hunt.into_found();
    let again = SecondTry {
        ruleset: &ruleset,
        seat: &seat,
        time,
        analyst: &analyst,
        seed,
        records: args.record.is_some(),
    };
    let again = async { Ok(again.try_all(found).await?) };
    let searched = searched.map_err(Failure::from);
    let findings = searched.and_then(|()| examine(again));
    end_orphans();
    let report = Report {
        args,
        name: &program.name,
        language: seat().language(),
        ruleset: &*ruleset,
        findings: &findings?,
        tally,
        took: begun.elapsed(),
    };
    if let Some(path) = &args.record {
        write_games(path, report.findings)?;
    }
    let json = || format!("{:#}", report.json());
    print_found(args.json, json, |_| report.text())?;
    match report.findings {
        _ if interrupted => Err(Failure::Interrupted),
        [] => Ok(()),
        _ => Err(WRONG),
    }
}

/// Shows how far a search is; returns whether it was interrupted, too.
fn with_progress<T: Send>(
    hunt: &Hunt<'_>,
    time: Duration,
    begun: Instant,
    search: impl FnOnce() -> T + Send,
) -> Result<(T, bool)> {
    let bar = ProgressBar::new(time.as_secs(), "seconds");
    let on_tick = || {
        bar.set_done(begun.elapsed().as_secs());
        bar.set_message(counted(hunt.questions() as u64, "question", "questions"));
    };
    let searched = run_with_ticks(hunt.stop, on_tick, search)?;
    bar.line.clear();
    Ok(searched)
}

/// A game of each finding, as records.
fn write_games(path: &Path, findings: &[HuntFinding]) -> Result<()> {
    let records = findings.iter().flat_map(|finding| &finding.record);
    let lines = records.map(|record| Ok(record.to_line()? + "\n"));
    replace_file(path, &lines.collect::<Result<String>>()?)
}

struct Report<'a> {
    args: &'a Args,
    name: &'a str,
    language: Option<Language>,
    ruleset: &'a dyn Ruleset,
    findings: &'a [HuntFinding],
    tally: HuntTally,
    took: Duration,
}

impl Report<'_> {
    fn tried(&self) -> String {
        let (questions, deepest) = (self.tally.questions, self.tally.deepest);
        let [asked, all] = self.tally.early;
        let answers = counted(self.tally.judged as u64, "answer", "answers");
        let judged = format!(", {answers} compared with the best");
        let judged = Some(judged).filter(|_| self.ruleset.info().is_solvable());
        let judged = judged.unwrap_or_default();
        format!(
            "{} in {}, up to turn {}{judged}; {asked} of the {all} questions that can come up in the first {} turns",
            counted(questions as u64, "question", "questions"),
            in_short(Duration::from_secs(self.took.as_secs().max(1))),
            deepest + 1,
            EARLY_TURNS + 1,
        )
    }

    fn debug(&self, finding: &HuntFinding) -> String {
        let bot = shell::quoted(&self.args.bot);
        let (game, start) = (self.args.game.typed(), shell::quoted(&finding.start));
        format!("referee debug{game} --start {start} {bot}")
    }

    fn text(&self) -> String {
        let name = escape_controls(self.name);
        let mut text = String::new();
        for finding in self.findings {
            let turn = finding.found.line.turns.len() + 1;
            let _ = writeln!(text, "{name}: {} at turn {turn}", finding.title());
            let columns = terminal_width(&io::stdout());
            let mut line = |label: &str, words: &str, columns: Option<usize>| {
                let label = format!("  {label} ");
                text += &labelled(&label, &escape_controls(words), columns);
                text.push('\n');
            };
            // What is to be copied stays in one line.
            line("question:", &finding.found.question, None);
            match (&finding.found.fault, &finding.found.answer) {
                (Some(fault), _) => {
                    let is_program = self.ruleset.program().is_some();
                    line("problem: ", &fault.fault.to_string(), columns);
                    if let Some(error) = crash::explaining_line(&fault.stderr) {
                        line("stderr:  ", &error, columns);
                    }
                    line(
                        "fix:     ",
                        &fault.advice(self.language, is_program),
                        columns,
                    );
                }
                (None, answer) => {
                    let answer = answer.as_deref().unwrap_or("");
                    let words = finding.words.as_deref().unwrap_or("");
                    line("answer:  ", &format!("{answer} ({words})"), columns);
                    if let Some((words, better)) = &finding.better {
                        line("better:  ", &format!("{better} ({words})"), columns);
                    }
                }
            }
            if !finding.repeats {
                let why = "a fresh process answered otherwise: chance, a clock or earlier questions matter";
                line("note:    ", why, columns);
            }
            if let Some(reproduce) = &finding.reproduce {
                line("again:   ", reproduce, None);
            }
            line("debug:   ", &self.debug(finding), None);
            text.push('\n');
        }
        if self.findings.is_empty() {
            let _ = writeln!(text, "{name}: nothing found, which proves nothing.");
        }
        text + &format!("Tried: {}.\n", self.tried())
    }

    fn json(&self) -> Json {
        let findings: Vec<Json> = self.findings.iter().map(|finding| {
            let HuntFinding { found, kind, .. } = finding;
            let fault = found.fault.as_ref();
            json!({
                "kind": kind.0,
                "turn": found.line.turns.len() + 1,
                "question": found.question,
                "answer": found.answer.clone().or_else(|| fault.map(|fault| fault.fault.answer())),
                "before": kind.1.map(|(best, _)| best.name()),
                "after": kind.1.map(|(_, value)| value.name()),
                "in_words": finding.words,
                "better": finding.better.as_ref().map(|(_, better)| better),
                "problem": fault.map(|fault| fault.fault.to_string()),
                "stderr": fault.and_then(|fault| crash::explaining_line(&fault.stderr)),
                "turns": found.line.turns,
                "first": found.side == referee::game::Side::First,
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
}
