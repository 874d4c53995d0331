//! `referee report FILE…`: a page with standings, charts and every game.

mod each;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use self::each::{members, write_each};
use crate::arena::analysing;
use crate::arena::directory::TournamentDirectory;
use crate::cli::support::folder::{Records, all_records, invalid, title_of, tournament_of};
use crate::cli::support::pages::{LiveOptions, add_file, write};
use crate::cli::support::prelude::*;
use crate::cli::support::recorded::{GameProgramOption, RecordedRules};
use crate::cli::support::runtime::{runtime, until_interrupted};
use crate::game::Game;
use crate::league::log;
use crate::league::state::League;
use crate::record::reader::Reader;
use crate::report::html;
use crate::report::serve::{Feed, State};

const POLL_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files of records, as --record writes them, or folders of tournaments
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Where to write the page; - for standard output
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "report.html",
        conflicts_with = "live"
    )]
    output: PathBuf,

    /// The page's heading [default: the names of the files or folders]
    #[arg(long)]
    title: Option<String>,

    /// Leave what bots wrote to stderr, and their commands, out of pages; what they answered stays in
    #[arg(long)]
    private: bool,

    /// A page for each bot, to hand out, into this folder: its games, its faults and what to fix first; nothing
    /// of others but their names and turns
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "live", "private", "title"])]
    each: Option<PathBuf>,

    #[command(flatten)]
    live: LiveOptions,

    #[command(flatten)]
    game: GameProgramOption,
}

/// The game that draws its positions: the first record's, if its program is given.
fn game_of(
    program: &GameProgramOption,
    records: &[PathBuf],
) -> Result<Option<Arc<dyn Game>>, Failure> {
    let Some(file) = records.first().filter(|_| program.text().is_some()) else {
        return Ok(None);
    };
    let Some(first) = Records::open(file)?.next() else {
        return Ok(None);
    };
    let (number, record) = first?;
    let rules = RecordedRules::new(program).of(&record);
    rules
        .map(Some)
        .map_err(|problem| invalid(file, number, &problem))
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let title = args.title.clone().unwrap_or_else(|| title_of(&args.files));
    let records = all_records(&args.files)?;
    if let Some(folder) = &args.each {
        let ranking = tournament_of(&records)?.0;
        let mut of_leagues = BTreeMap::new();
        for path in &args.files {
            of_leagues.extend(members(path)?);
        }
        let records = with_analyses(&args.files, &records);
        return write_each(&analysed_first(&records), ranking, folder, &of_leagues);
    }
    let shown = if args.live.is_on() {
        records.clone()
    } else {
        with_analyses(&args.files, &records)
    };
    let feed = Feed::new(html::Options {
        title,
        private: args.private,
        skip_copies: shown.len() > 1,
        game: game_of(&args.game, &records)?,
        notes: notes(&args.files)?,
        frame: args.live.live_frame.clone(),
        ..html::Options::default()
    });
    let files = analysed_first(&shown);
    if args.live.is_on() {
        return follow(&files, &args.live, &feed);
    }
    for path in files {
        add_file(path, &feed)?;
    }
    let (ranking, course) = tournament_of(&records)?;
    feed.set_ranking(ranking, course);
    check_not_input(&records, &args.output)?;
    write(&feed, &args.output)
}

/// Of leagues, for their teacher.
fn notes(files: &[PathBuf]) -> Result<Vec<[String; 3]>, Failure> {
    let mut notes = Vec::new();
    for path in files.iter().filter(|path| path.is_dir()) {
        if let Some(league) = League::read(path)? {
            notes.extend(log::notes(path, &league)?);
        }
    }
    Ok(notes)
}

pub(crate) fn check_not_input(files: &[PathBuf], output: &Path) -> Result<(), Failure> {
    let Ok(target) = fs::canonicalize(output) else {
        return Ok(());
    };
    let is_target = |file: &&PathBuf| fs::canonicalize(file).is_ok_and(|file| file == target);
    match files.iter().find(is_target) {
        None => Ok(()),
        Some(file) => Err(usage!(
            "{}: it would be overwritten by what is made from it; choose another file",
            file.display()
        )),
    }
}

/// Adds the analyses of `--analyse` in the folders that were named.
fn with_analyses(named: &[PathBuf], records: &[PathBuf]) -> Vec<PathBuf> {
    let folders = named.iter().filter(|path| path.is_dir());
    let analyses = folders.map(|folder| analysing::file(&TournamentDirectory::at(folder)));
    let analyses = analyses.filter(|file| file.is_file() && !records.contains(file));
    records.iter().cloned().chain(analyses).collect()
}

/// Of a game in several files the first record is shown: analysed files come first.
fn analysed_first(files: &[PathBuf]) -> Vec<&Path> {
    let mut files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    if files.len() > 1 {
        // Pipes can be read only once.
        files.sort_by_cached_key(|path| !(path.is_file() && is_analysed(path).unwrap_or(false)));
    }
    files
}

fn is_analysed(path: &Path) -> Option<bool> {
    let mut reader = Reader::open(path).ok()?;
    let line = reader.next_line().ok()??;
    let game = line.summary().ok()?;
    Some(game.tallies().is_some())
}

/// Adds games as the files grow, until interrupted.
fn follow(files: &[&Path], live: &LiveOptions, feed: &Feed) -> Result<(), Failure> {
    let mut growing = files
        .iter()
        .map(|path| Reader::open(path).map_err(|error| unreadable(path, &error)))
        .collect::<Result<Vec<_>, Failure>>()?;
    for file in &mut growing {
        add_new(file, feed)?;
    }
    let server = live.serve(feed)?;
    let runtime = runtime()?;
    let followed = runtime.block_on(until_interrupted(async {
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            for file in &mut growing {
                add_new(file, feed)?;
            }
        }
    }));
    if let Some(server) = server {
        // More games may come.
        feed.set_state(State::Interrupted);
        server.stop();
    }
    followed
}

fn add_new(file: &mut Reader, feed: &Feed) -> Result<(), Failure> {
    let path = file.path().to_owned();
    let failed = |error| unreadable(&path, &error);
    let meta = file.file().metadata().map_err(failed)?;
    if meta.is_file() && meta.len() < file.position() {
        bail!(
            "{}: the file shrank from {} to {} bytes while it was followed; start again",
            path.display(),
            file.position(),
            meta.len()
        );
    }
    while let Some(line) = file.next_complete_line().map_err(failed)? {
        let published = feed.publish(&line.record()?);
        published.map_err(|problem| line.damaged(problem))?;
    }
    Ok(())
}
