//! How often the code of a class may be tried, so that it is not guessed, and a guesser keeps no student out.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use super::client::Network;
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
    of_networks: HashMap<Network, usize>,
    of_all: usize,
}

impl Guesses {
    /// How long a guesser of this network has to wait; `None`: one more code may be tried now.
    pub(super) fn wait(&mut self, network: Network, now: Instant) -> Option<Duration> {
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
        let tried = self.of_networks.get(&network).copied();
        (tried.unwrap_or(0) >= most).then_some(left)
    }

    pub(super) fn note_wrong(&mut self, network: Network, now: Instant) {
        self.since.get_or_insert(now);
        *self.of_networks.entry(network).or_default() += 1;
        self.of_all += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Client;

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
    fn tried(guesses: &mut Guesses, network: Network, now: Instant) -> usize {
        let mut tried = 0;
        while guesses.wait(network, now).is_none() {
            guesses.note_wrong(network, now);
            tried += 1;
        }
        tried
    }

    #[test]
    fn a_guesser_is_held_and_others_are_not() {
        let mut guesses = Guesses::default();
        let now = Instant::now();
        let of = |last: u8| Client([198, 51, 100, last].into()).network();
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
        let all = all.map(|address| Client(address.into()).network());
        let all = all.map(|network| tried(&mut guesses, network, now));
        assert_eq!(all.sum::<usize>(), limits::GUESSES_AT_MOST);
    }
}
