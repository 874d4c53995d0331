//! Square matrices, as far as the ratings need them. `nalgebra` would add a fifth to the CPU time of a first build,
//! `faer` nearly as much again.

/// A pivot below this share of its diagonal element is a rounding error.
const SINGULAR: f64 = 1e-14;

/// Of the symmetric ones to be factorised only the lower triangle is read.
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

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.size..(row + 1) * self.size]
    }

    /// The lower factor; `None` if it is not positive definite.
    pub(super) fn cholesky(&self) -> Option<Factor> {
        let size = self.size;
        let mut lower = Self::zero(size);
        for row in 0..size {
            let (known, own) = lower.cells.split_at_mut(row * size);
            for column in 0..row {
                let other = &known[column * size..][..=column];
                let rest = self.at(row, column) - dot(&own[..column], &other[..column]);
                own[column] = rest / other[column];
            }
            let rest = self.at(row, row) - dot(&own[..row], &own[..row]);
            if rest <= SINGULAR * self.at(row, row) || rest.is_nan() {
                return None;
            }
            own[row] = rest.sqrt();
        }
        Some(Factor(lower))
    }
}

/// A lower triangle L of the matrix L Lᵀ.
pub(super) struct Factor(Square);

impl Factor {
    pub(super) fn inverse(&self) -> Square {
        let size = self.0.size;
        let mut inverse = Square::zero(size);
        for (row, cells) in inverse.cells.chunks_exact_mut(size.max(1)).enumerate() {
            cells[row] = 1.0;
            // The cells before this one are those of other rows.
            self.solve(cells, row);
        }
        for row in 0..size {
            for column in 0..row {
                inverse.cells[row * size + column] = inverse.at(column, row);
            }
        }
        inverse
    }

    /// Multiplies a vector, whose cells before `start` are 0, by the inverse, from that cell on.
    pub(super) fn solve(&self, right: &mut [f64], start: usize) {
        let Self(lower) = self;
        for row in start..lower.size {
            let factors = &lower.row(row)[start..row];
            right[row] = (right[row] - dot(factors, &right[start..])) / lower.at(row, row);
        }
        for row in (start..lower.size).rev() {
            right[row] /= lower.at(row, row);
            let (right, rest) = right[start..].split_at_mut(row - start);
            for (value, factor) in right.iter_mut().zip(&lower.row(row)[start..]) {
                *value -= factor * rest[0];
            }
        }
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
