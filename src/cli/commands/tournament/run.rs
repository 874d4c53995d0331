//! The games of a plan, from the first that has not been played to the tables.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::failures::run_failure;
use super::options::Options;
use super::progress::{Progress, games};
use super::{analysing, ending};
use crate::arena::analysing::{add_analysis, file as analysis_file};
use crate::arena::directory::TournamentDirectory;
use crate::arena::entrants::LoggedEntrant;
use crate::arena::plan::Plan;
use crate::arena::results::Results;
use crate::arena::shard::Shard;
use crate::arena::{Arena, Ended};
use crate::cli::support::failure::Failure;
use crate::cli::support::output::print_stderr;
use crate::cli::support::pages::Pages;
use crate::record::journal::Journal;
use crate::report::serve::State;
use crate::session::Ruleset;
use crate::text::counted;

/// How the games of a plan are played, and where they are kept.
pub(in crate::cli) struct Run<'a> {
    pub(in crate::cli) options: &'a Options,
    pub(in crate::cli) ruleset: Arc<dyn Ruleset>,
    pub(in crate::cli) directory: &'a TournamentDirectory,
    pub(in crate::cli) journal: Journal,
    pub(in crate::cli) journal_file: &'a Path,
    pub(in crate::cli) jobs: usize,
    pub(in crate::cli) pages: Pages,
    /// The part to play; `None` for all.
    pub(in crate::cli) shard: Option<Shard>,
    /// How to go on after an interruption: a sentence.
    pub(in crate::cli) resume: String,
}

impl Run<'_> {
    /// Plays what is missing in `results`, and writes and prints the tables. Returns all results.
    pub(in crate::cli) async fn play(
        self,
        plan: Plan,
        bots: Vec<LoggedEntrant>,
        results: Results,
        pieces_path: Option<String>,
        stops: mpsc::Receiver<()>,
    ) -> Result<Results, Failure> {
        let (shard, resume) = (self.shard, self.resume);
        let expected = games_expected(&plan, shard);
        let mut progress = Progress::new(expected, results.games, self.pages);
        progress.rank(&plan, &results);
        let stage = progress.stage();
        let arena = Arena {
            ruleset: self.ruleset,
            plan,
            results,
            entrants: bots,
            pieces_path,
            jobs: self.jobs,
            shard,
            stage,
        };
        let ran = arena
            .run(self.directory, self.journal, stops, &mut progress)
            .await;
        progress.clear();
        let (ended, plan, mut results) = match ran {
            Ok(ran) => ran,
            Err(error) => {
                progress.finish(State::Interrupted)?;
                return Err(run_failure(error, self.journal_file, &resume));
            }
        };
        progress.rank(&plan, &results);
        let rate = progress.rate(results.games);
        let mut analysed = true;
        if shard.is_none() {
            let (options, directory) = (self.options, self.directory);
            let concluded = async {
                if options.analyse && ended != Ended::Interrupted {
                    let time = options.time_per_move;
                    analysed = analysing::analyse(directory, results.games, time).await?;
                    if analysed {
                        progress.show_analysed(&analysis_file(directory), &plan, &results)?;
                    }
                }
                add_analysis(&mut results, directory)?;
                ending::write(directory, &plan, &results)?;
                ending::print(ended, &plan, &results)
            };
            let concluded: Result<(), Failure> = concluded.await;
            if let Err(failure) = concluded {
                // The games are kept, and so is their page.
                progress.finish(State::Interrupted)?;
                return Err(failure);
            }
        }
        if ended == Ended::Interrupted || !analysed {
            print_stderr(&format!("referee: stopped; {resume}"));
            progress.finish(State::Interrupted)?;
            return Err(Failure::Interrupted);
        }
        let folder = self.directory.path().display();
        print_stderr(&match shard {
            None if rate == 0.0 => format!("referee: all files are in {folder}"),
            None => format!(
                "referee: {} a second; all files are in {folder}",
                games(rate)
            ),
            Some(shard) => format!(
                "referee: shard {shard} is done: {}, {rate:.0} a second; when all shards are done: \
                 referee merge {folder}",
                counted(results.games, "game", "games")
            ),
        });
        progress.finish(State::Finished)?;
        Ok(results)
    }
}

/// The number of games of a plan, or of a part of it.
pub(super) fn games_expected(plan: &Plan, shard: Option<Shard>) -> u64 {
    shard.map_or(2 * plan.pairs_expected(), |shard| {
        let pairs = shard.pairs(plan);
        2 * (pairs.end - pairs.start)
    })
}
