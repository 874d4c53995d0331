//! 95 % intervals and likelihoods of superiority: the signed root of an empirical likelihood ratio.
//!
//! A figure, such as a rating or the difference of two, is moved away from its estimate, and all parameters with it,
//! as the curvature of the likelihood says. There the expected score of every pair of games is known. What the pairs
//! scored above or below it, weighted as in the slope of the likelihood, must have mean 0; of all distributions with
//! that mean, the most likely one is compared with what was seen (A. Owen, *Empirical Likelihood*, 2001). Scores that
//! did not occur but could are allowed for, so bots that have only drawn need not be equal. Nothing else is assumed
//! of draws, or of how the games of a pair depend on each other. As the deviation comes from few games, the root is
//! that of Student's t distribution.

use super::Meeting;
use super::fit::{Fit, Odds, Pairing};
use super::matrix::Square;
use crate::sprt::{SIGMAS_95, superiority};

/// The first mover's score, by the number of the outcome.
const SCORES: [f64; 3] = [1.0, 0.5, 0.0];

/// Where the games of a bot tell at least this share of what is known of its rating, the others are left out: in a
/// round robin of a thousand bots they are half a million.
const OWN: f64 = 0.9;

/// An end that is farther away, in natural units, is open: a thousand Elo, an expected score of 99.7 %.
const FARTHEST: f64 = 5.76;

/// In deviations.
const ROUNDING: f64 = 1e-4;

/// A meeting whose differences of strength, by first mover, move as the figure does.
struct Moving<'a> {
    meeting: &'a Meeting,
    has_pairs: bool,
    differences: [f64; 2],
    speeds: [f64; 2],
}

impl Moving<'_> {
    /// Adds what units scored above what was expected where the figure is larger by `shift`, and how often; `least`
    /// and `most` become what a unit can score.
    fn add(&self, shift: f64, terms: &mut Vec<[f64; 2]>, [least, most]: &mut [f64; 2]) {
        let mut add = |term: f64, count: u32, ends: &[&[f64; 3]]| {
            if count > 0 {
                terms.push([term, f64::from(count)]);
                let end = |of: fn(f64, f64) -> f64| {
                    ends.iter().map(|ends| of(ends[0], ends[2])).sum::<f64>()
                };
                (*least, *most) = (least.min(end(f64::min)), most.max(end(f64::max)));
            }
        };
        let surplus = [0, 1].map(|seat| {
            let speed = self.speeds[seat];
            if !self.has_pairs && self.meeting.games[seat].iter().all(|&count| count == 0) {
                return [0.0; 3];
            }
            let odds = (-self.differences[seat] - shift * speed).exp();
            SCORES.map(|score| speed * (score - 1.0 / (1.0 + odds)))
        });
        for (counts, surplus) in self.meeting.games.iter().zip(&surplus) {
            for (&count, &term) in counts.iter().zip(surplus) {
                add(term, count, &[surplus]);
            }
        }
        if self.has_pairs {
            let [first, second] = &surplus;
            for (row, term) in self.meeting.pairs.iter().zip(first) {
                for (&count, other) in row.iter().zip(second) {
                    add(term + other, count, &[first, second]);
                }
            }
        }
    }
}

/// A figure with what the games tell of it.
pub(super) struct Profile<'a> {
    meetings: Vec<Moving<'a>>,
    /// Of what is known of it, what `meetings` tell.
    share: f64,
    /// In natural units.
    deviation: f64,
    /// As if all pairs told as much.
    units: f64,
}

