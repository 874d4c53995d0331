//! Square matrices, as far as the ratings need them. `nalgebra` would add a fifth to the CPU time of a first build,
//! `faer` nearly as much again.

use std::ops::Range;

use crate::threads;

/// Rows that are solved side by side: a row of the factor is then read from memory once for all of them.
const TOGETHER: usize = 8;

/// Tiles of this size are mirrored one after the other.
const TILE: usize = 32;

/// Columns of a factor that are computed at a time.
const PANEL: usize = 64;

/// A smaller system is solved before a thread has been started.
const LARGE: usize = 200;

/// A pivot below this share of its diagonal element is a rounding error.
const SINGULAR: f64 = 1e-14;

#[derive(Clone, Debug)]
pub(super) struct Square {
    size: usize,
    cells: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Triangle {
    Lower,
    Upper,
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

    /// Multiplies variances by their factors, and keeps the correlations.
    pub(super) fn scale_each(&mut self, factors: &[f64]) {
        let roots: Vec<f64> = factors.iter().map(|factor| factor.sqrt()).collect();
        for (index, cell) in self.cells.iter_mut().enumerate() {
            *cell *= roots[index / self.size] * roots[index % self.size];
        }
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.size..(row + 1) * self.size]
    }

    fn transpose(&mut self) {
        self.mirrored(|cells, [lower, upper]| cells.swap(lower, upper));
    }

    /// Calls `work` for every cell below the diagonal, with its place and that of its mirror image. Tile by tile: in
    /// a column every cell would be in another page of memory.
    fn mirrored(&mut self, work: impl Fn(&mut [f64], [usize; 2])) {
        let size = self.size;
        for top in (0..size).step_by(TILE) {
            for left in (0..=top).step_by(TILE) {
                for row in top..size.min(top + TILE) {
                    for column in left..row.min(left + TILE) {
                        work(&mut self.cells, [row * size + column, column * size + row]);
                    }
                }
            }
        }
    }

    /// Makes it symmetric.
    pub(super) fn mirror(&mut self, by: Triangle) {
        match by {
            Triangle::Lower => self.mirrored(|cells, [lower, upper]| cells[upper] = cells[lower]),
            Triangle::Upper => self.mirrored(|cells, [lower, upper]| cells[lower] = cells[upper]),
        }
    }

    /// The lower factor; `None` if it is not positive definite.
    pub(super) fn cholesky(&self) -> Option<Factor> {
        let size = self.size;
        let mut lower = Self::zero(size);
        for start in (0..size).step_by(PANEL) {
            let end = size.min(start + PANEL);
            let (above, below) = lower.cells.split_at_mut(end * size);
            for row in start..end {
                let (known, own) = above.split_at_mut(row * size);
                let own = &mut own[..size];
                self.eliminate(row, start..row, own, known);
                let rest = self.at(row, row) - dot(&own[..row], &own[..row]);
                if rest <= SINGULAR * self.at(row, row) || rest.is_nan() {
                    return None;
                }
                own[row] = rest.sqrt();
            }
            // The rows below need the same columns of the factor, and nothing of each other.
            let threads = threads_for(size - end);
            threads::for_each_chunk(threads, below, TOGETHER * size, |number, rows| {
                for (place, own) in rows.chunks_exact_mut(size).enumerate() {
                    let row = end + number * TOGETHER + place;
                    self.eliminate(row, start..end, own, above);
                }
            });
        }
        Some(Factor(lower))
    }

    /// Computes some cells of a row of the factor. `known` has the rows whose numbers are given.
    fn eliminate(&self, row: usize, columns: Range<usize>, own: &mut [f64], known: &[f64]) {
        for column in columns {
            let other = &known[column * self.size..][..=column];
            let rest = self.at(row, column) - dot(&own[..column], &other[..column]);
            own[column] = rest / other[column];
        }
    }
}

/// A lower triangle L of the matrix L Lᵀ.
pub(super) struct Factor(Square);

