//! The exact value of a single position and of its turns.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use referee_games::game::{Game, Turn};
use referee_games::solver::proof::TurnValue;
use referee_games::solver::{Limits, Solvers, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// For a position, and again for its turns.
    Time(Duration),
    /// With one thread the result is the same every time.
    Nodes(u64),
}

/// After this many unsolved positions in a row, the positions before them, which are harder, get less effort.
const FULL_EFFORT_FAILURES: u32 = 2;

/// What the effort for those positions is divided by.
const REDUCED_SHARE: u32 = 10;

/// Of the positions of one game, from the last to the first. Keeps what it has proven.
#[derive(Debug)]
pub struct Appraiser {
    pub(super) solvers: Solvers,
    /// Those of the game: [`Info::words`](referee_games::game::Info::words).
    pub(super) words: [&'static str; 2],
    effort: Effort,
    stop: Arc<AtomicBool>,
    /// Positions in a row that could not be solved.
    failures: Cell<u32>,
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
    pub const fn new(
        solvers: Solvers,
        words: [&'static str; 2],
        effort: Effort,
        stop: Arc<AtomicBool>,
    ) -> Self {
        Self {
            solvers,
            words,
            effort,
            stop,
            failures: Cell::new(0),
        }
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits_of_share(1)
    }

    fn limits_of_share(&self, share: u32) -> Limits {
        let limits = match self.effort {
            Effort::Time(time) => Limits::within(time / share),
            Effort::Nodes(nodes) => Limits::nodes(nodes / u64::from(share)),
        };
        limits.or_when(Arc::clone(&self.stop))
    }

    /// The limits, lower after several failures in a row.
    fn reduced_limits(&self) -> Limits {
        let is_full = self.failures.get() < FULL_EFFORT_FAILURES;
        self.limits_of_share(if is_full { 1 } else { REDUCED_SHARE })
    }

    fn count(&self, is_proven: bool) {
        let more = self.failures.get() + 1;
        self.failures.set(if is_proven { 0 } else { more });
    }

    /// For the side to move.
    pub(super) fn value(&self, position: &dyn Game) -> Option<Value> {
        let value = position.value(&self.solvers, &self.reduced_limits());
        self.count(value.is_some());
        value
    }

    /// For the side that makes the turn `before` it.
    pub fn turn(&self, before: &dyn Game, turn: &Turn) -> TurnValue {
        turn.value(before.to_move(), true, &self.solvers, &self.limits())
    }

    /// `win`, `loss in 3 placements`, `not proven`.
    pub fn words(&self, turn: TurnValue) -> String {
        let [_, unit] = self.words;
        match (turn.value, turn.plies) {
            (None, _) => "not proven".to_owned(),
            (Some(Value::Win), Some(0)) => "wins immediately".to_owned(),
            (Some(value), None) => value.name().to_owned(),
            (Some(Value::Draw), _) => Value::Draw.name().to_owned(),
            (Some(value), Some(1)) => format!("{} with the next {unit}", value.name()),
            (Some(value), Some(plies)) => format!("{} in {plies} {unit}s", value.name()),
        }
    }

    pub fn compare(&self, before: &dyn Game, turn: &Turn) -> Comparison {
        let limits = self.reduced_limits();
        let turn = turn.value(before.to_move(), true, &self.solvers, &limits);
        let best = if turn.value == Some(Value::Win) {
            turn.value
        } else {
            before.value(&self.solvers, &self.reduced_limits())
        };
        let found = Comparison { turn, best };
        self.count(found.proven().is_some());
        found
    }

    pub fn position(&self, position: &dyn Game) -> PositionValue {
        let Some(value) = position.value(&self.solvers, &self.limits()) else {
            return PositionValue::default();
        };
        // All turns together get the time of the position.
        let limits = self.limits();
        let mut found = PositionValue {
            value: Some(value),
            ..PositionValue::default()
        };
        for turn in position.turns() {
            let after = turn.after.solvable();
            match after.and_then(|after| after.keeps(&self.solvers, value, &limits)) {
                Some(true) => found.best.push(turn.text),
                Some(false) => {}
                None => found.undecided += 1,
            }
        }
        found
    }
}
