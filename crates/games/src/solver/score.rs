//! Scores: who wins, and how soon; and the bounds of a score.
//!
//! A score is that of the side to move and counted in free cells, so that it means the same at
//! every depth: `+k` if the side to move completes a line when k cells are free, `-k` if the other
//! side does, 0 for a draw. Sooner wins are larger, and a full board without a line is 0.

/// A score, -16 to 16; of Four In A Row -43 to 43.
pub(super) type Score = i8;

/// The bounds of a score, each in four bits.
///
/// For the side to move with n cells free and a piece in hand that wins nowhere, only these
/// fifteen scores occur: losses at n−3, n−5, … cells, a draw, wins at n−2, n−4, … cells (a loss
/// at n−1 cells is detected without a table). They are stored as their numbers, from 0 for the
/// soonest loss to 14 for the soonest win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    low: u8,
    high: u8,
}

const DRAW: u8 = 7;

impl Bounds {
    /// Nothing is known.
    pub(super) const UNKNOWN: Self = Self { low: 0, high: 14 };

    /// `score` is a lower bound with n free cells.
    #[inline]
    pub(super) const fn at_least(score: Score, n: u8) -> Self {
        Self {
            low: number(score, n),
            high: 14,
        }
    }

    /// `score` is an upper bound with n free cells.
    #[inline]
    pub(super) const fn at_most(score: Score, n: u8) -> Self {
        Self {
            low: 0,
            high: number(score, n),
        }
    }

    /// The lower bound.
    #[inline]
    pub(super) const fn low(self, n: u8) -> Score {
        score(self.low, n)
    }

    /// The upper bound.
    #[inline]
    pub(super) const fn high(self, n: u8) -> Score {
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

    /// The byte that [`Bounds::from_byte`] reads.
    pub(super) const fn to_byte(self) -> u8 {
        self.low << 4 | self.high
    }

    /// The bounds that [`Bounds::to_byte`] wrote.
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
const fn score(number: u8, n: u8) -> Score {
    let (number, n) = (number.cast_signed(), n.cast_signed());
    // With few free cells the soonest wins and losses do not exist: they count as draws.
    match number {
        7 => 0,
        8.. => max(n - 2 * (15 - number), 0),
        _ => -max(n - 1 - 2 * (number + 1), 0),
    }
}

const fn max(a: i8, b: i8) -> i8 {
    if a > b { a } else { b }
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
