//! The games of the rungs.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::arena::comparison::Progress;
use crate::arena::directory::TournamentDirectory;
use crate::arena::entrants::{Entrant, Entrants, slugs};
use crate::arena::plan::request::PlanRequest;
use crate::arena::plan::{BotPlan, Plan, RejectedBot};
use crate::arena::preparation::write_pieces;
use crate::arena::results::Results;
use crate::arena::{Arena, Ended};
use crate::cli::commands::tournament::{Options, check_bots, open_own, play_until, stop_signals};
use crate::cli::support::failure::Failure;
use crate::cli::support::output::{ProgressLine, print_stderr};
use crate::cli::support::signals;
use crate::league::grading::scale::{Rung, Scale};
use crate::league::grading::{Grade, RungResult, Verdict, seed_of};
use crate::sandbox::Sandbox;
use crate::session::Ruleset;
use crate::text::escape_controls;

pub(super) struct Climb<'a> {
    pub(super) options: &'a Options,
    pub(super) scale: &'a Scale,
    pub(super) ruleset: Arc<dyn Ruleset>,
    pub(super) sandbox: &'a Sandbox,
    pub(super) references: Vec<Entrant>,
    pub(super) out: &'a Path,
    pub(super) jobs: usize,
    /// Play the rungs after a failed one.
    pub(super) all: bool,
    pub(super) is_checked: bool,
}