impl<'a> Profile<'a> {
    /// Of the sum of the parameters with these weights. `covariance` is the inverse of the curvature.
    pub(super) fn new(
        fit: &'a Fit,
        parameters: &[f64],
        covariance: &Square,
        weights: &[(usize, f64)],
    ) -> Self {
        let parts = weights.iter();
        let moved = |row| -> f64 {
            let parts = parts.clone();
            parts
                .map(|&(index, weight)| weight * covariance.at(row, index))
                .sum()
        };
        let mut speeds: Vec<f64> = (0..parameters.len()).map(moved).collect();
        fit.centre(&mut speeds);
        let variance: f64 = parts.map(|&(index, weight)| weight * speeds[index]).sum();
        for speed in &mut speeds {
            *speed /= variance;
        }
        let profile = |pairings: &mut dyn Iterator<Item = &'a Pairing>| {
            let (mut told, mut squares, mut told_by_virtual) = (0.0, 0.0, 0.0);
            let moving = |pairing: &'a Pairing| {
                let of = |parameters, seat| fit.difference(parameters, pairing, seat);
                let differences = [0, 1].map(|seat| of(parameters, seat));
                let speeds = [0, 1].map(|seat| of(&speeds, seat));
                let bend =
                    [0, 1].map(|seat| Odds::new(differences[seat]).bend() * speeds[seat].powi(2));
                let here: f64 = bend
                    .iter()
                    .zip(pairing.games())
                    .map(|(bend, games)| bend * games)
                    .sum();
                told += here;
                squares += here.powi(2) / pairing.meeting.units();
                told_by_virtual += (bend[0] + bend[1]) * pairing.virtual_draws;
                Moving {
                    meeting: &pairing.meeting,
                    has_pairs: pairing.meeting.has_pairs(),
                    differences,
                    speeds,
                }
            };
            let meetings = pairings.map(moving).collect();
            let by_others = (1.0 / variance - told - told_by_virtual).max(0.0);
            Self {
                meetings,
                share: told / (told + by_others),
                deviation: variance.sqrt(),
                units: told * told / squares,
            }
        };
        let own = profile(&mut fit.pairings_of(weights));
        if own.share >= OWN {
            own
        } else {
            profile(&mut fit.pairings.iter())
        }
    }

    /// How many deviations the games are above what is expected where the figure is larger by `shift`.
    fn root(&self, shift: f64) -> f64 {
        let (mut terms, mut range) = (Vec::with_capacity(self.meetings.len()), [0.0; 2]);
        for meeting in &self.meetings {
            meeting.add(shift, &mut terms, &mut range);
        }
        let sum: f64 = terms.iter().map(|[term, count]| term * count).sum();
        let worst = if sum > 0.0 { -range[0] } else { range[1] };
        if sum == 0.0 || worst <= 0.0 {
            return 0.0;
        }
        for [term, _] in &mut terms {
            *term *= sum.signum() / worst;
        }
        sum.signum() * (2.0 * ln_ratio(&terms) / self.share).sqrt()
    }

    /// The ends of the 95 % interval, from the estimate.
    pub(super) fn ends(&self) -> [f64; 2] {
        let wanted = quantile_95(self.units - 1.0);
        let here = self.root(0.0);
        [-1.0, 1.0].map(|side| {
            let inside = |distance: f64| wanted + side * self.root(side * distance);
            let mut near = [0.0, (wanted + side * here).max(0.0)];
            let mut far = [(wanted * self.deviation).min(FARTHEST), 0.0];
            loop {
                far[1] = inside(far[0]);
                if far[1] < 0.0 {
                    break;
                }
                if far[0] >= FARTHEST {
                    return side * f64::INFINITY;
                }
                near = far;
                far[0] = (2.0 * far[0]).min(FARTHEST);
            }
            // The Illinois method: a secant whose end is halved where it stays.
            for _ in 0..100 {
                let middle = (near[0] * far[1] - far[0] * near[1]) / (far[1] - near[1]);
                let found = inside(middle);
                if found.abs() < ROUNDING || far[0] - near[0] < ROUNDING * self.deviation {
                    return side * middle;
                }
                if found > 0.0 {
                    near = [middle, found];
                    far[1] /= 2.0;
                } else {
                    far = [middle, found];
                    near[1] /= 2.0;
                }
            }
            side * far[0]
        })
    }

    /// The probability that the figure is larger than it would be with this shift. A degree of freedom for each game
    /// is closest to the sign test: 99.93 % after ten pairs that were all won, where that has 1 − 2⁻¹⁰.
    pub(super) fn superiority(&self, shift: f64) -> f64 {
        superiority(as_normal(self.root(shift), 2.0 * self.units - 1.0), 1.0)
    }
}

/// The largest logarithm of the likelihood ratio, of terms with a sum above 0 that could have been −1: the best sum of
/// ln(1 + λ term) with λ up to 1.
fn ln_ratio(terms: &[[f64; 2]]) -> f64 {
    let (mut low, mut high, mut best) = (0.0, 1.0, 0.0);
    for _ in 0..60 {
        let (mut slope, mut bend) = (0.0, 0.0);
        for [term, count] in terms {
            let gain = term / (1.0 + best * term);
            slope += count * gain;
            bend += count * gain * gain;
        }
        *if slope > 0.0 { &mut low } else { &mut high } = best;
        let newton = best + slope / bend;
        let next = if newton > low && newton < high {
            newton
        } else {
            f64::midpoint(low, high)
        };
        let step = next - best;
        best = next;
        // The ratio is flat there.
        if step.abs() < 1e-6 * next {
            break;
        }
    }
    let sum = terms
        .iter()
        .map(|[term, count]| count * (best * term).ln_1p());
    sum.sum::<f64>().max(0.0)
}

/// By how much u(t) of D. L. Wallace's normal approximation of Student's t distribution (*Bounds on normal
/// approximations to Student's and the chi-square distributions*, 1959) is larger than the normal variable. From four
/// degrees of freedom on, quantiles of 95 % are right to 0.5 %.
fn student_factor(freedom: f64) -> f64 {
    (8.0 * freedom + 3.0) / (8.0 * freedom + 1.0)
}

/// Half the width of the central 95 %.
fn quantile_95(freedom: f64) -> f64 {
    let freedom = freedom.max(1.0);
    let u = SIGMAS_95 * student_factor(freedom);
    (freedom * (u * u / freedom).exp_m1()).sqrt()
}

/// The normal variable that is exceeded with the same probability as `t`.
fn as_normal(t: f64, freedom: f64) -> f64 {
    let freedom = freedom.max(1.0);
    t.signum() * (freedom * (t * t / freedom).ln_1p()).sqrt() / student_factor(freedom)
}
