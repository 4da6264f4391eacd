//! What was known before: Garber, Korcia and Levy (ICML 2020), the first bounds for random order with non-convex rows.
//!
//! Their constants are not known to us (only the abstracts and the paper's own account of them could be read), so these are rates and not
//! bounds: right sides with the constant 1, to be put beside ours for how they grow. They enter no guarantee.

use super::Constants;

/// O((dG²/λ³)·log T) for smooth losses with a strongly convex sum, with constant 1. `dim` is d. In units where β = 1, as their statement is.
pub fn garber_strongly_convex(c: &Constants, dim: usize) -> f64 {
    let (g, lambda) = (c.g.value, c.lambda.value);
    dim as f64 * g * g / lambda.powi(3) * c.t().ln()
}

/// O(d·T^(3/4)) for a sum that is only convex, with constant 1.
pub fn garber_convex(c: &Constants, dim: usize) -> f64 {
    dim as f64 * c.t().powf(0.75)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guarantee::{theorem_1, theorem_5};

    /// Ours do not see the dimension, and λ only once.
    #[test]
    fn the_dimension_and_the_curvature_count_less_in_ours() {
        let at = |lambda: f64| Constants::given(1.0, 1.0, lambda, 2.0, 1_000_000);
        let known = [garber_strongly_convex(&at(0.1), 10), garber_strongly_convex(&at(0.1), 1000)];
        assert!((known[1] / known[0] - 100.0).abs() < 1e-9);
        let steep = garber_strongly_convex(&at(0.01), 10) / known[0];
        let ours = theorem_1(&at(0.01)).bound / theorem_1(&at(0.1)).bound;
        assert!((steep - 1000.0).abs() < 1e-6 && (ours - 10.0).abs() < 1e-9);
        assert!(theorem_5(&at(0.1), 10.0, None).bound < known[0]);
        let convex = |t: u64| garber_convex(&Constants::given(1.0, 1.0, 0.0, 1.0, t), 3);
        assert!((convex(1_0000) / convex(1) - 1000.0).abs() < 1e-9);
    }
}