impl Climb<'_> {
    /// In order of names.
    pub(super) async fn grade(&self, found: Entrants) -> Result<Vec<Grade>, Failure> {
        // Until the end: a second signal must not cut off the clean-up.
        let _heeded = signals::heed();
        let mut stops = stop_signals();
        let directory = TournamentDirectory::make(self.out)?;
        let pieces_path = write_pieces(&directory, &*self.ruleset)?;
        let Entrants {
            entered,
            mut rejected,
        } = found;
        let checked = tokio::select! {
            checked = self.check(pieces_path.as_deref(), entered, &mut rejected) => Some(checked),
            _ = stops.recv() => None,
        };
        let entered = checked.ok_or(Failure::Interrupted)??;
        let mut grades = Vec::new();
        for bot in &entered {
            let climbed = self.climb(bot, pieces_path.as_deref(), &mut stops);
            grades.push(climbed.await?);
        }
        grades.extend(rejected.iter().map(|bot| self.refused(bot)));
        grades.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(grades)
    }

    async fn check(
        &self,
        pieces_path: Option<&str>,
        bots: Vec<Entrant>,
        rejected: &mut Vec<RejectedBot>,
    ) -> Result<Vec<Entrant>, Failure> {
        let (ruleset, jobs) = (&self.ruleset, self.jobs);
        let mut unfit = Vec::new();
        check_bots(
            ruleset,
            self.references.clone(),
            &mut unfit,
            jobs,
            pieces_path,
        )
        .await?;
        if let Some(unfit) = unfit.first() {
            return Err(Failure::Usage(format!(
                "{}: {}; a scale needs reference bots that can play",
                unfit.bot.name, unfit.reason
            )));
        }
        if self.is_checked {
            return Ok(bots);
        }
        check_bots(ruleset, bots, rejected, jobs, pieces_path).await
    }

    fn refused(&self, bot: &RejectedBot) -> Grade {
        let rungs = self.scale.rungs.iter();
        Grade {
            name: bot.bot.name.clone(),
            folder: bot.bot.slug.clone(),
            hash: bot.bot.hash.clone(),
            points: 0,
            most_points: self.scale.most_points(),
            problem: Some(bot.reason.clone()),
            rungs: rungs
                .map(|rung| RungResult::not_played(rung, seed_of(self.scale, rung, &bot.bot.hash)))
                .collect(),
        }
    }

    async fn climb(
        &self,
        bot: &Entrant,
        pieces_path: Option<&str>,
        stops: &mut mpsc::Receiver<()>,
    ) -> Result<Grade, Failure> {
        let names: Vec<&str> = self.scale.rungs.iter().map(|rung| &*rung.name).collect();
        let mut rungs: Vec<RungResult> = Vec::new();
        for (place, (rung, slug)) in self.scale.rungs.iter().zip(slugs(&names)).enumerate() {
            let seed = seed_of(self.scale, rung, &bot.plan.hash);
            let is_over = rungs.iter().any(|rung| rung.verdict != Verdict::Passed);
            if is_over && !self.all {
                rungs.push(RungResult::not_played(rung, seed));
                continue;
            }
            let played = Played {
                climb: self,
                bot,
                reference: &self.references[place],
                rung,
                seed,
                // Another version or scale has other games.
                folder: format!("{}/{slug}-{seed}", bot.plan.slug),
                pieces_path,
            };
            let result = played.result(stops).await?;
            print_stderr(&format!(
                "referee: {}: {}",
                escape_controls(&bot.plan.name),
                result.sentence()
            ));
            if result.forfeits_of_reference > 0 {
                print_stderr(&format!(
                    "referee: warning: the reference bot of the rung {} forfeited {} of these games; see {}",
                    rung.name,
                    result.forfeits_of_reference,
                    self.out.join(&played.folder).display()
                ));
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
}

struct Played<'a> {
    climb: &'a Climb<'a>,
    bot: &'a Entrant,
    reference: &'a Entrant,
    rung: &'a Rung,
    seed: u64,
    /// In the folder of the grades.
    folder: String,
    pieces_path: Option<&'a str>,
}

impl Played<'_> {
    /// The graded bot first.
    fn entrants(&self) -> Vec<Entrant> {
        let mut both = vec![self.bot.clone(), self.reference.clone()];
        for (entrant, slug) in both.iter_mut().zip(["graded", "reference"]) {
            slug.clone_into(&mut entrant.plan.slug);
        }
        let [graded, reference] = &mut both[..] else {
            return both;
        };
        while reference.plan.name == graded.plan.name {
            reference.plan.name.push('\'');
        }
        reference.program.name.clone_from(&reference.plan.name);
        both
    }

    /// All pairs of the budget; the test ends them early.
    fn plan(&self, bots: Vec<BotPlan>) -> Result<Plan, Failure> {
        let climb = self.climb;
        let request = PlanRequest {
            pairs: Some(climb.scale.budget),
            // Benching must not depend on games after the decision.
            bench_after: Some(0),
            ..climb.options.request(climb.sandbox)
        };
        Ok(request.new_plan(&*climb.ruleset, bots, Vec::new(), self.seed)?)
    }

    async fn result(&self, stops: &mut mpsc::Receiver<()>) -> Result<RungResult, Failure> {
        let climb = self.climb;
        let directory = TournamentDirectory::make(&climb.out.join(&self.folder))?;
        let journal_file = directory.journal_file();
        let old = directory.plan()?;
        let entrants = self.entrants();
        let bots = entrants.iter().map(|bot| bot.plan.clone()).collect();
        let plan = self.plan(bots)?;
        let differences = old.as_ref().map(|old| {
            let mut moved = plan.clone();
            for (bot, before) in moved.bots.iter_mut().zip(&old.bots) {
                // Files may have moved, and a reference may be a newer version.
                bot.bot.clone_from(&before.bot);
                bot.name.clone_from(&before.name);
            }
            old.differences(&moved)
        });
        let opened = open_own(
            &climb.ruleset,
            &directory,
            &journal_file,
            old.as_ref(),
            plan,
            &differences.unwrap_or_default(),
            entrants,
        );
        let arena = Arena {
            pieces_path: self.pieces_path.map(str::to_owned),
            jobs: climb.jobs,
            ..opened?
        };
        let test = climb.scale.test(self.rung);
        let test = test.map_err(Failure::Usage)?;
        let mut progress = Progress::new(test, 1, vec![0; climb.scale.budget as usize]);
        let line = ProgressLine::new();
        let resume = "continue: the same command again";
        let is_enough = |results: &Results| progress.advance(&results.endings, false);
        let (ended, results) = play_until(arena, stops, &line, resume, is_enough).await?;
        if ended == Ended::Interrupted {
            print_stderr(&format!("referee: stopped; {resume}"));
            return Err(Failure::Interrupted);
        }
        Ok(RungResult::new(
            self.rung,
            self.seed,
            self.folder.clone(),
            &progress,
            &results.endings,
        ))
    }
}
