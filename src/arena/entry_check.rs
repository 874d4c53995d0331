//! The entry check: the required checks of `referee check`, within the tournament's limits.

use std::sync::Arc;
use std::time::Duration;

use super::entrants::Entrant;
use crate::checkup::{Checkup, Notice, Questions};
use crate::play::game_runner::{GameError, GameRunner};

/// After this, the remaining checks are left out.
const TIME: Duration = Duration::from_secs(20);

/// The inner error is the bot's problem with advice; the outer one a failure of the referee or the machine. All bots
/// are asked the same questions.
pub async fn check(
    runner: &GameRunner,
    entrant: &Entrant,
    pieces_path: Option<&str>,
    questions: &Arc<Questions>,
) -> Result<Result<(), String>, GameError> {
    let seat = entrant.seat(runner.ruleset(), pieces_path, None);
    let mut nobody = |_: Notice<'_>| {};
    let checkup = Checkup::new(runner, seat, TIME, &mut nobody);
    let checkup = checkup.sharing(Arc::clone(questions));
    let report = checkup.run_required().await?;
    if report.is_fit() {
        return Ok(Ok(()));
    }
    let problem = report.first_problem().map(|(_, problem)| problem);
    Ok(Err(problem.map_or_else(String::new, ToString::to_string)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::arena::plan::{BotPlan, Limits};
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
                slug: "a".to_owned(),
                bot: "a".to_owned(),
                directory: None,
                environment: [].into(),
                limits: Limits::from(limits(LONG)),
                hash: String::new(),
                version: None,
                place_before: None,
            },
            program,
        }
    }

    #[tokio::test]
    async fn after_the_first_failure_nothing_more_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        let runner = GameRunner::with_fixed_stalls(Arc::new(FourInARow), false);
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
        let late = GameRunner::with_fixed_stalls(Arc::new(FourInARow), true);
        let fit = check(&late, &entrant, None, &Arc::default()).await.unwrap();
        assert_eq!(fit, Ok(()));
        // The referee was not stalled: the bot's fault.
        std::fs::remove_dir(folder.path().join("first")).unwrap();
        let prompt = GameRunner::with_fixed_stalls(Arc::new(FourInARow), false);
        let unfit = check(&prompt, &entrant, None, &Arc::default())
            .await
            .unwrap();
        assert!(unfit.unwrap_err().starts_with("timeout: "));
    }
}
