//! The exact value of a single position of Quarto and of its turns.

use std::time::Duration;

use super::{Problem, edition};
use crate::game::quarto::{Edition, Turn};
use crate::game::{Game as _, Outcome, Position as _};
use crate::record::Record;
use crate::solver::{self, Goal, Limits, Solver, Value};

/// Values positions. It keeps what it has proven.
#[derive(Debug)]
pub struct Appraiser {
    edition: Edition,
    solver: Solver,
    time: Duration,
}

/// What a turn is worth for the side that makes it, as far as it is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnValue {
    /// The value; `None` when it could not be proven in time.
    pub value: Option<Value>,
    /// How many placements are left until a side wins; 0 when the turn ends the game.
    pub plies: Option<u32>,
}

/// A turn, and the best one in its position, as far as they are proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// What the turn is worth.
    pub turn: TurnValue,
    /// What the best turn is worth.
    pub best: Option<Value>,
}

impl Comparison {
    /// The values of the turn and of the best one; `None` when they are not both proven.
    pub fn proven(self) -> Option<(Value, Value)> {
        self.turn.value.zip(self.best)
    }
}

/// What a position is worth for the side to move, as far as it is proven.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PositionValue {
    /// The value; `None` when it could not be proven in time.
    pub value: Option<Value>,
    /// The turns that keep it, in canonical form.
    pub best: Vec<String>,
    /// How many turns could not be decided in time.
    pub undecided: usize,
}

impl TurnValue {
    /// In words: `win`, `loss in 3 placements`, `not proven`.
    pub fn words(self) -> String {
        match (self.value, self.plies) {
            (None, _) => "not proven".to_owned(),
            (Some(Value::Win), Some(0)) => "wins at once".to_owned(),
            (Some(Value::Draw), _) | (Some(_), None) => {
                self.value.map_or("", Value::name).to_owned()
            }
            (Some(value), Some(1)) => format!("{} with the next placement", value.name()),
            (Some(value), Some(plies)) => format!("{} in {plies} placements", value.name()),
        }
    }
}

impl Appraiser {
    /// An appraiser with a new solver, which may take this time for a position, and again for its turns.
    pub fn new(edition: Edition, options: solver::Options, time: Duration) -> Self {
        Self {
            edition,
            solver: Solver::new(options),
            time,
        }
    }

    /// An appraiser for the game of a record.
    pub fn of(record: &Record, options: solver::Options, time: Duration) -> Result<Self, Problem> {
        Ok(Self::new(edition(record)?, options, time))
    }

    /// The value of the turn `answer` in the position of `request`. The error is a sentence about one of them.
    pub fn turn(&self, request: &str, answer: &str) -> Result<TurnValue, String> {
        self.turn_within(request, answer, self.time)
    }

    /// The value of a turn, and of the best one there; each in the time of a position divided by `share`. The error is a
    /// sentence about one of the texts.
    pub fn compare(&self, request: &str, answer: &str, share: u32) -> Result<Comparison, String> {
        let time = self.time / share;
        let turn = self.turn_within(request, answer, time)?;
        // Nothing is better than a win.
        let best = if turn.value == Some(Value::Win) {
            turn.value
        } else {
            let position = self.edition.read_request(request)?;
            let limits = Limits::within(time);
            self.solver.solve(&position, Goal::Value, &limits).value()
        };
        Ok(Comparison { turn, best })
    }

    fn turn_within(
        &self,
        request: &str,
        answer: &str,
        time: Duration,
    ) -> Result<TurnValue, String> {
        let position = self.edition.read_request(request)?;
        let judged = self.edition.judge(&position, answer);
        let (_, after) = judged.map_err(|_| format!("{answer} is not legal there"))?;
        if let Some(outcome) = after.outcome() {
            let value = match outcome {
                // Nobody else can have completed a line.
                Outcome::Win(_) => Value::Win,
                Outcome::Draw => Value::Draw,
            };
            return Ok(TurnValue {
                value: Some(value),
                plies: Some(0),
            });
        }
        let limits = Limits::within(time);
        let mut solved = self.solver.solve(&after, Goal::Value, &limits);
        if solved.value().is_some_and(|value| value != Value::Draw) {
            let nearer = self.solver.solve(&after, Goal::Distance, &limits);
            if nearer.value().is_some() {
                solved = nearer;
            }
        }
        Ok(TurnValue {
            value: solved.value().map(Value::opposite),
            plies: solved.plies(),
        })
    }

    /// The value of the position of `request`, and the turns that keep it. The error is a sentence about the request.
    pub fn position(&self, request: &str) -> Result<PositionValue, String> {
        let position = self.edition.read_request(request)?;
        let solved = self
            .solver
            .solve(&position, Goal::Value, &Limits::within(self.time));
        let Some(value) = solved.value() else {
            return Ok(PositionValue::default());
        };
        // All turns together get the time of the position.
        let limits = Limits::within(self.time);
        let mut found = PositionValue {
            value: Some(value),
            ..PositionValue::default()
        };
        for (turn, after) in position.turns() {
            match self.solver.keeps(&after, value, &limits) {
                Some(true) => found.best.push(self.text(turn)),
                Some(false) => {}
                None => found.undecided += 1,
            }
        }
        Ok(found)
    }

    fn text(&self, turn: Turn) -> String {
        let mut text = String::new();
        self.edition.write_turn(turn, &mut text);
        text
    }
}
