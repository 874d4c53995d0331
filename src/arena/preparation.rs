//! Prepares a tournament: the entry check, the openings, the schedule and the plan.

use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc};
use tokio::task::LocalSet;

use super::directory::{DirectoryError, TournamentDirectory};
use super::entrants::Entrants;
use super::entrants::{Entrant, LoggedEntrant};
use super::entry_check;
use super::identical::{identical, same_program};
use super::logs::StderrLog;
use super::plan::request::{PlanRequest, RequestError};
use super::plan::{BotPlan, Plan, RejectedBot};
use crate::bot::exhaustion::Exhausted;
use crate::checkup::Questions;
use crate::play::game_runner::{GameError, GameRunner};
use crate::session::Ruleset;
use crate::text::escape_controls;

/// How many of the files of a bot that has been changed are named.
const MAX_NEWER: usize = 3;

/// Why a tournament cannot be started or resumed.
#[derive(Debug, thiserror::Error)]
pub enum PreparationError {
    /// The options contradict each other, or the bots.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// With [`PlanRequest::strict`], not all bots can enter.
    #[error(
        "{0} of the bots cannot enter, and --strict requires all of them; fix them (see \
         `referee check BOT`) or leave them out"
    )]
    NotAllEnter(usize),
    /// A bot of the tournament that is resumed cannot be started.
    #[error("{0}")]
    Missing(String),
    /// The directory holds another tournament.
    #[error(
        "{}: it holds another tournament:\n  {}\nundo these changes to resume it, or choose \
         another folder with --out",
        .path.display(),
        .differences.join("\n  ")
    )]
    Another {
        /// The directory.
        path: PathBuf,
        /// The differences, a sentence each.
        differences: Vec<String>,
        /// The bots that came later or have changed, as they are now.
        late: Vec<BotPlan>,
        /// The plan of the tournament in the directory.
        plan: Box<Plan>,
    },
    /// The directory cannot be used.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The machine has run out of processes or the like.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// The referee failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Something to show to the user while a tournament is prepared.
