//! Schedules: who plays whom, in which order, and the ids of the games. The same arguments lead to the
//! same schedule, which does not depend on the order in which games are played.
//!
//! The unit is a [`PairOfGames`]: the same opening twice, seats swapped. A [`Round`] is a list
//! of pairings, each of which plays the same number of pairs; the n-th pair of every pairing of
//! a round starts from the same opening, so that all bots play the same positions.
//!
//! Pairs are numbered through the whole tournament, from 1: round by round, within a round
//! pairing by pairing, so that all games of a pairing are consecutive. The number of pairs in a
//! round never depends on results, so the numbers are fixed in all formats.
//!
//! - [`round_robin`]: every entrant meets every other (circle method); and the gauntlet, the first
//!   against the others
//! - [`swiss`]: the next round from the results so far; entrants with equal scores meet
//! - [`knockout`]: a bracket; the loser of a match is eliminated
//! - [`groups`]: round robins in groups, before a knockout

pub mod groups;
pub mod knockout;
pub mod round_robin;
pub mod swiss;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use round_robin::{Gauntlet, RoundRobin};

/// An index in the list of entrants. Where seeding matters, 0 is the best seed.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EntrantId(pub u32);

impl EntrantId {
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Two entrants that meet. `a` moves first in the first game of each pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pairing {
    pub a: EntrantId,
    pub b: EntrantId,
}

impl Pairing {
    pub const fn new(a: EntrantId, b: EntrantId) -> Self {
        Self { a, b }
    }

    #[must_use]
    pub const fn swapped(self) -> Self {
        Self {
            a: self.b,
            b: self.a,
        }
    }

    /// The same two in the order of their numbers, as a key for their meetings.
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
    First,
    Second,
}

impl Half {
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];
}

/// The id of a game: `p`, the number of its pair in at least six digits, and `a` or `b` for who moves first.
///
/// It follows from the schedule alone, and ids are ordered like the games of the schedule.
///
/// It follows from the schedule alone, so a game has the same id wherever and whenever it is played.
/// Ids are ordered like the games of the schedule (and so are their texts, up to 999,999 pairs).
///
/// ```
/// use referee_stats::schedule::{GameId, Half};
///
/// let id = GameId { pair: 123, half: Half::Second };
/// assert_eq!(id.to_string(), "p000123b");
/// assert_eq!("p000123b".parse(), Ok(id));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameId {
    pub pair: u64,
    pub half: Half,
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let half = match self.half {
            Half::First => 'a',
            Half::Second => 'b',
        };
        write!(f, "p{:0PAIR_DIGITS$}{half}", self.pair)
    }
}

/// The least number of digits of an id.
const PAIR_DIGITS: usize = 6;

/// The error for a text that is not a game's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an id of a game; expected one such as `p000123a`")]
pub struct NoGameId;

impl FromStr for GameId {
    type Err = NoGameId;

    /// Reads exactly what [`Display`](fmt::Display) writes, so equal ids are equal texts.
    fn from_str(text: &str) -> Result<Self, NoGameId> {
        let rest = text.strip_prefix('p').ok_or(NoGameId)?;
        let (digits, half) = if let Some(digits) = rest.strip_suffix('a') {
            (digits, Half::First)
        } else {
            (rest.strip_suffix('b').ok_or(NoGameId)?, Half::Second)
        };
        let is_padded = digits.len() == PAIR_DIGITS;
        let is_long = digits.len() > PAIR_DIGITS && !digits.starts_with('0');
        let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
        if !(is_number && (is_padded || is_long)) {
            return Err(NoGameId);
        }
        let pair = digits.parse().map_err(|_| NoGameId)?;
        Ok(Self { pair, half })
    }
}

/// A game of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduledGame {
    pub id: GameId,
    /// From 1.
    pub round: u32,
    /// The first one moves first.
    pub seats: [EntrantId; 2],
    /// From 0.
    pub opening: u64,
}

/// Two games from the same opening, seats swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairOfGames {
    /// In the tournament, from 1.
    pub number: u64,
    /// From 1.
    pub round: u32,
    pub pairing: Pairing,
    /// In the tournament, from 0.
    pub opening: u64,
}

impl PairOfGames {
    /// In the order of [`Half::BOTH`].
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

/// A round: its pairings and byes, and the numbers of its pairs of games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// From 1.
    pub number: u32,
    /// The number of its first pair of games.
    pub first_pair: u64,
    /// Pairs of games of each pairing.
    pub pairs_each: u32,
    pub pairings: Vec<Pairing>,
    pub byes: Vec<EntrantId>,
    /// Each pairing's first opening, where they are not the same for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first_openings: Vec<u64>,
}

impl Round {
    /// The number of pairs of games.
    pub fn count(&self) -> u64 {
        self.pairings.len() as u64 * u64::from(self.pairs_each)
    }

    /// Its pairs, in the order of their numbers.
    pub fn pairs(&self) -> impl Iterator<Item = PairOfGames> {
        let each = self.pairings.iter().enumerate();
        let each = each.flat_map(move |(place, &pairing)| {
            let openings = self.openings_of(place);
            openings.map(move |opening| (pairing, opening))
        });
        (self.first_pair..)
            .zip(each)
            .map(|(number, (pairing, opening))| PairOfGames {
                number,
                round: self.number,
                pairing,
                opening,
            })
    }

    /// The pair with this number in the tournament, if it is in this round.
    pub fn pair(&self, number: u64) -> Option<PairOfGames> {
        let each = u64::from(self.pairs_each);
        let place = number.checked_sub(self.first_pair)?;
        let pairing = usize::try_from(place.checked_div(each)?).ok()?;
        Some(PairOfGames {
            number,
            round: self.number,
            pairing: *self.pairings.get(pairing)?,
            opening: self.openings_of(pairing).start + place % each,
        })
    }

    /// By the pairing's place in the round.
    fn openings_of(&self, place: usize) -> Range<u64> {
        match self.first_openings.get(place) {
            Some(&first) => first..first + u64::from(self.pairs_each),
            None => self.openings(),
        }
    }

    /// Of one pairing. All play the same, unless [each has its own](Self::first_openings).
    pub fn openings(&self) -> Range<u64> {
        let each = u64::from(self.pairs_each);
        let from = u64::from(self.number.saturating_sub(1)) * each;
        from..from + each
    }
}

/// The number of the first pair of a round, after `pairings` pairings in earlier rounds.
pub const fn first_pair(pairings: u64, pairs_each: u32) -> u64 {
    1 + pairings * pairs_each as u64
}
