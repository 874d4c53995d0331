//! What a pair of games is expected to tell about the order.
//!
//! The strengths are believed to be normally distributed around the ratings, with the covariance Σ that follows from how many
//! games were played between bots of which expected scores. A pair of games adds to what is known of the
//! difference of two strengths, and through it of others; how much, does not depend on its result. What it is worth is
//! by how much it reduces the sum of the variances of all differences, each with a weight: how uncertain the order of the two
//! is, and the mean of these weights, so that the ratings of those whose order is certain become better, too.
//!
//! The weight of two bots whose ratings differ by d with the standard deviation s is φ(d/s)/s²: the probability that a
//! later estimate puts them in the wrong order is about proportional to its error and to the density φ(d/s)/s of strengths that
//! are equal, and the error's change to that of the variance by 1/s. Where the true difference d is known, the probability of the
//! wrong order is Φ(−d/s), and the weight is what it changes by with the variance: φ(d/s)·d/s³, and ratings have none.

use super::{Known, Played};
use crate::tournament::ratings::matrix::{Square, dot};

/// Elo in one unit of the natural logarithm of the odds.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// What is known before the first game, in games against an equal: as many as the ratings have virtual draws.
const PRIOR: f64 = 2.0;

/// The weight of the ratings, beside that of the order.
const WEIGHT_OF_RATINGS: f64 = 0.6;

/// See the [module](self).
pub(super) struct Worth {
    bots: usize,
    /// What a pair of games tells, by pairing.
    information: Square,
    /// Σ
    covariance: Square,
    /// See [`Worth::luck`].
    luck: f64,
    /// ΣLΣ, where the sum of the weighted variances is the trace of LΣ.
    weighted: Square,
}

impl Worth {
    /// After these games, by these strengths in Elo.
    pub(super) fn new(played: &Played, elo: &[f64], known: Known) -> Self {
        let bots = played.bots;
        let strengths: Vec<f64> = elo.iter().map(|elo| elo / ELO).collect();
        let mut information = Square::zero(bots);
        let mut curvature = Square::zero(bots);
        for a in 0..bots {
            curvature.add(a, a, PRIOR / 4.0);
            for b in 0..a {
                // Of a pair of games.
                let score = 1.0 / (1.0 + (strengths[b] - strengths[a]).exp());
                let of_pair = 2.0 * score * (1.0 - score);
                information.add(a, b, of_pair);
                information.add(b, a, of_pair);
                let known = f64::from(played.of(a, b)) * of_pair;
                curvature.add(a, a, known);
                curvature.add(b, b, known);
                curvature.add(a, b, -known);
                curvature.add(b, a, -known);
            }
        }
        // It is positive definite: its diagonal exceeds the sums of the other elements.
        let covariance = match curvature.cholesky() {
            Some(factor) => factor.inverse(),
            None => Square::zero(bots),
        };
        let luck = luck(&strengths, &covariance);
        let weights = weights(&strengths, &covariance, known);
        let mut half = Square::zero(bots);
        for row in 0..bots {
            for column in 0..bots {
                half.add(row, column, dot(covariance.row(row), weights.row(column)));
            }
        }
        let mut weighted = Square::zero(bots);
        for row in 0..bots {
            for column in 0..=row {
                let cell = dot(covariance.row(row), half.row(column));
                weighted.add(row, column, cell);
                if row > column {
                    weighted.add(column, row, cell);
                }
            }
        }
        Self {
            bots,
            information,
            covariance,
            luck,
            weighted,
        }
    }

    /// The share of the variance of the ratings that is luck, 0 to 1.
    pub(super) const fn luck(&self) -> f64 {
        self.luck
    }

    /// What a pair of games of these two is worth.
    pub(super) fn of(&self, a: usize, b: usize) -> f64 {
        let information = self.information.at(a, b);
        information * between(&self.weighted, a, b)
            / (1.0 + information * between(&self.covariance, a, b))
    }

    /// Takes into account that these two play a pair.
    pub(super) fn play(&mut self, a: usize, b: usize) {
        let information = self.information.at(a, b);
        // How far what is known of each strength moves with the difference, and the same for the weighted matrix.
        let column = |square: &Square| -> Vec<f64> {
            let rows = square.row(a).iter().zip(square.row(b));
            rows.map(|(a, b)| a - b).collect()
        };
        let (moved, weighted) = (column(&self.covariance), column(&self.weighted));
        let factor = information / (1.0 + information * between(&self.covariance, a, b));
        let square = factor * factor * between(&self.weighted, a, b);
        for row in 0..self.bots {
            for other in 0..self.bots {
                let both = moved[row] * moved[other];
                self.covariance.add(row, other, -factor * both);
                let mixed = moved[row] * weighted[other] + weighted[row] * moved[other];
                self.weighted
                    .add(row, other, square * both - factor * mixed);
            }
        }
    }
}

/// The variance of the difference of two bots.
fn between(square: &Square, a: usize, b: usize) -> f64 {
    square.at(a, a) + square.at(b, b) - square.at(a, b) - square.at(b, a)
}

/// The mean variance of an estimate about the mean of all, as a share of the variance of the estimates.
fn luck(strengths: &[f64], covariance: &Square) -> f64 {
    let bots = || 0..strengths.len();
    let count: f64 = bots().map(|_| 1.0).sum();
    let mean = strengths.iter().sum::<f64>() / count;
    let all: f64 = strengths
        .iter()
        .map(|strength| (strength - mean).powi(2))
        .sum();
    let own: f64 = bots().map(|bot| covariance.at(bot, bot)).sum();
    let common: f64 = bots()
        .map(|bot| covariance.row(bot).iter().sum::<f64>())
        .sum();
    ((own - common / count) / all.max(1e-12)).clamp(0.0, 1.0)
}

/// The matrix L: the sum of all weighted variances is the trace of LΣ.
fn weights(strengths: &[f64], covariance: &Square, known: Known) -> Square {
    let bots = strengths.len();
    let mut laplacian = Square::zero(bots);
    let mut sum = 0.0;
    let mut connect = |a: usize, b: usize, weight: f64| {
        laplacian.add(a, a, weight);
        laplacian.add(b, b, weight);
        laplacian.add(a, b, -weight);
        laplacian.add(b, a, -weight);
    };
    let mut count = 0.0;
    for a in 0..bots {
        for b in 0..a {
            let variance = between(covariance, a, b).max(1e-12);
            let distance = (strengths[a] - strengths[b]).powi(2) / variance;
            let mut weight = (-distance / 2.0).exp() / variance;
            if known == Known::Truth {
                weight *= distance.sqrt();
            }
            connect(a, b, weight);
            sum += weight;
            count += 1.0;
        }
    }
    let of_ratings = match known {
        Known::Estimates => WEIGHT_OF_RATINGS,
        Known::Truth => 0.0,
    };
    let mean = of_ratings * sum / f64::max(count, 1.0);
    for a in 0..bots {
        for b in 0..a {
            connect(a, b, mean);
        }
    }
    laplacian
}
