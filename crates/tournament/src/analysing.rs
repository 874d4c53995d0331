//! Analyses a tournament's games after the last one: the solver would take CPUs from the bots.
//!
//! `analysis.jsonl` holds the journal's records in the same order, each with its analysis; an interrupted analysis
//! continues there.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::TournamentError;
use super::directory::{TournamentDirectory, each_line_if_there};
use super::results::Results;
use referee_games::solver::SolverOptions;
use referee_match::analysis::{Analyst, Effort, with_analysis};
use referee_match::record::journal::LINGERING_LOCK;
use referee_match::record::reader::{LineError, Reader};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnalysisProgress<'a> {
    Begins {
        done: u64,
    },
    Turn {
        /// From 1.
        turn: usize,
        id: &'a str,
    },
    Game,
}

/// Analyses the remaining games, each turn for `time` at most. `false`: `stop` was set before the last one.
pub fn analyse(
    directory: &TournamentDirectory,
    time: Duration,
    solver: SolverOptions,
    stop: &Arc<AtomicBool>,
    progress: &mut dyn FnMut(AnalysisProgress<'_>),
) -> Result<bool, TournamentError> {
    let path = file(directory);
    // A game whose line was incomplete is analysed again.
    let (mut journal, _) = directory.open_journal(&path, LINGERING_LOCK)?;
    let games = directory.journal_file();
    let mut reader = Reader::open(&games)?;
    let done = skip_analysed(&path, &mut reader)?;
    progress(AnalysisProgress::Begins { done });
    let analyst = Analyst::new(Effort::Time(time), solver, stop);
    let complete = loop {
        let Some(line) = reader.next_complete_line()? else {
            break true;
        };
        let record = line.record()?;
        let annotation = analyst.analyse(&record, |turn| {
            let id = &record.id;
            progress(AnalysisProgress::Turn { turn, id });
        });
        let annotation = annotation.map_err(|problem| line.error(problem.to_string()))?;
        if analyst.is_stopped() {
            // Incomplete: not written.
            break false;
        }
        let annotated = with_analysis(line.bytes(), &annotation);
        let mut annotated = annotated.map_err(|error| line.error(error.to_string()))?;
        annotated.push('\n');
        journal
            .append(&annotated)
            .map_err(TournamentError::io(&path))?;
        progress(AnalysisProgress::Game);
    };
    journal.sync().map_err(TournamentError::io(&path))?;
    Ok(complete)
}

pub fn add_analysis(
    results: &mut Results,
    directory: &TournamentDirectory,
) -> Result<(), TournamentError> {
    each_line_if_there(&file(directory), |line| {
        let game = line.summary().map_err(|error| damaged(&error))?;
        let tallies = game.tallies();
        results.collector.add_analysis(game.names(), tallies);
        Ok(())
    })
}

pub const FILE: &str = "analysis.jsonl";

pub fn file(directory: &TournamentDirectory) -> PathBuf {
    directory.path().join(FILE)
}

fn damaged(error: &LineError) -> TournamentError {
    TournamentError::Analysis(error.clone())
}

/// Returns the number of games that were skipped.
fn skip_analysed(path: &Path, games: &mut Reader) -> Result<u64, TournamentError> {
    let mut done = 0;
    let mut analysed = Reader::open(path)?;
    while let Some(line) = analysed.next_complete_line()? {
        let old = line.summary().map_err(|error| damaged(&error))?;
        let game = games.next_complete_line()?;
        let same = game.and_then(|line| line.summary().ok());
        if same.is_none_or(|game| game.id != old.id) {
            let problem = "it is not of the game in games.jsonl".to_owned();
            return Err(damaged(&line.error(problem)));
        }
        done = line.number();
    }
    Ok(done)
}
