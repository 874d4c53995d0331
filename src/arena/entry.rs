//! The entry check: before the first game every bot plays a short game against itself.

use std::io;

use super::worker::Ready;
use crate::bot::process::GracePeriods;
use crate::game::dialogue::Dialogue;
use crate::play::seat::{Entrant, Occupant, Seat, environment};
use crate::play::{Clock, End, play};
use crate::seed;
use crate::tournament::openings::Opening;

/// Lets a bot play one game against itself from this opening. The error is a sentence that says
/// what is wrong with it; an `Err` around it is a failure of the referee.
pub async fn check<G: Dialogue + Clone>(
    game: &G,
    bot: &Ready,
    seed: u64,
    opening: &Opening<G::Position>,
    pieces_path: Option<&str>,
) -> io::Result<Result<(), String>> {
    let mut variables = environment(game, pieces_path, bot.time.move_time);
    variables.extend_from_slice(&bot.environment);
    let mut seats = [0, 1].map(|_| {
        let entrant = Entrant {
            name: bot.program.name.clone(),
            occupant: Occupant::Program(bot.program.clone(), None),
            time: bot.time,
        };
        Seat::<G>::new(entrant, variables.clone())
    });
    for (index, seat) in seats.iter_mut().enumerate() {
        if let Err(error) = seat.start(seed::for_bot(seed, index, 0)).await {
            return Ok(Err(error.to_string()));
        }
    }
    let verdict = {
        let clocks = seats.each_ref().map(|seat| Clock::new(seat.time()));
        let players = seats.each_mut();
        play(game, &opening.position, players, clocks, &mut ()).await?
    };
    let problem = match verdict.end {
        End::Outcome(_) | End::Adjudicated(_) => None,
        End::Forfeit(side, fault) => {
            let mut request = String::new();
            game.write_request(&verdict.position, &mut request);
            let stderr = seats[side.index()].forfeited(&fault).await?;
            let mut text = format!("{}: {fault}", fault.reason());
            if let Some(line) = stderr.trim_end().lines().last() {
                text = format!("{text}; its last words on stderr: {line}");
            }
            if let Some(command) = seats[side.index()].ask_again(&request) {
                text = format!("{text}; see it again: {command}");
            }
            Some(text)
        }
    };
    let [a, b] = &mut seats;
    let (a, b) = tokio::join!(a.stop(GracePeriods::POLITE), b.stop(GracePeriods::POLITE));
    a.and(b)?;
    Ok(problem.map_or(Ok(()), Err))
}
