//! The options of a tournament, and the plan that they make.

use std::path::PathBuf;

use super::{BotPlan, Format, GameProgramPlan, Plan, RejectedBot, Restart, SandboxPlan, VERSION};
use crate::arena::TournamentError;
use crate::game::Game;
use crate::record::text_file;
use crate::text::unreadable;
use crate::tournament::openings;
use crate::tournament::schedule::groups;
use crate::tournament::sprt::Sprt;
use crate::tournament::standings::TieBreak;

const PAIRS: u32 = 10;

const SPRT_PAIRS: u32 = 20_000;

/// The plan lists all rounds and is rewritten for each round of some formats.
const MOST_ROUNDS: u32 = 10_000;

const MOST_PAIRS: u64 = 10_000_000;

/// Drawn in less than a second; then repeated.
const MOST_OPENINGS: u64 = 100_000;

/// In a league each pairing of two versions has its own.
const OPENINGS_OF_LEAGUE: u64 = 1_000;

const BENCH_AFTER: u32 = 10;

/// `None`: as in the resumed plan, or the default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanRequest {
    pub seed: Option<u64>,
    pub format: Option<Format>,
    /// Default: [`Format::usual_rounds`].
    pub rounds: Option<u32>,
    /// The number of groups; by default as many as make groups of four.
    pub groups: Option<u32>,
    /// Pairs of games when two bots meet; default 10.
    pub pairs: Option<u32>,
    /// Plies of each opening; default 4.
    pub opening_plies: Option<u32>,
    pub openings: Option<PathBuf>,
    /// Default: a pair of games.
    pub restart: Option<Restart>,
    /// Forfeits in a row; 0: never; default 10.
    pub bench_after: Option<u32>,
    pub adjudicate: bool,
    pub sprt: Option<Sprt>,
    pub tie_breaks: Vec<TieBreak>,
    /// A file with the bots in order of seed.
    pub seeded_by: Option<String>,
    pub sandbox: SandboxPlan,
    pub by_version: bool,
    pub no_check: bool,
}

fn refused<T>(problem: String) -> Result<T, TournamentError> {
    Err(TournamentError::Input(problem))
}

impl PlanRequest {
    /// A plan with openings and its first rounds.
    pub fn new_plan(
        &self,
        ruleset: &dyn Game,
        bots: Vec<BotPlan>,
        rejected: Vec<RejectedBot>,
        seed: u64,
    ) -> Result<Plan, TournamentError> {
        let mut plan = self.plan(ruleset, bots, rejected, seed, None)?;
        plan.openings = self.openings(ruleset, &plan)?;
        plan.rounds = plan.first_rounds();
        Ok(plan)
    }

    /// Without openings and rounds. `old` is the resumed plan.
    pub fn plan(
        &self,
        ruleset: &dyn Game,
        bots: Vec<BotPlan>,
        rejected: Vec<RejectedBot>,
        seed: u64,
        old: Option<&Plan>,
    ) -> Result<Plan, TournamentError> {
        let count = u32::try_from(bots.len()).unwrap_or(u32::MAX);
        if count < 2 {
            return refused(format!(
                "a tournament needs two bots, and {} can enter; `referee check BOT` shows what \
                 is wrong with a bot",
                if count == 1 { "one" } else { "none" }
            ));
        }
        let format = self
            .format
            .or(old.map(|old| old.format))
            .unwrap_or(Format::RoundRobin);
        if format.eliminates() && self.rounds.is_some() {
            return refused("a knockout ends when one bot is left; leave --rounds out".to_owned());
        }
        let groups = self.groups(format, count, old)?;
        if self.seeded_by.is_some() && !format.depends_on_results() {
            return refused(format!(
                "--seeds is for --format knockout, groups+knockout and swiss; in a {} bots are not seeded: \
                 leave it out",
                format.in_words()
            ));
        }
        let sprt = self.sprt.or(old.and_then(|old| old.sprt));
        if sprt.is_some() && (count != 2 || format.depends_on_results()) {
            return refused(format!(
                "--sprt compares two bots in a round robin, and there are {count} in a {}",
                format.in_words()
            ));
        }
        if old.is_none() {
            self.check_size(count, format)?;
        }
        let usual_rounds = match (groups, self.by_version) {
            (Some(groups), _) => groups::rounds_of_both(count, groups),
            (None, true) => 1,
            (None, false) => format.usual_rounds(count),
        };
        let usual_pairs = if sprt.is_some() { SPRT_PAIRS } else { PAIRS };
        let usual_plies = || Some(openings::usual_plies(ruleset));
        let planned_plies = || old.map_or_else(usual_plies, |old| old.opening_plies);
        let plies = self.opening_plies.or_else(planned_plies);
        Ok(Plan {
            v: VERSION,
            hash: String::new(),
            referee: env!("CARGO_PKG_VERSION").to_owned(),
            game: ruleset.name().to_owned(),
            game_program: ruleset.program().map(|source| GameProgramPlan {
                command: source.command.clone(),
                hash: source.hash.clone(),
            }),
            rules: ruleset.rules().to_owned(),
            pieces: ruleset.pieces().map(str::to_owned),
            seed,
            format,
            groups,
            rounds_planned: self
                .rounds
                .or(old.map(|old| old.rounds_planned))
                .unwrap_or(usual_rounds),
            pairs: self
                .pairs
                .or(old.map(|old| old.pairs))
                .unwrap_or(usual_pairs),
            by_version: self.by_version,
            budget: None,
            opening_plies: plies.filter(|_| self.openings.is_none()),
            openings: Vec::new(),
            restart: self
                .restart
                .or(old.map(|old| old.restart))
                .unwrap_or_else(|| {
                    // A process that played the first game would know how the second begins.
                    let is_drawn = ruleset.info().has_drawn_start;
                    if is_drawn {
                        Restart::Game
                    } else {
                        Restart::Pair
                    }
                }),
            bench_after: self
                .bench_after
                .or(old.map(|old| old.bench_after))
                .unwrap_or(BENCH_AFTER),
            adjudicate: self.adjudicate || old.is_some_and(|old| old.adjudicate),
            sprt,
            tie_breaks: match (&self.tie_breaks[..], old) {
                ([], Some(old)) => old.tie_breaks.clone(),
                (chosen, _) => chosen.to_vec(),
            },
            seeded_by: self
                .seeded_by
                .clone()
                .or_else(|| old.and_then(|old| old.seeded_by.clone())),
            begun_in: None,
            sandbox: self.sandbox.clone(),
            bots,
            rejected,
            rounds: Vec::new(),
        })
    }

