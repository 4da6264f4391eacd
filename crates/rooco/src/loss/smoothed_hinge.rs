//! Smoothed hinge loss: the hinge max(0, 1 - yp) with its corner rounded over a width γ.

use super::squared_hinge::margins;
use super::{Interval, Pointwise, side};
use crate::error::{Error, Result};

/// With the margin m = yp, y = ±1 (y > 0 counts as +1, y ≤ 0 as -1), and a width γ > 0:
///
/// | where | φ | dφ/dm | d²φ/dm² |
/// |---|---|---|---|
/// | m ≥ 1 | 0 | 0 | 0 |
/// | 1-γ < m < 1 | (1-m)²/(2γ) | -(1-m)/γ | 1/γ |
/// | m ≤ 1-γ | 1 - m - γ/2 | -1 | 0 |
///
/// It is the infimal convolution of the hinge with m²/(2γ): below the hinge by at most γ/2. So G ≤ |weight|·B and
/// β = |weight|·B²/γ.
///
/// About λ: only rows whose margin stays in the curved piece on all of W are certain to curve: in practice none. Add L2.
/// Each row is convex if its weight is positive. With corrected labels rows are not convex.
#[derive(Clone, Copy, Debug)]
pub struct SmoothedHinge {
    gamma: f64,
}

impl SmoothedHinge {
    /// γ > 0, the width of the rounded corner. 1 is the usual choice.
    pub fn new(gamma: f64) -> Result<Self> {
        Ok(SmoothedHinge { gamma: Error::positive("γ of the smoothed hinge", gamma)? })
    }
}

impl Pointwise for SmoothedHinge {
    #[inline]
    fn value(&self, p: f64, y: f64) -> f64 {
        let m = side(y) * p;
        if m >= 1.0 {
            0.0
        } else if m <= 1.0 - self.gamma {
            1.0 - m - 0.5 * self.gamma
        } else {
            (1.0 - m) * (1.0 - m) / (2.0 * self.gamma)
        }
    }
    #[inline]
    fn slope(&self, p: f64, y: f64) -> f64 {
        let y = side(y);
        -y * ((1.0 - y * p) / self.gamma).clamp(0.0, 1.0)
    }
    fn curvature(&self, p: Interval, y: f64) -> (f64, f64) {
        let (lo, hi) = margins(p, side(y));
        let curved = 1.0 / self.gamma;
        if lo >= 1.0 - self.gamma && hi <= 1.0 {
            (curved, curved)
        } else if hi <= 1.0 - self.gamma || lo >= 1.0 {
            (0.0, 0.0)
        } else {
            (0.0, curved)
        }
    }
    fn kinks(&self, y: f64) -> Vec<f64> {
        vec![side(y), side(y) * (1.0 - self.gamma)]
    }
    fn name(&self) -> String {
        format!("smoothed hinge, γ = {}", self.gamma)
    }
}
