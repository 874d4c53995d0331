//! Sums over all pairings, which become a symmetric matrix over all parameters.

use super::{Fit, LocalSquare, Pairing};
use crate::tournament::ratings::matrix::{Square, Triangle};

/// What is summed up. The diagonal and the columns of the parameters that all games share get something from every pairing: they
/// are apart until all has been added, because in the matrix each of their cells is in a page of memory of its own.
pub(super) struct Sums {
    /// What two bots have together.
    square: Square,
    /// What each bot has by itself.
    diagonal: Vec<f64>,
    /// What each bot has together with the advantage and with the draw parameter.
    shared: [Vec<f64>; 2],
    /// The squares of these two, and their product.
    ends: [[f64; 2]; 2],
    /// Their indices.
    indices: [Option<usize>; 2],
}

impl Sums {
    pub(super) fn new(fit: &Fit<'_>) -> Self {
        let bots = fit.groups.len();
        Self {
            square: Square::zero(fit.parameters),
            diagonal: vec![0.0; bots],
            shared: [vec![0.0; bots], vec![0.0; bots]],
            ends: [[0.0; 2]; 2],
            indices: [fit.advantage, fit.drawing],
        }
    }

    /// Adds a symmetric matrix over the parameters of a pairing.
    pub(super) fn add(&mut self, pairing: &Pairing<'_>, of_pairing: &LocalSquare) {
        let bots = pairing.bots.map(|bot| bot as usize);
        let [low, high] = bots;
        self.square.add(low, high, of_pairing[0][1]);
        for (seat, bot) in bots.into_iter().enumerate() {
            self.diagonal[bot] += of_pairing[seat][seat];
            for (column, sums) in self.shared.iter_mut().enumerate() {
                sums[bot] += of_pairing[seat][2 + column];
            }
        }
        for (row, sums) in self.ends.iter_mut().enumerate() {
            for (column, sum) in sums.iter_mut().enumerate() {
                *sum += of_pairing[2 + row][2 + column];
            }
        }
    }

    /// The whole matrix.
    pub(super) fn into_square(self) -> Square {
        let Self {
            mut square,
            diagonal,
            shared,
            ends,
            indices,
        } = self;
        for (bot, sum) in diagonal.into_iter().enumerate() {
            square.add(bot, bot, sum);
        }
        for (index, sums) in indices.into_iter().zip(shared) {
            for (bot, sum) in sums.into_iter().enumerate() {
                if let Some(index) = index {
                    square.add(bot, index, sum);
                }
            }
        }
        for (row, sums) in indices.into_iter().zip(ends) {
            for (column, sum) in indices.into_iter().zip(sums) {
                if let (Some(row), Some(column)) = (row, column)
                    && row <= column
                {
                    square.add(row, column, sum);
                }
            }
        }
        square.mirror(Triangle::Upper);
        square
    }
}
