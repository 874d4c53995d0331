//! Formats whose rounds are known in advance: round robin and gauntlet.

use super::{EntrantId, Pairing, Round, first_pair};

/// Every entrant meets every other, by the circle method.
///
/// In a cycle of rounds every entrant meets every other once, as `a` and as `b` equally often but for one; the next
/// cycle has seats swapped. With an odd number of entrants each has one bye a cycle.
///
/// In a cycle of rounds every entrant meets every other once, and the numbers of its pairings as `a`
/// and as `b` differ by one at most; the next cycle is the same with seats swapped. With an odd number
/// of entrants each has one bye a cycle.
///
/// ```
/// use referee_stats::schedule::RoundRobin;
///
/// let whole = RoundRobin::new(8, None, 50);
/// assert_eq!(whole.rounds().count(), 7);
/// assert_eq!(whole.rounds().map(|round| round.count()).sum::<u64>(), 28 * 50);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundRobin {
    entrants: u32,
    rounds: u32,
    pairs_each: u32,
}

impl RoundRobin {
    /// Of this many rounds, or of one cycle; fewer than two entrants play none.
    pub const fn new(entrants: u32, rounds: Option<u32>, pairs_each: u32) -> Self {
        let cycle = Self::cycle(entrants);
        let rounds = match rounds {
            _ if cycle == 0 => 0,
            Some(rounds) => rounds,
            None => cycle,
        };
        Self {
            entrants,
            rounds,
            pairs_each,
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

    pub fn rounds(self) -> impl Iterator<Item = Round> {
        (1..=self.rounds).map(move |number| self.round(number))
    }

    fn round(self, number: u32) -> Round {
        // All entrants but the last form a circle, which rotates by one place a round. The last is in its middle;
        // with an odd number of entrants the middle is empty.
        let circle = Self::cycle(self.entrants);
        let rotation = (number - 1) % circle;
        let is_swapped = (number - 1) / circle % 2 == 1;
        let at = |place: u32| EntrantId((rotation + place) % circle);
        let middle = EntrantId(circle);
        let mut pairings = Vec::new();
        let mut byes = Vec::new();
        if self.entrants.is_multiple_of(2) {
            // The entrant in the middle alternates between `a` and `b`.
            pairings.push(if rotation.is_multiple_of(2) {
                Pairing::new(at(0), middle)
            } else {
                Pairing::new(middle, at(0))
            });
        } else {
            byes.push(at(0));
        }
        let across = 1..=(circle - 1) / 2;
        pairings.extend(across.map(|k| Pairing::new(at(k), at(circle - k))));
        if is_swapped {
            pairings = pairings.into_iter().map(Pairing::swapped).collect();
        }
        let before = u64::from(number - 1) * u64::from(self.entrants / 2);
        Round {
            number,
            first_pair: first_pair(before, self.pairs_each),
            pairs_each: self.pairs_each,
            pairings,
            byes,
            first_openings: Vec::new(),
        }
    }
}

/// The first entrant against each of the others, once a round, from the same openings. Seats are swapped from round
/// to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gauntlet {
    entrants: u32,
    rounds: u32,
    pairs_each: u32,
}

impl Gauntlet {
    /// Fewer than two entrants play none.
    pub const fn new(entrants: u32, rounds: u32, pairs_each: u32) -> Self {
        Self {
            entrants,
            rounds: if entrants < 2 { 0 } else { rounds },
            pairs_each,
        }
    }

    pub fn rounds(self) -> impl Iterator<Item = Round> {
        let others = self.entrants.saturating_sub(1);
        (1..=self.rounds).map(move |number| {
            let pairing = |other| Pairing::new(EntrantId(0), EntrantId(other));
            let pairings = (1..=others).map(pairing);
            Round {
                number,
                first_pair: first_pair(u64::from(number - 1) * u64::from(others), self.pairs_each),
                pairs_each: self.pairs_each,
                pairings: if number.is_multiple_of(2) {
                    pairings.map(Pairing::swapped).collect()
                } else {
                    pairings.collect()
                },
                byes: Vec::new(),
                first_openings: Vec::new(),
            }
        })
    }
}
