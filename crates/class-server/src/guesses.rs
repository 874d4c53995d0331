//! How often the code of a class may be tried, so that it is not guessed, and a guesser keeps no student out.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::limits;

/// Of a code that withstands guessing.
const WORDS: usize = 4;

/// Shorter ones are few, and are left out.
const WORD_CHARS: usize = 3;

/// Whether a code withstands guessing without any limit: it has four different words or groups of characters.
///
/// Four of 2,000 common words make 2^44 codes. At 10,000 guesses a second, more than this server answers, one of them is found
/// in 28 years on average. Characters are not counted: `greenowl2026` has many, and is two words and a year.
pub(super) fn withstands_guessing(code: &str) -> bool {
    let words = code.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| word.chars().count() >= WORD_CHARS);
    let different: BTreeSet<String> = words.map(str::to_lowercase).collect();
    different.len() >= WORDS
}

/// Wrong codes since the first one, for [`limits::GUESS_TIME`].
#[derive(Debug, Default)]
pub(super) struct Guesses {
    since: Option<Instant>,
    of_networks: HashMap<u128, usize>,
    of_all: usize,
}

impl Guesses {
    /// How long a guesser at this address has to wait; `None`: one more code may be tried now.
    pub(super) fn wait(&mut self, address: IpAddr, now: Instant) -> Option<Duration> {
        let passed = now.saturating_duration_since(self.since?);
        let left = limits::GUESS_TIME.saturating_sub(passed);
        if left.is_zero() {
            *self = Self::default();
            return None;
        }
        // While many are tried, a student whose network has tried few can still join.
        let most = match self.of_all {
            limits::GUESSES_AT_MOST.. => 0,
            limits::MANY_GUESSES.. => limits::GUESSES_AMONG_MANY,
            _ => limits::GUESSES,
        };
        let tried = self.of_networks.get(&network(address)).copied();
        (tried.unwrap_or(0) >= most).then_some(left)
    }

    pub(super) fn note_wrong(&mut self, address: IpAddr, now: Instant) {
        self.since.get_or_insert(now);
        *self.of_networks.entry(network(address)).or_default() += 1;
        self.of_all += 1;
    }
}

/// A number for what one guesser may have: an address, or with IPv6 a /48, of which tunnels give one to each customer.
fn network(address: IpAddr) -> u128 {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits() >> 80 << 80,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_of_four_words_withstands_guessing() {
        for (code, expected) in [
            ("green-owl-reads-maps", true),
            ("Grüne Eule liest Karten", true),
            ("k7x 9q2 m4w 8tz", true),
            ("green-owl", false),
            ("greenowlreadsmaps", false),
            ("owl-owl-OWL-owl", false),
            ("a-b-c-d-e", false),
            ("", false),
        ] {
            assert_eq!(withstands_guessing(code), expected, "{code}");
        }
    }

    /// How many wrong codes in a row are looked at.
    fn tried(guesses: &mut Guesses, address: IpAddr, now: Instant) -> usize {
        let mut tried = 0;
        while guesses.wait(address, now).is_none() {
            guesses.note_wrong(address, now);
            tried += 1;
        }
        tried
    }

    #[test]
    fn a_guesser_is_held_and_others_are_not() {
        let mut guesses = Guesses::default();
        let now = Instant::now();
        let of = |last: u8| IpAddr::from([198, 51, 100, last]);
        assert_eq!(tried(&mut guesses, of(1), now), limits::GUESSES);
        assert_eq!(guesses.wait(of(1), now), Some(limits::GUESS_TIME));
        assert_eq!(guesses.wait(of(2), now), None);
        // Many guessers, and then a student who errs.
        assert_eq!(tried(&mut guesses, of(2), now), limits::GUESSES);
        for last in 3..=100 {
            let few = limits::GUESSES_AMONG_MANY;
            assert_eq!(tried(&mut guesses, of(last), now), few, "{last}");
        }
        assert_eq!(guesses.wait(of(101), now), None);
        let later = now + limits::GUESS_TIME;
        assert_eq!(guesses.wait(of(1), later), None);
    }

    #[test]
    fn all_guessers_together_have_a_bound() {
        let mut guesses = Guesses::default();
        let now = Instant::now();
        let all = (0..=u8::MAX).flat_map(|third| (0..4).map(move |last| [10, 0, third, last]));
        let all = all.map(|address| tried(&mut guesses, address.into(), now));
        assert_eq!(all.sum::<usize>(), limits::GUESSES_AT_MOST);
    }

    #[test]
    fn addresses_of_one_customer_are_one_guesser() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::3"), of("2001:db8:1:ffff::4"));
        assert_ne!(of("2001:db8:1::1"), of("2001:db8:2::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
