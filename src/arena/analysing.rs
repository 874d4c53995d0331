//! Analyses a tournament's games after the last one: the solver would take CPUs from the bots.
//!
//! `analysis.jsonl` holds the journal's records in the same order, each with its analysis; an interrupted analysis
//! continues there.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::directory::{DirectoryError, TournamentDirectory};
use super::results::Results;
use crate::analysis::{Analyst, Effort, with_analysis};
use crate::record::Record;
use crate::record::journal::Journal;
use crate::record::reader::{LineError, Reader};
use crate::solver;
use crate::text::{cause, unreadable};

#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    #[error("{}", unreadable(.path, .error))]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{0}; delete this file to have all games analysed again")]
    Damaged(LineError),
    #[error(transparent)]
    Game(LineError),
    #[error("{}: cannot write: {}", .path.display(), cause(.error))]
    NotWritten { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Directory(#[from] DirectoryError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnalysisProgress<'a> {
    Begins {
        /// Games analysed before.
        done: u64,
    },
    /// Before a turn is analysed.
    Turn {
        /// From 1.
        turn: usize,
        id: &'a str,
    },
    /// After a game was analysed.
    Game,
}

#[derive(Clone, Debug)]
pub struct TournamentAnalysis {
    pub directory: TournamentDirectory,
    pub time_per_move: Duration,
    /// Stops the analysis once set.
    pub stop: Arc<AtomicBool>,
}

impl TournamentAnalysis {
    /// Analyses the remaining games. `false`: it was stopped before the last one.
    pub fn run(
        &self,
        progress: &mut dyn FnMut(AnalysisProgress<'_>),
    ) -> Result<bool, AnalysisError> {
        let path = file(&self.directory);
        // A game whose line was incomplete is analysed again.
        let (mut journal, _) = self.directory.open_journal(&path)?;
        let games = self.directory.journal_file();
        let mut reader = Reader::open(&games).map_err(unread(&games))?;
        let done = skip_analysed(&path, &games, &mut reader)?;
        progress(AnalysisProgress::Begins { done });
        let complete = self.analyse_rest(&games, &mut reader, &path, &mut journal, progress);
        let synced = journal.sync();
        let complete = complete?;
        synced.map_err(unwritten(&path))?;
        Ok(complete)
    }

    fn analyse_rest(
        &self,
        games: &Path,
        reader: &mut Reader,
        path: &Path,
        journal: &mut Journal,
        progress: &mut dyn FnMut(AnalysisProgress<'_>),
    ) -> Result<bool, AnalysisError> {
        let effort = Effort::Time(self.time_per_move);
        let analyst = Analyst::new(effort, solver::Options::default(), &self.stop);
        while let Some(line) = reader.next_line().map_err(unread(games))? {
            let wrong = |problem| AnalysisError::Game(line.damaged(problem));
            let record = Record::from_line(line.bytes()).map_err(wrong)?;
            let annotation = analyst.analyse(&record, |turn| {
                let id = &record.id;
                progress(AnalysisProgress::Turn { turn, id });
            });
            let annotation = annotation.map_err(wrong)?;
            if analyst.is_stopped() {
                // Incomplete: not written.
                return Ok(false);
            }
            let annotated = with_analysis(line.bytes(), &annotation);
            let mut annotated = annotated.map_err(|error| wrong(error.to_string()))?;
            annotated.push('\n');
            journal.append(&annotated).map_err(unwritten(path))?;
            progress(AnalysisProgress::Game);
        }
        Ok(true)
    }
}

pub fn add_analysis(
    results: &mut Results,
    directory: &TournamentDirectory,
) -> Result<(), AnalysisError> {
    let path = file(directory);
    let mut reader = match Reader::open(&path) {
        Ok(reader) => reader,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unread(&path)(error)),
    };
    while let Some(line) = reader.next_complete_line().map_err(unread(&path))? {
        let game = line.summary().map_err(AnalysisError::Damaged)?;
        let tallies = game.tallies();
        results.collector.add_analysis(game.names(), tallies);
    }
    Ok(())
}

pub const FILE: &str = "analysis.jsonl";

pub fn file(directory: &TournamentDirectory) -> PathBuf {
    directory.path().join(FILE)
}

fn unread(path: &Path) -> impl Fn(io::Error) -> AnalysisError + use<'_> {
    move |error| AnalysisError::Unreadable {
        path: path.to_owned(),
        error,
    }
}

fn unwritten(path: &Path) -> impl Fn(io::Error) -> AnalysisError + use<'_> {
    move |error| AnalysisError::NotWritten {
        path: path.to_owned(),
        error,
    }
}

/// Returns the number of games that were skipped.
fn skip_analysed(path: &Path, journal: &Path, games: &mut Reader) -> Result<u64, AnalysisError> {
    let mut done = 0;
    let mut analysed = Reader::open(path).map_err(unread(path))?;
    while let Some(line) = analysed.next_line().map_err(unread(path))? {
        let old = line.summary().map_err(AnalysisError::Damaged)?;
        let game = games.next_line().map_err(unread(journal))?;
        let same = game.and_then(|line| line.summary().ok());
        if same.is_none_or(|game| game.id != old.id) {
            let problem = "it is not of the game in games.jsonl".to_owned();
            return Err(AnalysisError::Damaged(line.damaged(problem)));
        }
        done = line.number();
    }
    Ok(done)
}
