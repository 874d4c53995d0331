//! What a solver says.

use super::score::Score;

/// The value of a position or a turn, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// The other side wins, whatever the side to move does.
    Loss,
    /// Neither side can be kept from a draw.
    Draw,
    /// The side to move wins, whatever the other side does.
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

    /// The same seen from the other side.
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

/// How much to find out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// Win, draw or loss.
    Value,
    /// Also how many placements until the end, when somebody wins.
    #[default]
    Distance,
}

/// What was found out about a position or a turn, for the side to move there: its bounds.
///
/// Without limits the bounds meet. When a limit struck, they say what is certain so far, such
/// as "not a loss".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    low: Score,
    high: Score,
    /// Free cells.
    n: u8,
}

impl Answer {
    pub(super) const fn new(low: Score, high: Score, n: u8) -> Self {
        Self { low, high, n }
    }

    /// Free cells.
    pub(super) const fn free(self) -> u8 {
        self.n
    }

    /// A number to compare turns of one position by: larger is better, by what is certain first
    /// and what is possible second; sooner wins and later losses are better.
    pub const fn rank(self) -> (i8, i8) {
        (self.low, self.high)
    }

    pub(super) const fn bounds(self) -> (Score, Score) {
        (self.low, self.high)
    }

    /// The worst that is possible still.
    pub const fn at_least(self) -> Value {
        Value::of(self.low)
    }

    /// The best that is possible still.
    pub const fn at_most(self) -> Value {
        Value::of(self.high)
    }

    /// The value, when it is known.
    pub fn value(self) -> Option<Value> {
        (self.at_least() == self.at_most()).then(|| self.at_least())
    }

    /// Placements until the quarto, this turn's included: the fewest that the winner can force,
    /// and the most that the loser can reach. `None` for a draw, and as long as it is not known.
    /// 0 when the game is over.
    pub const fn plies(self) -> Option<u32> {
        if self.low == self.high && self.low != 0 {
            let plies = self.n + 1 - self.low.unsigned_abs();
            Some(plies as u32)
        } else {
            None
        }
    }

    /// What is known, in a few words: `win`, `not a loss`, `nothing`.
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
