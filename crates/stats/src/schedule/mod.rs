//! Schedules: who plays whom, in which order, and the ids of the games. They do not depend on the order in which games
//! are played.
//!
//! The unit is a [`PairOfGames`]: the same opening twice, seats swapped. In a [`Round`] every pairing plays the same
//! number of pairs, the n-th of each from the same opening. Pairs are numbered round by round and pairing by pairing.

pub mod groups;
pub mod knockout;
pub mod swiss;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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
    pub const fn swapped_if(self, swaps: bool) -> Self {
        let Self { a, b } = self;
        if swaps {
            Self::new(b, a)
        } else {
            Self::new(a, b)
        }
    }

    /// The same two in the order of their numbers, as a key for their meetings.
    #[must_use]
    pub fn sorted(self) -> Self {
        self.swapped_if(self.b < self.a)
    }
}

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

const PAIR_DIGITS: usize = 6;

const NOT_AN_ID: &str = "not an id of a game; expected one such as `p000123a`";

impl FromStr for GameId {
    type Err = &'static str;

    /// Reads exactly what [`Display`](fmt::Display) writes, so equal ids are equal texts.
    fn from_str(text: &str) -> Result<Self, &'static str> {
        let half = Half::BOTH[usize::from(text.ends_with('b'))];
        let rest = text.strip_prefix('p').ok_or(NOT_AN_ID)?;
        let digits = rest.strip_suffix(['a', 'b']).ok_or(NOT_AN_ID)?;
        let is_padded = digits.len() == PAIR_DIGITS;
        let is_long = digits.len() > PAIR_DIGITS && !digits.starts_with('0');
        let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
        if !(is_number && (is_padded || is_long)) {
            return Err(NOT_AN_ID);
        }
        let pair = digits.parse().map_err(|_| NOT_AN_ID)?;
        Ok(Self { pair, half })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairOfGames {
    pub number: u64,
    /// From 1.
    pub round: u32,
    pub pairing: Pairing,
    /// From 0.
    pub opening: u64,
    /// Whether it follows a tied match.
    pub tie_break: bool,
}

impl PairOfGames {
    /// The pairing's `a` moves first in the first one, `b` in the second.
    pub fn games(&self) -> [GameId; 2] {
        let pair = self.number;
        Half::BOTH.map(|half| GameId { pair, half })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// From 1.
    pub number: u32,
    pub first_pair: u64,
    pub pairs_each: u32,
    pub pairings: Vec<Pairing>,
    pub byes: Vec<EntrantId>,
    /// Each pairing's first opening, where they are not the same for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first_openings: Vec<u64>,
    /// Ascending: what ids have for the number of each pairing's first pair, where that must not depend on the other
    /// pairings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<u64>,
    /// Whether it continues the tied matches of the round before it, whose number it has.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tie_break: bool,
}

impl Round {
    /// `before` is the number of pairings in earlier rounds.
    pub const fn new(
        number: u32,
        before: u64,
        pairs_each: u32,
        pairings: Vec<Pairing>,
        byes: Vec<EntrantId>,
    ) -> Self {
        Self {
            number,
            first_pair: 1 + before * pairs_each as u64,
            pairs_each,
            pairings,
            byes,
            first_openings: Vec::new(),
            labels: Vec::new(),
            tie_break: false,
        }
    }

    /// A pair of games of each of these matches of the round before. All play the same opening, which is to be
    /// [chosen](Self::first_openings).
    pub fn tie_break(before: &[Self], pairings: Vec<Pairing>) -> Self {
        let round = Self::after(before, 1, pairings, Vec::new());
        Self {
            number: round.number.saturating_sub(1),
            tie_break: true,
            ..round
        }
    }

    /// It follows those `before`.
    pub fn after(
        before: &[Self],
        pairs_each: u32,
        pairings: Vec<Pairing>,
        byes: Vec<EntrantId>,
    ) -> Self {
        let rounds = before.iter().filter(|round| !round.tie_break).count();
        let number = u32::try_from(rounds + 1).unwrap_or(u32::MAX);
        Self {
            first_pair: before
                .last()
                .map_or(1, |last| last.first_pair + last.count()),
            ..Self::new(number, 0, pairs_each, pairings, byes)
        }
    }

