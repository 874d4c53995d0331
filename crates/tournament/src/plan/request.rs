//! The options of a tournament, and the plan that they make.

use std::path::PathBuf;

use super::{BotPlan, Format, GameProgramPlan, Plan, RejectedBot, Restart, SandboxPlan, VERSION};
use crate::TournamentError;
use crate::openings::{self, DrawError};
use referee_games::game::Ruleset;
use referee_match::play::setup::options_of;
use referee_match::record::text_file;
use referee_stats::schedule::groups;
use referee_stats::sprt::Sprt;
use referee_stats::standings::TieBreak;

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

/// Each pair is a round of the plan.
#[cfg(feature = "clap")]
const MOST_TIE_BREAK_GAMES: u32 = 1_000;

/// Which games there are. `None`: as in the resumed plan, or the default.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct PlanRequest {
    /// Pairs of games in each pairing of two bots [default: 10]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Schedule"))]
    pub pairs: Option<u32>,

    #[cfg_attr(feature = "clap", command(flatten))]
    pub games: GamesRequest,

    /// How ties in the table are broken, in this order: direct, buchholz-cut-1, buchholz,
    /// sonneborn-berger, wins, wins-as-second, rating [default: those usual for the format]
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "NAME,…",
            value_delimiter = ',',
            help_heading = "Schedule",
            hide_short_help = true
        )
    )]
    pub tie_break: Vec<TieBreak>,

    /// When bots get fresh processes [default: pair]
    #[cfg_attr(
        feature = "clap",
        arg(long, help_heading = "Bots", hide_short_help = true)
    )]
    pub restart: Option<Restart>,

    /// Bench a bot that forfeits this many games in a row; games in which it is not asked do not
    /// count; 0 for never [default: 10]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N", help_heading = "Bots", hide_short_help = true)
    )]
    pub bench_after: Option<u32>,

    #[cfg_attr(feature = "clap", arg(skip))]
    pub schedule: ScheduleRequest,

    #[cfg_attr(feature = "clap", arg(skip))]
    pub sandbox: SandboxPlan,

    /// A league's: pairings are of versions.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub by_version: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct GamesRequest {
    /// Random plies at the start of every pair [default: 4]
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "N",
            conflicts_with = "openings",
            help_heading = "Schedule",
            hide_short_help = true
        )
    )]
    pub opening_plies: Option<u32>,

    /// Start games from the boards of this file instead, one per line
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "FILE",
            help_heading = "Schedule",
            hide_short_help = true
        )
    )]
    pub openings: Option<PathBuf>,

    /// What everything random comes from [default: drawn, and printed]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub seed: Option<u64>,

    /// End a game as soon as its value is proven; the time to prove it is charged to no bot
    #[cfg_attr(
        feature = "clap",
        arg(long, help_heading = "Game", hide_short_help = true)
    )]
    pub adjudicate: bool,

    /// Let bots enter without a check
    #[cfg_attr(
        feature = "clap",
        arg(long, help_heading = "Bots", hide_short_help = true)
    )]
    pub no_check: bool,
}

/// What a league does not choose.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct ScheduleRequest {
    /// Who plays whom [default: round-robin]
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Schedule"))]
    pub format: Option<Format>,

    /// Rounds [default: until all have played each other; Swiss and knockout: until one is left]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Schedule"))]
    pub rounds: Option<u32>,

    /// Groups of groups+knockout [default: groups of four]; they are balanced by the order of the bots
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Schedule", hide_short_help = true))]
    pub groups: Option<u32>,

    /// Games that follow a tied match of a knockout, in pairs of which each bot begins one, until
    /// one leads; at most so many, then the better seed advances [default: 0]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = tie_break_games, help_heading = "Schedule", hide_short_help = true))]
    pub tie_break_games: Option<u32>,

    /// Seed a knockout, groups or a Swiss tournament by this file, the best first: standings (CSV),
    /// a tournament's folder, or a name a line [default: in the order given]
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "FILE",
            help_heading = "Schedule",
            hide_short_help = true
        )
    )]
    pub seeds: Option<PathBuf>,

    /// Two bots: stop as soon as a sequential probability ratio test accepts one of two rating
    /// differences: elo0,elo1 or elo0,elo1,alpha,beta
    #[cfg_attr(feature = "clap", arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true, value_parser = sprt, help_heading = "Schedule", hide_short_help = true))]
    pub sprt: Option<Sprt>,
}

