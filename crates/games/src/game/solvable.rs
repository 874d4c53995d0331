use super::{Game, Outcome};
use crate::solver::{Evaluation, Goal, Limits, SolverOptions, Solvers, Value};

/// A game in some position, of a kind for which there is a solver: [`Game::solvable`].
pub trait Solvable {
    /// What is proven for the side to move.
    fn solve(&self, solvers: &Solvers, goal: Goal, limits: &Limits) -> Evaluation;

    /// Whether the turn that led here is worth at least this value to the side that made it; `None` when a limit was
    /// reached.
    fn keeps(&self, solvers: &Solvers, value: Value, limits: &Limits) -> Option<bool>;

    /// A game that both sides play perfectly from here, as far as it is proven.
    fn line(&self, solvers: &Solvers, limits: &Limits) -> Vec<String>;

    /// The same text for all positions that are equal by symmetry, and for no others.
    fn class(&self) -> String;

    /// The smallest depth at which `builtin:search` is sure to give one of these answers, in canonical form; `None`
    /// when none is.
    fn look_ahead(&self, answers: &[String]) -> Option<u32>;

    /// Whether all turns, and how long they last, are proven in less than a second.
    fn is_provable(&self) -> bool;
}

/// The size of the transposition table for one position.
const TT_BYTES: usize = 2 << 20;

impl dyn Game + '_ {
    /// Whether there is a solver that proves all turns, and how long they last, in less than a second.
    pub fn is_provable(&self) -> bool {
        self.solvable().is_some_and(Solvable::is_provable)
    }

    /// For the side to move; `None` when a limit was reached, or without a solver.
    pub fn value(&self, solvers: &Solvers, limits: &Limits) -> Option<Value> {
        self.solvable()?.solve(solvers, Goal::Value, limits).value()
    }

    /// The result of best play, the same on every machine; `None` when so many nodes do not prove it.
    pub fn prove(&self, nodes: u64) -> Option<Outcome> {
        let game = self.solvable().filter(|game| game.is_provable())?;
        // Every position is searched with an empty table, so the result depends on the position alone.
        let solvers = Solvers::new(SolverOptions {
            tt_bytes: TT_BYTES,
            threads: 1,
        });
        let found = game.solve(&solvers, Goal::Value, &Limits::nodes(nodes));
        let side = self.to_move();
        Some(match found.value()? {
            Value::Win => Outcome::Win(side),
            Value::Draw => Outcome::Draw,
            Value::Loss => Outcome::Win(side.other()),
        })
    }
}
