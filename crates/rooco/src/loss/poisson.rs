//! Poisson loss: the score is the logarithm of the predicted mean.

use super::{Interval, Pointwise};

/// Half the Poisson deviance, φ(p, y) = e^p - y - y·(p - log y) for y ≥ 0 (counts; e^p at y = 0).
///
/// φ' = e^p - y and φ'' = e^p: convex, smooth on every bounded set and on no other. With |⟨w, x⟩| ≤ BR: G = |weight|·B·max(e^{BR} - y, y - e^{-BR}),
/// β = |weight|·B²·e^{BR}, and every row curves by at least e^{-BR} along x. On the whole space β is infinite: the theorems need a
/// bounded domain. Each row is convex if its weight is positive.
#[derive(Clone, Copy, Debug, Default)]
pub struct Poisson;

impl Pointwise for Poisson {
    #[inline]
    fn value(&self, p: f64, y: f64) -> f64 {
        // y·log y is 0 at y = 0. Not below zero by a rounding error.
        let constant = if y == 0.0 { 0.0 } else { y * y.ln() - y };
        (p.exp() - y * p + constant).max(0.0) + not_below(y, 0.0)
    }
    #[inline]
    fn slope(&self, p: f64, y: f64) -> f64 {
        p.exp() - y + not_below(y, 0.0)
    }
    fn curvature(&self, p: Interval, _: f64) -> (f64, f64) {
        (p.lo.exp(), p.hi.exp())
    }
    fn curvature_ignores_label(&self) -> bool {
        true
    }
    fn name(&self) -> String {
        "poisson".into()
    }
}

/// 0, or NaN for a target that the loss has no meaning for.
#[inline]
pub(super) fn not_below(y: f64, least: f64) -> f64 {
    if y >= least { 0.0 } else { f64::NAN }
}
