//! Climbs a scale: plays bots against the reference bots of its rungs, one after the other.

use std::collections::BTreeMap;
use std::path::Path;

use tokio::sync::mpsc;

use super::scale::{Rung, Scale, ScaleError};
use super::{Grade, Lateness, RungResult, RungVerdict, seed_of};
use crate::league::state::{League, at_home};
use referee_stats::standings::Absence;
use referee_text::join_parts;
use referee_tournament::comparison::ComparisonProgress;
use referee_tournament::directory::TournamentDirectory;
use referee_tournament::entrants::{Entrant, Entrants, slugs};
use referee_tournament::experiment::Experiment;
use referee_tournament::plan::difference::PlanDifference;
use referee_tournament::plan::request::PlanRequest;
use referee_tournament::plan::{BotPlan, Plan, RejectedBot};
use referee_tournament::preparation::PreparationNotice;
use referee_tournament::results::Results;
use referee_tournament::{Ended, Event, GameSettings, TournamentError};

/// What is told of a climb.
#[derive(Debug)]
pub enum ClimbNotice<'a> {
    Check(PreparationNotice<'a>),
    Game(&'a Plan, &'a Event),
    /// Of this bot; the folder of its games, if any were played.
    Rung(&'a BotPlan, &'a RungResult),
}

