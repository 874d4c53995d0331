//! Games that answer a question, in a folder that holds nothing else: of a comparison, or of a rung of a scale.

use std::ops::ControlFlow;
use std::path::PathBuf;

use tokio::sync::mpsc;

use super::directory::TournamentDirectory;
use super::entrants::Entrant;
use super::plan::Plan;
use super::plan::difference::{PlanDifference, accept_advice, listed};
use super::results::Results;
use super::{Arena, Ended, Event, GameSettings, TournamentError};
use referee_match::record::journal::LINGERING_LOCK;

/// The folder has the games of another plan.
#[derive(Debug, thiserror::Error)]
#[error(
    "{}: other games are in this folder:\n  {}\nundo these changes, or choose another folder with --out{}",
    .directory.quoted(), listed(.differences), accept_advice(.differences)
)]
pub struct OtherGames {
    directory: TournamentDirectory,
    differences: Vec<PlanDifference>,
}

/// Where the games are kept, and how they are played.
#[derive(Debug)]
pub struct Experiment<'a> {
    pub settings: &'a GameSettings,
    pub directory: &'a TournamentDirectory,
    journal_file: PathBuf,
}

impl<'a> Experiment<'a> {
    pub fn new(settings: &'a GameSettings, directory: &'a TournamentDirectory) -> Self {
        Self {
            journal_file: directory.journal_file(),
            settings,
            directory,
        }
    }

    /// Keeps a new plan. `differences`: of this plan from the one that is there.
    pub fn keep(
        &self,
        plan: &mut Plan,
        differences: Option<Vec<PlanDifference>>,
    ) -> Result<(), TournamentError> {
        match differences {
            None => self.directory.write_plan(plan),
            Some(differences) if differences.is_empty() => Ok(()),
            Some(differences) => Err(OtherGames {
                directory: self.directory.clone(),
                differences,
            }
            .into()),
        }
    }

    /// With the games that were played before. `entrants` as in the plan.
    pub fn open(&self, plan: Plan, entrants: Vec<Entrant>) -> Result<Arena<'_>, TournamentError> {
        let (directory, file) = (self.directory, &*self.journal_file);
        let (journal, _) = directory.open_journal(file, LINGERING_LOCK)?;
        Arena::open(self.settings, directory, journal, file, plan, entrants)
    }
}

impl Arena<'_> {
    /// As [`Arena::run`], until `is_enough`, which is asked before the first game and after every one: games being played then
    /// do not count.
    pub async fn run_until(
        self,
        stops: &mut mpsc::Receiver<()>,
        mut is_enough: impl FnMut(&Results) -> bool,
        mut observe: impl FnMut(&Plan, &Event),
    ) -> Result<(Ended, Results), TournamentError> {
        if is_enough(&self.results) {
            return Ok((Ended::Stopped, self.results));
        }
        let mut observer = |plan: &Plan, results: &Results, event: &Event| match event {
            Event::Written(_) if is_enough(results) => ControlFlow::Break(()),
            event => {
                observe(plan, event);
                ControlFlow::Continue(())
            }
        };
        let (ended, _, results) = self.run(stops, &mut observer).await?;
        Ok((ended, results))
    }
}
