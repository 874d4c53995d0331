//! 95 % intervals and likelihoods of superiority: the signed root of an empirical likelihood ratio.
//!
//! A figure, such as a rating or the difference of two, is moved away from its estimate, and all parameters with it,
//! as the curvature of the likelihood says. What the pairs of games scored above or below what is expected there must
//! have mean 0; of all distributions with that mean, the most likely one is compared with what was seen (A. Owen,
//! *Empirical Likelihood*, 2001). As the deviation comes from few games, the root is that of Student's t distribution.

use super::MeetingCounts;
use super::fit::{Fit, FittedPairing, Odds};
use super::matrix::Square;
use crate::sprt::{SIGMAS_95, ln_ratio, superiority};

/// The first mover's score, by the number of the outcome.
const SCORES: [f64; 3] = [1.0, 0.5, 0.0];

/// Where the games of a bot tell at least this share of what is known of its rating, the others are left out: in a
/// round robin of a thousand bots they are half a million.
const OWN_GAMES: f64 = 0.9;

/// An end that is farther away, in natural units, is open: a thousand Elo, an expected score of 99.7 %.
const FARTHEST: f64 = 5.76;

/// In deviations.
const ROUNDING: f64 = 1e-4;

/// Pairs or games of a meeting: by first mover, the differences of strength, and how much they move as the figure does.
struct ProfileUnit {
    differences: [f64; 2],
    speeds: [f64; 2],
    /// Scores, weighted by speed, and how often each occurred.
    results: Vec<[f64; 2]>,
}

/// A figure with what the games tell of it.
pub(super) struct Profile {
    units: Vec<ProfileUnit>,
    /// The share of all that is known of the figure which these results tell.
    share: f64,
    /// In natural units.
    deviation: f64,
    /// The number of pairs, as if all told as much.
    pairs: f64,
}

/// A sum of parameters, and how they move as it does.
struct Figure<'a> {
    fit: &'a Fit,
    parameters: &'a [f64],
    /// By parameter.
    speeds: Vec<f64>,
    variance: f64,
}

/// The sum of these values with their weights.
fn weighted(weights: &[(usize, f64)], value: impl Fn(usize) -> f64) -> f64 {
    let terms = weights.iter().map(|&(index, weight)| weight * value(index));
    terms.sum()
}

impl Figure<'_> {
    /// What these pairings tell of the figure.
    fn profile<'p>(&self, pairings: impl Iterator<Item = &'p FittedPairing>) -> Profile {
        let (mut told, mut squares, mut told_by_virtual) = (0.0, 0.0, 0.0);
        let mut units = Vec::new();
        for pairing in pairings {
            let of = |parameters, seat| self.fit.difference(parameters, pairing, seat);
            let differences = [0, 1].map(|seat| of(self.parameters, seat));
            let speeds = [0, 1].map(|seat| of(&self.speeds, seat));
            let bend =
                [0, 1].map(|seat| Odds::new(differences[seat]).bend() * speeds[seat].powi(2));
            let of_seats = bend.iter().zip(pairing.games());
            let here: f64 = of_seats.map(|(bend, games)| bend * games).sum();
            told += here;
            squares += here.powi(2) / pairing.meeting.units();
            told_by_virtual += (bend[0] + bend[1]) * pairing.virtual_draws;
            units.extend(ProfileUnit::of_meeting(
                &pairing.meeting,
                differences,
                speeds,
            ));
        }
        let by_others = (1.0 / self.variance - told - told_by_virtual).max(0.0);
        Profile {
            units,
            share: told / (told + by_others),
            deviation: self.variance.sqrt(),
            pairs: told * told / squares,
        }
    }
}

impl ProfileUnit {
    /// The pairs of a meeting, and the games without another one, by first mover.
    fn of_meeting(
        meeting: &MeetingCounts,
        differences: [f64; 2],
        speeds: [f64; 2],
    ) -> impl Iterator<Item = Self> {
        let MeetingCounts { games, pairs } = *meeting;
        let [first, second] = speeds;
        let counted = [
            (pairs, speeds),
            (games[0].map(|count| [count, 0, 0]), [first, 0.0]),
            ([games[1], [0; 3], [0; 3]], [0.0, second]),
        ];
        let units = counted.into_iter().map(move |(counts, of_each)| Self {
            differences,
            speeds: of_each,
            results: weighted_results(&counts, of_each),
        });
        units.filter(|unit| !unit.results.is_empty())
    }
}

