//! Between which places a bot is, as far as the games tell.

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;

use super::matrix::Square;
use super::{Ratings, student};
use crate::tournament::normal::normal;
use crate::tournament::sprt::SIGMAS_95;

/// The number of orders that are drawn.
const DRAWN: usize = 1000;

/// Of all orders, the share in which a bot is in front of its places, and the same for behind them.
const TAIL: f64 = 0.025;

/// A variance of this share of the others' is a rounding error.
const ROUNDING: f64 = 1e-9;

impl Ratings {
    /// The first and the last place, from 1, that a bot has in its group with a probability of 95 %; `None` for a bot without
    /// games. Orders are drawn from the joint distribution of all ratings, always by the same numbers. The place
    /// that a bot has by its rating is among its places.
    pub fn places(&self) -> Vec<Option<[usize; 2]>> {
        let mut places = vec![None; self.bots.len()];
        let mut groups = std::collections::BTreeMap::<usize, Vec<usize>>::new();
        for bot in self.ranking() {
            groups.entry(self.bots[bot].group).or_default().push(bot);
        }
        for group in groups.values().filter(|group| group.len() > 1) {
            for (&bot, found) in group.iter().zip(self.places_of(group)) {
                places[bot] = Some(found);
            }
        }
        places
    }

    /// Those of bots that games connect, the highest rating first.
    fn places_of(&self, group: &[usize]) -> Vec<[usize; 2]> {
        let count = group.len();
        let widths = group
            .iter()
            .map(|&bot| student::quantile_95(self.freedoms[bot]) / SIGMAS_95);
        let widths: Vec<f64> = widths.collect();
        let variances = group.iter().map(|&bot| self.covariance.at(bot, bot));
        let level = variances.fold(0.0_f64, f64::max).max(ROUNDING);
        let mut covariance = Square::zero(count);
        for (row, &a) in group.iter().enumerate() {
            for (column, &b) in group.iter().enumerate() {
                // What is added to all changes no order. Without it, what the mean of a group does not do would make the
                // matrix singular.
                let shared = self.covariance.at(a, b) * widths[row] * widths[column] + level;
                covariance.add(row, column, shared);
            }
            covariance.add(row, row, ROUNDING * level);
        }
        let Some(factor) = covariance.cholesky() else {
            return vec![[1, count]; count];
        };
        let mut random = ChaCha8Rng::seed_from_u64(1);
        // How often each bot had each place.
        let mut counts = vec![0_u32; count * count];
        let mut order: Vec<usize> = (0..count).collect();
        for _ in 0..DRAWN {
            let luck: Vec<f64> = (0..count).map(|_| normal(&mut random)).collect();
            let drawn = group.iter().zip(factor.product(&luck));
            let drawn: Vec<f64> = drawn
                .map(|(&bot, luck)| self.bots[bot].elo + luck)
                .collect();
            order.sort_unstable_by(|&a, &b| drawn[b].total_cmp(&drawn[a]));
            for (place, &bot) in order.iter().enumerate() {
                counts[bot * count + place] += 1;
            }
        }
        let rows = counts.chunks_exact(count).enumerate();
        rows.map(|(place, counts)| {
            let [first, last] = [ends(counts.iter()), ends(counts.iter().rev())];
            [first.min(place) + 1, (count - last).max(place + 1)]
        })
        .collect()
    }
}

/// How many places can be left out, from one end.
fn ends<'a>(counts: impl Iterator<Item = &'a u32>) -> usize {
    let sums = counts.scan(0, |sum, &count| {
        *sum += count;
        Some(f64::from(*sum))
    });
    let most = TAIL * f64::from(u32::try_from(DRAWN).unwrap_or(u32::MAX));
    sums.take_while(|&sum| sum <= most).count()
}
