//! The result of a search: the value of a position or a turn, or bounds of it.

use super::score::Score;

/// The value of a position or a turn, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// The other side can force a win.
    Loss,
    /// Neither side can force a win.
    Draw,
    /// The side to move can force a win.
    Win,
}

impl Value {
    /// `win`, `draw` or `loss`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Draw => "draw",
            Self::Win => "win",
        }
    }

    /// The same value for the other side.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Loss => Self::Win,
            Self::Draw => Self::Draw,
            Self::Win => Self::Loss,
        }
    }

    const fn of(score: Score) -> Self {
        match score {
            0 => Self::Draw,
            1.. => Self::Win,
            _ => Self::Loss,
        }
    }
}

/// What a search determines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// Win, draw or loss.
    Value,
    /// Also the number of placements until the end, when a side wins.
    #[default]
    Distance,
}

/// The value of a position or a turn for the side to move: a lower and an upper bound.
///
/// Without limits the bounds are equal. When the search reached a limit, they are what is proven so
/// far, such as "not a loss".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evaluation {
    low: Score,
    high: Score,
    /// Free cells.
    n: u8,
}

impl Evaluation {
    pub(super) const fn new(low: Score, high: Score, n: u8) -> Self {
        Self { low, high, n }
    }

    /// Free cells.
    pub(super) const fn free(self) -> u8 {
        self.n
    }

    /// A key to compare the turns of one position by, larger is better: the lower bound, then the
    /// upper bound. Sooner wins and later losses are better.
    pub const fn rank(self) -> (i8, i8) {
        (self.low, self.high)
    }

    /// The lower and the upper bound.
    pub(super) const fn bounds(self) -> (Score, Score) {
        (self.low, self.high)
    }

    /// The worst value that is still possible.
    pub const fn at_least(self) -> Value {
        Value::of(self.low)
    }

    /// The best value that is still possible.
    pub const fn at_most(self) -> Value {
        Value::of(self.high)
    }

    /// The value, when it is proven.
    pub fn value(self) -> Option<Value> {
        (self.at_least() == self.at_most()).then(|| self.at_least())
    }

    /// Placements until the quarto, this turn's included: the fewest that the winner can force,
    /// and the most that the loser can reach. `None` for a draw, and while it is not proven. 0 when
    /// the game is over.
    pub const fn plies(self) -> Option<u32> {
        if self.low == self.high && self.low != 0 {
            let plies = self.n + 1 - self.low.unsigned_abs();
            Some(plies as u32)
        } else {
            None
        }
    }

    /// What is proven, in a few words: `win`, `not a loss`, `nothing`.
    pub fn words(self) -> &'static str {
        match (self.at_least(), self.at_most()) {
            (Value::Loss, Value::Loss) => "loss",
            (Value::Draw, Value::Draw) => "draw",
            (Value::Win, _) => "win",
            (Value::Loss, Value::Draw) => "not a win",
            (Value::Draw, _) => "not a loss",
            (Value::Loss, Value::Win) => "nothing",
        }
    }
}
