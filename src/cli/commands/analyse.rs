//! `referee analyse FILE`: finds the turns at which recorded games were won and lost.

use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::report::check_not_input;
use crate::analysis::{Analyst, Effort, check, with_analysis};
use crate::cli::support::failure::Failure;
use crate::cli::support::folder::{GameChoice, records_of};
use crate::cli::support::output::{ProgressBar, Stdout, print_stderr};
use crate::cli::support::runtime::run_interruptible;
use crate::cli::support::setup::{palette, unreadable};
use crate::cli::support::solver_args::SolverArgs;
use crate::cli::support::values;
use crate::record::Record;
use crate::record::annotation::Annotation;
use crate::record::atomic_file::AtomicFile;
use crate::record::reader::Reader;
use crate::report::accuracy::{BotTally, game_text, table};
use crate::text::counted;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// A file of records, as --record writes it, or the folder of a tournament
    file: PathBuf,

    /// Only this game: 1 for the first of the file, or its id, such as p000012a
    #[arg(long, value_name = "N|ID")]
    game: Option<GameChoice>,

    /// Time to solve each turn
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = values::positive_duration)]
    time_per_move: Duration,

    /// Write all records to this file, with their analysis where there is one
    #[arg(short = 'o', long = "write", value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print one JSON document: the analysis of every game, and a summary for each bot
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    solver: SolverArgs,
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let file = records_of(&args.file)?;
    let ((), interrupted) = run_interruptible(|stop| {
        let output = args
            .output
            .as_deref()
            .map(|path| AnnotatedFile::new(path, &file));
        let output = output.transpose()?;
        let games = check_games(args, &file, stop)?;
        analyse(args, &file, games, output, stop)
    })?;
    if interrupted {
        return Err(Failure::Interrupted);
    }
    Ok(())
}

/// `-o`: written under a temporary name, then renamed.
struct AnnotatedFile {
    path: PathBuf,
    file: BufWriter<AtomicFile>,
}

impl AnnotatedFile {
    fn new(path: &Path, input: &Path) -> Result<Self, Failure> {
        check_not_input(&[input.to_owned()], path)?;
        let file = AtomicFile::create(path).map_err(|error| unreadable(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            file: BufWriter::new(file),
        })
    }

    fn line(&mut self, line: &[u8]) -> Result<(), Failure> {
        let written = self.file.write_all(line);
        written.map_err(|error| cannot_write(&self.path, &error))
    }

