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

/// Which games there are. `None`: as in the resumed plan, or the default.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub struct PlanRequest {
    /// Pairs of games in each pairing of two bots [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub pairs: Option<u32>,

    #[command(flatten)]
    pub games: GamesRequest,

    /// How ties in the table are broken, in this order: direct, buchholz-cut-1, buchholz,
    /// sonneborn-berger, wins, wins-as-second, rating [default: those usual for the format]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub tie_break: Vec<TieBreak>,

    /// When bots get fresh processes [default: pair]
    #[arg(long)]
    pub restart: Option<Restart>,

    /// Bench a bot that forfeits this many games in a row; 0 for never [default: 10]
    #[arg(long, value_name = "N")]
    pub bench_after: Option<u32>,

    #[arg(skip)]
    pub schedule: ScheduleRequest,

    #[arg(skip)]
    pub sandbox: SandboxPlan,

    /// A league's: pairings are of versions.
    #[arg(skip)]
    pub by_version: bool,
}

#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub struct GamesRequest {
    /// Random plies at the start of every pair [default: 4]
    #[arg(long, value_name = "N", conflicts_with = "openings")]
    pub opening_plies: Option<u32>,

    /// Start games from the boards of this file instead, one per line
    #[arg(long, value_name = "FILE")]
    pub openings: Option<PathBuf>,

    /// Everything random comes from this number; drawn, and printed, when not given
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// End a game as soon as its value is proven; the time to prove it is charged to no bot
    #[arg(long)]
    pub adjudicate: bool,

    /// Let bots enter without a check
    #[arg(long)]
    pub no_check: bool,
}

/// What a league does not choose.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub struct ScheduleRequest {
    /// Who plays whom [default: round-robin]
    #[arg(long)]
    pub format: Option<Format>,

    /// Rounds [default: until all have played each other; Swiss and knockout: until one is left]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,

    /// Groups of groups+knockout [default: groups of four]; they are balanced by the order of the bots
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub groups: Option<u32>,

    /// Seed a knockout, groups or a Swiss tournament by this file, the best first: standings (CSV),
    /// a tournament's folder, or a name a line [default: in the order given]
    #[arg(long, value_name = "FILE")]
    pub seeds: Option<PathBuf>,

    /// Two bots: stop as soon as a sequential probability ratio test accepts one of two rating
    /// differences: elo0,elo1 or elo0,elo1,alpha,beta
    #[arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true, value_parser = sprt)]
    pub sprt: Option<Sprt>,
}

fn sprt(text: &str) -> Result<Sprt, String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[elo0, elo1]) => Sprt::new(elo0, elo1, 0.05, 0.05),
        Ok(&[elo0, elo1, alpha, beta]) => Sprt::new(elo0, elo1, alpha, beta),
        _ => Err("expected two or four numbers such as 0,10 or 0,10,0.05,0.05".to_owned()),
    }
}

fn or_old<T>(given: Option<T>, old: Option<&Plan>, of: impl FnOnce(&Plan) -> T) -> Option<T> {
    given.or_else(|| old.map(of))
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
        let format =
            or_old(self.schedule.format, old, |old| old.format).unwrap_or(Format::RoundRobin);
        if format.eliminates() && self.schedule.rounds.is_some() {
            return refused("a knockout ends when one bot is left; leave --rounds out".to_owned());
        }
        let groups = self.groups(format, count, old)?;
        if self.schedule.seeds.is_some() && !format.depends_on_results() {
            return refused(format!(
                "--seeds is for --format knockout, groups+knockout and swiss; in a {} bots are not seeded: \
                 leave it out",
                format.in_words()
            ));
        }
        let sprt = self.schedule.sprt.or(old.and_then(|old| old.sprt));
        if sprt.is_some() && (count != 2 || format.depends_on_results()) {
            return refused(format!(
                "--sprt compares two bots in a round robin, and there are {count} in a {}",
                format.in_words()
            ));
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
        let plies = match (&self.games.openings, self.games.opening_plies, old) {
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
            game_program: ruleset.program().map(|source| GameProgramPlan {
                command: source.command.clone(),
                hash: source.hash.clone(),
            }),
            rules: ruleset.rules().to_owned(),
            pieces: ruleset.pieces().map(str::to_owned),
            seed,
            format,
            groups,
            rounds_planned: or_old(self.schedule.rounds, old, |old| old.rounds_planned)
                .unwrap_or_else(|| usual_rounds(format)),
            pairs: or_old(self.pairs, old, |old| old.pairs).unwrap_or(usual_pairs),
            by_version: self.by_version,
            budget: None,
            opening_plies: plies,
            openings: Vec::new(),
            restart: or_old(self.restart, old, |old| old.restart).unwrap_or_else(|| {
                // A process that played the first game would know how the second begins.
                let is_drawn = ruleset.info().has_drawn_start;
                if is_drawn {
                    Restart::Game
                } else {
                    Restart::Pair
                }
            }),
            bench_after: or_old(self.bench_after, old, |old| old.bench_after)
                .unwrap_or(BENCH_AFTER),
            adjudicate: self.games.adjudicate || old.is_some_and(|old| old.adjudicate),
            sprt,
            tie_breaks: match (&self.tie_break[..], old) {
                ([], Some(old)) => old.tie_breaks.clone(),
                (chosen, _) => chosen.to_vec(),
            },
            seeded_by: match (&self.schedule.seeds, old) {
                (None, Some(old)) => old.seeded_by.clone(),
                (seeds, _) => seeds.as_ref().map(|file| file.display().to_string()),
            },
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
        let groups = self.schedule.groups.or(old.and_then(|old| old.groups));
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
        let rounds = self
            .schedule
            .rounds
            .unwrap_or_else(|| format.usual_rounds(bots));
        if self.schedule.rounds.is_some() && rounds > MOST_ROUNDS {
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
        let Some(plies) = plan.opening_plies else {
            return self.openings_of_file(ruleset);
        };
        let least = u64::from(plan.by_version) * OPENINGS_OF_LEAGUE;
        let count = (u64::from(plan.rounds_planned) * u64::from(plan.pairs)).max(least);
        let count = usize::try_from(count.min(MOST_OPENINGS)).unwrap_or(usize::MAX);
        draw(ruleset, plan.seed, plies, count)
    }

    /// Fails when none can be drawn, or read of the file.
    pub fn check_openings(&self, ruleset: &dyn Game, seed: u64) -> Result<(), TournamentError> {
        if self.games.openings.is_some() {
            return self.openings_of_file(ruleset).map(drop);
        }
        let plies = self.games.opening_plies;
        let plies = plies.unwrap_or_else(|| openings::usual_plies(ruleset));
        draw(ruleset, seed, plies, 1).map(drop)
    }

    pub fn openings_of_file(&self, ruleset: &dyn Game) -> Result<Vec<String>, TournamentError> {
        let path = self.games.openings.clone().unwrap_or_default();
        let text = text_file::read(&path, text_file::WRITTEN)
            .map_err(|error| TournamentError::Input(unreadable(&path, &error)))?;
        openings::parse(ruleset, &text)
            .map_err(|error| TournamentError::Input(format!("{}: {error}", path.display())))
    }
}

fn draw(
    ruleset: &dyn Game,
    seed: u64,
    plies: u32,
    count: usize,
) -> Result<Vec<String>, TournamentError> {
    openings::draw(ruleset, seed, plies, count).map_err(|error| {
        let failure = ruleset.failure();
        let failure = failure.unwrap_or_else(|| format!("--opening-plies {plies}: {error}"));
        TournamentError::Input(failure)
    })
}
