//! Square matrices, as far as the ratings need them.

/// A pivot below this share of its diagonal element is a rounding error.
const SINGULAR: f64 = 1e-14;

/// A square matrix.
#[derive(Clone, Debug)]
pub(super) struct Square {
    size: usize,
    cells: Vec<f64>,
}

impl Square {
    pub(super) fn zero(size: usize) -> Self {
        Self {
            size,
            cells: vec![0.0; size * size],
        }
    }

    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.cells[row * self.size + column]
    }

    pub(super) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.cells[row * self.size + column] += value;
    }

    pub(super) fn scale(&mut self, factor: f64) {
        self.cells.iter_mut().for_each(|cell| *cell *= factor);
    }

    /// Multiplies every variance by its factor, and keeps the correlations.
    pub(super) fn scale_each(&mut self, factors: &[f64]) {
        let roots: Vec<f64> = factors.iter().map(|factor| factor.sqrt()).collect();
        for (index, cell) in self.cells.iter_mut().enumerate() {
            *cell *= roots[index / self.size] * roots[index % self.size];
        }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.size..(row + 1) * self.size]
    }

    fn transposed(&self) -> Self {
        let cells =
            (0..self.cells.len()).map(|index| self.at(index % self.size, index / self.size));
        Self {
            size: self.size,
            cells: cells.collect(),
        }
    }

    /// The lower factor of a symmetric matrix; `None` if it is not positive definite.
    pub(super) fn cholesky(&self) -> Option<Factor> {
        let mut lower = Self::zero(self.size);
        for row in 0..self.size {
            for column in 0..=row {
                let known = dot(&lower.row(row)[..column], &lower.row(column)[..column]);
                let rest = self.at(row, column) - known;
                let value = if row > column {
                    rest / lower.at(column, column)
                } else if rest > SINGULAR * self.at(row, row) {
                    rest.sqrt()
                } else {
                    return None;
                };
                lower.add(row, column, value);
            }
        }
        Some(Factor(lower))
    }
}

/// A matrix as the product of a lower triangle and its mirror image.
pub(super) struct Factor(Square);

impl Factor {
    /// Solves the system for one right side.
    pub(super) fn solve(&self, mut right: Vec<f64>) -> Vec<f64> {
        let lower = &self.0;
        for row in 0..lower.size {
            let known = dot(&lower.row(row)[..row], &right);
            right[row] = (right[row] - known) / lower.at(row, row);
        }
        for row in (0..lower.size).rev() {
            let solved = right[row] / lower.at(row, row);
            right[row] = solved;
            for (value, factor) in right[..row].iter_mut().zip(lower.row(row)) {
                *value -= factor * solved;
            }
        }
        right
    }

    /// `H⁻¹ M H⁻¹` for this matrix H and a symmetric M.
    pub(super) fn sandwich(&self, filling: &Square) -> Square {
        // Solving the rows of M gives M H⁻¹; the columns of that are the rows of H⁻¹ M.
        self.solve_rows(&self.solve_rows(filling).transposed())
    }

    fn solve_rows(&self, rows: &Square) -> Square {
        let solved = (0..rows.size).flat_map(|row| self.solve(rows.row(row).to_vec()));
        Square {
            size: rows.size,
            cells: solved.collect(),
        }
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter()
        .zip(right)
        .map(|(left, right)| left * right)
        .sum()
}