impl Factor {
    pub(super) fn solve(&self, mut right: Vec<f64>) -> Vec<f64> {
        self.forward(&mut right, self.0.size);
        self.backward(&mut right, 0);
        right
    }

    /// Multiplies the first `end` cells of each row by the inverse of the lower triangle.
    fn forward(&self, rows: &mut [f64], end: usize) {
        let lower = &self.0;
        for row in 0..end {
            let factors = &lower.row(row)[..row];
            for right in rows.chunks_exact_mut(lower.size) {
                let known = dot(factors, right);
                right[row] = (right[row] - known) / lower.at(row, row);
            }
        }
    }

    /// Multiplies the cells from `start` on of each row by the inverse of the upper triangle; the others are
    /// worthless then.
    fn backward(&self, rows: &mut [f64], start: usize) {
        let lower = &self.0;
        let mut end = lower.size;
        while end > start {
            // Four rows of the factor at a time: each value is read and written once for all of them.
            let first = end.saturating_sub(4).max(start);
            for right in rows.chunks_exact_mut(lower.size) {
                for row in (first..end).rev() {
                    let solved = right[row] / lower.at(row, row);
                    right[row] = solved;
                    let factors = &lower.row(row)[first..row];
                    for (value, factor) in right[first..row].iter_mut().zip(factors) {
                        *value -= factor * solved;
                    }
                }
                if end - first < 4 {
                    continue;
                }
                let factors = [3, 2, 1, 0].map(|row| &lower.row(first + row)[start..first]);
                let solved = [3, 2, 1, 0].map(|row| right[first + row]);
                let values = &mut right[start..first];
                for (place, value) in values.iter_mut().enumerate() {
                    for (factors, solved) in factors.iter().zip(solved) {
                        *value -= factors[place] * solved;
                    }
                }
            }
            end = first;
        }
    }

    /// `H⁻¹ M H⁻¹` for this matrix H and a symmetric M.
    pub(super) fn sandwich(&self, mut filling: Square) -> Square {
        // With H = L Lᵀ it is L⁻ᵀ (L⁻¹ M L⁻ᵀ) L⁻¹. What is in parentheses and the whole are symmetric: half of each
        // is enough.
        let size = self.0.size;
        self.rows_together(&mut filling, |rows, _| self.forward(rows, size));
        filling.transpose();
        self.rows_together(&mut filling, |rows, [_, end]| self.forward(rows, end));
        filling.mirror(Triangle::Lower);
        self.rows_together(&mut filling, |rows, _| self.backward(rows, 0));
        filling.transpose();
        self.rows_together(&mut filling, |rows, [start, _]| self.backward(rows, start));
        filling.mirror(Triangle::Upper);
        filling
    }

    /// `work` gets consecutive rows, the number of the first, and that after the last.
    fn rows_together(&self, rows: &mut Square, work: impl Fn(&mut [f64], [usize; 2]) + Sync) {
        let size = (TOGETHER * rows.size).max(1);
        threads::for_each_chunk(
            threads_for(rows.size),
            &mut rows.cells,
            size,
            |number, rows| {
                let start = number * TOGETHER;
                work(rows, [start, self.0.size.min(start + TOGETHER)]);
            },
        );
    }
}

fn threads_for(rows: usize) -> usize {
    if rows < LARGE {
        1
    } else {
        threads::processors()
    }
}

/// The scalar product. Eight sums run side by side, for SIMD; their order is the same everywhere.
pub(super) fn dot(left: &[f64], right: &[f64]) -> f64 {
    const LANES: usize = 8;
    let count = left.len().min(right.len());
    let (left, right) = (&left[..count], &right[..count]);
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (left, right) in left.iter().zip(right) {
        for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += left * right;
        }
    }
    let rest = left_rest.iter().zip(right_rest);
    let rest: f64 = rest.map(|(left, right)| left * right).sum();
    sums.iter().sum::<f64>() + rest
}
