//! The entry check: before the first game every bot plays a game against itself.

use std::io;

use super::entrant::Entrant;
use crate::bot::process::GracePeriods;
use crate::play::game_runner::{GameError, GameRunner};
use crate::play::seat::stop_both;
use crate::play::setup::GameSetup;
use crate::record::BotIndex;
use crate::seed;

/// Lets a bot play one game against itself from this opening. The error is a sentence that says
/// what is wrong with it; an `Err` around it is a failure of the referee.
pub async fn check(
    runner: &GameRunner,
    entrant: &Entrant,
    seed: u64,
    opening: &str,
    pieces_path: Option<&str>,
) -> io::Result<Result<(), String>> {
    let mut seats = [0, 1].map(|_| entrant.seat(runner.ruleset(), pieces_path, None));
    let setup = GameSetup {
        number: 0,
        id: String::new(),
        seed,
        first: BotIndex::A,
        start: opening,
        process_seeds: [0, 1].map(|seat| seed::for_bot(seed, seat, 0)),
    };
    let game = match runner.run(&mut seats, &setup, None, false, &mut ()).await {
        Ok(game) => game,
        Err(GameError::CannotStart(error)) => return Ok(Err(error.to_string())),
        Err(GameError::Io(error)) => return Err(error),
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