#[cfg(feature = "clap")]
fn tie_break_games(text: &str) -> Result<u32, String> {
    let games = text.parse().ok();
    let games =
        games.filter(|games: &u32| games.is_multiple_of(2) && *games <= MOST_TIE_BREAK_GAMES);
    games.ok_or_else(|| {
        format!(
            "expected an even number from 0 to {MOST_TIE_BREAK_GAMES}: each bot begins one game of a pair"
        )
    })
}

#[cfg(feature = "clap")]
fn sprt(text: &str) -> Result<Sprt, String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let parsed = match numbers.as_deref() {
        Ok(&[elo0, elo1]) => Sprt::new(elo0, elo1, 0.05, 0.05),
        Ok(&[elo0, elo1, alpha, beta]) => Sprt::new(elo0, elo1, alpha, beta),
        _ => return Err("expected two or four numbers such as 0,10 or 0,10,0.05,0.05".to_owned()),
    };
    parsed.map_err(|error| error.to_string())
}

fn or_old<T>(given: Option<T>, old: Option<&Plan>, of: impl FnOnce(&Plan) -> T) -> Option<T> {
    given.or_else(|| old.map(of))
}

fn usual_restart(ruleset: &dyn Ruleset) -> Restart {
    // A process that played the first game would know how the second begins.
    if ruleset.info().has_drawn_start {
        Restart::Game
    } else {
        Restart::Pair
    }
}

/// Options that do not fit each other or the bots.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanRequestError {
    #[error(
        "a tournament needs two bots, and {} can enter; `referee check{game} BOT` shows what is wrong with a bot",
        if *.bots == 1 { "one" } else { "none" }
    )]
    TooFewBots {
        bots: u32,
        /// The options that choose the game.
        game: String,
    },
    #[error("a knockout ends when one bot is left; leave --rounds out")]
    RoundsOfKnockout,
    #[error(
        "--seeds is for --format knockout, groups+knockout and swiss; in a {} bots are not seeded: leave it out",
        .0.in_words()
    )]
    NotSeeded(Format),
    #[error(
        "--tie-break-games is for --format knockout and groups+knockout; in a {} no match has to be decided: leave it out",
        .0.in_words()
    )]
    NoTieBreakGames(Format),
    #[error(
        "--sprt compares two bots in a round robin, and there are {bots} in a {}", .format.in_words()
    )]
    Sprt { bots: u32, format: Format },
    #[error(
        "--groups {groups}: with {bots} bots there can be 1 to {} groups, so that each has two bots at least", .bots / 2
    )]
    Groups { groups: u32, bots: u32 },
    #[error("--groups is for --format groups+knockout; leave it out")]
    NoGroups,
    #[error(
        "--rounds {0}: a tournament has {MOST_ROUNDS} rounds at most; for more games choose more --pairs"
    )]
    TooManyRounds(u32),
    #[error(
        "{0} pairs of games are too many for one tournament, which has {MOST_PAIRS} at most; choose fewer --rounds or \
         --pairs"
    )]
    TooManyPairs(u64),
    #[error("--opening-plies {plies}: {error}")]
    OpeningPlies { plies: u32, error: DrawError },
}

/// What the options say of the schedule, or the resumed plan.
#[derive(Clone, Copy, Debug)]
struct PlannedSchedule {
    format: Format,
    groups: Option<u32>,
    tie_break_games: u32,
    sprt: Option<Sprt>,
}

