//! Prepares a tournament: entry check, openings, schedule, plan.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::{fs, io};

use tokio::task::{JoinSet, LocalSet};

use super::bot_files::KnownFiles;
use super::directory::TournamentDirectory;
use super::entrants::{Entrant, Entrants};
use super::plan::difference::{PlanDifference, accept_advice, listed};
use super::plan::request::PlanRequest;
use super::plan::{BotPlan, Plan, RejectedBot};
use super::{GameSettings, TournamentError};
use crate::checkup::{self, Checkup, Questions, Thoroughness};
use referee_entrants::folder::entries;
use referee_games::game::Ruleset;
use referee_match::play::game_runner::{GameError, GameRunner};
use referee_match::play::setup::options_of;
use referee_match::seed;
use referee_stats::standings::Absence;
use referee_text::{counted, format_duration, join_parts};

#[derive(Debug)]
pub enum PreparationNotice<'a> {
    /// The bots that are checked now, and of how many bots so many have been.
    Checking {
        names: Vec<&'a str>,
        done: usize,
        of: usize,
    },
    Text(String),
}

impl PreparationNotice<'_> {
    pub fn checked(passed: usize, of: usize) -> Option<Self> {
        let bots = counted(of as u64, "bot", "bots");
        (passed < of).then(|| Self::Text(format!("{passed} of {bots} passed the entry check")))
    }

    /// `game`: the options that choose it.
    fn asked_less(names: &[String], game: &str) -> Option<Self> {
        let thought = format_duration(checkup::THINKING);
        (!names.is_empty()).then(|| {
            Self::Text(format!(
                "not asked everything in the entry check, having thought for {thought}: {}; `referee check --thorough{game} \
                 BOT` asks all",
                names.join(", ")
            ))
        })
    }

    pub fn rejected(rejected: &RejectedBot) -> Self {
        let reason = join_parts(&rejected.absence, "\n    ");
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
        notify: &mut dyn FnMut(PreparationNotice<'_>),
    ) -> Result<(Plan, Vec<Entrant>), TournamentError> {
        let ruleset = &*settings.ruleset;
        let seed = self.games.seed.unwrap_or_else(|| {
            let seed = seed::drawn();
            notify(PreparationNotice::Text(format!("seed {seed}")));
            seed
        });
        let Entrants {
            mut entered,
            mut rejected,
        } = entrants;
        for names in identical(&entered) {
            notify(PreparationNotice::Text(format!(
                "warning: {}",
                same_program(&names)
            )));
        }
        if !self.games.no_check && !entered.is_empty() {
            self.check_openings(ruleset, seed)?;
            entered = settings.check_all(entered, &mut rejected, notify).await?;
            let of = entered.len() + rejected.len();
            PreparationNotice::checked(entered.len(), of)
                .into_iter()
                .for_each(&mut *notify);
        }
        for bot in &rejected {
            notify(PreparationNotice::rejected(bot));
        }
        let bots = entered.iter().map(|bot| bot.plan.clone()).collect();
        let mut plan = self.new_plan(ruleset, bots, rejected, seed)?;
        let begun_in = std::env::current_dir().ok();
        plan.begun_in = begun_in.map(|path| path.to_string_lossy().into_owned());
        KnownFiles::of(&entered).write(directory)?;
        directory.write_plan(&mut plan)?;
        Ok((plan, entered))
    }
}

/// The folder holds a tournament by other options or bots.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}: it holds another tournament:\n  {}\nundo these changes to resume it, or choose another folder with --out; \
     docs/teachers.md tells how late bots play{}",
    .directory.display(), listed(.differences), accept_advice(.differences)
)]
pub struct OtherTournament {
    pub directory: PathBuf,
    pub differences: Vec<PlanDifference>,
}

/// Resumes a tournament by its plan.
#[derive(Debug)]
pub struct ResumeRequest<'a> {
    /// The options with which it goes on: those that are given must be the plan's.
    pub options: &'a PlanRequest,
    pub ruleset: &'a dyn Ruleset,
    pub directory: &'a TournamentDirectory,
    /// The bots' files and the game's program may be others than in the plan: those of now play on.
    pub accept_changes: bool,
}

