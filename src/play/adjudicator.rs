//! Ends games whose value is proven (`--adjudicate`) before they are played out.
//!
//! Limits are in nodes, and every position is searched with an empty table. So the same turns lead to
//! the same result on every machine, whatever was played before.

use crate::game::Outcome;
use crate::session::Session;

/// Nodes for a position of a game that is being played: some 50 ms on one core.
const NODES: u64 = 200_000;

/// Nodes to prove a recorded result again: more, so that every adjudicated game can be proven.
const NODES_TO_CHECK: u64 = 2_000_000;

/// Decides after every turn whether a game that is not over ends here. No clock runs meanwhile.
pub trait Adjudicator: std::fmt::Debug + Sync {
    /// How the game ends here; `None` when it continues.
    fn adjudicate(&self, session: &dyn Session) -> Option<Outcome>;
}

/// Lets every game be played to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayOut;

impl Adjudicator for PlayOut {
    fn adjudicate(&self, _: &dyn Session) -> Option<Outcome> {
        None
    }
}

/// Ends a game as soon as its value is proven.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proven;

impl Adjudicator for Proven {
    fn adjudicate(&self, session: &dyn Session) -> Option<Outcome> {
        session.prove(NODES)
    }
}

/// [`Proven`] when games are to be adjudicated, else [`PlayOut`].
pub fn adjudicator(adjudicate: bool) -> &'static dyn Adjudicator {
    if adjudicate { &Proven } else { &PlayOut }
}

/// The result that the record of a game adjudicated here must have; `None` when it cannot be proven.
pub fn proven_result(session: &dyn Session) -> Option<Outcome> {
    session.prove(NODES_TO_CHECK)
}