    fn groups(
        &self,
        format: Format,
        count: u32,
        old: Option<&Plan>,
    ) -> Result<Option<u32>, TournamentError> {
        let groups = self.groups.or(old.and_then(|old| old.groups));
        match (format, groups) {
            (Format::GroupsKnockout, None) => Ok(Some(groups::usual_groups(count))),
            (Format::GroupsKnockout, Some(chosen)) if !(1..=count / 2).contains(&chosen) => {
                refused(format!(
                    "--groups {chosen}: with {count} bots there can be 1 to {} groups, so that each has \
                     two bots at least",
                    count / 2
                ))
            }
            (Format::GroupsKnockout, _) | (_, None) => Ok(groups),
            (_, Some(_)) => {
                refused("--groups is for --format groups+knockout; leave it out".to_owned())
            }
        }
    }

    fn check_size(&self, bots: u32, format: Format) -> Result<(), TournamentError> {
        let rounds = self.rounds.unwrap_or_else(|| format.usual_rounds(bots));
        if self.rounds.is_some() && rounds > MOST_ROUNDS {
            return refused(format!(
                "--rounds {rounds}: a tournament has {MOST_ROUNDS} rounds at most; for more games \
                 choose more --pairs"
            ));
        }
        let pairings = u64::from(rounds) * u64::from(bots / 2);
        let pairs = pairings.saturating_mul(u64::from(self.pairs.unwrap_or(1)));
        if pairs > MOST_PAIRS {
            return refused(format!(
                "{pairs} pairs of games are too many for one tournament, which has {MOST_PAIRS} at \
                 most; choose fewer --rounds or --pairs"
            ));
        }
        Ok(())
    }

    pub fn openings(
        &self,
        ruleset: &dyn Game,
        plan: &Plan,
    ) -> Result<Vec<String>, TournamentError> {
        let least = u64::from(plan.by_version) * OPENINGS_OF_LEAGUE;
        let count = (u64::from(plan.rounds_planned) * u64::from(plan.pairs)).max(least);
        let count = usize::try_from(count.min(MOST_OPENINGS)).unwrap_or(usize::MAX);
        self.some_openings(ruleset, plan.seed, plan.opening_plies, count)
    }

    /// Fails when none can be drawn, or read of the file.
    pub fn check_openings(&self, ruleset: &dyn Game, seed: u64) -> Result<(), TournamentError> {
        let plies = self.opening_plies;
        let plies = plies.unwrap_or_else(|| openings::usual_plies(ruleset));
        let plies = self.openings.is_none().then_some(plies);
        self.some_openings(ruleset, seed, plies, 1).map(drop)
    }

    /// Without `plies` those of the file.
    fn some_openings(
        &self,
        ruleset: &dyn Game,
        seed: u64,
        plies: Option<u32>,
        count: usize,
    ) -> Result<Vec<String>, TournamentError> {
        let Some(plies) = plies else {
            return self.openings_of_file(ruleset);
        };
        openings::draw(ruleset, seed, plies, count).map_err(|error| {
            let failure = ruleset.failure();
            let failure = failure.unwrap_or_else(|| format!("--opening-plies {plies}: {error}"));
            TournamentError::Input(failure)
        })
    }

    pub fn openings_of_file(&self, ruleset: &dyn Game) -> Result<Vec<String>, TournamentError> {
        let path = self.openings.clone().unwrap_or_default();
        let text = text_file::read(&path, text_file::WRITTEN)
            .map_err(|error| TournamentError::Input(unreadable(&path, &error)))?;
        openings::parse(ruleset, &text)
            .map_err(|error| TournamentError::Input(format!("{}: {error}", path.display())))
    }
}
