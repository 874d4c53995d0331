//! What workers and the journal's writer report to the event loop.

use std::io;
use std::sync::Arc;

use super::scheduler::Benched;
use crate::play::game_runner::GameError;
use crate::record::FinishedRecord;
use crate::tournament::schedule::GameId;

/// A report to the event loop.
#[derive(Debug)]
pub enum Event {
    /// The record of a game is on disk.
    Written(Arc<FinishedRecord>),
    /// A clock ran out for which the referee may be to blame.
    Stalled {
        /// The game.
        id: GameId,
        /// Why the referee may be to blame: a sentence.
        why: String,
        /// Whether the game is played again; otherwise it counts.
        again: bool,
    },
    /// Fewer games are played at once, for this reason: a sentence.
    FewerGames(String),
    /// A bot has been benched.
    Benched(Benched),
    /// The journal cannot be written.
    NotWritten(io::Error),
    /// A worker has ended.
    WorkerEnded(Result<(), GameError>),
}
