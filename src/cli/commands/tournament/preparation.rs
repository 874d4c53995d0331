//! From what was asked for to a plan: the game, the entry check, the openings, the schedule.

use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::LocalSet;

use super::GameSetup;
use super::entrants::{Candidate, Entrants};
use super::options::Options;
use crate::arena::directory::TournamentDirectory;
use crate::arena::entry;
use crate::arena::logs::StderrLog;
use crate::arena::plan::{BotPlan, Format, Plan, RejectedBot, Restart, VERSION};
use crate::arena::worker::Ready;
use crate::cli::support::failure::Failure;
use crate::cli::support::games::GameName;
use crate::cli::support::setup::{RulesName, absolute, match_set, tell, unreadable};
use crate::game::Game;
use crate::game::dialogue::Dialogue;
use crate::game::quarto::{PieceSet, Rules};
use crate::play::TimeControl;
use crate::sandbox::Sandbox;
use crate::tournament::openings::{self as opening, Opening, PLIES};

/// Pairs of games when two meet.
const PAIRS: u32 = 10;

/// The most pairs of a sequential test.
const SPRT_PAIRS: u32 = 20_000;

/// Forfeits in a row after which a bot is benched.
const BENCH_AFTER: u32 = 10;

/// What is played, as asked for or as the tournament that goes on has it.
pub(super) fn game(options: &Options, old: Option<&Plan>) -> Result<GameSetup, Failure> {
    let known = |what: &str, name: &str| {
        Failure::Usage(format!(
            "plan.json: this program knows no {what} called {name}"
        ))
    };
    let name = match (options.game, old) {
        (Some(game), _) => game,
        (None, Some(plan)) => {
            GameName::from_name(&plan.game).ok_or_else(|| known("game", &plan.game))?
        }
        (None, None) => GameName::Quarto,
    };
    let rules = match (options.rules, old) {
        (Some(rules), _) => rules,
        (None, Some(plan)) if name.has_sets() => {
            RulesName::from_name(&plan.rules).ok_or_else(|| known("rules", &plan.rules))?
        }
        (None, _) => RulesName::Standard,
    };
    if !name.has_sets() && (options.pieces.is_some() || options.rules.is_some()) {
        return Err(Failure::Usage(
            "--pieces and --rules are for Quarto; leave them out, or choose --game quarto"
                .to_owned(),
        ));
    }
    let set = match (&options.pieces, old.and_then(|plan| plan.pieces.as_deref())) {
        (None, Some(text)) => PieceSet::parse(text)
            .map_err(|error| Failure::Usage(format!("plan.json: pieces: {error}")))?,
        (path, _) => match_set(path.as_ref())?,
    };
    Ok(GameSetup {
        name,
        rules: Rules::from(rules),
        set,
    })
}

/// Writes the piece set where bots find it, when it is not the built-in one; gives its path.
pub(super) fn pieces_file<G: Game>(
    directory: &TournamentDirectory,
    game: &G,
) -> Result<Option<String>, Failure> {
    let Some(pieces) = game.pieces() else {
        return Ok(None);
    };
    directory.write("pieces.csv", pieces)?;
    absolute(&directory.path().join("pieces.csv")).map(Some)
}

/// The positions of a plan's openings.
pub(super) fn openings<G: Game>(
    game: &G,
    plan: &Plan,
) -> Result<Vec<Opening<G::Position>>, Failure> {
    let position = |board: &String| {
        let position = game.start_from(board).map_err(|problem| {
            Failure::Usage(format!("plan.json: the opening {board}: {problem}"))
        })?;
        Ok(Opening {
            board: board.clone(),
            position,
        })
    };
    plan.openings.iter().map(position).collect()
}

/// Everything that a plan is made of.
pub(super) struct Prepare<'a, G> {
    pub(super) options: &'a Options,
    pub(super) game: &'a G,
    pub(super) directory: &'a TournamentDirectory,
    pub(super) jobs: usize,
    pub(super) sandbox: &'a Sandbox,
    pub(super) pieces_path: Option<&'a str>,
}

