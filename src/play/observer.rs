//! Who is shown a game while it is played.

use std::io;
use std::time::Duration;

use super::setup::GameSetup;
use crate::game::Side;
use crate::session::Session;

/// Observes a game. An `Err` ends the game: the referee cannot show what it was asked to show.
///
/// No clock runs while an observer works.
pub trait GameObserver {
    /// Both players are ready, and the game begins here. A game that is void begins again.
    fn begins(&mut self, setup: &GameSetup<'_>, start: &dyn Session) -> io::Result<()> {
        let _ = (setup, start);
        Ok(())
    }

    /// A side is about to be sent a request (with its newline).
    fn asked(&mut self, side: Side, request: &str) -> io::Result<()> {
        let _ = (side, request);
        Ok(())
    }

    /// A side answered with this line, legal or not.
    fn answered(&mut self, side: Side, line: &[u8], elapsed: Duration) -> io::Result<()> {
        let _ = (side, line, elapsed);
        Ok(())
    }

    /// A side made a legal turn: in canonical form, and the game after it.
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

    /// A clock ran out although the bot need not be to blame. The game is void and played
    /// `again`, or it counts because it has been void too often.
    fn stalled(&mut self, why: &str, again: bool) -> io::Result<()> {
        let _ = (why, again);
        Ok(())
    }
}

/// Nobody observes.
impl GameObserver for () {}
