//! The options of a tournament, and the plan that they result in.

use std::path::PathBuf;

use super::{BotPlan, Format, Plan, RejectedBot, Restart, SandboxPlan, SprtPlan, VERSION};
use crate::record::text_file;
use crate::session::Ruleset;
use crate::text::unreadable;
use crate::tournament::openings;
use crate::tournament::schedule::groups;
use crate::tournament::standings::TieBreak;

/// Pairs of games when two bots meet, by default.
const PAIRS: u32 = 10;

/// The most pairs of a sequential test, by default.
const SPRT_PAIRS: u32 = 20_000;

/// The most rounds: the plan lists them all, and is written again for each round of some formats.
const MOST_ROUNDS: u32 = 10_000;

/// The most pairs of games in a tournament.
const MOST_PAIRS: u64 = 10_000_000;

/// The most openings that are drawn, which takes less than a second. After them they are repeated.
const MOST_OPENINGS: u64 = 100_000;

/// Forfeits in a row after which a bot is benched, by default.
const BENCH_AFTER: u32 = 10;

/// The options of a tournament. Options that are `None` are as in the plan of the tournament that is
/// resumed, or have their defaults.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub struct PlanRequest {
    /// All random choices are derived from it; drawn by default.
    pub seed: Option<u64>,
    /// Who meets whom; a round robin by default.
    pub format: Option<Format>,
    /// The number of rounds; see [`Format::usual_rounds`].
    pub rounds: Option<u32>,
    /// The number of groups, for groups with play-offs; groups of four by default.
    pub groups: Option<u32>,
    /// Pairs of games when two bots meet; 10 by default.
    pub pairs: Option<u32>,
    /// Plies of each opening; 4 by default.
    pub opening_plies: Option<u32>,
    /// A file of openings, instead of drawn ones.
    pub openings: Option<PathBuf>,
    /// How long a bot's process lives; for a pair of games by default.
    pub restart: Option<Restart>,
    /// Forfeits in a row after which a bot is benched, 0 for never; 10 by default.
    pub bench_after: Option<u32>,
    /// End games as soon as their value is proven.
    pub adjudicate: bool,
    /// The sequential test that ends a tournament of two bots early.
    pub sprt: Option<SprtPlan>,
    /// The tie-breaks of the table; those of the format when there are none.
    pub tie_breaks: Vec<TieBreak>,
    /// The file by which the bots are seeded: they are in its order.
    pub seeded_by: Option<String>,
    /// The sandbox of the bots.
    pub sandbox: SandboxPlan,
    /// See [`Plan::by_version`].
    pub by_version: bool,
    /// Skip the entry check.
    pub no_check: bool,
    /// Only begin when all bots can enter.
    pub strict: bool,
}

/// Options that no tournament can have: a sentence with the fix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RequestError(pub String);

