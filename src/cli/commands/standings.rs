use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use jiff::Timestamp;

use super::tournament::warn_of_repetition;
use crate::cli::support::failure::Result;
use crate::cli::support::folder::{all_records, analyses_of, invalid, open, tournament_of};
use crate::cli::support::output::{json_line, note, print, print_stderr};
use crate::cli::support::setup::{palette, terminal_width};
use crate::cli::support::values;
use referee::record::summaries::{Parsed, take_all, threads_for};
use referee::record::{BotIndex, RecordSummary};
use referee::report::standings::{as_csv, as_json, markdown, table};
use referee::stats::standings::{Collector, GameTimes, Ranking, TieBreak};
use referee::text::{counted, escape_controls, quote};
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::results::Distinct;

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
pub(crate) struct Args {
    /// Files of records, as --record writes them, or folders of tournaments; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// What to print
    #[arg(long, default_value = "table", help_heading = "Output")]
    format: Format,

    /// The same as --format json, as other commands have it
    #[arg(long, hide = true, conflicts_with = "format", help_heading = "Output")]
    json: bool,

    /// Only games that started at this time or later: 2026-01-31 or 2026-01-31T10:00:00Z
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    from: Option<Timestamp>,

    /// Only games of this bot; when repeated, games of any of these bots
    #[arg(long, value_name = "NAME")]
    bot: Vec<String>,

    /// How ties are broken, in this order: direct, buchholz-cut-1, buchholz, sonneborn-berger, wins,
    /// wins-as-second, rating [default: direct,sonneborn-berger]
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        help_heading = "Schedule",
        hide_short_help = true
    )]
    tie_break: Vec<TieBreak>,

    /// Compare versions of a bot: its files, as the plan.json beside games.jsonl knows them
    #[arg(long, value_parser = ["version"])]
    by: Option<String>,
}

#[derive(Default)]
struct Games {
    collector: Collector,
    distinct: Distinct,
    /// By identity, whether the analysis has been added: of several files, two may have the same game.
    seen: Option<HashMap<u64, bool>>,
    copies: u64,
}

impl Games {
    fn add(&mut self, game: &RecordSummary<'_>, digests: Digests) {
        if let (Some(seen), Some(identity)) = (&mut self.seen, digests.identity) {
            let tallies = game.tallies();
            let is_analysed = tallies.is_some();
            match seen.entry(identity) {
                Entry::Occupied(mut known) => {
                    self.copies += 1;
                    if is_analysed && !known.insert(true) {
                        self.collector.add_analysis(game.names(), tallies);
                    }
                    return;
                }
                Entry::Vacant(new) => {
                    new.insert(is_analysed);
                }
            }
        }
        self.distinct.add_digest(digests.content);
        self.collector.add(&game.with_times(digests.times));
    }

    /// The analysis of a game that was added before.
    fn add_analysis(&mut self, game: &RecordSummary<'_>, digests: &Digests) {
        let known = self.seen.as_mut().zip(digests.identity);
        let is_new = known.is_none_or(|(seen, identity)| {
            seen.get_mut(&identity)
                .is_some_and(|known| !std::mem::replace(known, true))
        });
        if is_new {
            self.collector.add_analysis(game.names(), game.tallies());
        }
    }
}

struct Digests {
    times: [GameTimes; 2],
    /// See [`Distinct::digest`].
    content: Option<u64>,
    /// See [`RecordSummary::identity`]; with several files.
    identity: Option<u64>,
}