impl<G: Dialogue + Clone + 'static> Prepare<'_, G> {
    /// A new tournament: checks the bots, makes the plan and writes it.
    pub(super) async fn begin(&self, entrants: Entrants) -> Result<(Plan, Vec<Ready>), Failure> {
        let seed = self.options.seed.unwrap_or_else(|| {
            // Short, so that people can type it again.
            let seed = u64::from(rand::random::<u32>());
            tell(&format!("referee: seed {seed}"));
            seed
        });
        let Entrants {
            mut candidates,
            mut rejected,
        } = entrants;
        if !self.options.no_check && !candidates.is_empty() {
            let checked = candidates.len();
            let openings = self.draw(seed, 1)?;
            let verdicts = self.check(&candidates, seed, &openings[0]).await?;
            let mut fit = Vec::new();
            for (candidate, verdict) in candidates.into_iter().zip(verdicts) {
                match verdict {
                    Ok(()) => fit.push(candidate),
                    Err(reason) => rejected.push(RejectedBot {
                        bot: candidate.plan,
                        reason,
                    }),
                }
            }
            candidates = fit;
            tell(&format!(
                "referee: {} of {checked} bots passed the entry check",
                candidates.len()
            ));
        }
        for away in &rejected {
            tell(&format!(
                "referee: {} does not enter: {}",
                away.bot.name, away.reason
            ));
        }
        if self.options.strict && !rejected.is_empty() {
            return Err(Failure::Usage(format!(
                "{} of the bots cannot enter, and --strict wants all of them; mend them (see \
                 `referee check BOT`) or take them out",
                rejected.len()
            )));
        }
        let bots = candidates.iter().map(|bot| bot.plan.clone()).collect();
        let mut plan = self.plan(bots, rejected, seed, None)?;
        plan.openings = if plan.opening_plies.is_some() {
            let count = u64::from(plan.rounds_planned) * u64::from(plan.pairs);
            let count = usize::try_from(count).map_err(|_| {
                Failure::Usage(
                    "so many openings do not fit into memory; choose fewer --pairs".to_owned(),
                )
            })?;
            let drawn = self.draw(seed, count)?;
            drawn.into_iter().map(|opening| opening.board).collect()
        } else {
            self.boards_of_file()?
        };
        plan.rounds = plan.first_rounds();
        self.directory.write_plan(&mut plan)?;
        let ready = candidates.into_iter().map(|bot| self.ready(bot)).collect();
        Ok((plan, ready))
    }

    /// A tournament that goes on: it must be the same one.
    pub(super) fn go_on(
        &self,
        old: Plan,
        entrants: Entrants,
    ) -> Result<(Plan, Vec<Ready>), Failure> {
        if let Some(away) = entrants.rejected.iter().find(|away| {
            // Who did not enter is not needed.
            old.bots.iter().any(|bot| bot.name == away.bot.name)
        }) {
            return Err(Failure::Usage(away.reason.clone()));
        }
        let was_away = |bot: &BotPlan| old.rejected.iter().any(|away| away.bot.name == bot.name);
        let (away, playing): (Vec<_>, Vec<_>) = entrants
            .candidates
            .into_iter()
            .partition(|candidate| was_away(&candidate.plan));
        let seed = self.options.seed.unwrap_or(old.seed);
        let bots = playing.iter().map(|bot| bot.plan.clone()).collect();
        let still_away = away.into_iter().map(|bot| bot.plan);
        let never_found = entrants.rejected.into_iter().map(|away| away.bot);
        let rejected = still_away
            .chain(never_found)
            .map(|bot| RejectedBot {
                bot,
                reason: String::new(),
            })
            .collect();
        let mut now = self.plan(bots, rejected, seed, Some(&old))?;
        now.openings = match (&self.options.openings, self.options.opening_plies) {
            (Some(_), _) => self.boards_of_file()?,
            (None, Some(plies)) if Some(plies) != old.opening_plies => Vec::new(),
            _ => old.openings.clone(),
        };
        let differences = old.differences(&now);
        if !differences.is_empty() {
            return Err(Failure::Usage(format!(
                "{}: there is another tournament:\n  {}\nput things back as they were to go on with \
                 it, or choose another folder with --out",
                self.directory.path().display(),
                differences.join("\n  ")
            )));
        }
        let version = env!("CARGO_PKG_VERSION");
        if old.referee != version {
            tell(&format!(
                "referee: this tournament was begun by version {}; this is version {version}",
                old.referee
            ));
        }
        let ready = playing.into_iter().map(|bot| self.ready(bot)).collect();
        Ok((old, ready))
    }

