//! Formats whose rounds are known in advance: round robin and gauntlet.

use super::{EntrantId, Pairing, Round, first_pair};

/// Everybody meets everybody, by the circle method.
///
/// Within a cycle of rounds everybody meets everybody once, and nobody is named first more
/// than once more often than second; the next cycle is the same with seats swapped. With an
/// odd number of entrants each sits out once a cycle.
///
/// ```
/// use referee::tournament::schedule::RoundRobin;
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
    /// A round robin of this many rounds, or of one cycle; fewer than two entrants play none.
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

    /// The number of rounds in which everybody meets everybody once.
    pub const fn cycle(entrants: u32) -> u32 {
        match entrants {
            0 | 1 => 0,
            _ if entrants.is_multiple_of(2) => entrants - 1,
            _ => entrants,
        }
    }

    /// All rounds, in order.
    pub fn rounds(self) -> impl Iterator<Item = Round> {
        (1..=self.rounds).map(move |number| self.round(number))
    }

    /// A round by its number, from 1, without those before it.
    fn round(self, number: u32) -> Round {
        // The entrants but the last stand in a circle, which turns by one a round; the last
        // stands in the middle. With an odd number nobody stands there.
        let circle = Self::cycle(self.entrants);
        let turned = (number - 1) % circle;
        let again = (number - 1) / circle % 2 == 1;
        let at = |place: u32| EntrantId((turned + place) % circle);
        let middle = EntrantId(circle);
        let mut pairings = Vec::new();
        let mut byes = Vec::new();
        if self.entrants.is_multiple_of(2) {
            // The one in the middle has no side of the circle: it changes from round to round.
            pairings.push(if turned.is_multiple_of(2) {
                Pairing::new(at(0), middle)
            } else {
                Pairing::new(middle, at(0))
            });
        } else {
            byes.push(at(0));
        }
        let across = 1..=(circle - 1) / 2;
        pairings.extend(across.map(|k| Pairing::new(at(k), at(circle - k))));
        if again {
            pairings = pairings.into_iter().map(Pairing::swapped).collect();
        }
        let before = u64::from(number - 1) * u64::from(self.entrants / 2);
        Round {
            number,
            first_pair: first_pair(before, self.pairs_each),
            pairs_each: self.pairs_each,
            pairings,
            byes,
        }
    }
}

/// The first entrant against each of the others, once a round.
///
/// All meet it from the same openings. From round to round the seats are swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gauntlet {
    entrants: u32,
    rounds: u32,
    pairs_each: u32,
}

impl Gauntlet {
    /// A gauntlet of this many rounds; fewer than two entrants play none.
    pub const fn new(entrants: u32, rounds: u32, pairs_each: u32) -> Self {
        Self {
            entrants,
            rounds: if entrants < 2 { 0 } else { rounds },
            pairs_each,
        }
    }

    /// All rounds, in order.
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
            }
        })
    }
}