impl PlanRequest {
    /// A plan with openings and its first rounds.
    pub fn new_plan(
        &self,
        ruleset: &dyn Ruleset,
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
        ruleset: &dyn Ruleset,
        bots: Vec<BotPlan>,
        rejected: Vec<RejectedBot>,
        seed: u64,
        old: Option<&Plan>,
    ) -> Result<Plan, TournamentError> {
        let count = u32::try_from(bots.len()).unwrap_or(u32::MAX);
        let schedule = self.schedule(ruleset, count, old)?;
        let usual_pairs = schedule.sprt.map_or(PAIRS, |_| SPRT_PAIRS);
        let bench_after = or_old(self.bench_after, old, |old| old.bench_after);
        let restart = or_old(self.restart, old, |old| old.restart);
        Ok(Plan {
            v: VERSION,
            hash: String::new(),
            referee: env!("CARGO_PKG_VERSION").to_owned(),
            game: ruleset.name().to_owned(),
            game_program: ruleset.program().map(|source| GameProgramPlan {
                command: source.command.clone(),
                hash: source.hash.clone(),
                changed: None,
            }),
            rules: ruleset.rules().to_owned(),
            pieces: ruleset.pieces().map(str::to_owned),
            seed,
            format: schedule.format,
            groups: schedule.groups,
            rounds_planned: or_old(self.schedule.rounds, old, |old| old.rounds_planned)
                .unwrap_or_else(|| self.usual_rounds(&schedule, count)),
            pairs: or_old(self.pairs, old, |old| old.pairs).unwrap_or(usual_pairs),
            tie_break_games: schedule.tie_break_games,
            by_version: self.by_version,
            opening_plies: self.planned_opening_plies(ruleset, old),
            openings: Vec::new(),
            restart: restart.unwrap_or_else(|| usual_restart(ruleset)),
            bench_after: bench_after.unwrap_or(BENCH_AFTER),
            adjudicate: self.games.adjudicate || old.is_some_and(|old| old.adjudicate),
            sprt: schedule.sprt,
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

    /// What is left open of how games are played is as in `other`, another tournament of these bots: a league, of its final.
    #[must_use]
    pub fn or_played_as(mut self, other: &Plan) -> Self {
        self.restart = self.restart.or(Some(other.restart));
        self.bench_after = self.bench_after.or(Some(other.bench_after));
        self.games.adjudicate |= other.adjudicate;
        if self.games.openings.is_none() {
            let plies = self.games.opening_plies;
            self.games.opening_plies = plies.or(other.opening_plies);
        }
        self
    }

    /// Which games there will be between so many bots, unless the options contradict each other.
    fn schedule(
        &self,
        ruleset: &dyn Ruleset,
        bots: u32,
        old: Option<&Plan>,
    ) -> Result<PlannedSchedule, PlanRequestError> {
        if bots < 2 {
            let game = options_of(ruleset);
            return Err(PlanRequestError::TooFewBots { bots, game });
        }
        let chosen = &self.schedule;
        let format = or_old(chosen.format, old, |old| old.format).unwrap_or(Format::RoundRobin);
        if format.eliminates() && chosen.rounds.is_some() {
            return Err(PlanRequestError::RoundsOfKnockout);
        }
        let groups = self.groups(format, bots, old)?;
        if chosen.seeds.is_some() && !format.depends_on_results() {
            return Err(PlanRequestError::NotSeeded(format));
        }
        let tie_break_games = or_old(chosen.tie_break_games, old, |old| old.tie_break_games);
        let tie_break_games = tie_break_games.unwrap_or(0);
        if tie_break_games > 0 && !format.eliminates() {
            return Err(PlanRequestError::NoTieBreakGames(format));
        }
        let sprt = chosen.sprt.or(old.and_then(|old| old.sprt));
        if sprt.is_some() && (bots != 2 || format.depends_on_results()) {
            return Err(PlanRequestError::Sprt { bots, format });
        }
        if old.is_none() {
            self.check_size(bots, format)?;
        }
        Ok(PlannedSchedule {
            format,
            groups,
            tie_break_games,
            sprt,
        })
    }

    fn usual_rounds(&self, schedule: &PlannedSchedule, bots: u32) -> u32 {
        match (schedule.groups, self.by_version) {
            (Some(groups), _) => groups::rounds_of_both(bots, groups),
            (None, true) => 1,
            (None, false) => schedule.format.usual_rounds(bots),
        }
    }

    /// `None` where the openings are those of a file.
    fn planned_opening_plies(&self, ruleset: &dyn Ruleset, old: Option<&Plan>) -> Option<u32> {
        if self.games.openings.is_some() {
            return None;
        }
        let usual = || Some(openings::usual_plies(ruleset));
        let planned = || old.map_or_else(usual, |old| old.opening_plies);
        self.games.opening_plies.or_else(planned)
    }

    fn groups(
        &self,
        format: Format,
        bots: u32,
        old: Option<&Plan>,
    ) -> Result<Option<u32>, PlanRequestError> {
        let groups = self.schedule.groups.or(old.and_then(|old| old.groups));
        match (format, groups) {
            (Format::GroupsKnockout, None) => Ok(Some(groups::usual_groups(bots))),
            (Format::GroupsKnockout, Some(groups)) if !(1..=bots / 2).contains(&groups) => {
                Err(PlanRequestError::Groups { groups, bots })
            }
            (Format::GroupsKnockout, _) | (_, None) => Ok(groups),
            (_, Some(_)) => Err(PlanRequestError::NoGroups),
        }
    }

    fn check_size(&self, bots: u32, format: Format) -> Result<(), PlanRequestError> {
        let rounds = self
            .schedule
            .rounds
            .unwrap_or_else(|| format.usual_rounds(bots));
        if self.schedule.rounds.is_some() && rounds > MOST_ROUNDS {
            return Err(PlanRequestError::TooManyRounds(rounds));
        }
        let pairings = u64::from(rounds) * u64::from(bots / 2);
        let pairs = pairings.saturating_mul(u64::from(self.pairs.unwrap_or(1)));
        if pairs > MOST_PAIRS {
            return Err(PlanRequestError::TooManyPairs(pairs));
        }
        Ok(())
    }

    pub fn openings(
        &self,
        ruleset: &dyn Ruleset,
        plan: &Plan,
    ) -> Result<Vec<String>, TournamentError> {
        let least = u64::from(plan.by_version) * OPENINGS_OF_LEAGUE;
        let of_a_round = u64::from(plan.pairs) + u64::from(plan.tie_break_games / 2);
        let count = (u64::from(plan.rounds_planned) * of_a_round).max(least);
        let count = usize::try_from(count.min(MOST_OPENINGS)).unwrap_or(usize::MAX);
        self.some_openings(ruleset, plan.seed, plan.opening_plies, count)
    }

    /// Fails when none can be drawn, or read of the file.
    pub fn check_openings(&self, ruleset: &dyn Ruleset, seed: u64) -> Result<(), TournamentError> {
        let plies = self.games.opening_plies;
        let plies = plies.unwrap_or_else(|| openings::usual_plies(ruleset));
        let plies = self.games.openings.is_none().then_some(plies);
        self.some_openings(ruleset, seed, plies, 1).map(drop)
    }

    /// Without `plies` those of the file.
    fn some_openings(
        &self,
        ruleset: &dyn Ruleset,
        seed: u64,
        plies: Option<u32>,
        count: usize,
    ) -> Result<Vec<String>, TournamentError> {
        let Some(plies) = plies else {
            return self.openings_of_file(ruleset);
        };
        openings::draw(ruleset, seed, plies, count).map_err(|error| match ruleset.failure() {
            Some(failure) => TournamentError::Input(failure.to_string()),
            None => PlanRequestError::OpeningPlies { plies, error }.into(),
        })
    }

    pub fn openings_of_file(&self, ruleset: &dyn Ruleset) -> Result<Vec<String>, TournamentError> {
        let path = self.games.openings.clone().unwrap_or_default();
        let text = text_file::read_written(&path).map_err(TournamentError::unreadable(&path))?;
        openings::parse(ruleset, &text).map_err(|error| TournamentError::Openings { path, error })
    }
}
