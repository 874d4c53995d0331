//! Prepares a tournament: entry check, openings, schedule, plan.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use tokio::task::{JoinSet, LocalSet};

use super::directory::TournamentDirectory;
use super::entrants::{Entrant, Entrants};
use super::plan::request::PlanRequest;
use super::plan::{BotPlan, Plan, RejectedBot};
use super::{GameSettings, TournamentError};
use crate::bot::submission::entries;
use crate::checkup::{self, Checkup, Questions};
use crate::game::Game;
use crate::play::game_runner::{GameError, GameRunner};
use crate::seed;
use crate::text::{counted, join_parts};

#[derive(Debug)]
pub enum Notice<'a> {
    Checking {
        name: &'a str,
        /// From 1.
        number: usize,
        of: usize,
    },
    Text(String),
}

impl Notice<'_> {
    pub fn checked(passed: usize, of: usize) -> Option<Self> {
        let bots = counted(of as u64, "bot", "bots");
        (passed < of).then(|| Self::Text(format!("{passed} of {bots} passed the entry check")))
    }

    pub fn rejected(rejected: &RejectedBot) -> Self {
        let reason = join_parts(&rejected.reason, "\n    ");
        Self::Text(format!("{} does not enter: {reason}", rejected.bot.name))
    }
}

impl PlanRequest {
    /// Checks the bots, then makes and writes the plan. Returns it with its bots, in its order.
    pub async fn begin(
        &self,
        settings: &GameSettings,
        directory: &TournamentDirectory,
        entrants: Entrants,
        notify: &mut dyn FnMut(Notice<'_>),
    ) -> Result<(Plan, Vec<Entrant>), TournamentError> {
        let ruleset = &*settings.ruleset;
        let seed = self.games.seed.unwrap_or_else(|| {
            let seed = seed::drawn();
            notify(Notice::Text(format!("seed {seed}")));
            seed
        });
        let Entrants {
            mut entered,
            mut rejected,
        } = entrants;
        for names in identical(&entered) {
            notify(Notice::Text(format!("warning: {}", same_program(&names))));
        }
        if !self.games.no_check && !entered.is_empty() {
            self.check_openings(ruleset, seed)?;
            entered = settings.check_all(entered, &mut rejected, notify).await?;
            let of = entered.len() + rejected.len();
            Notice::checked(entered.len(), of)
                .into_iter()
                .for_each(&mut *notify);
        }
        for bot in &rejected {
            notify(Notice::rejected(bot));
        }
        let bots = entered.iter().map(|bot| bot.plan.clone()).collect();
        let mut plan = self.new_plan(ruleset, bots, rejected, seed)?;
        let begun_in = std::env::current_dir().ok();
        plan.begun_in = begun_in.map(|path| path.to_string_lossy().into_owned());
        directory.write_plan(&mut plan)?;
        Ok((plan, entered))
    }

    /// Options and bots must match the plan `old`.
    pub fn resume(
        &self,
        ruleset: &dyn Game,
        directory: &TournamentDirectory,
        old: Plan,
        entrants: Entrants,
        notify: &mut dyn FnMut(Notice<'_>),
    ) -> Result<(Plan, Vec<Entrant>), TournamentError> {
        let plays = |rejected: &&RejectedBot| {
            let name = &rejected.bot.name;
            old.bots.iter().any(|bot| bot.name == *name)
        };
        if let Some(rejected) = entrants.rejected.iter().find(plays) {
            return Err(TournamentError::Missing(join_parts(
                &rejected.reason,
                "\n    ",
            )));
        }
        let (rejected_before, mut playing): (Vec<_>, Vec<_>) = entrants
            .entered
            .into_iter()
            .partition(|entrant| old.has_rejected(&entrant.plan.name));
        for mended in &rejected_before {
            let mut known = old.rejected.iter().map(|rejected| &rejected.bot);
            let changed =
                |known: &BotPlan| known.name == mended.plan.name && known.hash != mended.plan.hash;
            if known.any(changed) {
                notify(Notice::Text(format!(
                    "{} did not enter when this tournament began, and plays no game of it; docs/teachers.md tells how \
                     late bots play",
                    mended.plan.name
                )));
            }
        }
        if self.schedule.seeds.is_none() && old.seeded_by.is_some() {
            // The seeds are in the plan; the file is not needed again.
            let place = |name: &str| old.bots.iter().position(|bot| bot.name == name);
            playing.sort_by_key(|entrant| place(&entrant.plan.name).unwrap_or(usize::MAX));
        }
        let rejected_before = rejected_before.into_iter().map(|entrant| entrant.plan);
        let rejected_now = entrants.rejected.into_iter().map(|rejected| rejected.bot);
        let rejected = rejected_before
            .chain(rejected_now)
            .map(|bot| RejectedBot {
                bot,
                reason: String::new(),
            })
            .collect();
        let seed = self.games.seed.unwrap_or(old.seed);
        let bots = playing.iter().map(|bot| bot.plan.clone()).collect();
        let mut now = self.plan(ruleset, bots, rejected, seed, Some(&old))?;
        now.openings = match (&self.games.openings, self.games.opening_plies) {
            (Some(_), _) => self.openings_of_file(ruleset)?,
            (None, Some(plies)) if Some(plies) != old.opening_plies => Vec::new(),
            _ => old.openings.clone(),
        };
        let differences = old.differences(&now);
        if !differences.is_empty() {
            return Err(TournamentError::Input(format!(
                "{}: it holds another tournament:\n  {}\nundo these changes to resume it, or choose another folder with \
                 --out; docs/teachers.md tells how late bots play",
                directory.path().display(),
                differences.join("\n  ")
            )));
        }
        for board in &old.openings {
            ruleset.start_from(board).map_err(|problem| {
                TournamentError::Input(format!("plan.json: the opening {board}: {problem}"))
            })?;
        }
        if old.referee != env!("CARGO_PKG_VERSION") {
            let (old, now) = (&old.referee, env!("CARGO_PKG_VERSION"));
            notify(Notice::Text(format!(
                "version {old} began this tournament; this is version {now}"
            )));
        }
        Ok((old, playing))
    }
}

impl GameSettings {
    /// Checks two bots for each of `jobs` games at a time; those for which processes ran out, again one by one. Returns the fit ones.
    pub async fn check_all(
        &self,
        entrants: Vec<Entrant>,
        rejected: &mut Vec<RejectedBot>,
        notify: &mut dyn FnMut(Notice<'_>),
    ) -> Result<Vec<Entrant>, TournamentError> {
        let runner = Rc::new(GameRunner::new(Arc::clone(&self.ruleset), false)?);
        let questions = Arc::new(Questions::default());
        let of = entrants.len();
        let mut waiting = entrants.into_iter().enumerate();
        LocalSet::new()
            .run_until(async {
                let mut checks = JoinSet::new();
                let mut verdicts = Vec::new();
                loop {
                    while checks.len() < 2 * self.jobs
                        && let Some((place, entrant)) = waiting.next()
                    {
                        let (name, number) = (&*entrant.plan.name, place + 1);
                        notify(Notice::Checking { name, number, of });
                        let (runner, questions) = (Rc::clone(&runner), Arc::clone(&questions));
                        let pieces = self.pieces_path.clone();
                        checks.spawn_local(async move {
                            let pieces = pieces.as_deref();
                            let verdict = check(&runner, &entrant, pieces, &questions).await;
                            (place, entrant, verdict)
                        });
                    }
                    let Some(done) = checks.join_next().await else {
                        break;
                    };
                    verdicts.push(done.map_err(io::Error::other)?);
                }
                verdicts.sort_by_key(|(place, ..)| *place);
                let mut fit = Vec::new();
                for (_, entrant, mut verdict) in verdicts {
                    if let Err(GameError::Exhausted(_)) = verdict {
                        let pieces = self.pieces_path.as_deref();
                        let check = check(&runner, &entrant, pieces, &questions);
                        verdict = Box::pin(check).await;
                    }
                    let verdict = verdict.map_err(|error| match (error, self.ruleset.failure()) {
                        (GameError::Game(failure), _) | (GameError::Io(_), Some(failure)) => {
                            TournamentError::Input(failure)
                        }
                        (error, _) => error.into(),
                    });
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
}

/// After this, the remaining checks are left out.
const TIME: Duration = Duration::from_secs(20);

/// The inner error is the bot's problem with advice; the outer one a failure of the referee or the machine. All bots
/// are asked the same questions.
pub async fn check(
    runner: &Rc<GameRunner>,
    entrant: &Entrant,
    pieces_path: Option<&str>,
    questions: &Arc<Questions>,
) -> Result<Result<(), String>, GameError> {
    let seat = entrant.seat(runner.ruleset(), pieces_path, None);
    let mut ignore = |_: checkup::Notice<'_>| {};
    let checkup = Checkup::new(runner, seat, TIME, Arc::clone(questions), &mut ignore);
    let report = checkup.run(true).await?;
    if report.is_fit() {
        return Ok(Ok(()));
    }
    let problem = report.first_problem().map(|(_, problem)| problem);
    Ok(Err(problem.map_or_else(String::new, ToString::to_string)))
}

/// Groups of names with the same content, arguments, environment and limits, in the order of entry. Path and name do
/// not matter.
pub fn identical(entrants: &[Entrant]) -> Vec<Vec<&str>> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for entrant in entrants {
        let (identity, name) = (identity(entrant), entrant.plan.name.as_str());
        match groups.iter_mut().find(|(known, _)| *known == identity) {
            Some((_, names)) => names.push(name),
            None => groups.push((identity, vec![name])),
        }
    }
    let names = groups.into_iter().map(|(_, names)| names);
    names.filter(|names| names.len() > 1).collect()
}

pub fn same_program(names: &[&str]) -> String {
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!(
        "{} and {last} are the same program; each of them plays",
        others.join(", ")
    )
}

fn identity(entrant: &Entrant) -> String {
    let program = &entrant.program;
    let own = program.own_file();
    let content = own.as_ref().and_then(|path| fs::read(path).ok());
    // A launcher may start anything in its folder.
    let folder = own.as_deref().and_then(Path::parent);
    let has_more = folder.is_some_and(|folder| entries(folder).is_ok_and(|all| all.len() > 1));
    let all = (entrant.files.is_directory() && has_more).then_some(&entrant.plan.hash);
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    let mut words = program.argv.iter();
    let arguments = match (&own, &content) {
        // The words before it are an interpreter.
        (Some(own), Some(_)) => words.position(|word| Path::new(word) == own).unwrap_or(0) + 1,
        _ => 0,
    };
    let arguments = program.argv.get(arguments..).unwrap_or_default();
    let (environment, limits) = (&entrant.plan.environment, &entrant.plan.limits);
    let content = hasher.finish();
    format!("{content:x} {all:?} {arguments:?} {environment:?} {limits:?}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::arena::plan::BotPlan;
    use crate::game::InPlay;
    use crate::game::four_in_a_row::FourInARow;
    use crate::play::tests::{LONG, SILENT_AT_FIRST, limits, program};

    /// Answers each process's first question and exits at the next.
    const ONCE: &str = "echo >>\"$0/starts\"; read -r line; echo 1; read -r line; exit 3";

    fn entrant(script: &str, folder: &Path) -> Entrant {
        let program = program(script, folder);
        Entrant {
            files: program.files(&[]).unwrap(),
            plan: BotPlan {
                name: "a".to_owned(),
                limits: limits(LONG),
                ..BotPlan::default()
            },
            program,
        }
    }

    #[tokio::test]
    async fn after_the_first_failure_nothing_more_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        let runner = Rc::new(GameRunner::with_fixed_stalls(
            Arc::new(InPlay::new(FourInARow)),
            false,
        ));
        let unfit = check(
            &runner,
            &entrant(ONCE, folder.path()),
            None,
            &Arc::default(),
        )
        .await;
        let reason = unfit.unwrap().unwrap_err();
        assert!(reason.starts_with("exited: "), "{reason}");
        let starts = std::fs::read_to_string(folder.path().join("starts"));
        assert_eq!(starts.unwrap().lines().count(), 1, "{reason}");
    }

    #[tokio::test]
    async fn a_timeout_that_is_the_referees_fault_rejects_no_bot() {
        let folder = tempfile::tempdir().unwrap();
        let entrant = entrant(SILENT_AT_FIRST, folder.path());
        let late = Rc::new(GameRunner::with_fixed_stalls(
            Arc::new(InPlay::new(FourInARow)),
            true,
        ));
        let fit = check(&late, &entrant, None, &Arc::default()).await.unwrap();
        assert_eq!(fit, Ok(()));
        // The referee was not stalled: the bot's fault.
        std::fs::remove_dir(folder.path().join("first")).unwrap();
        let prompt = Rc::new(GameRunner::with_fixed_stalls(
            Arc::new(InPlay::new(FourInARow)),
            false,
        ));
        let unfit = check(&prompt, &entrant, None, &Arc::default())
            .await
            .unwrap();
        assert!(unfit.unwrap_err().starts_with("timeout: "));
    }
}