    /// A plan without openings and rounds. What was not asked for is as in `old`.
    fn plan(
        &self,
        bots: Vec<BotPlan>,
        rejected: Vec<RejectedBot>,
        seed: u64,
        old: Option<&Plan>,
    ) -> Result<Plan, Failure> {
        let options = self.options;
        let count = u32::try_from(bots.len()).unwrap_or(u32::MAX);
        if count < 2 {
            return Err(Failure::Usage(format!(
                "a tournament needs two bots, and {} can enter; `referee check BOT` tells what \
                 is wrong with one",
                if count == 1 { "one" } else { "none" }
            )));
        }
        let format = options
            .format
            .map(Format::from)
            .or(old.map(|old| old.format))
            .unwrap_or(Format::RoundRobin);
        if format == Format::Knockout && options.rounds.is_some() {
            return Err(Failure::Usage(
                "a knockout goes on until one is left; leave --rounds out".to_owned(),
            ));
        }
        let sprt = options.sprt.or(old.and_then(|old| old.sprt));
        if sprt.is_some() && (count != 2 || format.depends_on_results()) {
            return Err(Failure::Usage(format!(
                "--sprt compares two bots in a round robin, and there are {count} in a {}",
                format_name(format)
            )));
        }
        let usual_pairs = if sprt.is_some() { SPRT_PAIRS } else { PAIRS };
        let plies = match (&options.openings, options.opening_plies, old) {
            (Some(_), _, _) => None,
            (None, Some(plies), _) => Some(plies),
            (None, None, Some(old)) => old.opening_plies,
            (None, None, None) => Some(PLIES),
        };
        Ok(Plan {
            v: VERSION,
            hash: String::new(),
            referee: env!("CARGO_PKG_VERSION").to_owned(),
            game: G::NAME.to_owned(),
            rules: self.game.rules().to_owned(),
            pieces: self.game.pieces().map(str::to_owned),
            seed,
            format,
            rounds_planned: options
                .rounds
                .or(old.map(|old| old.rounds_planned))
                .unwrap_or_else(|| format.usual_rounds(count)),
            pairs: options
                .pairs
                .or(old.map(|old| old.pairs))
                .unwrap_or(usual_pairs),
            opening_plies: plies,
            openings: Vec::new(),
            restart: options
                .restart
                .map(Restart::from)
                .or(old.map(|old| old.restart))
                .unwrap_or(Restart::Pair),
            bench_after: options
                .bench_after
                .or(old.map(|old| old.bench_after))
                .unwrap_or(BENCH_AFTER),
            adjudicate: options.adjudicate || old.is_some_and(|old| old.adjudicate),
            sprt,
            sandbox: options.sandbox.plan(self.sandbox),
            bots,
            rejected,
            rounds: Vec::new(),
        })
    }

    fn draw(&self, seed: u64, count: usize) -> Result<Vec<Opening<G::Position>>, Failure> {
        let plies = self.options.opening_plies.unwrap_or(PLIES);
        opening::draw(self.game, seed, plies, count)
            .map_err(|error| Failure::Usage(format!("--opening-plies {plies}: {error}")))
    }

    fn boards_of_file(&self) -> Result<Vec<String>, Failure> {
        let path = self.options.openings.as_deref().unwrap_or(Path::new(""));
        let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
        let openings = opening::parse(self.game, &text)
            .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
        Ok(openings.into_iter().map(|opening| opening.board).collect())
    }

    /// Lets every bot play against itself, as many at once as games will be.
    async fn check(
        &self,
        candidates: &[Candidate],
        seed: u64,
        opening: &Opening<G::Position>,
    ) -> Result<Vec<Result<(), String>>, Failure> {
        let tables = Rc::new(Semaphore::new(self.jobs));
        let local = LocalSet::new();
        let checks: Vec<_> = candidates
            .iter()
            .map(|candidate| {
                let tables = Rc::clone(&tables);
                let bot = self.ready(candidate.clone());
                let (game, opening) = (self.game.clone(), opening.clone());
                let pieces = self.pieces_path.map(str::to_owned);
                local.spawn_local(async move {
                    // It is never closed.
                    let _table = tables.acquire().await;
                    entry::check(&game, &bot, seed, &opening, pieces.as_deref()).await
                })
            })
            .collect();
        local
            .run_until(async {
                let mut verdicts = Vec::new();
                for check in checks {
                    let checked = check.await;
                    verdicts.push(checked.map_err(|error| Failure::Referee(error.to_string()))??);
                }
                Ok(verdicts)
            })
            .await
    }

    fn ready(&self, candidate: Candidate) -> Ready {
        let Candidate { plan, program } = candidate;
        Ready {
            program,
            environment: plan.environment.into_iter().collect(),
            // It was made from one.
            time: TimeControl::try_from(plan.limits).unwrap_or_default(),
            log: Arc::new(StderrLog::new(self.directory.stderr_file(&plan.slug))),
        }
    }
}

fn format_name(format: Format) -> &'static str {
    match format {
        Format::RoundRobin => "round robin",
        Format::Gauntlet => "gauntlet",
        Format::Swiss => "Swiss tournament",
        Format::Knockout => "knockout",
    }
}
