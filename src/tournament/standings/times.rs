//! The distribution of answer times.

use std::collections::BTreeMap;

/// Times in bins of 1 %, so that the median can be computed without a list of all times.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    bins: BTreeMap<i32, u64>,
    count: u64,
    worst: f64,
}

/// The number of bins for a factor of e.
const BINS: f64 = 100.0;

impl Times {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "logarithms of times are small"
    )]
    pub(super) fn add(&mut self, ms: f64) {
        let bin = (ms.max(1e-6).ln() * BINS).round() as i32;
        *self.bins.entry(bin).or_default() += 1;
        self.count += 1;
        self.worst = self.worst.max(ms);
    }

    pub(super) fn worst(&self) -> Option<f64> {
        (self.count > 0).then_some(self.worst)
    }

    pub(super) fn median(&self) -> Option<f64> {
        let mut before = 0;
        for (&bin, &count) in &self.bins {
            before += count;
            if 2 * before >= self.count {
                return Some((f64::from(bin) / BINS).exp());
            }
        }
        None
    }
}