impl PlanRequest {
    /// A plan by these rules and for these bots, still without openings and rounds. `old` is the plan
    /// of the tournament that is resumed.
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
                "a tournament needs two bots, and {} can enter; `referee check BOT` shows what \
                 is wrong with a bot",
                if count == 1 { "one" } else { "none" }
            )));
        }
        let format = self
            .format
            .or(old.map(|old| old.format))
            .unwrap_or(Format::RoundRobin);
        if format.eliminates() && self.rounds.is_some() {
            return Err(RequestError(
                "a knockout ends when one bot is left; leave --rounds out".to_owned(),
            ));
        }
        let groups = self.groups(format, count, old)?;
        if self.seeded_by.is_some() && !format.depends_on_results() {
            return Err(RequestError(format!(
                "--seeds is for --format knockout, groups+knockout and swiss; in a {} nobody is seeded: \
                 leave it out",
                format.in_words()
            )));
        }
        let sprt = self.sprt.or(old.and_then(|old| old.sprt));
        if sprt.is_some() && (count != 2 || format.depends_on_results()) {
            return Err(RequestError(format!(
                "--sprt compares two bots in a round robin, and there are {count} in a {}",
                format.in_words()
            )));
        }
        if old.is_none() {
            self.check_size(count, format)?;
        }
        let usual_rounds = |format: Format| match (groups, self.by_version) {
            (Some(groups), _) => groups::rounds_of_both(count, groups),
            (None, true) => 1,
            (None, false) => format.usual_rounds(count),
        };
        let usual_pairs = if sprt.is_some() { SPRT_PAIRS } else { PAIRS };
        let plies = match (&self.openings, self.opening_plies, old) {
            (Some(_), _, _) => None,
            (None, Some(plies), _) => Some(plies),
            (None, None, Some(old)) => old.opening_plies,
            (None, None, None) => Some(openings::usual_plies(ruleset)),
        };
        Ok(Plan {
            v: VERSION,
            hash: String::new(),
            referee: env!("CARGO_PKG_VERSION").to_owned(),
            game: ruleset.name().to_owned(),
            game_program: ruleset.program().map(Into::into),
            rules: ruleset.rules().to_owned(),
            pieces: ruleset.pieces().map(str::to_owned),
            seed,
            format,
            groups,
            rounds_planned: self
                .rounds
                .or(old.map(|old| old.rounds_planned))
                .unwrap_or_else(|| usual_rounds(format)),
            pairs: self
                .pairs
                .or(old.map(|old| old.pairs))
                .unwrap_or(usual_pairs),
            by_version: self.by_version,
            budget: None,
            opening_plies: plies,
            openings: Vec::new(),
            restart: self.restart.or(old.map(|old| old.restart)).unwrap_or(
                if ruleset.has_drawn_start() {
                    // A process that played the first game of a pair would know what the second begins with.
                    Restart::Game
                } else {
                    Restart::Pair
                },
            ),
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

    /// The number of groups, for groups with play-offs.
    fn groups(
        &self,
        format: Format,
        count: u32,
        old: Option<&Plan>,
    ) -> Result<Option<u32>, RequestError> {
        let groups = self.groups.or(old.and_then(|old| old.groups));
        Ok(match (format, groups) {
            (Format::GroupsKnockout, None) => Some(groups::usual_groups(count)),
            (Format::GroupsKnockout, Some(groups)) if (1..=count / 2).contains(&groups) => {
                Some(groups)
            }
            (Format::GroupsKnockout, Some(groups)) => {
                return Err(RequestError(format!(
                    "--groups {groups}: with {count} bots there can be 1 to {} groups, so that each has \
                     two bots at least",
                    count / 2
                )));
            }
            (_, None) => None,
            (_, Some(_)) => {
                return Err(RequestError(
                    "--groups is for --format groups+knockout; leave it out".to_owned(),
                ));
            }
        })
    }

    /// Whether a tournament of this many bots is small enough to be planned.
    fn check_size(&self, bots: u32, format: Format) -> Result<(), RequestError> {
        let rounds = self.rounds.unwrap_or_else(|| format.usual_rounds(bots));
        if self.rounds.is_some() && rounds > MOST_ROUNDS {
            return Err(RequestError(format!(
                "--rounds {rounds}: a tournament has {MOST_ROUNDS} rounds at most; for more games \
                 choose more --pairs"
            )));
        }
        let pairings = u64::from(rounds) * u64::from(bots / 2);
        let pairs = pairings.saturating_mul(u64::from(self.pairs.unwrap_or(1)));
        if pairs > MOST_PAIRS {
            return Err(RequestError(format!(
                "{pairs} pairs of games are too many for one tournament, which has {MOST_PAIRS} at \
                 most; choose fewer --rounds or --pairs"
            )));
        }
        Ok(())
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
        let count = usize::try_from(count.min(MOST_OPENINGS)).unwrap_or(usize::MAX);
        self.draw_openings(ruleset, plan.seed, count)
    }

    /// The first `count` openings of a tournament with this seed.
    pub fn draw_openings(
        &self,
        ruleset: &dyn Ruleset,
        seed: u64,
        count: usize,
    ) -> Result<Vec<String>, RequestError> {
        let plies = self
            .opening_plies
            .unwrap_or_else(|| openings::usual_plies(ruleset));
        openings::draw(ruleset, seed, plies, count).map_err(|error| {
            let failure = ruleset.failure();
            RequestError(failure.unwrap_or_else(|| format!("--opening-plies {plies}: {error}")))
        })
    }

    pub fn openings_of_file(&self, ruleset: &dyn Ruleset) -> Result<Vec<String>, RequestError> {
        let path = self.openings.clone().unwrap_or_default();
        let text = text_file::read(&path, text_file::WRITTEN)
            .map_err(|error| RequestError(unreadable(&path, &error)))?;
        openings::parse(ruleset, &text)
            .map_err(|error| RequestError(format!("{}: {error}", path.display())))
    }
}
