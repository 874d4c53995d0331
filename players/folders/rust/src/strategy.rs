//! What the bot plays: change this.

use std::env;

pub struct Strategy {
    state: u64,
}

impl Strategy {
    /// The same seed plays the same game again.
    pub fn new() -> Self {
        let seed = env::var("REFEREE_SEED").ok().and_then(|seed| seed.parse().ok());
        Self { state: seed.unwrap_or(1) }
    }

    /// A cell for the piece, and a piece for the opponent.
    pub fn choose(&mut self, _board: &str, _piece: &str, cells: &[String], left: &[char]) -> (String, char) {
        let cell = cells[self.below(cells.len())].clone();
        (cell, left[self.below(left.len())])
    }

    /// SplitMix64.
    fn below(&mut self, count: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % count as u64) as usize
    }
}
