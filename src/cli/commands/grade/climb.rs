//! The games of the rungs.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::arena::Ended;
use crate::arena::comparison::Progress;
use crate::arena::directory::TournamentDirectory;
use crate::arena::entrants::{Entrant, Entrants, slugs};
use crate::arena::plan::RejectedBot;
use crate::arena::plan::request::PlanRequest;
use crate::arena::results::Results;
use crate::cli::commands::tournament::{Options, OwnRun, check_bots};
use crate::cli::support::output::ProgressLine;
use crate::cli::support::prelude::*;
use crate::cli::support::signals;
use crate::game::Game;
use crate::league::grading::scale::Scale;
use crate::league::grading::{Grade, RungResult, Verdict, seed_of};
use crate::sandbox::Sandbox;

pub(super) struct Climb<'a> {
    pub(super) options: &'a Options,
    pub(super) scale: &'a Scale,
    pub(super) ruleset: Arc<dyn Game>,
    pub(super) sandbox: &'a Sandbox,
    pub(super) references: Vec<Entrant>,
    pub(super) out: &'a Path,
    pub(super) jobs: usize,
    /// Play the rungs after a failed one.
    pub(super) all: bool,
    pub(super) is_checked: bool,
    pub(super) pieces_path: Option<String>,
}

impl Climb<'_> {
    /// The grades, in order of names.
    pub(super) async fn grade(&self, found: Entrants) -> Result<Vec<Grade>, Failure> {
        let mut stops = signals::stops();
        let Entrants {
            entered,
            mut rejected,
        } = found;
        let checked = tokio::select! {
            checked = self.check(entered, &mut rejected) => Some(checked),
            _ = stops.recv() => None,
        };
        let entered = checked.ok_or(Failure::Interrupted)??;
        let mut grades = Vec::new();
        for bot in &entered {
            grades.push(self.climb(bot, &mut stops).await?);
        }
        grades.extend(rejected.iter().map(|bot| self.refused(bot)));
        grades.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(grades)
    }

    async fn check(
        &self,
        bots: Vec<Entrant>,
        rejected: &mut Vec<RejectedBot>,
    ) -> Result<Vec<Entrant>, Failure> {
        let (ruleset, jobs, pieces) = (&self.ruleset, self.jobs, self.pieces_path.as_deref());
        let (references, mut unfit) = (self.references.clone(), Vec::new());
        check_bots(ruleset, references, &mut unfit, jobs, pieces).await?;
        if let Some(unfit) = unfit.first() {
            bail!(
                "{}: {}; a scale needs reference bots that can play",
                unfit.bot.name,
                join_parts(&unfit.reason, "; ")
            );
        }
        if self.is_checked {
            return Ok(bots);
        }
        check_bots(ruleset, bots, rejected, jobs, pieces).await
    }

    fn refused(&self, bot: &RejectedBot) -> Grade {
        let rungs = self.scale.rungs.iter();
        // Its author knows the folder of the program as `.`.
        let folder = Path::new(&bot.bot.bot).parent().unwrap_or(Path::new("."));
        let reason = bot.reason.replace(&format!("{}/", folder.display()), "./");
        Grade {
            name: bot.bot.name.clone(),
            folder: bot.bot.slug.clone(),
            hash: bot.bot.hash.clone(),
            points: 0,
            most_points: self.scale.most_points(),
            problem: Some(reason),
            rungs: rungs
                .map(|rung| RungResult::not_played(rung, seed_of(self.scale, rung, &bot.bot.hash)))
                .collect(),
        }
    }

    async fn climb(&self, bot: &Entrant, stops: &mut mpsc::Receiver<()>) -> Result<Grade, Failure> {
        let names: Vec<&str> = self.scale.rungs.iter().map(|rung| &*rung.name).collect();
        let mut rungs: Vec<RungResult> = Vec::new();
        for (place, (rung, slug)) in self.scale.rungs.iter().zip(slugs(&names)).enumerate() {
            let seed = seed_of(self.scale, rung, &bot.plan.hash);
            let is_over = rungs.iter().any(|rung| rung.verdict != Verdict::Passed);
            if is_over && !self.all {
                rungs.push(RungResult::not_played(rung, seed));
                continue;
            }
            // Another version or scale has other games.
            let folder = format!("{}/{slug}-{seed}", bot.plan.slug);
            let result = self.play(bot, place, seed, &folder, stops).await?;
            note!("{}: {}", escape_controls(&bot.plan.name), result.sentence());
            if result.forfeits_of_reference > 0 {
                note!(
                    "warning: the reference bot of the rung {} forfeited {} of these games; see {}",
                    rung.name,
                    result.forfeits_of_reference,
                    self.out.join(&folder).display()
                );
            }
            rungs.push(result);
        }
        Ok(Grade {
            name: bot.plan.name.clone(),
            folder: bot.plan.slug.clone(),
            hash: bot.plan.hash.clone(),
            points: rungs.iter().map(|rung| rung.points).sum(),
            most_points: self.scale.most_points(),
            problem: None,
            rungs,
        })
    }

    /// Plays a rung: all pairs of the budget; the test ends them early.
    async fn play(
        &self,
        bot: &Entrant,
        place: usize,
        seed: u64,
        folder: &str,
        stops: &mut mpsc::Receiver<()>,
    ) -> Result<RungResult, Failure> {
        let (scale, rung) = (self.scale, &self.scale.rungs[place]);
        let directory = TournamentDirectory::make(&self.out.join(folder))?;
        let old = directory.plan()?;
        let request = PlanRequest {
            pairs: Some(scale.budget),
            // Benching must not depend on games after the decision.
            bench_after: Some(0),
            ..self.options.request(self.sandbox)
        };
        let entrants = both(bot, &self.references[place]);
        let bots = entrants.iter().map(|bot| bot.plan.clone()).collect();
        let plan = request.new_plan(&*self.ruleset, bots, Vec::new(), seed)?;
        let differences = old.as_ref().map(|old| {
            let mut moved = plan.clone();
            for (bot, before) in moved.bots.iter_mut().zip(&old.bots) {
                // Files may have moved, and a reference may be a newer version.
                bot.bot.clone_from(&before.bot);
                bot.name.clone_from(&before.name);
            }
            old.differences(&moved)
        });
        let resume = "continue: the same command again";
        let run = OwnRun {
            ruleset: &self.ruleset,
            directory: &directory,
            old: old.as_ref(),
            differences: differences.unwrap_or_default(),
            plan,
            entrants,
            pieces_path: self.pieces_path.clone(),
            jobs: self.jobs,
            deadline: None,
            resume,
        };
        let test = scale.test(rung)?;
        let mut progress = Progress::new(test, 1, vec![0; scale.budget as usize]);
        let is_enough = |results: &Results| progress.advance(&results.endings, false);
        let (ended, results) = run
            .play_until(stops, &ProgressLine::new(), is_enough)
            .await?;
        if ended == Ended::Interrupted {
            note!("stopped; {resume}");
            return Err(Failure::Interrupted);
        }
        let (folder, endings) = (folder.to_owned(), &results.endings);
        Ok(RungResult::new(rung, seed, folder, &progress, endings))
    }
}

/// The graded bot first.
fn both(bot: &Entrant, reference: &Entrant) -> Vec<Entrant> {
    let (mut bot, mut reference) = (bot.clone(), reference.clone());
    "graded".clone_into(&mut bot.plan.slug);
    "reference".clone_into(&mut reference.plan.slug);
    while reference.plan.name == bot.plan.name {
        reference.plan.name.push('\'');
    }
    reference.program.name.clone_from(&reference.plan.name);
    vec![bot, reference]
}
