//! Random numbers from a seed, so that a run can be repeated.

use rand::rngs::ChaCha8Rng;
use rand::{Rng as _, SeedableRng as _};

/// Different purposes of one seed give independent numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    FirstBot,
    Bot,
    Checkup,
    Opening,
    /// The start of a game that begins at random.
    Start,
    Opponent,
    /// The questions that show who decides alike.
    Alike,
}

/// `path` tells uses of one purpose apart, such as bot and game. The same arguments give the same numbers on every
/// system.
pub fn generator(seed: u64, purpose: Purpose, path: [u64; 2]) -> ChaCha8Rng {
    let mut key = [0; 32];
    let words = [seed, purpose as u64, path[0], path[1]];
    for (bytes, word) in key.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}

/// For a run without one; short enough to type.
pub fn drawn() -> u64 {
    rand::random::<u32>().into()
}

/// From 0 to 2³¹ − 1: a plain integer in every language.
pub fn for_bot(seed: u64, bot: usize, game: u64) -> u32 {
    generator(seed, Purpose::Bot, [bot as u64, game]).next_u32() >> 1
}

/// From 0 to 2³¹ − 1, as for bots.
pub fn for_start(seed: u64, number: u64) -> u32 {
    generator(seed, Purpose::Start, [number, 0]).next_u32() >> 1
}

/// A random draw: the index, 0 or 1, of the bot that acts first.
///
/// ```
/// use referee_match::seed::first_bot;
///
/// assert_eq!(first_bot(1), first_bot(1));
/// assert!((0..100).any(|seed| first_bot(seed) == 1));
/// ```
pub fn first_bot(seed: u64) -> usize {
    (generator(seed, Purpose::FirstBot, [0, 0]).next_u32() & 1) as usize
}
