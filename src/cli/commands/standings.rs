//! `referee standings FILE…`: standings and ratings from records.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::cli::support::failure::Failure;
use crate::cli::support::output::{Stdout, print_stderr};
use crate::cli::support::setup::{palette, unreadable};
use crate::record::RecordSummary;
use crate::record::reader::{LineError, Reader};
use crate::report::standings::{as_csv, as_json, markdown, table};
use crate::text::quote;
use crate::tournament::ratings::Model;
use crate::tournament::standings::Collector;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For a terminal
    Table,
    /// For spreadsheets
    Csv,
    /// For programs
    Json,
    /// For documents
    Markdown,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Files of records, as --record writes them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// What to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,

    /// Only games that started at this time or later: 2026-01-31 or 2026-01-31T10:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    from: Option<Timestamp>,

    /// Only games of this bot; when repeated, games of any of these bots
    #[arg(long, value_name = "NAME")]
    bot: Vec<String>,

    /// Virtual draws of each bot against the field, which keep the ratings of perfect scores finite
    #[arg(long, value_name = "N", default_value_t = 2.0)]
    prior: f64,
}

fn time(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    text.parse::<Date>()
        .ok()
        .and_then(|date| date.to_zoned(TimeZone::UTC).ok())
        .map(|zoned| zoned.timestamp())
        .ok_or_else(|| {
            "expected a date or a time, such as 2026-01-31 or 2026-01-31T10:00:00Z".to_owned()
        })
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let mut collector = Collector::new();
    for path in &args.files {
        add_file(path, args, &mut collector)?;
    }
    let model = Model {
        prior: args.prior,
        ..Model::default()
    };
    let standings = collector
        .standings(&model)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let text = match args.format {
        Format::Table => table(&standings, &palette(&io::stdout())),
        Format::Markdown => markdown(&standings),
        Format::Json => format!("{}\n", as_json(&standings)),
        Format::Csv => as_csv(&standings).map_err(|error| Failure::Referee(error.to_string()))?,
    };
    Ok(Stdout.write_all(text.as_bytes())?)
}

/// Reads a file line by line, so that memory does not grow with the number of games.
fn add_file(path: &Path, args: &Args, collector: &mut Collector) -> Result<(), Failure> {
    let failed = |error| unreadable(path, &error);
    let mut reader = Reader::open(path).map_err(failed)?;
    while let Some(line) = reader.next_line().map_err(failed)? {
        match line.summary() {
            Ok(game) => {
                if is_selected(&game, args, path, line.number())? {
                    collector.add(&game);
                }
            }
            Err(torn @ LineError::Torn { .. }) => print_stderr(&torn.to_string()),
            Err(error) => return Err(Failure::Usage(error.to_string())),
        }
    }
    Ok(())
}

fn is_selected(
    game: &RecordSummary<'_>,
    args: &Args,
    path: &Path,
    number: u64,
) -> Result<bool, Failure> {
    if !args.bot.is_empty() && !args.bot.iter().any(|name| game.has(name)) {
        return Ok(false);
    }
    let Some(from) = args.from else {
        return Ok(true);
    };
    let started: Timestamp = game.started.parse().map_err(|_| {
        Failure::Usage(format!(
            "{}: line {number}: `started` is {}; expected a time such as 2026-01-31T10:00:00Z",
            path.display(),
            quote(game.started.as_bytes())
        ))
    })?;
    Ok(started >= from)
}
