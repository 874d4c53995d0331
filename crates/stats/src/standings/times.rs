//! The distribution of answer times.

use std::collections::VecDeque;

/// Times in bins of 1 %, so that the median can be computed without a list of all times.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    /// How many times are in each bin, from bin `first` on.
    bins: VecDeque<u32>,
    first: i32,
    count: u64,
    worst: f64,
}

/// The number of bins for a factor of e.
const BINS: f64 = 100.0;

/// The times of a bot in a game.
#[derive(Clone, Debug, Default)]
pub(super) struct TimesOfGame {
    /// The bin of each time.
    bins: Vec<i32>,
    worst: f64,
}

impl TimesOfGame {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "logarithms of times are small"
    )]
    pub(super) fn add(&mut self, ms: f64) {
        let bin = (ms.max(1e-6).ln() * BINS).round() as i32;
        self.bins.push(bin);
        self.worst = self.worst.max(ms);
    }
}

impl Times {
    pub(super) fn add(&mut self, game: &TimesOfGame) {
        for &bin in &game.bins {
            let count = self.bin(bin);
            *count = count.saturating_add(1);
        }
        self.count += game.bins.len() as u64;
        self.worst = self.worst.max(game.worst);
    }

    /// A bin, which is there afterwards.
    fn bin(&mut self, bin: i32) -> &mut u32 {
        if self.bins.is_empty() {
            self.first = bin;
        }
        while bin < self.first {
            self.bins.push_front(0);
            self.first -= 1;
        }
        let place = usize::try_from(bin - self.first).unwrap_or_default();
        if place >= self.bins.len() {
            self.bins.resize(place + 1, 0);
        }
        &mut self.bins[place]
    }

    pub(super) fn worst(&self) -> Option<f64> {
        (self.count > 0).then_some(self.worst)
    }

    pub(super) fn median(&self) -> Option<f64> {
        let mut before = 0;
        for (bin, &count) in (self.first..).zip(&self.bins) {
            before += u64::from(count);
            if 2 * before >= self.count {
                return Some((f64::from(bin) / BINS).exp());
            }
        }
        None
    }
}
