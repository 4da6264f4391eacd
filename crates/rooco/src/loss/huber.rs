//! Huber loss: squared near the target, linear far from it.

use super::{Interval, Pointwise};
use crate::error::{Error, Result};

/// φ(p, y) = ½r² if |r| ≤ δ, else δ|r| - ½δ², with r = p - y.
///
/// φ' = r clamped to [-δ, δ]; φ'' is 1 for |r| < δ and 0 beyond. So G = |weight|·B·min(δ, max|r|) and β = |weight|·B².
///
/// About λ: only rows whose residual stays within δ on all of W are certain to curve; elsewhere the minorant is 0. For a
/// positive λ whatever the data, add L2. Each row is convex if its weight is positive.
#[derive(Clone, Copy, Debug)]
pub struct Huber {
    delta: f64,
}

impl Huber {
    /// δ > 0: residuals beyond it count linearly.
    pub fn new(delta: f64) -> Result<Self> {
        Ok(Huber { delta: Error::positive("δ of the Huber loss", delta)? })
    }
}

impl Pointwise for Huber {
    #[inline]
    fn value(&self, p: f64, y: f64) -> f64 {
        let r = (p - y).abs();
        if r <= self.delta { 0.5 * r * r } else { self.delta * (r - 0.5 * self.delta) }
    }
    #[inline]
    fn slope(&self, p: f64, y: f64) -> f64 {
        (p - y).clamp(-self.delta, self.delta)
    }
    fn curvature(&self, p: Interval, y: f64) -> (f64, f64) {
        let (left, right) = (y - self.delta, y + self.delta);
        if p.lo >= left && p.hi <= right {
            (1.0, 1.0)
        } else if p.hi <= left || p.lo >= right {
            (0.0, 0.0)
        } else {
            (0.0, 1.0)
        }
    }
    fn kinks(&self, y: f64) -> Vec<f64> {
        vec![y - self.delta, y + self.delta]
    }
    fn name(&self) -> String {
        format!("huber, δ = {}", self.delta)
    }
}
