//! Squared hinge loss φ(p, y) = ½·max(0, 1 - yp)².

use super::{Interval, Pointwise, side};

/// φ(p, y) = ½·max(0, 1 - m)² with the margin m = yp, y = ±1 (y > 0 counts as +1, y ≤ 0 as -1).
///
/// φ' = -y·max(0, 1 - m); φ'' is 1 for m < 1 and 0 for m > 1. With |⟨w, x⟩| ≤ BR: G = |weight|·B(1 + BR), β = |weight|·B².
///
/// About λ: only rows whose margin stays below 1 on all of W are certain to curve (all of them, if BR ≤ 1). Otherwise add L2.
/// Each row is convex if its weight is positive. With corrected labels rows are not convex: see
/// [`NoisyLabels`](super::NoisyLabels).
#[derive(Clone, Copy, Debug, Default)]
pub struct SquaredHinge;

impl Pointwise for SquaredHinge {
    #[inline]
    fn value(&self, p: f64, y: f64) -> f64 {
        let short = 1.0 - side(y) * p;
        // Written so that NaN stays NaN.
        if short <= 0.0 { 0.0 } else { 0.5 * short * short }
    }
    #[inline]
    fn slope(&self, p: f64, y: f64) -> f64 {
        let y = side(y);
        let short = 1.0 - y * p;
        if short <= 0.0 { 0.0 } else { -y * short }
    }
    fn curvature(&self, p: Interval, y: f64) -> (f64, f64) {
        let (lo, hi) = margins(p, side(y));
        if hi <= 1.0 {
            (1.0, 1.0)
        } else if lo >= 1.0 {
            (0.0, 0.0)
        } else {
            (0.0, 1.0)
        }
    }
    fn kinks(&self, y: f64) -> Vec<f64> {
        vec![side(y)]
    }
    fn name(&self) -> String {
        "squared hinge".into()
    }
}

/// The range of the margin yp.
pub(super) fn margins(p: Interval, y: f64) -> (f64, f64) {
    if y > 0.0 { (p.lo, p.hi) } else { (-p.hi, -p.lo) }
}