#[derive(Debug, thiserror::Error)]
pub enum ClimbError {
    #[error(transparent)]
    Tournament(#[from] TournamentError),
    #[error(transparent)]
    Scale(#[from] ScaleError),
    /// Games were played before it, which count.
    #[error(transparent)]
    Games(TournamentError),
    #[error("{name}: {}; a scale needs reference bots that can play", join_parts(.absence, "; "))]
    UnfitReference { name: String, absence: Box<Absence> },
    #[error("the entry check was interrupted")]
    CheckInterrupted,
    #[error("the games were interrupted")]
    GamesInterrupted,
}

type Result<T> = std::result::Result<T, ClimbError>;

/// Of bots on a scale.
#[derive(Debug)]
pub struct Climb<'a> {
    settings: GameSettings,
    /// What the games of all rungs have in common.
    request: PlanRequest,
    scale: &'a Scale,
    /// Of each rung.
    references: Vec<Entrant>,
    /// For the games of all bots.
    folder: &'a Path,
    /// Whether rungs after one that was not passed are played, too.
    plays_all: bool,
    /// With its folder.
    league: Option<(&'a Path, &'a League)>,
    /// By bot, in hours.
    late: BTreeMap<String, u64>,
    /// Of the league, with its offset.
    deadline: String,
}

impl<'a> Climb<'a> {
    /// `references`: of each rung of the scale. `folder`: for the games, of which each rung has one of its own.
    pub fn new(
        (settings, request): (GameSettings, PlanRequest),
        (scale, references): (&'a Scale, Vec<Entrant>),
        folder: &'a Path,
    ) -> Self {
        Self {
            settings,
            request,
            scale,
            references,
            folder,
            plays_all: false,
            league: None,
            late: BTreeMap::new(),
            deadline: String::new(),
        }
    }

    /// Rungs after one that was not passed are played, too.
    #[must_use]
    pub const fn playing_all(mut self, all: bool) -> Self {
        self.plays_all = all;
        self
    }

    /// The bots are those of a league, in this folder.
    #[must_use]
    pub fn of_league(mut self, folder: &'a Path, league: &'a League) -> Self {
        self.league = Some((folder, league));
        self.late = hours_late(league);
        self.deadline = league.deadline_text().unwrap_or_default();
        self
    }

    /// The grades of all bots by name, and those that cannot play. `are_checked`: the bots have passed the entry check
    /// before; the reference bots are checked each time. `stops` as in [`Arena::run`](referee_tournament::Arena::run).
    pub async fn grade(
        &self,
        found: Entrants,
        are_checked: bool,
        stops: &mut mpsc::Receiver<()>,
        notify: &mut dyn FnMut(ClimbNotice<'_>),
    ) -> Result<(Vec<Grade>, Vec<RejectedBot>)> {
        let mut rejected = found.rejected;
        let entered = tokio::select! {
            checked = self.check(found.entered, are_checked, &mut rejected, notify) => checked?,
            _ = stops.recv() => return Err(ClimbError::CheckInterrupted),
        };
        let mut grades = Vec::new();
        for bot in &entered {
            grades.push(self.climb(bot, stops, notify).await?);
        }
        grades.extend(rejected.iter().map(|bot| self.refused(bot)));
        grades.sort_by(|a, b| a.name.cmp(&b.name));
        Ok((grades, rejected))
    }

    async fn check(
        &self,
        bots: Vec<Entrant>,
        are_checked: bool,
        rejected: &mut Vec<RejectedBot>,
        notify: &mut dyn FnMut(ClimbNotice<'_>),
    ) -> Result<Vec<Entrant>> {
        let mut notify = |notice: PreparationNotice<'_>| notify(ClimbNotice::Check(notice));
        let (mut unfit, references) = (Vec::new(), self.references.clone());
        self.settings
            .check_all(references, &mut unfit, &mut notify)
            .await?;
        if let Some(unfit) = unfit.into_iter().next() {
            return Err(ClimbError::UnfitReference {
                name: unfit.bot.name,
                absence: Box::new(unfit.absence),
            });
        }
        if are_checked {
            return Ok(bots);
        }
        Ok(self.settings.check_all(bots, rejected, &mut notify).await?)
    }

    fn refused(&self, bot: &RejectedBot) -> Grade {
        let program = Path::new(&bot.bot.bot);
        let mut homes = vec![program.parent().unwrap_or(program).display().to_string()];
        if let Some((folder, league)) = self.league {
            let known = league.bot(&bot.bot.name);
            homes.extend(known.iter().flat_map(|known| known.homes(folder)));
        }
        let absence = bot.absence.map(|text| at_home(text, &homes));
        let rungs = self.scale.rungs.iter();
        let rungs = rungs
            .map(|rung| RungResult::not_played(rung, seed_of(self.scale, rung, &bot.bot.hash)));
        self.grade_of(&bot.bot, Some(absence), rungs.collect())
    }

    fn grade_of(&self, bot: &BotPlan, problem: Option<Absence>, rungs: Vec<RungResult>) -> Grade {
        let late = self.late.get(&bot.name).map(|&hours| Lateness {
            hours,
            deadline: self.deadline.clone(),
            points_lost: self.scale.penalty(hours),
        });
        let points: u32 = rungs.iter().map(|rung| rung.points).sum();
        Grade {
            name: bot.name.clone(),
            folder: bot.slug.clone(),
            hash: bot.hash.clone(),
            points: points.saturating_sub(late.as_ref().map_or(0, |late| late.points_lost)),
            most_points: self.scale.most_points(),
            late,
            problem,
            rungs,
        }
    }

    async fn climb(
        &self,
        bot: &Entrant,
        stops: &mut mpsc::Receiver<()>,
        notify: &mut dyn FnMut(ClimbNotice<'_>),
    ) -> Result<Grade> {
        let names: Vec<&str> = self.scale.rungs.iter().map(|rung| &*rung.name).collect();
        let mut results: Vec<RungResult> = Vec::new();
        let rungs = self.scale.rungs.iter().zip(&self.references);
        for ((rung, reference), slug) in rungs.zip(slugs(&names)) {
            let seed = seed_of(self.scale, rung, &bot.plan.hash);
            let is_over = results
                .iter()
                .any(|result| result.verdict != RungVerdict::Passed);
            if is_over && !self.plays_all {
                results.push(RungResult::not_played(rung, seed));
                continue;
            }
            // Another version or scale has other games.
            let folder = format!("{}/{slug}-{seed}", bot.plan.slug);
            let games = RungGames {
                climb: self,
                rung,
                entrants: both(bot, reference),
                seed,
                folder,
            };
            let result = games.play(stops, notify).await?;
            notify(ClimbNotice::Rung(&bot.plan, &result));
            results.push(result);
        }
        Ok(self.grade_of(&bot.plan, None, results))
    }
}

/// The games of one bot on one rung.
struct RungGames<'a> {
    climb: &'a Climb<'a>,
    rung: &'a Rung,
    /// The bot, then the reference.
    entrants: Vec<Entrant>,
    seed: u64,
    /// Within that of the climb.
    folder: String,
}

impl RungGames<'_> {
    async fn play(
        mut self,
        stops: &mut mpsc::Receiver<()>,
        notify: &mut dyn FnMut(ClimbNotice<'_>),
    ) -> Result<RungResult> {
        let Climb {
            settings,
            scale,
            folder,
            ..
        } = self.climb;
        let directory = TournamentDirectory::make(&folder.join(&self.folder))?;
        let experiment = Experiment::new(settings, &directory);
        let old = directory.plan()?;
        if let Some(old) = &old {
            self.call_as_in(old);
        }
        let mut plan = self.plan()?;
        let differences = old.map(|old| differences(&old, &plan));
        experiment.keep(&mut plan, differences)?;
        let (budget, test) = (scale.budget as usize, scale.test(self.rung)?);
        let mut progress = ComparisonProgress::new(test, 1, vec![0; budget]);
        let is_enough = |results: &Results| progress.advance(&results.endings, false);
        let observe = |plan: &Plan, event: &Event| notify(ClimbNotice::Game(plan, event));
        let arena = experiment.open(plan, self.entrants)?;
        let played = arena.run_until(stops, is_enough, observe);
        let (ended, results) = played.await.map_err(ClimbError::Games)?;
        if ended == Ended::Interrupted {
            return Err(ClimbError::GamesInterrupted);
        }
        let (rung, seed, folder) = (self.rung, self.seed, self.folder);
        Ok(RungResult::new(
            rung,
            seed,
            folder,
            &progress,
            &results.endings,
        ))
    }

    /// By the names in the games that were played: a student may have another one by now.
    fn call_as_in(&mut self, old: &Plan) {
        for (bot, before) in self.entrants.iter_mut().zip(&old.bots) {
            bot.plan.name.clone_from(&before.name);
            bot.program.name.clone_from(&before.name);
        }
    }

    fn plan(&self) -> Result<Plan> {
        let request = PlanRequest {
            pairs: Some(self.climb.scale.budget),
            // Benching must not depend on games after the decision.
            bench_after: Some(0),
            ..self.climb.request.clone()
        };
        let bots = self.entrants.iter().map(|bot| bot.plan.clone()).collect();
        let ruleset = &*self.climb.settings.ruleset;
        Ok(request.new_plan(ruleset, bots, Vec::new(), self.seed)?)
    }
}

/// Between a plan that is there and one of now.
fn differences(old: &Plan, now: &Plan) -> Vec<PlanDifference> {
    let mut moved = now.clone();
    for (bot, before) in moved.bots.iter_mut().zip(&old.bots) {
        // Files may have moved, and a reference may be a newer version.
        bot.bot.clone_from(&before.bot);
    }
    old.differences(&moved)
}

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

/// Of the bots of a league whose playing version was late.
fn hours_late(league: &League) -> BTreeMap<String, u64> {
    let until = league.accepted_until();
    let bots = league.bots().into_iter();
    let late = bots.filter_map(|bot| {
        let hours = league.hours_late(&bot.playing(until)?)?;
        Some((bot.label, hours))
    });
    late.collect()
}
