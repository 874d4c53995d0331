//! The games of a tournament, analysed by the solver once all have been played. Not before: it
//! would take the cores that bots think on.
//!
//! `analysis.jsonl` holds the records of the journal, in its order, each with its analysis. So
//! an interrupted analysis goes on where it stopped, and every command that reads records reads
//! that file.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::directory::{Home, HomeError};
use super::results::Ledger;
use crate::analysis::{Analyst, Effort, Options, with_analysis};
use crate::record::Record;
use crate::record::journal::{Journal, Lines};
use crate::solver;
use crate::text::unreadable;
use crate::tournament::standings::GameLine;

/// Why a tournament cannot be analysed.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// A file cannot be read.
    #[error("{}", unreadable(.path, .error))]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The analysis so far is not of these games.
    #[error("{}: line {line}: {problem}; delete this file to have all games analysed again", .path.display())]
    Damaged {
        /// The file of the analysis.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// A game that cannot be analysed.
    #[error("{}: line {line}: {problem}", .path.display())]
    Game {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// The analysis cannot be written.
    #[error("{}: cannot write: {error}", .path.display())]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The folder cannot be used.
    #[error(transparent)]
    Directory(#[from] HomeError),
}

/// How far an analysis is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnalysisProgress<'a> {
    /// It begins, or goes on after so many games.
    Begins {
        /// Games analysed before.
        done: u64,
    },
    /// This turn of the game with this id comes next.
    Turn {
        /// The turn, from 1.
        turn: usize,
        /// The game.
        id: &'a str,
    },
    /// A game has been analysed.
    Game,
}

/// The analysis of a tournament's games.
#[derive(Clone, Debug)]
pub struct TournamentAnalysis {
    /// The tournament's folder.
    pub home: Home,
    /// For the value of each turn.
    pub time_per_move: Duration,
    /// Ends the analysis when somebody sets it.
    pub stop: Arc<AtomicBool>,
}

impl TournamentAnalysis {
    /// Analyses the games that have not been. Returns whether all are analysed now, and not only
    /// those before an interruption.
    pub fn run(
        &self,
        progress: &mut dyn FnMut(AnalysisProgress<'_>),
    ) -> Result<bool, AnalysisError> {
        let path = file(&self.home);
        // What was cut off is analysed again.
        let (mut journal, _) = self.home.open_journal(&path)?;
        let games = self.home.journal_file();
        let mut lines = Lines::open(&games).map_err(unread(&games))?;
        let done = pass_over(&path, &games, &mut lines)?;
        progress(AnalysisProgress::Begins { done });
        let complete = self.rest(&games, &mut lines, &path, &mut journal, progress);
        let synced = journal.sync();
        let complete = complete?;
        synced.map_err(unwritten(&path))?;
        Ok(complete)
    }

    fn rest(
        &self,
        games: &Path,
        lines: &mut Lines,
        path: &Path,
        journal: &mut Journal,
        progress: &mut dyn FnMut(AnalysisProgress<'_>),
    ) -> Result<bool, AnalysisError> {
        let analyst = Analyst::new(Options {
            effort: Effort::Time(self.time_per_move),
            solver: solver::Options::default(),
        })
        .or_when(Arc::clone(&self.stop));
        while let Some((number, line)) = lines.next_line().map_err(unread(games))? {
            let wrong = |problem: String| AnalysisError::Game {
                path: games.to_owned(),
                line: number,
                problem,
            };
            let record = Record::from_line(line).map_err(wrong)?;
            let annotation = analyst.analyse(&record, |turn| {
                let id = &record.id;
                progress(AnalysisProgress::Turn { turn, id });
            });
            let annotation = annotation.map_err(|problem| wrong(problem.to_string()))?;
            if analyst.is_stopped() {
                // It was cut short; the next run does better.
                return Ok(false);
            }
            let annotated = with_analysis(line, &annotation);
            let mut line = annotated.map_err(|error| wrong(error.to_string()))?;
            line.push('\n');
            journal.append(&line).map_err(unwritten(path))?;
            progress(AnalysisProgress::Game);
        }
        Ok(true)
    }
}

/// Adds what has been analysed to the standings.
pub fn add_analysis(ledger: &mut Ledger, home: &Home) -> Result<(), AnalysisError> {
    let path = file(home);
    let mut lines = match Lines::open(&path) {
        Ok(lines) => lines,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unread(&path)(error)),
    };
    while let Some((number, line)) = lines.next_line().map_err(unread(&path))? {
        if !line.ends_with(b"\n") {
            break;
        }
        let game = GameLine::parse(line).map_err(|problem| damaged(&path, number, problem))?;
        ledger.collector.add_analysis(&game);
    }
    Ok(())
}

fn file(home: &Home) -> PathBuf {
    home.path().join("analysis.jsonl")
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

fn damaged(path: &Path, line: u64, problem: String) -> AnalysisError {
    AnalysisError::Damaged {
        path: path.to_owned(),
        line,
        problem,
    }
}

/// Passes over the games that have been analysed, and returns their number.
fn pass_over(path: &Path, journal: &Path, games: &mut Lines) -> Result<u64, AnalysisError> {
    let mut done = 0;
    let mut analysed = Lines::open(path).map_err(unread(path))?;
    while let Some((number, line)) = analysed.next_line().map_err(unread(path))? {
        let old = GameLine::parse(line).map_err(|problem| damaged(path, number, problem))?;
        let game = games.next_line().map_err(unread(journal))?;
        let same = game.and_then(|(_, line)| GameLine::parse(line).ok());
        if same.is_none_or(|game| game.id != old.id) {
            let problem = "it is not of the game in games.jsonl".to_owned();
            return Err(damaged(path, number, problem));
        }
        done = number;
    }
    Ok(done)
}
