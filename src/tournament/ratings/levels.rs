//! Ratings as they are compared: those that are equal but for rounding errors are equal.

/// Ratings that differ by less, in Elo, are equal but for rounding errors.
pub(super) const EQUAL_ELO: f64 = 1e-6;

/// What to compare instead of these ratings: where one is followed by the next within a millionth of an Elo, both have the
/// level of the highest. So whoever is level with one bot is so with all that are level with that one, and no two are
/// apart because they lie at both sides of a number to which they would be rounded.
///
/// ```
/// use referee::tournament::ratings::levels;
///
/// assert_eq!(levels(&[1.5e-7, -20.0, -1.5e-7]), [1.5e-7, -20.0, 1.5e-7]);
/// ```
pub fn levels(elo: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..elo.len()).collect();
    order.sort_by(|&a, &b| elo[b].total_cmp(&elo[a]));
    let mut levels = vec![0.0; elo.len()];
    for level in order.chunk_by(|&a, &b| elo[a] - elo[b] < EQUAL_ELO) {
        for &bot in level {
            levels[bot] = elo[level[0]];
        }
    }
    levels
}