fn versions(path: &Path, args: &Args) -> Result<HashMap<String, String>> {
    if args.by.is_none() {
        return Ok(HashMap::new());
    }
    let directory = TournamentDirectory::at(path.parent().unwrap_or(Path::new("")));
    let plan = directory.plan()?;
    let bots = plan.into_iter().flat_map(|plan| plan.bots);
    let versions = bots.map(|bot| {
        let hash = bot.hash.rsplit(':').next().unwrap_or_default();
        let hash: String = hash.chars().take(6).collect();
        let version = format!("{}@{hash}", bot.name);
        (bot.name, version)
    });
    Ok(versions.collect())
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let files = all_records(&args.files)?;
    let mut games = Games {
        seen: (files.len() > 1).then(HashMap::new),
        ..Games::default()
    };
    for path in &files {
        add_file(path, args, &mut games, Content::Games)?;
    }
    for path in analyses_of(&args.files) {
        // Of a folder whose analysis was named as well.
        if !files.contains(&path) {
            add_file(&path, args, &mut games, Content::Analysis)?;
        }
    }
    if games.copies > 0 {
        let copies = counted(games.copies, "game is", "games are");
        let count = if games.copies == 1 { "counts" } else { "count" };
        note!("{copies} in several files, and {count} once");
    }
    warn_of_repetition(&games.distinct);
    // As large as all else that is kept of the games.
    drop((games.distinct, games.seen));
    let mut ranking = if args.from.is_none() && args.bot.is_empty() {
        let versions = match &files[..] {
            [file] => versions(file, args)?,
            _ => HashMap::new(),
        };
        tournament_of(&files)?
            .0
            .renamed(|name| versions.get(&name).cloned().unwrap_or(name))
    } else {
        Ranking::default()
    };
    if !args.tie_break.is_empty() {
        ranking.tie_breaks.clone_from(&args.tie_break);
    }
    let standings = games.collector.standings(&ranking)?;
    for wanted in &args.bot {
        let is_here = |name: &str| name.split('@').next() == Some(wanted) || name == wanted;
        if !standings.places.iter().any(|place| is_here(&place.name)) {
            let wanted = escape_controls(wanted);
            note!("--bot {wanted}: no game here is one of a bot of this name");
        }
    }
    let (palette, columns) = (palette(&io::stdout()), terminal_width(&io::stdout()));
    let format = if args.json { Format::Json } else { args.format };
    let text = match format {
        Format::Table => table(&standings, &palette, columns),
        Format::Markdown => markdown(&standings),
        Format::Json => json_line(as_json(&standings, true)),
        Format::Csv => as_csv(&standings, true),
    };
    print(&text)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Games,
    /// Of games that have been added.
    Analysis,
}

fn add_file(path: &Path, args: &Args, games: &mut Games, content: Content) -> Result<()> {
    let versions = versions(path, args)?;
    let reader = open(path)?;
    let bytes = reader.file().metadata().map_or(0, |file| file.len());
    let of_several = games.seen.is_some();
    let compute = |number, game: &mut RecordSummary<'_>| {
        if !is_selected(game, args, path, number)? {
            return Ok(None);
        }
        for bot in BotIndex::ALL {
            if let Some(version) = versions.get(game.names()[bot as usize]) {
                game.rename(bot, version.clone());
            }
        }
        Ok(Some(Digests {
            times: game.times(),
            content: Distinct::digest(game),
            identity: of_several.then(|| game.identity()),
        }))
    };
    let take = |(_, parsed): Parsed<'_, Result<Option<Digests>>>| {
        match parsed {
            Ok((game, digests)) => match digests? {
                None => {}
                Some(digests) if content == Content::Games => games.add(&game, digests),
                Some(digests) => games.add_analysis(&game, &digests),
            },
            Err(torn) if torn.is_torn() && content == Content::Analysis => {}
            Err(torn) if torn.is_torn() => print_stderr(&torn.to_string()),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    };
    take_all(reader, threads_for(bytes), compute, take)?
}

fn is_selected(game: &RecordSummary<'_>, args: &Args, path: &Path, number: u64) -> Result<bool> {
    let is_named = args.bot.is_empty() || args.bot.iter().any(|name| game.has(name));
    let Some(from) = args.from.filter(|_| is_named) else {
        return Ok(is_named);
    };
    let started: Timestamp = game.started.parse().map_err(|_| {
        let found = quote(game.started.as_bytes());
        let expected = "expected a time such as 2026-01-31T10:00:00Z";
        invalid(path, number, &format!("`started` is {found}; {expected}"))
    })?;
    Ok(started >= from)
}
