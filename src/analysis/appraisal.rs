//! The exact value of a single position and of its turns.

use std::time::Duration;

use crate::session::{Prover, Ruleset, Solvers, TurnValue};
use crate::solver::{Limits, Value};

/// Values positions. It keeps what it has proven.
#[derive(Debug)]
pub struct Appraiser {
    prover: Box<dyn Prover>,
    time: Duration,
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

impl Appraiser {
    /// An appraiser with these solvers, which may take this time for a position, and again for its turns; `None` for a game
    /// without a solver.
    pub fn new(ruleset: &dyn Ruleset, solvers: &Solvers, time: Duration) -> Option<Self> {
        let prover = ruleset.prover(solvers)?;
        Some(Self { prover, time })
    }

    /// The value of the turn `answer` in the position of `request`. The error is a sentence about one of them.
    pub fn turn(&self, request: &str, answer: &str) -> Result<TurnValue, String> {
        self.turn_within(request, answer, self.time)
    }

    /// A turn's value in words: `win`, `loss in 3 placements`, `not proven`.
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

    /// The value of a turn, and of the best one there; each in the time of a position divided by `share`. The error is a
    /// sentence about one of the texts.
    pub fn compare(&self, request: &str, answer: &str, share: u32) -> Result<Comparison, String> {
        let time = self.time / share;
        let turn = self.turn_within(request, answer, time)?;
        // Nothing is better than a win.
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

    /// The value of the position of `request`, and the turns that keep it. The error is a sentence about the request.
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
