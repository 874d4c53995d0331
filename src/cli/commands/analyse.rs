use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::report::check_not_input;
use crate::cli::support::failure::Result;
use crate::cli::support::folder::{GameChoice, Records, invalid, records_of};
use crate::cli::support::output::{self, ProgressBar, Stdout, note, print_found, print_stderr};
use crate::cli::support::runtime::run_interruptible;
use crate::cli::support::setup::{terminal_width, unwritable};
use crate::cli::support::values::{self, SolverArgs};
use referee::analysis::{Analyst, Effort, check, with_analysis};
use referee::record::Record;
use referee::record::annotation::Annotation;
use referee::record::atomic_file::AtomicFile;
use referee::record::reader::LineError;
use referee::report::accuracy::{BotTally, game_text, table};
use referee::text::counted;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A file of records, as --record writes it, or the folder of a tournament; - is standard input
    file: PathBuf,

    /// Only this game: 1 for the first of the file, or its id, such as p000012a
    #[arg(long, value_name = "N|ID")]
    number: Option<GameChoice>,

    /// Time to solve each turn
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = values::positive_duration, help_heading = "Analysis")]
    time_per_move: Duration,

    /// Write all records to this file, with their analysis where there is one
    #[arg(short = 'o', long = "out", alias = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print one JSON document: the analysis of every game, and a summary for each bot
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    solver: SolverArgs,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if args.output.is_some() {
        output::outlive_reader();
    }
    let file = records_of(&args.file)?;
    if let Some(path) = &args.output {
        check_not_input(std::slice::from_ref(&file), path)?;
    }
    // Standard input may not end: while it is read, signals end the program.
    let games = read(args, &file)?;
    run_interruptible(|stop| {
        let target = args.output.as_deref().map(|path| {
            let target = AtomicFile::create(path);
            target.map_err(|error| unwritable(path, &error))
        });
        analyse(args, &file, &games, target.transpose()?, stop)
    })
}

struct Game {
    number: u64,
    line: Vec<u8>,
    record: Option<Record>,
}

/// Without those that are neither analysed nor written.
fn read(args: &Args, file: &Path) -> Result<Vec<Game>> {
    let mut reader = Records::open(file)?;
    let (mut games, mut count, mut is_there) = (Vec::new(), 0, false);
    while let Some(line) = reader.next_line()? {
        if let Some(torn) = line.torn() {
            print_stderr(&torn.to_string());
            break;
        }
        count = line.number();
        let is_chosen = GameChoice::chooses(args.number.as_ref(), &line);
        is_there |= is_chosen;
        let record = is_chosen.then(|| {
            let record = line.record()?;
            check(&record).map_err(|problem| line.error(problem.to_string()))?;
            Ok::<_, LineError>(record)
        });
        let record = record.transpose()?;
        if is_chosen || args.output.is_some() {
            games.push(Game {
                number: count,
                line: line.bytes().to_vec(),
                record,
            });
        }
    }
    match &args.number {
        Some(number) if !is_there => Err(number.missing(file, count)),
        _ => Ok(games),
    }
}

fn analyse(
    args: &Args,
    file: &Path,
    games: &[Game],
    target: Option<AtomicFile>,
    stop: &Arc<AtomicBool>,
) -> Result<()> {
    let effort = Effort::Time(args.time_per_move);
    let analyst = Analyst::new(effort, args.solver.options(), stop);
    let chosen = games.iter().filter(|game| game.record.is_some());
    let chosen = chosen.count() as u64;
    let mut bots: Vec<BotTally> = Vec::new();
    let (mut analyses, mut output) = (Vec::new(), Vec::new());
    let bar = ProgressBar::new(chosen, "games");
    let mut done = 0;
    for game in games {
        let (number, line) = (game.number, &game.line);
        let is_over = stop.load(Ordering::Relaxed);
        let record = game.record.as_ref().filter(|_| !is_over);
        let Some(record) = record else {
            output.extend(line);
            continue;
        };
        let annotation = analyst.analyse(record, |turn| {
            bar.set_message(format!("game {number}, turn {turn}"));
        });
        let annotation =
            annotation.map_err(|problem| invalid(file, number, &problem.to_string()))?;
        bar.inc();
        done += 1;
        if args.output.is_some() {
            output.extend(with_analysis(line, &annotation)?.into_bytes());
            output.push(b'\n');
        }
        add_tallies(&mut bots, record, &annotation);
        if args.json {
            analyses.push(game_json(number, record, &annotation));
        } else {
            let columns = terminal_width(&io::stdout());
            let text = game_text(number, record, &annotation, columns);
            bar.line.suspend(|| Stdout.write_all(text.as_bytes()))?;
        }
    }
    bar.line.clear();
    if let (Some(path), Some(mut target)) = (&args.output, target) {
        let written = target.write_all(&output).and_then(|()| target.commit());
        written.map_err(|error| unwritable(path, &error))?;
    }
    let tallies: Vec<Json> = bots.iter().map(BotTally::json).collect();
    let json = || json!({"games": analyses, "bots": tallies, "complete": done == chosen});
    print_found(args.json, json, |palette| match done {
        0 => "no games\n".to_owned(),
        _ => table(&bots, palette),
    })?;
    tell(args, done, chosen);
    Ok(())
}

fn tell(args: &Args, done: u64, chosen: u64) {
    if done < chosen {
        let games = counted(chosen, "game", "games");
        note!("{done} of {games} analysed");
    }
    if let Some(path) = &args.output {
        note!("the records are in {}", path.display());
    }
}

fn game_json(number: u64, record: &Record, annotation: &Annotation) -> Json {
    json!({
        "game": number,
        "id": record.id,
        "bots": record.bots.each_ref().map(|bot| &bot.name),
        "first": record.first,
        "analysis": annotation.to_json(),
    })
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