    fn finish(self) -> Result<(), Failure> {
        let path = self.path;
        let file = self.file.into_inner().map_err(IntoInnerError::into_error);
        let done = file.and_then(AtomicFile::commit);
        done.map_err(|error| cannot_write(&path, &error))
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::Referee(format!(
        "{}: cannot write: {error}",
        path.display(),
        error = crate::text::cause(error)
    ))
}

/// Reports a damaged line before an hour of analysis. Returns the number of games to analyse; `None` when stopped.
fn check_games(args: &Args, file: &Path, stop: &AtomicBool) -> Result<Option<u64>, Failure> {
    let failed = |error| unreadable(file, &error);
    let mut reader = Reader::open(file).map_err(failed)?;
    let (mut games, mut chosen) = (0, 0);
    while let Some(line) = reader.next_line().map_err(failed)? {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if !line.is_complete()
            && let Err(torn) = line.record()
        {
            print_stderr(&torn.to_string());
            break;
        }
        games = line.number();
        if !GameChoice::chooses(args.game.as_ref(), &line) {
            continue;
        }
        let checked = line
            .record()
            .and_then(|record| check(&record).map_err(|problem| line.damaged(problem)));
        checked.map_err(|error| Failure::Usage(error.to_string()))?;
        chosen += 1;
    }
    if let Some(game) = &args.game
        && chosen == 0
    {
        return Err(game.missing(file, games));
    }
    Ok(Some(chosen))
}

fn analyse(
    args: &Args,
    file: &Path,
    games: Option<u64>,
    mut output: Option<AnnotatedFile>,
    stop: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let effort = Effort::Time(args.time_per_move);
    let analyst = Analyst::new(effort, args.solver.options(), stop);
    let failed = |error| unreadable(file, &error);
    let mut reader = Reader::open(file).map_err(failed)?;
    let mut printer = AnalysisPrinter::new(args.json);
    let mut bots: Vec<BotTally> = Vec::new();
    let bar = ProgressBar::new(games.unwrap_or_default(), "games");
    let mut done = 0;
    while let Some(line) = reader.next_line().map_err(failed)? {
        let number = line.number();
        let wanted = GameChoice::chooses(args.game.as_ref(), &line);
        if !wanted || stop.load(Ordering::Relaxed) {
            if let Some(output) = &mut output
                && line.is_complete()
            {
                output.line(line.bytes())?;
            }
            continue;
        }
        // The incomplete last line, or one that changed since the check.
        let Ok(record) = line.record() else {
            break;
        };
        let annotation = analyst.analyse(&record, |turn| {
            bar.set_message(format!("game {number}, turn {turn}"));
        });
        let annotation =
            annotation.map_err(|problem| Failure::Usage(line.damaged(problem).to_string()))?;
        bar.inc();
        done += 1;
        if let Some(output) = &mut output {
            let mut line = with_analysis(line.bytes(), &annotation)?;
            line.push('\n');
            output.line(line.as_bytes())?;
        }
        add_tallies(&mut bots, &record, &annotation);
        bar.line
            .suspend(|| printer.game(number, &record, &annotation))?;
    }
    bar.line.clear();
    let written = output.map(AnnotatedFile::finish).transpose()?.is_some();
    let complete = games.is_some_and(|games| done >= games);
    printer.end(&bots, complete)?;
    match games {
        Some(_) if complete => {}
        Some(games) => {
            let games = counted(games, "game", "games");
            print_stderr(&format!("referee: {done} of {games} analysed"));
        }
        None => print_stderr("referee: no game analysed: interrupted while checking the file"),
    }
    if let (true, Some(path)) = (written, &args.output) {
        print_stderr(&format!("referee: the records are in {}", path.display()));
    }
    Ok(())
}

fn add_tallies(bots: &mut Vec<BotTally>, record: &Record, annotation: &Annotation) {
    let tallies = annotation.tallies(record.first, record.turns.len());
    for (bot, tally) in record.bots.iter().zip(tallies) {
        let known = bots.iter_mut().find(|known| known.name == bot.name);
        match known {
            Some(known) => known.tally += tally,
            None => bots.push(BotTally {
                name: bot.name.clone(),
                tally,
            }),
        }
    }
}

/// As text or as one JSON document.
struct AnalysisPrinter {
    json: bool,
    games: u64,
}

impl AnalysisPrinter {
    fn new(json: bool) -> Self {
        Self { json, games: 0 }
    }

    fn game(&mut self, number: u64, record: &Record, annotation: &Annotation) -> io::Result<()> {
        let mut out = Stdout;
        self.games += 1;
        if self.json {
            let before = if self.games == 1 {
                "{\"games\":[\n"
            } else {
                ",\n"
            };
            let game = json!({
                "game": number,
                "id": record.id,
                "bots": record.bots.each_ref().map(|bot| &bot.name),
                "first": record.first,
                "analysis": annotation.to_json(),
            });
            write!(out, "{before}{game}")?;
        } else {
            out.write_all(game_text(number, record, annotation).as_bytes())?;
        }
        out.flush()
    }

    fn end(&self, bots: &[BotTally], complete: bool) -> io::Result<()> {
        let mut out = Stdout;
        if self.json {
            let before = if self.games == 0 {
                "{\"games\":["
            } else {
                "\n"
            };
            let bots: Vec<Value> = bots.iter().map(BotTally::json).collect();
            let bots = Value::Array(bots);
            writeln!(
                out,
                "{before}],\n\"bots\":{bots},\n\"complete\":{complete}}}"
            )?;
        } else if self.games > 0 {
            out.write_all(table(bots, &palette(&io::stdout())).as_bytes())?;
        } else {
            writeln!(out, "no games")?;
        }
        out.flush()
    }
}
