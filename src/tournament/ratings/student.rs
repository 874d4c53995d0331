//! Student's t distribution, by its normal approximation: D. L. Wallace, *Bounds on normal approximations
//! to Student's and the chi-square distributions*, 1959. From four degrees of freedom on, quantiles of 95 %
//! are right to 0.5 %; fewer are counted as four here.

use crate::tournament::sprt::SIGMAS_95;

/// Fewer degrees of freedom count as this many: with so few games virtual draws narrow the scatter of
/// ratings, and the intervals are wide enough.
const FEWEST: f64 = 4.0;

/// By how much u(t) is larger than the normal variable.
fn factor(freedom: f64) -> f64 {
    (8.0 * freedom + 3.0) / (8.0 * freedom + 1.0)
}

/// Half the width of the central 95 %.
pub(super) fn quantile_95(freedom: f64) -> f64 {
    let freedom = freedom.max(FEWEST);
    let u = SIGMAS_95 * factor(freedom);
    (freedom * (u * u / freedom).exp_m1()).sqrt()
}

/// The normal variable that is exceeded with the same probability as `t`.
pub(super) fn as_normal(t: f64, freedom: f64) -> f64 {
    let freedom = freedom.max(FEWEST);
    if t.is_finite() {
        t.signum() * (freedom * (t * t / freedom).ln_1p()).sqrt() / factor(freedom)
    } else {
        t
    }
}
