//! `--analyse`: when all games have been played, the solver goes through them. Not before: it
//! would take the cores that bots think on.
//!
//! `analysis.jsonl` holds the records of the journal, in its order, each with its analysis; so
//! it can be gone on with after an interruption, and every command that reads records reads it.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::ProgressBar;

use super::stops;
use crate::analysis::{Analyst, Effort, Options, with_analysis};
use crate::arena::directory::TournamentDirectory;
use crate::arena::results::Results;
use crate::cli::commands::analyse::bar;
use crate::cli::support::failure::Failure;
use crate::cli::support::setup::{tell, unreadable};
use crate::record::Record;
use crate::record::reader::{LineError, Reader};
use crate::solver;

/// For a turn, when nothing else was asked for.
const TIME_PER_MOVE: Duration = Duration::from_secs(1);

fn file(directory: &TournamentDirectory) -> PathBuf {
    directory.path().join("analysis.jsonl")
}

/// Analyses the games that have not been. Says whether all are analysed now, and not only those
/// before an interruption.
pub(super) async fn analyse(
    directory: &TournamentDirectory,
    games: u64,
    time_per_move: Option<Duration>,
) -> Result<bool, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut stops = stops()?;
    let work = Work {
        directory: directory.clone(),
        time_per_move: time_per_move.unwrap_or(TIME_PER_MOVE),
        stop: Arc::clone(&stop),
        games,
    };
    let mut working = tokio::task::spawn_blocking(move || work.run());
    let done = tokio::select! {
        biased;
        done = &mut working => done,
        _ = stops.recv() => {
            stop.store(true, Ordering::Relaxed);
            working.await
        }
    };
    done.map_err(|_| Failure::Referee("the analysis ended in a panic".to_owned()))?
}

/// Adds what has been analysed to the standings.
pub(super) fn add_to(
    results: &mut Results,
    directory: &TournamentDirectory,
) -> Result<(), Failure> {
    let path = file(directory);
    let failed = |error| unreadable(&path, &error);
    let mut reader = match Reader::open(&path) {
        Ok(reader) => reader,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    while let Some(line) = reader.next_complete_line().map_err(failed)? {
        let game = line.summary().map_err(|error| damaged(&error))?;
        results.collector.add_analysis(&game);
    }
    Ok(())
}

fn damaged(error: &LineError) -> Failure {
    Failure::Usage(format!(
        "{error}; delete this file to have all games analysed again"
    ))
}

struct Work {
    directory: TournamentDirectory,
    time_per_move: Duration,
    stop: Arc<AtomicBool>,
    games: u64,
}

impl Work {
    fn run(&self) -> Result<bool, Failure> {
        let path = file(&self.directory);
        // What was cut off is analysed again.
        let (mut journal, _) = self.directory.open_journal(&path)?;
        let games = self.directory.journal_file();
        let failed = |error| unreadable(&games, &error);
        let mut reader = Reader::open(&games).map_err(failed)?;
        let done = self.pass_over(&path, &mut reader)?;
        // On a terminal the bar says it.
        if done < self.games && !io::stderr().is_terminal() {
            tell(&format!(
                "referee: analysing {} of {} games",
                self.games - done,
                self.games
            ));
        }
        let bar = bar(self.games);
        bar.set_position(done);
        let written = self.rest(&mut reader, &bar, |line| journal.append(line));
        bar.finish_and_clear();
        let synced = journal.sync();
        let complete = written?;
        synced.map_err(|error| {
            Failure::Referee(format!("{}: cannot write: {error}", path.display()))
        })?;
        Ok(complete)
    }

    /// Passes over the games that have been analysed, and gives their number.
    fn pass_over(&self, path: &Path, games: &mut Reader) -> Result<u64, Failure> {
        let failed = |error| unreadable(path, &error);
        let mut done = 0;
        let mut analysed = Reader::open(path).map_err(failed)?;
        while let Some(line) = analysed.next_line().map_err(failed)? {
            let old = line.summary().map_err(|error| damaged(&error))?;
            let game = games.next_line();
            let game = game.map_err(|error| unreadable(&self.directory.journal_file(), &error))?;
            let same = game.and_then(|line| line.summary().ok());
            if same.is_none_or(|game| game.id != old.id) {
                let problem = "it is not of the game in games.jsonl".to_owned();
                return Err(damaged(&line.damaged(problem)));
            }
            done = line.number();
        }
        Ok(done)
    }

    fn rest(
        &self,
        reader: &mut Reader,
        bar: &ProgressBar,
        mut write: impl FnMut(&str) -> io::Result<()>,
    ) -> Result<bool, Failure> {
        let games = self.directory.journal_file();
        let path = file(&self.directory);
        let analyst = Analyst::new(Options {
            effort: Effort::Time(self.time_per_move),
            solver: solver::Options::default(),
        })
        .or_when(Arc::clone(&self.stop));
        while let Some(line) = reader
            .next_line()
            .map_err(|error| unreadable(&games, &error))?
        {
            let wrong = |problem| Failure::Usage(line.damaged(problem).to_string());
            let record = Record::from_line(line.bytes()).map_err(wrong)?;
            let annotation = analyst.analyse(&record, |turn| {
                bar.set_message(format!("analysing turn {turn} of {}", record.id));
            });
            let annotation = annotation.map_err(|problem| wrong(problem.to_string()))?;
            if analyst.is_stopped() {
                // It was looked at in a hurry; the next run does better.
                return Ok(false);
            }
            let mut line = with_analysis(line.bytes(), &annotation)?;
            line.push('\n');
            write(&line).map_err(|error| {
                Failure::Referee(format!("{}: cannot write: {error}", path.display()))
            })?;
            bar.inc(1);
        }
        Ok(true)
    }
}
