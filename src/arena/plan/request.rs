//! What a tournament is asked to be, and the plan that comes of it.

use std::fs;
use std::path::PathBuf;

use super::{BotPlan, Format, Plan, RejectedBot, Restart, SandboxPlan, SprtPlan, VERSION};
use crate::session::Ruleset;
use crate::text::unreadable;
use crate::tournament::openings::{self, PLIES};

/// Pairs of games when two bots meet.
const PAIRS: u32 = 10;

/// The most pairs of a sequential test.
const SPRT_PAIRS: u32 = 20_000;

/// Forfeits in a row after which a bot is benched.
const BENCH_AFTER: u32 = 10;

/// What a tournament is asked to be. What is not given is as in the plan that goes on, or usual.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanRequest {
    /// Everything random comes from it.
    pub seed: Option<u64>,
    /// Who meets whom; usually a round robin.
    pub format: Option<Format>,
    /// How many rounds.
    pub rounds: Option<u32>,
    /// Pairs of games when two bots meet; usually 10.
    pub pairs: Option<u32>,
    /// Plies of each opening; usually 4.
    pub opening_plies: Option<u32>,
    /// A file of boards to start from instead.
    pub openings: Option<PathBuf>,
    /// How long a bot's process lives; usually for a pair of games.
    pub restart: Option<Restart>,
    /// Forfeits in a row after which a bot is benched; usually 10, 0 for never.
    pub bench_after: Option<u32>,
    /// End games as soon as their value is proven.
    pub adjudicate: bool,
    /// When a tournament of two ends early.
    pub sprt: Option<SprtPlan>,
    /// What keeps the bots in.
    pub sandbox: SandboxPlan,
    /// Let bots in without the entry check.
    pub no_check: bool,
    /// Do not begin unless all bots can enter.
    pub strict: bool,
}

/// A request that no tournament can meet: a sentence with the fix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RequestError(pub String);

impl PlanRequest {
    /// A plan without openings and rounds, by these rules and for these bots.
    pub fn plan(
        &self,
        ruleset: &dyn Ruleset,
        bots: Vec<BotPlan>,
        rejected: Vec<RejectedBot>,
        seed: u64,
        old: Option<&Plan>,
    ) -> Result<Plan, RequestError> {
        let count = u32::try_from(bots.len()).unwrap_or(u32::MAX);
        if count < 2 {
            return Err(RequestError(format!(
                "a tournament needs two bots, and {} can enter; `referee check BOT` tells what \
                 is wrong with one",
                if count == 1 { "one" } else { "none" }
            )));
        }
        let format = self
            .format
            .or(old.map(|old| old.format))
            .unwrap_or(Format::RoundRobin);
        if format == Format::Knockout && self.rounds.is_some() {
            return Err(RequestError(
                "a knockout goes on until one is left; leave --rounds out".to_owned(),
            ));
        }
        let sprt = self.sprt.or(old.and_then(|old| old.sprt));
        if sprt.is_some() && (count != 2 || format.depends_on_results()) {
            return Err(RequestError(format!(
                "--sprt compares two bots in a round robin, and there are {count} in a {}",
                format.in_words()
            )));
        }
        let usual_pairs = if sprt.is_some() { SPRT_PAIRS } else { PAIRS };
        let plies = match (&self.openings, self.opening_plies, old) {
            (Some(_), _, _) => None,
            (None, Some(plies), _) => Some(plies),
            (None, None, Some(old)) => old.opening_plies,
            (None, None, None) => Some(PLIES),
        };
        Ok(Plan {
            v: VERSION,
            hash: String::new(),
            referee: env!("CARGO_PKG_VERSION").to_owned(),
            game: ruleset.name().to_owned(),
            rules: ruleset.rules().to_owned(),
            pieces: ruleset.pieces().map(str::to_owned),
            seed,
            format,
            rounds_planned: self
                .rounds
                .or(old.map(|old| old.rounds_planned))
                .unwrap_or_else(|| format.usual_rounds(count)),
            pairs: self
                .pairs
                .or(old.map(|old| old.pairs))
                .unwrap_or(usual_pairs),
            opening_plies: plies,
            openings: Vec::new(),
            restart: self
                .restart
                .or(old.map(|old| old.restart))
                .unwrap_or(Restart::Pair),
            bench_after: self
                .bench_after
                .or(old.map(|old| old.bench_after))
                .unwrap_or(BENCH_AFTER),
            adjudicate: self.adjudicate || old.is_some_and(|old| old.adjudicate),
            sprt,
            sandbox: self.sandbox.clone(),
            bots,
            rejected,
            rounds: Vec::new(),
        })
    }

    /// The openings of a new plan.
    pub fn openings(
        &self,
        ruleset: &dyn Ruleset,
        plan: &Plan,
    ) -> Result<Vec<String>, RequestError> {
        if plan.opening_plies.is_none() {
            return self.openings_of_file(ruleset);
        }
        let count = u64::from(plan.rounds_planned) * u64::from(plan.pairs);
        let count = usize::try_from(count).map_err(|_| {
            RequestError("so many openings do not fit into memory; choose fewer --pairs".to_owned())
        })?;
        self.draw_openings(ruleset, plan.seed, count)
    }

    /// The first `count` openings of a tournament with this seed.
    pub fn draw_openings(
        &self,
        ruleset: &dyn Ruleset,
        seed: u64,
        count: usize,
    ) -> Result<Vec<String>, RequestError> {
        let plies = self.opening_plies.unwrap_or(PLIES);
        openings::draw(ruleset, seed, plies, count)
            .map_err(|error| RequestError(format!("--opening-plies {plies}: {error}")))
    }

    /// The openings of the file.
    pub fn openings_of_file(&self, ruleset: &dyn Ruleset) -> Result<Vec<String>, RequestError> {
        let path = self.openings.clone().unwrap_or_default();
        let text =
            fs::read_to_string(&path).map_err(|error| RequestError(unreadable(&path, &error)))?;
        openings::parse(ruleset, &text)
            .map_err(|error| RequestError(format!("{}: {error}", path.display())))
    }
}
