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
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Draw => "draw",
            Self::Win => "win",
        }
    }

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
    Value,
    /// Also the number of placements until the end, when a side wins.
    #[default]
    Distance,
}

/// The value of a position or a turn for the side to move: a lower and an upper bound. They are equal unless the
/// search reached a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evaluation {
    low: Score,
    high: Score,
    n: u8,
}

impl Evaluation {
    pub(super) const fn new(low: Score, high: Score, n: u8) -> Self {
        Self { low, high, n }
    }

    /// Asks whether the score is at least what `next` says of the bounds so far, until it says nothing or there is no
    /// answer.
    pub(super) fn narrowed(
        n: u8,
        next: impl Fn(Score, Score) -> Option<Score>,
        mut score: impl FnMut(Score) -> Option<Score>,
    ) -> Self {
        let (mut low, mut high) = (-n.cast_signed(), n.cast_signed());
        while let Some(beta) = next(low, high)
            && let Some(score) = score(beta)
        {
            if score >= beta {
                low = low.max(score);
            } else {
                high = high.min(score);
            }
        }
        Self::new(low, high, n)
    }

    pub(super) const fn with_free(self, n: u8) -> Self {
        Self { n, ..self }
    }

    /// For the other side.
    pub(super) const fn opposite(self) -> Self {
        Self::new(-self.high, -self.low, self.n)
    }

    /// The lower and the upper bound of the score. To compare the turns of one position, larger is better: sooner wins
    /// and later losses are.
    pub const fn rank(self) -> (i8, i8) {
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

    /// `None` when it is not proven.
    pub fn value(self) -> Option<Value> {
        (self.at_least() == self.at_most()).then(|| self.at_least())
    }

    /// Nothing is proven: all values are still possible.
    pub fn is_open(self) -> bool {
        (self.at_least(), self.at_most()) == (Value::Loss, Value::Win)
    }

    /// Placements until the quarto, this turn's included: the fewest that the winner can force, and the most that the
    /// loser can reach. `None` for a draw, and while it is not proven. 0 when the game is over.
    pub const fn plies(self) -> Option<u32> {
        if self.low == self.high && self.low != 0 {
            let plies = self.n + 1 - self.low.unsigned_abs();
            Some(plies as u32)
        } else {
            None
        }
    }

    /// What is proven: `win`, `not a loss`, `nothing`.
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

/// Of the side to move, in free cells, so that it means the same at every depth: `+k` if the side to move completes a
/// line when k cells are free, `-k` if the other side does, 0 for a draw. From -16 to 16; of Four In A Row -43 to 43.
pub(super) type Score = i8;

/// The bounds of a score, each in four bits.
///
/// With n cells free and a piece in hand that wins nowhere, only fifteen scores occur: losses at n−3, n−5, … cells, a draw,
/// wins at n−2, n−4, … cells. They are numbers from 0 for the soonest loss to 14 for the soonest win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    low: u8,
    high: u8,
}

const DRAW: u8 = 7;

impl Bounds {
    pub(super) const UNKNOWN: Self = Self { low: 0, high: 14 };

    /// `n` is the number of free cells.
    #[inline]
    pub(super) const fn at_least(score: Score, n: u8) -> Self {
        Self {
            low: number(score, n),
            high: 14,
        }
    }

    /// `n` is the number of free cells.
    #[inline]
    pub(super) const fn at_most(score: Score, n: u8) -> Self {
        Self {
            low: 0,
            high: number(score, n),
        }
    }

    #[inline]
    pub(super) fn low(self, n: u8) -> Score {
        score(self.low, n)
    }

    #[inline]
    pub(super) fn high(self, n: u8) -> Score {
        score(self.high, n)
    }

    /// The tighter of both on each side.
    #[inline]
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            low: self.low.max(other.low),
            high: self.high.min(other.high),
        }
    }

    pub(super) const fn to_byte(self) -> u8 {
        self.low << 4 | self.high
    }

    pub(super) const fn from_byte(byte: u8) -> Self {
        Self {
            low: byte >> 4,
            high: byte & 15,
        }
    }
}

#[inline]
const fn number(score: Score, n: u8) -> u8 {
    let n = n.cast_signed();
    let number = match score {
        0 => DRAW.cast_signed(),
        // Sides alternate, so wins differ by two cells: the division is exact.
        1.. => 15 - (n - score) / 2,
        _ => n.midpoint(score - 3),
    };
    number.cast_unsigned()
}

#[inline]
fn score(number: u8, n: u8) -> Score {
    let (number, n) = (number.cast_signed(), n.cast_signed());
    // With few free cells the soonest wins and losses do not exist: they count as draws.
    match number {
        7 => 0,
        8.. => (n - 2 * (15 - number)).max(0),
        _ => -(n - 1 - 2 * (number + 1)).max(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_survive_the_byte() {
        for n in 1..=16u8 {
            let wins = (1..n.cast_signed() - 1).filter(|s| (n.cast_signed() - s) % 2 == 0);
            let losses = (1..n.cast_signed() - 2).filter(|s| (n.cast_signed() - s) % 2 == 1);
            for score in wins.chain([0]).chain(losses.map(|s| -s)) {
                let low = Bounds::from_byte(Bounds::at_least(score, n).to_byte());
                let high = Bounds::from_byte(Bounds::at_most(score, n).to_byte());
                assert_eq!((low.low(n), high.high(n)), (score, score), "{score} at {n}");
                assert_eq!(low.and(high), high.and(low));
            }
        }
    }
}