/// Scores that occurred, weighted by speed, with how often each did.
fn weighted_results(counts: &[[u32; 3]; 3], speeds: [f64; 2]) -> Vec<[f64; 2]> {
    let mut results = Vec::new();
    for (row, score) in counts.iter().zip(SCORES) {
        let seen = row.iter().zip(SCORES).filter(|(count, _)| **count > 0);
        results.extend(
            seen.map(|(&count, other)| [score * speeds[0] + other * speeds[1], f64::from(count)]),
        );
    }
    results
}

impl Profile {
    /// Of the sum of the parameters with these weights. `covariance` is the inverse of the curvature.
    pub(super) fn new(
        fit: &Fit,
        parameters: &[f64],
        covariance: &Square,
        weights: &[(usize, f64)],
    ) -> Self {
        let mut speeds: Vec<f64> = (0..parameters.len())
            .map(|row| weighted(weights, |index| covariance.at(index, row)))
            .collect();
        fit.centre(&mut speeds);
        let variance = weighted(weights, |index| speeds[index]);
        for speed in &mut speeds {
            *speed /= variance;
        }
        let figure = Figure {
            fit,
            parameters,
            speeds,
            variance,
        };
        let of_its_bots = figure.profile(fit.pairings_of(weights));
        if of_its_bots.share >= OWN_GAMES {
            of_its_bots
        } else {
            figure.profile(fit.pairings.iter())
        }
    }

    /// How many deviations the games are above what is expected where the figure is larger by `shift`.
    fn root(&self, shift: f64) -> f64 {
        let mut terms = Vec::new();
        // What a unit can score.
        let (mut least, mut most) = (0.0_f64, 0.0_f64);
        for unit in &self.units {
            let seats = unit.differences.iter().zip(unit.speeds);
            let expected: f64 = seats
                .filter(|(_, speed)| *speed != 0.0)
                .map(|(difference, speed)| speed / (1.0 + (-difference - shift * speed).exp()))
                .sum();
            let results = unit.results.iter();
            terms.extend(results.map(|[score, count]| [score - expected, *count]));
            let end = |of: fn(f64, f64) -> f64| {
                let ends = unit.speeds.iter().map(|&speed| of(speed, 0.0));
                ends.sum::<f64>() - expected
            };
            (least, most) = (least.min(end(f64::min)), most.max(end(f64::max)));
        }
        let ratio = ln_ratio(&mut terms, [least, most]);
        ratio.signum() * (2.0 * ratio.abs() / self.share).sqrt()
    }

    /// The ends of the 95 % interval, from the estimate.
    pub(super) fn ends(&self) -> [f64; 2] {
        let wanted = quantile_95(self.pairs - 1.0);
        let here = self.root(0.0);
        [-1.0, 1.0].map(|side| {
            // Above 0 inside of the interval.
            let mut before = [0.0, wanted + side * here];
            if before[1] <= 0.0 {
                return 0.0;
            }
            let (mut low, mut high) = (0.0, FARTHEST);
            let mut distance = (before[1] * self.deviation).min(FARTHEST);
            for _ in 0..100 {
                let found = wanted + side * self.root(side * distance);
                if found > 0.0 && distance >= FARTHEST {
                    return side * f64::INFINITY;
                }
                *if found > 0.0 { &mut low } else { &mut high } = distance;
                let slope = (found - before[1]) / (distance - before[0]);
                before = [distance, found];
                // The secant of the last two points.
                let next = distance - found / slope;
                distance = if next > low && next < high {
                    next
                } else if high < FARTHEST {
                    f64::midpoint(low, high)
                } else {
                    (2.0 * distance).min(FARTHEST)
                };
                if (distance - before[0]).abs() < ROUNDING * self.deviation {
                    break;
                }
            }
            side * distance
        })
    }

    /// The probability that the figure is larger than it would be with this shift. A degree of freedom for each game
    /// is closest to the sign test: 99.93 % after ten pairs that were all won, where that has 1 − 2⁻¹⁰.
    pub(super) fn superiority(&self, shift: f64) -> f64 {
        superiority(as_normal(self.root(shift), 2.0 * self.pairs - 1.0), 1.0)
    }
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
