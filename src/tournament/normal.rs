//! Numbers of the normal distribution.

use rand::RngExt as _;
use rand::rngs::ChaCha8Rng;

/// A number of the standard normal distribution: Box and Muller, 1958.
pub(super) fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}
