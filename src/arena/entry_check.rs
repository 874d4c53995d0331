//! The entry check: before the tournament, every bot plays a game against itself.

use super::entrant::Entrant;
use crate::bot::process::GracePeriods;
use crate::play::game_runner::{GameError, GameRunner};
use crate::play::seat::stop_both;
use crate::play::setup::GameSetup;
use crate::record::BotIndex;
use crate::seed;

/// Lets a bot play one game against itself from this opening. The inner error is a sentence about
/// what is wrong with the bot; the outer one is a failure of the referee or of the machine.
pub async fn check(
    runner: &GameRunner,
    entrant: &Entrant,
    seed: u64,
    opening: &str,
    pieces_path: Option<&str>,
) -> Result<Result<(), String>, GameError> {
    let mut seats = [0, 1].map(|_| entrant.seat(runner.ruleset(), pieces_path, None));
    let setup = GameSetup {
        number: 0,
        id: "entry-check".to_owned(),
        seed,
        first: BotIndex::A,
        start: opening,
        process_seeds: [0, 1].map(|seat| seed::for_bot(seed, seat, 0)),
    };
    let game = match runner.run(&mut seats, &setup, None, false, &mut ()).await {
        Ok(game) => game,
        Err(GameError::CannotStart(error)) => return Ok(Err(error.to_string())),
        Err(error) => return Err(error),
    };
    stop_both(&mut seats, GracePeriods::POLITE).await?;
    Ok(match game.fault {
        None => Ok(()),
        Some(fault) => Err(match &fault.reproduce {
            Some(command) => format!("{}; reproduce: {command}", fault.in_words()),
            None => fault.in_words(),
        }),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::arena::plan::{BotPlan, Limits};
    use crate::game::four_in_a_row::FourInARow;
    use crate::play::tests::{LONG, SILENT_AT_FIRST, limits, program};

    #[tokio::test]
    async fn a_timeout_that_is_the_referees_fault_rejects_no_bot() {
        let folder = tempfile::tempdir().unwrap();
        let entrant = Entrant {
            plan: BotPlan {
                name: "a".to_owned(),
                slug: "a".to_owned(),
                bot: "a".to_owned(),
                directory: None,
                environment: [].into(),
                limits: Limits::from(limits(LONG)),
                hash: String::new(),
                version: None,
            },
            program: program(SILENT_AT_FIRST, folder.path()),
        };
        let opening = ".".repeat(42);
        let late = GameRunner::with_fixed_stalls(Arc::new(FourInARow), true);
        let fit = check(&late, &entrant, 7, &opening, None).await.unwrap();
        assert_eq!(fit, Ok(()));
        // The same timeout is the bot's fault when the referee ran all the time.
        std::fs::remove_dir(folder.path().join("first")).unwrap();
        let prompt = GameRunner::with_fixed_stalls(Arc::new(FourInARow), false);
        let unfit = check(&prompt, &entrant, 7, &opening, None).await.unwrap();
        assert!(unfit.unwrap_err().starts_with("timeout: "));
    }
}
