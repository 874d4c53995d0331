//! Observes games while they are played.

use std::io;
use std::time::Duration;

use super::clock::Clock;
use super::setup::GameSetup;
use crate::game::Side;
use crate::session::Session;

/// Observes a game. No clock runs meanwhile. An `Err` is a failure of the referee and ends the game.
pub trait GameObserver {
    /// The game begins in this position; both players are ready. A void game begins again.
    fn begins(&mut self, setup: &GameSetup<'_>, start: &dyn Session) -> io::Result<()> {
        let _ = (setup, start);
        Ok(())
    }

    /// It is this side's turn, with these clocks, in the order of the sides.
    fn to_move(&mut self, side: Side, clocks: &[Clock; 2]) -> io::Result<()> {
        let _ = (side, clocks);
        Ok(())
    }

    /// A side is about to be sent this request, which ends with a newline.
    fn asked(&mut self, side: Side, request: &str) -> io::Result<()> {
        let _ = (side, request);
        Ok(())
    }

    /// A side answered with this line, whether legal or not.
    fn answered(&mut self, side: Side, line: &[u8], elapsed: Duration) -> io::Result<()> {
        let _ = (side, line, elapsed);
        Ok(())
    }

    /// A side made this legal turn, in canonical form, which led to `after`.
    fn turn(
        &mut self,
        side: Side,
        turn: &str,
        after: &dyn Session,
        elapsed: Duration,
    ) -> io::Result<()> {
        let _ = (side, turn, after, elapsed);
        Ok(())
    }

    /// A clock ran out for which the referee may be to blame. The game is void and is played `again`,
    /// or it counts because it has been void too often.
    fn stalled(&mut self, why: &str, again: bool) -> io::Result<()> {
        let _ = (why, again);
        Ok(())
    }
}

/// Observes nothing.
impl GameObserver for () {}