impl ResumeRequest<'_> {
    /// Options and bots must match the plan. Returns it with its bots, in its order.
    pub fn resume(
        &self,
        mut plan: Plan,
        entrants: Entrants,
        notify: &mut dyn FnMut(PreparationNotice<'_>),
    ) -> Result<(Plan, Vec<Entrant>), TournamentError> {
        check_entered(&plan, &entrants.rejected)?;
        let (rejected_before, mut playing): (Vec<_>, Vec<_>) = entrants
            .entered
            .into_iter()
            .partition(|entrant| plan.has_rejected(&entrant.plan.name));
        notify_of_fixed(&plan, &rejected_before, notify);
        if self.options.schedule.seeds.is_none() && plan.seeded_by.is_some() {
            // The seeds are in the plan; the file is not needed again.
            let place = |name: &str| plan.bots.iter().position(|bot| bot.name == name);
            playing.sort_by_key(|entrant| place(&entrant.plan.name).unwrap_or(usize::MAX));
        }
        let mut known = KnownFiles::read(self.directory)?;
        let mut settled = known.settle(&plan, &mut playing, self.accept_changes);
        let rejected_before = rejected_before.into_iter().map(|entrant| entrant.plan);
        let rejected_now = entrants.rejected.into_iter().map(|rejected| rejected.bot);
        let rejected = rejected_before.chain(rejected_now).collect();
        let mut now = self.plan_now(&plan, &playing, rejected)?;
        known.settle_game(&plan, &mut now, self.accept_changes, &mut settled);
        let differences = plan.differences_with(&now, &settled);
        if !differences.is_empty() {
            let other = OtherTournament {
                directory: self.directory.path().to_owned(),
                differences,
            };
            return Err(other.into());
        }
        for note in settled.notes {
            notify(PreparationNotice::Text(note));
        }
        self.check_planned_openings(&plan)?;
        if plan.referee != env!("CARGO_PKG_VERSION") {
            let (old, now) = (&plan.referee, env!("CARGO_PKG_VERSION"));
            notify(PreparationNotice::Text(format!(
                "version {old} began this tournament; this is version {now}"
            )));
        }
        if settled.has_accepted {
            known.write(self.directory)?;
        }
        if let (Some(planned), Some(now)) = (&mut plan.game_program, now.game_program) {
            planned.changed = now.changed;
        }
        Ok((plan, playing))
    }

    /// What the plan would be by the options and bots of now, without rounds.
    fn plan_now(
        &self,
        old: &Plan,
        playing: &[Entrant],
        rejected: Vec<BotPlan>,
    ) -> Result<Plan, TournamentError> {
        let options = self.options;
        let seed = options.games.seed.unwrap_or(old.seed);
        let bots = playing.iter().map(|bot| bot.plan.clone()).collect();
        let without_reason = |bot| RejectedBot {
            bot,
            absence: Absence::default(),
        };
        let rejected = rejected.into_iter().map(without_reason).collect();
        let mut now = options.plan(self.ruleset, bots, rejected, seed, Some(old))?;
        now.openings = match (&options.games.openings, options.games.opening_plies) {
            (Some(_), _) => options.openings_of_file(self.ruleset)?,
            (None, Some(plies)) if Some(plies) != old.opening_plies => Vec::new(),
            _ => old.openings.clone(),
        };
        Ok(now)
    }

    fn check_planned_openings(&self, plan: &Plan) -> Result<(), TournamentError> {
        for board in &plan.openings {
            self.ruleset
                .start_from(board)
                .map_err(|problem| TournamentError::PlannedOpening {
                    board: board.clone(),
                    problem: problem.to_string(),
                })?;
        }
        Ok(())
    }
}

/// Whether all bots of the plan are among those that can be started.
fn check_entered(plan: &Plan, rejected: &[RejectedBot]) -> Result<(), TournamentError> {
    let plays = |rejected: &&RejectedBot| {
        let name = &rejected.bot.name;
        plan.bots.iter().any(|bot| bot.name == *name)
    };
    match rejected.iter().find(plays) {
        Some(rejected) => Err(TournamentError::Missing(Box::new(rejected.absence.clone()))),
        None => Ok(()),
    }
}

