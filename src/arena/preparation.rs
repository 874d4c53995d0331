//! From the bots that want to enter to a plan: the entry check, the openings, the schedule.

use std::io;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::LocalSet;

use super::directory::{DirectoryError, TournamentDirectory};
use super::entrant::{Entrant, LoggedEntrant};
use super::entrants::Entrants;
use super::entry_check;
use super::logs::StderrLog;
use super::plan::request::{PlanRequest, RequestError};
use super::plan::{BotPlan, Plan, RejectedBot};
use crate::play::game_runner::GameRunner;
use crate::session::Ruleset;

/// Why a tournament cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum PreparationError {
    /// What was asked for cannot be played.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// With [`PlanRequest::strict`], not all bots can enter.
    #[error(
        "{0} of the bots cannot enter, and --strict wants all of them; mend them (see \
         `referee check BOT`) or take them out"
    )]
    NotAllEnter(usize),
    /// A bot of a tournament that goes on cannot be started.
    #[error("{0}")]
    Missing(String),
    /// The folder holds another tournament.
    #[error(
        "{path}: there is another tournament:\n  {}\nput things back as they were to go on with \
         it, or choose another folder with --out",
        .differences.join("\n  ")
    )]
    Another {
        /// The folder.
        path: String,
        /// What is not the same, a sentence each.
        differences: Vec<String>,
    },
    /// The folder cannot be used.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The referee failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Something that people should know while a tournament is prepared.
#[derive(Debug)]
pub enum Notice<'a> {
    /// The seed that was drawn because none was given.
    Seed(u64),
    /// The entry check is over.
    Checked {
        /// Bots that passed.
        passed: usize,
        /// Bots that were checked.
        of: usize,
    },
    /// This bot does not enter.
    Rejected(&'a RejectedBot),
    /// Another version of the referee began this tournament.
    BegunByVersion(&'a str),
}

/// Prepares a tournament in a folder.
#[derive(Clone, Copy, Debug)]
pub struct Preparation<'a> {
    /// What it is asked to be.
    pub request: &'a PlanRequest,
    /// The game and its rules.
    pub ruleset: &'a Arc<dyn Ruleset>,
    /// Its folder.
    pub directory: &'a TournamentDirectory,
    /// Entry checks at once.
    pub jobs: usize,
    /// Path of the piece set's file, for the bots, when it is not the built-in set.
    pub pieces_path: Option<&'a str>,
}

impl<'a> Preparation<'a> {
    /// A preparation with one entry check at a time and the built-in pieces.
    pub const fn new(
        request: &'a PlanRequest,
        ruleset: &'a Arc<dyn Ruleset>,
        directory: &'a TournamentDirectory,
    ) -> Self {
        Self {
            request,
            ruleset,
            directory,
            jobs: 1,
            pieces_path: None,
        }
    }
}

