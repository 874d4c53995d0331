//! The exact value of a single position and of its turns.

use std::time::Duration;

use crate::session::{Prover, Ruleset, Solvers, TurnValue};
use crate::solver::{Limits, Value};

/// Keeps what it has proven.
#[derive(Debug)]
pub struct Appraiser {
    prover: Prover,
    time: Duration,
}

/// A turn, and the best one in its position, as far as they are proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    pub turn: TurnValue,
    pub best: Option<Value>,
}

impl Comparison {
    /// `None` when they are not both proven.
    pub fn proven(self) -> Option<(Value, Value)> {
        self.turn.value.zip(self.best)
    }
}

/// For the side to move, as far as it is proven.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PositionValue {
    /// `None` when it could not be proven in time.
    pub value: Option<Value>,
    /// In canonical form.
    pub best: Vec<String>,
    /// How many turns could not be decided in time.
    pub undecided: usize,
}

impl Appraiser {
    /// `time` is for a position, and again for its turns; `None` for a game without a solver.
    pub fn new(ruleset: &dyn Ruleset, solvers: &Solvers, time: Duration) -> Option<Self> {
        let prover = ruleset.prover(solvers)?;
        Some(Self { prover, time })
    }

    /// The error is a sentence about one of the texts.
    pub fn turn(&self, request: &str, answer: &str) -> Result<TurnValue, String> {
        self.turn_within(request, answer, self.time)
    }

    /// `win`, `loss in 3 placements`, `not proven`.
    pub fn words(&self, turn: TurnValue) -> String {
        let unit = self.prover.unit();
        match (turn.value, turn.plies) {
            (None, _) => "not proven".to_owned(),
            (Some(Value::Win), Some(0)) => "wins at once".to_owned(),
            (Some(value), None) => value.name().to_owned(),
            (Some(Value::Draw), _) => Value::Draw.name().to_owned(),
            (Some(value), Some(1)) => format!("{} with the next {unit}", value.name()),
            (Some(value), Some(plies)) => format!("{} in {plies} {unit}s", value.name()),
        }
    }

    /// Each in the time of a position divided by `share`. The error is a sentence about one of the texts.
    pub fn compare(&self, request: &str, answer: &str, share: u32) -> Result<Comparison, String> {
        let time = self.time / share;
        let turn = self.turn_within(request, answer, time)?;
        let best = if turn.value == Some(Value::Win) {
            turn.value
        } else {
            self.prover.value(request, &Limits::within(time))?
        };
        Ok(Comparison { turn, best })
    }

    fn turn_within(
        &self,
        request: &str,
        answer: &str,
        time: Duration,
    ) -> Result<TurnValue, String> {
        let limits = Limits::within(time);
        self.prover.turn_value(request, answer, true, &limits)
    }

    /// The error is a sentence about the request.
    pub fn position(&self, request: &str) -> Result<PositionValue, String> {
        let solved = self.prover.value(request, &Limits::within(self.time))?;
        let Some(value) = solved else {
            return Ok(PositionValue::default());
        };
        // All turns together get the time of the position.
        let limits = Limits::within(self.time);
        let mut found = PositionValue {
            value: Some(value),
            ..PositionValue::default()
        };
        for turn in self.prover.turns(request)? {
            match self.prover.keeps(request, &turn.text, value, &limits)? {
                Some(true) => found.best.push(turn.text),
                Some(false) => {}
                None => found.undecided += 1,
            }
        }
        Ok(found)
    }
}
