//! Who plays whom, in which order, under which ids. Pure: the same arguments give the same
//! schedule, and nothing in it depends on the order in which games are played.
//!
//! The unit is a [`PairOfGames`]: the same opening twice, seats swapped. A [`Round`] is a list
//! of pairings, each of which plays the same number of pairs; the n-th pair of every pairing of
//! a round starts from the same opening, so that everybody plays the same positions.
//!
//! Pairs are numbered through the whole tournament, from 1: round by round, within a round
//! pairing by pairing, so that all games of a pairing are neighbours. The number of pairs in a
//! round never depends on results, so the numbers of round-based formats are as fixed as those
//! of a round robin.
//!
//! - [`round_robin`]: everybody meets everybody (circle method); and the gauntlet, the first
//!   against the rest
//! - [`swiss`]: the next round from the results so far, equals against equals
//! - [`knockout`]: a bracket; who loses is out

pub mod knockout;
pub mod round_robin;
pub mod swiss;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use round_robin::{Gauntlet, RoundRobin};

/// An entrant: its place in the list of entrants, from 0. Where seeds matter, 0 is the best.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EntrantId(pub u32);

impl EntrantId {
    /// Its place in a list of entrants.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Two entrants that meet. `a` moves first in the first game of each pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pairing {
    /// First to move in the first game of a pair.
    pub a: EntrantId,
    /// First to move in the second.
    pub b: EntrantId,
}

impl Pairing {
    /// A meeting of these two.
    pub const fn new(a: EntrantId, b: EntrantId) -> Self {
        Self { a, b }
    }

    /// The same meeting with seats swapped.
    #[must_use]
    pub const fn swapped(self) -> Self {
        Self {
            a: self.b,
            b: self.a,
        }
    }

    /// The same two in the order of their numbers: a key for "who met whom".
    #[must_use]
    pub fn sorted(self) -> Self {
        if self.a <= self.b {
            self
        } else {
            self.swapped()
        }
    }
}

/// One of the two games of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Half {
    /// `a`: the pairing's `a` moves first.
    First,
    /// `b`: the pairing's `b` moves first.
    Second,
}

impl Half {
    /// Both, in order.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];
}

/// The id of a game: `p`, the number of its pair in at least six digits, and `a` or `b` for
/// who moves first: `p000123a`, `p000123b`.
///
/// It comes from the schedule alone, so a game has the same id whoever plays it, when and
/// where. Ids order as games do in the schedule (texts of more than 999,999 pairs do not).
///
/// ```
/// use referee::tournament::schedule::{GameId, Half};
///
/// let id = GameId { pair: 123, half: Half::Second };
/// assert_eq!(id.to_string(), "p000123b");
/// assert_eq!("p000123b".parse(), Ok(id));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameId {
    /// The number of the pair.
    pub pair: u64,
    /// Which of its games.
    pub half: Half,
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let half = match self.half {
            Half::First => 'a',
            Half::Second => 'b',
        };
        write!(f, "p{:06}{half}", self.pair)
    }
}

/// A text that is no id of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an id of a game; expected one such as `p000123a`")]
pub struct NoGameId;

impl FromStr for GameId {
    type Err = NoGameId;

    /// Reads exactly what [`Display`](fmt::Display) writes, so that equal ids are equal texts.
    fn from_str(text: &str) -> Result<Self, NoGameId> {
        let rest = text.strip_prefix('p').ok_or(NoGameId)?;
        let (digits, half) = if let Some(digits) = rest.strip_suffix('a') {
            (digits, Half::First)
        } else {
            (rest.strip_suffix('b').ok_or(NoGameId)?, Half::Second)
        };
        let pair = digits.parse().map_err(|_| NoGameId)?;
        let id = Self { pair, half };
        if id.to_string() == text {
            Ok(id)
        } else {
            Err(NoGameId)
        }
    }
}

/// A game of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduledGame {
    /// Its id.
    pub id: GameId,
    /// Its round, from 1.
    pub round: u32,
    /// Who sits where: first the one that moves first.
    pub seats: [EntrantId; 2],
    /// The number of its opening, from 0.
    pub opening: u64,
}

/// Two games from the same opening, seats swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairOfGames {
    /// Its number in the tournament, from 1.
    pub number: u64,
    /// Its round, from 1.
    pub round: u32,
    /// Who meets.
    pub pairing: Pairing,
    /// The number of its opening in the tournament, from 0.
    pub opening: u64,
}

impl PairOfGames {
    /// Its games: first the one in which the pairing's `a` moves first.
    pub fn games(&self) -> [ScheduledGame; 2] {
        let Pairing { a, b } = self.pairing;
        Half::BOTH.map(|half| ScheduledGame {
            id: GameId {
                pair: self.number,
                half,
            },
            round: self.round,
            seats: match half {
                Half::First => [a, b],
                Half::Second => [b, a],
            },
            opening: self.opening,
        })
    }
}

/// A round: who meets whom, who sits out, and the numbers of its pairs of games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Its number, from 1.
    pub number: u32,
    /// The number of its first pair of games.
    pub first_pair: u64,
    /// How many pairs of games each pairing plays.
    pub pairs_each: u32,
    /// Who meets.
    pub pairings: Vec<Pairing>,
    /// Who sits out.
    pub byes: Vec<EntrantId>,
}

impl Round {
    /// How many pairs of games it has.
    pub fn count(&self) -> u64 {
        self.pairings.len() as u64 * u64::from(self.pairs_each)
    }

    /// Its pairs, in the order of their numbers.
    pub fn pairs(&self) -> impl Iterator<Item = PairOfGames> {
        let openings = self.openings();
        let each = self
            .pairings
            .iter()
            .flat_map(move |&pairing| openings.clone().map(move |opening| (pairing, opening)));
        (self.first_pair..)
            .zip(each)
            .map(|(number, (pairing, opening))| PairOfGames {
                number,
                round: self.number,
                pairing,
                opening,
            })
    }

    /// The pair with this number in the tournament, without those before it.
    pub fn pair(&self, number: u64) -> Option<PairOfGames> {
        let each = u64::from(self.pairs_each);
        let place = number.checked_sub(self.first_pair)?;
        let pairing = place.checked_div(each)?;
        Some(PairOfGames {
            number,
            round: self.number,
            pairing: *self.pairings.get(usize::try_from(pairing).ok()?)?,
            opening: self.openings().start + place % each,
        })
    }

    /// The numbers of its openings: one for each pair of a pairing, met by every pairing.
    pub fn openings(&self) -> Range<u64> {
        let each = u64::from(self.pairs_each);
        let from = u64::from(self.number.saturating_sub(1)) * each;
        from..from + each
    }
}

/// The number of the first pair of a round, after `pairings` pairings in the rounds before it.
const fn first_pair(pairings: u64, pairs_each: u32) -> u64 {
    1 + pairings * pairs_each as u64
}