impl Preparation<'_> {
    /// A new tournament: checks the bots, makes the plan and writes it into the folder. Returns
    /// the plan and its bots, in its order.
    pub async fn begin(
        &self,
        entrants: Entrants,
        notify: &mut dyn FnMut(Notice<'_>),
    ) -> Result<(Plan, Vec<LoggedEntrant>), PreparationError> {
        let seed = self.request.seed.unwrap_or_else(|| {
            // Short, so that people can type it again.
            let seed = u64::from(rand::random::<u32>());
            notify(Notice::Seed(seed));
            seed
        });
        let Entrants {
            mut entered,
            mut rejected,
        } = entrants;
        if !self.request.no_check && !entered.is_empty() {
            let of = entered.len();
            entered = self.check(entered, seed, &mut rejected).await?;
            let passed = entered.len();
            notify(Notice::Checked { passed, of });
        }
        for away in &rejected {
            notify(Notice::Rejected(away));
        }
        if self.request.strict && !rejected.is_empty() {
            return Err(PreparationError::NotAllEnter(rejected.len()));
        }
        let bots = entered.iter().map(|bot| bot.plan.clone()).collect();
        let ruleset = &**self.ruleset;
        let mut plan = self.request.plan(ruleset, bots, rejected, seed, None)?;
        plan.openings = self.request.openings(ruleset, &plan)?;
        plan.rounds = plan.first_rounds();
        self.directory.write_plan(&mut plan)?;
        Ok((plan, self.with_logs(entered)))
    }

    /// A tournament that goes on: what is asked for must be the same one.
    pub fn resume(
        &self,
        old: Plan,
        entrants: Entrants,
        notify: &mut dyn FnMut(Notice<'_>),
    ) -> Result<(Plan, Vec<LoggedEntrant>), PreparationError> {
        let enters = |away: &&RejectedBot| old.bots.iter().any(|bot| bot.name == away.bot.name);
        // Who did not enter then is not needed now.
        if let Some(away) = entrants.rejected.iter().find(enters) {
            return Err(PreparationError::Missing(away.reason.clone()));
        }
        let was_away = |bot: &BotPlan| old.rejected.iter().any(|away| away.bot.name == bot.name);
        let (away, playing): (Vec<_>, Vec<_>) = entrants
            .entered
            .into_iter()
            .partition(|entrant| was_away(&entrant.plan));
        let still_away = away.into_iter().map(|bot| bot.plan);
        let never_found = entrants.rejected.into_iter().map(|away| away.bot);
        let rejected = still_away
            .chain(never_found)
            .map(|bot| RejectedBot {
                bot,
                reason: String::new(),
            })
            .collect();
        let (request, ruleset) = (self.request, &**self.ruleset);
        let seed = request.seed.unwrap_or(old.seed);
        let bots = playing.iter().map(|bot| bot.plan.clone()).collect();
        let mut now = request.plan(ruleset, bots, rejected, seed, Some(&old))?;
        now.openings = match (&request.openings, request.opening_plies) {
            (Some(_), _) => request.openings_of_file(ruleset)?,
            (None, Some(plies)) if Some(plies) != old.opening_plies => Vec::new(),
            _ => old.openings.clone(),
        };
        let differences = old.differences(&now);
        if !differences.is_empty() {
            return Err(PreparationError::Another {
                path: self.directory.path().display().to_string(),
                differences,
            });
        }
        for board in &old.openings {
            ruleset.start_from(board).map_err(|problem| {
                RequestError(format!("plan.json: the opening {board}: {problem}"))
            })?;
        }
        if old.referee != env!("CARGO_PKG_VERSION") {
            notify(Notice::BegunByVersion(&old.referee));
        }
        Ok((old, self.with_logs(playing)))
    }

    /// Lets every bot play against itself, as many at once as games will be. Returns those that
    /// can enter.
    async fn check(
        &self,
        entrants: Vec<Entrant>,
        seed: u64,
        rejected: &mut Vec<RejectedBot>,
    ) -> Result<Vec<Entrant>, PreparationError> {
        let openings = self.request.draw_openings(&**self.ruleset, seed, 1)?;
        let opening: Rc<str> = openings.first().map_or("", String::as_str).into();
        let jobs = Rc::new(Semaphore::new(self.jobs));
        let runner = Rc::new(GameRunner::new(Arc::clone(self.ruleset), false));
        let local = LocalSet::new();
        let checks: Vec<_> = entrants
            .into_iter()
            .map(|entrant| {
                let (jobs, runner) = (Rc::clone(&jobs), Rc::clone(&runner));
                let opening = Rc::clone(&opening);
                let pieces = self.pieces_path.map(str::to_owned);
                local.spawn_local(async move {
                    // It is never closed.
                    let _job = jobs.acquire().await;
                    let pieces = pieces.as_deref();
                    let verdict =
                        entry_check::check(&runner, &entrant, seed, &opening, pieces).await;
                    (entrant, verdict)
                })
            })
            .collect();
        local
            .run_until(async {
                let mut fit = Vec::new();
                for check in checks {
                    let (entrant, verdict) = check.await.map_err(io::Error::other)?;
                    match verdict? {
                        Ok(()) => fit.push(entrant),
                        Err(reason) => rejected.push(RejectedBot {
                            bot: entrant.plan,
                            reason,
                        }),
                    }
                }
                Ok(fit)
            })
            .await
    }

    fn with_logs(&self, entrants: Vec<Entrant>) -> Vec<LoggedEntrant> {
        let with_log = |entrant: Entrant| {
            let log = self.directory.stderr_file(&entrant.plan.slug);
            LoggedEntrant {
                entrant,
                log: Arc::new(StderrLog::new(log)),
            }
        };
        entrants.into_iter().map(with_log).collect()
    }
}

/// Writes the piece set where bots find it, when it is not the built-in one; returns its path,
/// which means the same whatever the working directory is.
pub fn write_pieces(
    directory: &TournamentDirectory,
    ruleset: &dyn Ruleset,
) -> Result<Option<String>, DirectoryError> {
    let Some(pieces) = ruleset.pieces() else {
        return Ok(None);
    };
    directory.write("pieces.csv", pieces)?;
    let path = directory.path().join("pieces.csv");
    let absolute = std::path::absolute(&path).map_err(DirectoryError::io(&path))?;
    Ok(Some(absolute.to_string_lossy().into_owned()))
}