/// Tells of bots that were rejected when the tournament began, and whose files are others now.
fn notify_of_fixed(
    plan: &Plan,
    rejected_before: &[Entrant],
    notify: &mut dyn FnMut(PreparationNotice<'_>),
) {
    for fixed in rejected_before {
        let mut known = plan.rejected.iter().map(|rejected| &rejected.bot);
        let is_changed =
            |known: &BotPlan| known.name == fixed.plan.name && known.hash != fixed.plan.hash;
        if known.any(is_changed) {
            notify(PreparationNotice::Text(format!(
                "{} did not enter when this tournament began, and plays no game of it; docs/teachers.md tells how late \
                 bots play",
                fixed.plan.name
            )));
        }
    }
}

impl GameSettings {
    /// Checks two bots for each of `jobs` games at a time; those for which processes ran out, again one by one. Returns the fit ones.
    pub async fn check_all(
        &self,
        entrants: Vec<Entrant>,
        rejected: &mut Vec<RejectedBot>,
        notify: &mut dyn FnMut(PreparationNotice<'_>),
    ) -> Result<Vec<Entrant>, TournamentError> {
        let checker = EntryChecker {
            runner: Rc::new(GameRunner::new(Arc::clone(&self.ruleset), false)?),
            questions: Arc::default(),
            pieces: self.pieces_path.clone(),
        };
        let of = entrants.len();
        let mut waiting = entrants.into_iter().enumerate();
        LocalSet::new()
            .run_until(async {
                let mut checks = JoinSet::new();
                let mut verdicts = Vec::new();
                let mut names: BTreeMap<usize, String> = BTreeMap::new();
                loop {
                    while checks.len() < 2 * self.jobs
                        && let Some((place, entrant)) = waiting.next()
                    {
                        names.insert(place, entrant.plan.name.clone());
                        let checker = checker.clone();
                        checks.spawn_local(async move {
                            let verdict = checker.check(&entrant).await;
                            (place, entrant, verdict)
                        });
                    }
                    notify(PreparationNotice::Checking {
                        names: names.values().map(String::as_str).collect(),
                        done: verdicts.len(),
                        of,
                    });
                    let Some(done) = checks.join_next().await else {
                        break;
                    };
                    let done = done.map_err(io::Error::other)?;
                    names.remove(&done.0);
                    verdicts.push(done);
                }
                verdicts.sort_by_key(|(place, ..)| *place);
                let (fit, slow) = self.admit(&checker, verdicts, rejected).await?;
                PreparationNotice::asked_less(&slow, &options_of(&*self.ruleset))
                    .into_iter()
                    .for_each(&mut *notify);
                Ok(fit)
            })
            .await
    }

    /// The fit ones, and the names of those that were asked less than all.
    async fn admit(
        &self,
        checker: &EntryChecker,
        verdicts: Vec<(usize, Entrant, Result<EntryCheck, GameError>)>,
        rejected: &mut Vec<RejectedBot>,
    ) -> Result<(Vec<Entrant>, Vec<String>), TournamentError> {
        let (mut fit, mut slow) = (Vec::new(), Vec::new());
        for (_, entrant, mut verdict) in verdicts {
            if let Err(GameError::Exhausted(_)) = verdict {
                verdict = Box::pin(checker.check(&entrant)).await;
            }
            match verdict.map_err(|error| self.check_error(error))? {
                EntryCheck::Fit { asked_all } => {
                    if !asked_all {
                        slow.push(entrant.plan.name.clone());
                    }
                    fit.push(entrant);
                }
                EntryCheck::Unfit(absence) => rejected.push(RejectedBot {
                    bot: entrant.plan,
                    absence,
                }),
            }
        }
        Ok((fit, slow))
    }

    /// The game's program may have failed, and not a bot's.
    fn check_error(&self, error: GameError) -> TournamentError {
        match (error, self.ruleset.failure()) {
            (GameError::Game(failure), _) | (GameError::Io(_), Some(failure)) => {
                TournamentError::Input(failure.to_string())
            }
            (error, _) => error.into(),
        }
    }
}

#[derive(Clone)]
struct EntryChecker {
    runner: Rc<GameRunner>,
    /// The same for all.
    questions: Arc<Questions>,
    pieces: Option<String>,
}

impl EntryChecker {
    async fn check(&self, entrant: &Entrant) -> Result<EntryCheck, GameError> {
        let pieces = self.pieces.as_deref();
        check(&self.runner, entrant, pieces, &self.questions).await
    }
}

/// Whether a bot may enter a tournament.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryCheck {
    Fit {
        /// Within the budget: a bot that thinks long is asked less.
        asked_all: bool,
    },
    /// Its first problem, with advice.
    Unfit(Absence),
}

/// All bots are asked the same questions. An `Err` is a failure of the referee or of the machine.
pub async fn check(
    runner: &Rc<GameRunner>,
    entrant: &Entrant,
    pieces_path: Option<&str>,
    questions: &Arc<Questions>,
) -> Result<EntryCheck, GameError> {
    let seat = entrant.seat(runner.ruleset(), pieces_path, None);
    let mut ignore = |_: checkup::CheckNotice<'_>| {};
    let checkup = Checkup::new(
        runner,
        seat,
        Thoroughness::Budget,
        Arc::clone(questions),
        &mut ignore,
    );
    let report = checkup.run(true).await?;
    if report.is_fit() {
        let asked_all = report.cut_short().is_empty();
        return Ok(EntryCheck::Fit { asked_all });
    }
    let problem = report.first_problem().map(|(_, problem)| problem.clone());
    let absence = problem.map(Absence::from).unwrap_or_default();
    Ok(EntryCheck::Unfit(absence))
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
    let file = program.own_file();
    let content = file.as_ref().and_then(|path| fs::read(path).ok());
    // A launcher may start anything in its folder.
    let folder = file.as_deref().and_then(Path::parent);
    let has_more = folder.is_some_and(|folder| entries(folder).is_ok_and(|all| all.len() > 1));
    // Bots that share a folder share all else in it.
    let is_shared = !entrant.files.hidden().is_empty();
    let is_more_than_file = entrant.files.is_directory() && has_more && !is_shared;
    let all = is_more_than_file.then_some(&entrant.plan.hash);
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    let mut words = program.argv.iter();
    let arguments = match (&file, &content) {
        // The words before it are an interpreter.
        (Some(file), Some(_)) => words.position(|word| Path::new(word) == file).unwrap_or(0) + 1,
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
    use crate::plan::BotPlan;
    use referee_games::game::BuiltinRuleset;
    use referee_games::game::four_in_a_row::FourInARow;
    use referee_match::play::testing::{LONG, SILENT_AT_FIRST, limits, program};
    use referee_sandbox::snapshot::FileSet;

    /// Answers each process's first question and exits at the next.
    const ONCE: &str = "echo >>\"$0/starts\"; read -r line; echo 1; read -r line; exit 3";

    fn entrant(script: &str, folder: &Path) -> Entrant {
        let program = program(script, folder);
        Entrant {
            files: program.files(&[]).unwrap(),
            found: FileSet::default(),
            changed: None,
            plan: BotPlan {
                name: "a".to_owned(),
                limits: limits(LONG),
                ..BotPlan::default()
            },
            program,
        }
    }

    fn problem(check: EntryCheck) -> String {
        match check {
            EntryCheck::Fit { .. } => panic!("it is fit"),
            EntryCheck::Unfit(absence) => absence.problem,
        }
    }

    #[tokio::test]
    async fn after_the_first_failure_nothing_more_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        let runner = Rc::new(GameRunner::with_fixed_stalls(
            Arc::new(BuiltinRuleset::new(FourInARow)),
            false,
        ));
        let unfit = check(
            &runner,
            &entrant(ONCE, folder.path()),
            None,
            &Arc::default(),
        )
        .await;
        let reason = problem(unfit.unwrap());
        assert!(reason.starts_with("exited: "), "{reason}");
        let starts = std::fs::read_to_string(folder.path().join("starts"));
        assert_eq!(starts.unwrap().lines().count(), 1, "{reason}");
    }

    #[tokio::test]
    async fn a_timeout_that_is_the_referees_fault_rejects_no_bot() {
        let folder = tempfile::tempdir().unwrap();
        let entrant = entrant(SILENT_AT_FIRST, folder.path());
        let late = Rc::new(GameRunner::with_fixed_stalls(
            Arc::new(BuiltinRuleset::new(FourInARow)),
            true,
        ));
        let fit = check(&late, &entrant, None, &Arc::default()).await.unwrap();
        assert_eq!(fit, EntryCheck::Fit { asked_all: true });
        // The referee was not stalled: the bot's fault.
        std::fs::remove_dir(folder.path().join("first")).unwrap();
        let prompt = Rc::new(GameRunner::with_fixed_stalls(
            Arc::new(BuiltinRuleset::new(FourInARow)),
            false,
        ));
        let unfit = check(&prompt, &entrant, None, &Arc::default())
            .await
            .unwrap();
        assert!(problem(unfit).starts_with("timeout: "));
    }
}