#[derive(Clone, Copy, Debug)]
pub enum Notice<'a> {
    /// The seed, which was drawn because none was given.
    Seed(u64),
    /// A bot is being checked.
    Checking {
        name: &'a str,
        /// Its number, from 1.
        number: usize,
        /// The number of bots that are checked.
        of: usize,
    },
    /// The entry check has ended.
    Checked {
        /// The number of bots that passed.
        passed: usize,
        /// The number of bots that were checked.
        of: usize,
    },
    /// A sentence about something that may not be meant.
    Warning(&'a str),
    /// This bot cannot enter.
    Rejected(&'a RejectedBot),
    /// A bot that did not enter the tournament that is resumed has been changed since.
    Mended {
        bot: &'a BotPlan,
        /// The plan of the tournament.
        plan: &'a Plan,
    },
    /// This other version of the referee started the tournament.
    BegunByVersion(&'a str),
}

/// Prepares a tournament in a directory.
#[derive(Clone, Copy, Debug)]
pub struct Preparation<'a> {
    /// The options.
    pub request: &'a PlanRequest,
    /// The game and its rules.
    pub ruleset: &'a Arc<dyn Ruleset>,
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
    /// Starts a tournament: checks the bots, makes the plan and writes it into the directory. Returns
    /// the plan and its bots, in the plan's order.
    pub async fn begin(
        &self,
        entrants: Entrants,
        notify: &mut dyn FnMut(Notice<'_>),
    ) -> Result<(Plan, Vec<LoggedEntrant>), PreparationError> {
        let seed = self.request.seed.unwrap_or_else(|| {
            // Short, so that it is easy to type.
            let seed = u64::from(rand::random::<u32>());
            notify(Notice::Seed(seed));
            seed
        });
        let Entrants {
            mut entered,
            mut rejected,
        } = entrants;
        for names in identical(&entered) {
            notify(Notice::Warning(&same_program(&names)));
        }
        if !self.request.no_check && !entered.is_empty() {
            // A file of openings that cannot be used is reported before minutes of checks.
            self.request.draw_openings(&**self.ruleset, seed, 1)?;
            let of = entered.len();
            entered = self.check(entered, &mut rejected, notify).await?;
            let passed = entered.len();
            notify(Notice::Checked { passed, of });
        }
        for bot in &rejected {
            notify(Notice::Rejected(bot));
        }
        if self.request.strict && !rejected.is_empty() {
            return Err(PreparationError::NotAllEnter(rejected.len()));
        }
        let bots = entered.iter().map(|bot| bot.plan.clone()).collect();
        let ruleset = &**self.ruleset;
        let mut plan = self.request.plan(ruleset, bots, rejected, seed, None)?;
        plan.openings = self.request.openings(ruleset, &plan)?;
        plan.rounds = plan.first_rounds();
        let begun_in = std::env::current_dir().ok();
        plan.begun_in = begun_in.map(|path| path.to_string_lossy().into_owned());
        self.directory.write_plan(&mut plan)?;
        Ok((plan, self.with_logs(entered)))
    }

    /// Resumes the tournament of the plan `old`. The options and the bots must be those of the plan.
    pub fn resume(
        &self,
        old: Plan,
        entrants: Entrants,
        notify: &mut dyn FnMut(Notice<'_>),
    ) -> Result<(Plan, Vec<LoggedEntrant>), PreparationError> {
        let plays = |rejected: &&RejectedBot| {
            let name = &rejected.bot.name;
            old.bots.iter().any(|bot| bot.name == *name)
        };
        // Bots that did not enter then are not needed now.
        if let Some(rejected) = entrants.rejected.iter().find(plays) {
            return Err(PreparationError::Missing(rejected.reason.clone()));
        }
        let was_rejected = |bot: &BotPlan| {
            let mut rejected = old.rejected.iter();
            rejected.any(|rejected| rejected.bot.name == bot.name)
        };
        let (rejected_before, mut playing): (Vec<_>, Vec<_>) = entrants
            .entered
            .into_iter()
            .partition(|entrant| was_rejected(&entrant.plan));
        for mended in &rejected_before {
            let mut known = old.rejected.iter().map(|rejected| &rejected.bot);
            let changed =
                |known: &BotPlan| known.name == mended.plan.name && known.hash != mended.plan.hash;
            if known.any(changed) {
                notify(Notice::Mended {
                    bot: &mended.plan,
                    plan: &old,
                });
            }
        }
        if self.request.seeded_by.is_none() && old.seeded_by.is_some() {
            // The seeds are in the plan; the file is not needed again.
            let place = |name: &str| old.bots.iter().position(|bot| bot.name == name);
            playing.sort_by_key(|entrant| place(&entrant.plan.name).unwrap_or(usize::MAX));
        }
        let newer = self.newer_files(&old, &playing);
        let rejected_before = rejected_before.into_iter().map(|entrant| entrant.plan);
        let rejected_now = entrants.rejected.into_iter().map(|rejected| rejected.bot);
        let rejected = rejected_before
            .chain(rejected_now)
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
        let mut differences = old.differences(&now);
        if !differences.is_empty() {
            differences.extend(newer);
            let late = old.late(&now).cloned().collect();
            return Err(PreparationError::Another {
                path: self.directory.path().to_owned(),
                differences,
                late,
                plan: Box::new(old),
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

    /// Which files of bots that have been changed are newer than the tournament, a sentence for each bot.
    fn newer_files(&self, old: &Plan, playing: &[Entrant]) -> Vec<String> {
        let Some(begun) = self.directory.begun() else {
            return Vec::new();
        };
        let changed = playing.iter().filter(|entrant| {
            let mut before = old.bots.iter();
            before.any(|bot| bot.name == entrant.plan.name && bot.hash != entrant.plan.hash)
        });
        let sentence = |entrant: &Entrant| {
            let files = entrant.files.newer_than(begun, MAX_NEWER);
            let files = files
                .iter()
                .map(|path| escape_controls(&path.to_string_lossy()));
            let files = files.collect::<Vec<_>>().join(", ");
            let name = &entrant.plan.name;
            (!files.is_empty())
                .then(|| format!("of {name}'s files, newer than the tournament: {files}"))
        };
        changed.filter_map(sentence).collect()
    }

    /// Why a bot could not be checked.
    fn not_checked(&self, error: GameError) -> PreparationError {
        match error {
            GameError::Exhausted(limit) => limit.into(),
            GameError::Game(failure) => RequestError(failure).into(),
            GameError::Io(error) => match self.ruleset.failure() {
                Some(failure) => RequestError(failure).into(),
                None => error.into(),
            },
            GameError::CannotStart(error) => io::Error::other(error).into(),
        }
    }

    /// Checks every bot, `jobs` at once, and those for which the machine then has no processes left once
    /// more, one after the other. Returns those that can enter.
    pub async fn check(
        &self,
        entrants: Vec<Entrant>,
        rejected: &mut Vec<RejectedBot>,
        notify: &mut dyn FnMut(Notice<'_>),
    ) -> Result<Vec<Entrant>, PreparationError> {
        let jobs = Rc::new(Semaphore::new(self.jobs));
        let runner = Rc::new(GameRunner::new(Arc::clone(self.ruleset), false)?);
        let questions = Arc::new(Questions::default());
        let local = LocalSet::new();
        let of = entrants.len();
        let (begun, mut begins) = mpsc::unbounded_channel();
        let checks: Vec<_> = entrants
            .into_iter()
            .map(|entrant| {
                let (jobs, runner) = (Rc::clone(&jobs), Rc::clone(&runner));
                let questions = Arc::clone(&questions);
                let pieces = self.pieces_path.map(str::to_owned);
                let begun = begun.clone();
                local.spawn_local(async move {
                    // It cannot fail, because the semaphore is never closed.
                    let _job = jobs.acquire().await;
                    // Nobody listens any more when the preparation has been stopped.
                    let _ = begun.send(entrant.plan.name.clone());
                    drop(begun);
                    let pieces = pieces.as_deref();
                    let verdict = entry_check::check(&runner, &entrant, pieces, &questions).await;
                    (entrant, verdict)
                })
            })
            .collect();
        drop(begun);
        local
            .run_until(async {
                let mut number = 0;
                while let Some(name) = begins.recv().await {
                    number += 1;
                    let name = name.as_str();
                    notify(Notice::Checking { name, number, of });
                }
                let mut verdicts = Vec::new();
                for check in checks {
                    verdicts.push(check.await.map_err(io::Error::other)?);
                }
                let mut fit = Vec::new();
                for (entrant, mut verdict) in verdicts {
                    if let Err(GameError::Exhausted(_)) = verdict {
                        let pieces = self.pieces_path;
                        let check = entry_check::check(&runner, &entrant, pieces, &questions);
                        verdict = Box::pin(check).await;
                    }
                    match verdict.map_err(|error| self.not_checked(error))? {
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

    /// The bots with the files of their stderr.
    pub fn with_logs(&self, entrants: Vec<Entrant>) -> Vec<LoggedEntrant> {
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

/// Writes the piece set into the directory, for the bots, when it is not the built-in one. Returns its
/// absolute path.
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
