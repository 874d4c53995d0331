//! What the log has of a game: its span, its beginning and its end.

use tracing::{Span, info, info_span};

use super::seat::Seat;
use super::setup::GameSetup;
use crate::log_target::{GAME, SPAN};
use crate::protocol::ForfeitReason;
use crate::record::Record;

/// The span of a game, with the `id`, the `seed` and the bots of its record.
pub(super) fn game(setup: &GameSetup<'_>, seats: &[Seat; 2], warm_up: bool) -> Span {
    let span = info_span!(
        target: SPAN,
        "game",
        game = setup.id.as_str(),
        index = setup.number,
        seed = setup.seed,
        bot1 = seats[0].name(),
        bot2 = seats[1].name(),
        warm_up = tracing::field::Empty,
    );
    if warm_up {
        span.record("warm_up", true);
    }
    span
}

/// A game begins, after so many that were void.
pub(super) fn begins(setup: &GameSetup<'_>, voids: u32) {
    info!(
        target: GAME,
        first = setup.first as usize,
        start = setup.start,
        process_seeds = ?setup.process_seeds,
        voids,
        "begins"
    );
}

/// A clock ran out for which the referee may be to blame.
pub(super) fn void(why: &str, again: bool) {
    if again {
        info!(target: GAME, why, "void: the game is played again");
    } else {
        info!(target: GAME, why, "the game counts, although the referee may be to blame");
    }
}

/// A game has ended, and counts.
pub(super) fn ended(record: &Record) {
    info!(
        target: GAME,
        turns = record.turns.len(),
        voids = record.voids,
        "{}",
        record.result_line()
    );
}

/// A bot is benched.
pub(super) fn benched(bot: &str, reason: Option<ForfeitReason>, failed_starts: u32) {
    info!(
        target: GAME,
        bot,
        reason = reason.map(tracing::field::display),
        failed_starts,
        "benched: it plays no more games of this match"
    );
}
