//! Games that end because their value is proven (`--adjudicate`), before they have been played
//! out.
//!
//! Limits are in nodes, and every position is looked at with an empty table: the same turns end
//! the same way, on every machine and whatever was played before.

use std::any::Any;
use std::io;
use std::time::Duration;

use crate::game::quarto;
use crate::game::{Game, Outcome, Position as _, Side};
use crate::play::Watch;
use crate::solver::{Goal, Limits, Options, Solver, Value};

/// With more free cells nothing is proven: it would take too long.
const FREE_UP_TO: usize = 10;

/// Nodes for a position of a game that is being played: some 50 ms on one core.
const NODES: u64 = 200_000;

/// Nodes to prove again what a record says: more, so that it is always enough.
const NODES_TO_CHECK: u64 = 2_000_000;

/// Bytes for the solver of one position.
const HASH: usize = 2 << 20;

/// What best play leads to from here, when it can be proven with so many nodes. Only Quarto can.
fn proven<P: Any>(position: &P, nodes: u64) -> Option<Outcome> {
    let position = (position as &dyn Any).downcast_ref::<quarto::Position>()?;
    if position.board().free_count() > FREE_UP_TO {
        return None;
    }
    let solver = Solver::new(Options {
        tt_bytes: HASH,
        threads: 1,
    });
    let answer = solver.solve(position, Goal::Value, &Limits::nodes(nodes));
    let side = position.to_move();
    Some(match answer.value()? {
        Value::Win => Outcome::Win(side),
        Value::Draw => Outcome::Draw,
        Value::Loss => Outcome::Win(side.other()),
    })
}

/// What a record that says "adjudicated" must say of a game that stopped here; `None` when it
/// cannot be proven.
pub fn verdict<P: Any>(position: &P) -> Option<Outcome> {
    proven(position, NODES_TO_CHECK)
}

/// Somebody who watches a game and, when asked to, ends it as soon as its value is proven. No
/// clock runs while it thinks.
#[derive(Debug)]
pub struct Umpire<'a, W> {
    inner: &'a mut W,
    adjudicates: bool,
}

impl<'a, W> Umpire<'a, W> {
    /// Lets `inner` watch, too.
    pub const fn new(inner: &'a mut W, adjudicates: bool) -> Self {
        Self { inner, adjudicates }
    }
}

impl<G, W> Watch<G> for Umpire<'_, W>
where
    G: Game,
    W: Watch<G>,
{
    fn asked(&mut self, side: Side, request: &str) -> io::Result<()> {
        self.inner.asked(side, request)
    }

    fn answered(&mut self, side: Side, line: &[u8], elapsed: Duration) -> io::Result<()> {
        self.inner.answered(side, line, elapsed)
    }

    fn turn(
        &mut self,
        side: Side,
        before: &G::Position,
        turn: G::Turn,
        after: &G::Position,
        elapsed: Duration,
    ) -> io::Result<()> {
        self.inner.turn(side, before, turn, after, elapsed)
    }

    fn adjudicate(&mut self, position: &G::Position) -> Option<Outcome> {
        let proven = self.adjudicates.then(|| proven(position, NODES)).flatten();
        proven.or_else(|| self.inner.adjudicate(position))
    }
}
