//! Quantile (pinball) loss with its corner rounded.

use super::{Interval, Pointwise};
use crate::error::{Error, Result};

/// With r = y - p, a share τ and a width γ > 0:
///
/// | where | φ | ∂φ/∂p | ∂²φ/∂p² |
/// |---|---|---|---|
/// | r ≥ γτ | τr - ½γτ² | -τ | 0 |
/// | between | r²/(2γ) | -r/γ | 1/γ |
/// | r ≤ -γ(1-τ) | (τ-1)r - ½γ(1-τ)² | 1-τ | 0 |
///
/// The infimal convolution of the pinball loss max(τr, (τ-1)r) with r²/(2γ): below it by at most ½γ·max(τ, 1-τ)², so that its minimum is a prediction
/// that a share τ of the targets lies below, up to γ. G = |weight|·B·max(τ, 1-τ) and β = |weight|·B²/γ. The smoothness that every theorem here needs is
/// bought with γ; γ is in the unit of y, and one that is not small beside the spread of y gives an expectation instead of a quantile.
///
/// About λ: as for [`Huber`](super::Huber), only rows whose residual stays in the middle on all of W are certain to curve: add L2.
#[derive(Clone, Copy, Debug)]
pub struct Quantile {
    tau: f64,
    gamma: f64,
}

impl Quantile {
    /// 0 < τ < 1, γ > 0.
    pub fn new(tau: f64, gamma: f64) -> Result<Self> {
        if !(tau > 0.0 && tau < 1.0) {
            return Err(Error::Constant { name: "τ of the quantile loss", value: tau, must: "between 0 and 1" });
        }
        Ok(Quantile { tau, gamma: Error::positive("γ of the quantile loss", gamma)? })
    }
}

impl Pointwise for Quantile {
    #[inline]
    fn value(&self, p: f64, y: f64) -> f64 {
        let (r, tau, gamma) = (y - p, self.tau, self.gamma);
        if r >= gamma * tau {
            tau * r - 0.5 * gamma * tau * tau
        } else if r <= -gamma * (1.0 - tau) {
            (tau - 1.0) * r - 0.5 * gamma * (1.0 - tau) * (1.0 - tau)
        } else {
            r * r / (2.0 * gamma)
        }
    }
    #[inline]
    fn slope(&self, p: f64, y: f64) -> f64 {
        -((y - p) / self.gamma).clamp(self.tau - 1.0, self.tau)
    }
    fn curvature(&self, p: Interval, y: f64) -> (f64, f64) {
        let (left, right) = (y - self.gamma * self.tau, y + self.gamma * (1.0 - self.tau));
        if p.lo >= left && p.hi <= right {
            (1.0 / self.gamma, 1.0 / self.gamma)
        } else if p.hi <= left || p.lo >= right {
            (0.0, 0.0)
        } else {
            (0.0, 1.0 / self.gamma)
        }
    }
    fn kinks(&self, y: f64) -> Vec<f64> {
        vec![y - self.gamma * self.tau, y + self.gamma * (1.0 - self.tau)]
    }
    fn name(&self) -> String {
        format!("quantile {}, its corner rounded over {}", self.tau, self.gamma)
    }
}
