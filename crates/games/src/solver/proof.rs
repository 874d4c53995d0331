//! What the solvers prove of a game in play and of its turns.

use std::sync::{Arc, OnceLock};

use super::{Evaluation, Goal, Limits, SolverOptions, Value, four_in_a_row};
use crate::game::{Outcome, Side, Turn};

/// For the side that makes the turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnValue {
    /// `None` when it could not be proven within the limits, or without a solver.
    pub value: Option<Value>,
    /// Placements or discs until a side wins; 0 when the turn ends the game.
    pub plies: Option<u32>,
}

impl Turn {
    /// `side` makes it.
    pub fn wins(&self, side: Side) -> bool {
        self.after.outcome() == Some(Outcome::Win(side))
    }

    /// As far as it is proven for `side`, which makes it. `lasts`: also how long the game lasts, where a side wins.
    pub fn value(&self, side: Side, lasts: bool, solvers: &Solvers, limits: &Limits) -> TurnValue {
        if let Some(outcome) = self.after.outcome() {
            return TurnValue {
                value: Some(match outcome {
                    Outcome::Draw => Value::Draw,
                    Outcome::Win(winner) if winner == side => Value::Win,
                    Outcome::Win(_) => Value::Loss,
                }),
                plies: Some(0),
            };
        }
        let Some(after) = self.after.solvable() else {
            return TurnValue::default();
        };
        let is_decided =
            |found: &Evaluation| matches!(found.value(), Some(Value::Win | Value::Loss));
        let mut found = after.solve(solvers, Goal::Value, limits);
        if lasts && is_decided(&found) {
            let nearer = after.solve(solvers, Goal::Distance, limits);
            if is_decided(&nearer) {
                found = nearer;
            }
        }
        TurnValue {
            value: found.value().map(Value::opposite),
            plies: found.plies(),
        }
    }
}

/// The solvers of all games. Each is made when it is first needed, and shared by all clones.
#[derive(Clone, Debug)]
pub struct Solvers {
    options: SolverOptions,
    quarto: Arc<OnceLock<super::Solver>>,
    four_in_a_row: Arc<OnceLock<four_in_a_row::Solver>>,
}

impl Solvers {
    pub fn new(options: SolverOptions) -> Self {
        Self {
            options,
            quarto: Arc::default(),
            four_in_a_row: Arc::default(),
        }
    }

    pub(crate) fn quarto(&self) -> &super::Solver {
        self.quarto.get_or_init(|| super::Solver::new(self.options))
    }

    pub(crate) fn four_in_a_row(&self) -> &four_in_a_row::Solver {
        let bytes = self.options.tt_bytes.min(four_in_a_row::TABLE_BYTES);
        let made = || four_in_a_row::Solver::new(bytes);
        self.four_in_a_row.get_or_init(made)
    }
}