    /// What ids have for the number of a pair of this round.
    pub fn label(&self, number: u64) -> u64 {
        let place = number.saturating_sub(self.first_pair);
        let each = u64::from(self.pairs_each.max(1));
        let pairing = usize::try_from(place / each).ok();
        let first = pairing.and_then(|pairing| self.labels.get(pairing));
        first.map_or(number, |first| first + place % each)
    }

    /// The number of the pair with this label.
    pub fn number(&self, label: u64) -> Option<u64> {
        if self.labels.is_empty() {
            return Some(label);
        }
        let before = self.labels.partition_point(|&first| first <= label);
        let pairing = before.checked_sub(1)?;
        let pair = label - self.labels.get(pairing)?;
        let each = u64::from(self.pairs_each);
        (pair < each).then(|| self.first_pair + pairing as u64 * each + pair)
    }

    pub fn count(&self) -> u64 {
        self.pairings.len() as u64 * u64::from(self.pairs_each)
    }

    pub fn pairs(&self) -> impl Iterator<Item = PairOfGames> {
        let numbers = self.first_pair..self.first_pair + self.count();
        numbers.filter_map(|number| self.pair(number))
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
            opening: self.first_opening(pairing) + place % each,
            tie_break: self.tie_break,
        })
    }

    /// Of the pairing at this place. All play the same, unless [each has its own](Self::first_openings).
    fn first_opening(&self, pairing: usize) -> u64 {
        let of_all = u64::from(self.number.saturating_sub(1)) * u64::from(self.pairs_each);
        self.first_openings.get(pairing).copied().unwrap_or(of_all)
    }
}

/// The number of rounds in which every entrant meets every other once.
pub const fn cycle(entrants: u32) -> u32 {
    match entrants {
        0 | 1 => 0,
        _ if entrants.is_multiple_of(2) => entrants - 1,
        _ => entrants,
    }
}

/// Every entrant meets every other, by the circle method.
///
/// In a cycle of rounds every entrant meets every other once; the next cycle is the same with seats swapped. With an odd
/// number of entrants each has one bye a cycle.
///
/// ```
/// use referee_stats::schedule::{cycle, round_robin};
///
/// assert_eq!(round_robin(8, cycle(8), 50).count(), 7);
/// assert_eq!(round_robin(8, cycle(8), 50).map(|round| round.count()).sum::<u64>(), 28 * 50);
/// ```
pub fn round_robin(entrants: u32, rounds: u32, pairs_each: u32) -> impl Iterator<Item = Round> {
    // All entrants but the last form a circle, which rotates by one place a round. The last is in its middle;
    // with an odd number of entrants the middle is empty.
    let circle = cycle(entrants);
    let last = if circle == 0 { 0 } else { rounds };
    (1..=last).map(move |number| {
        let rotation = (number - 1) % circle;
        let at = |place: u32| EntrantId((rotation + place) % circle);
        let (mut pairings, mut byes) = (Vec::new(), Vec::new());
        if entrants.is_multiple_of(2) {
            // The entrant in the middle alternates between `a` and `b`.
            let middle = Pairing::new(at(0), EntrantId(circle));
            pairings.push(middle.swapped_if(rotation % 2 == 1));
        } else {
            byes.push(at(0));
        }
        let across = 1..=(circle - 1) / 2;
        pairings.extend(across.map(|k| Pairing::new(at(k), at(circle - k))));
        let is_second = (number - 1) / circle % 2 == 1;
        let pairings = pairings.into_iter();
        let pairings = pairings
            .map(|pairing| pairing.swapped_if(is_second))
            .collect();
        let before = u64::from(number - 1) * u64::from(entrants / 2);
        Round::new(number, before, pairs_each, pairings, byes)
    })
}

/// The first entrant against each of the others, once a round. Seats are swapped from round to round.
pub fn gauntlet(entrants: u32, rounds: u32, pairs_each: u32) -> impl Iterator<Item = Round> {
    let last = if entrants < 2 { 0 } else { rounds };
    (1..=last).map(move |number| {
        let pairing = |other| {
            let pairing = Pairing::new(EntrantId(0), EntrantId(other));
            pairing.swapped_if(number.is_multiple_of(2))
        };
        let pairings: Vec<Pairing> = (1..entrants).map(pairing).collect();
        let before = u64::from(number - 1) * pairings.len() as u64;
        Round::new(number, before, pairs_each, pairings, Vec::new())
    })
}
