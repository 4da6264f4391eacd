//! Gamma loss: the score is the logarithm of the predicted mean.

use super::poisson::not_below;
use super::{Interval, Pointwise};

/// Half the gamma deviance, φ(p, y) = y·e^{-p} + p - 1 - log y for y > 0 (amounts whose spread grows with their mean).
///
/// φ' = 1 - y·e^{-p} and φ'' = y·e^{-p}. With |⟨w, x⟩| ≤ BR: G = |weight|·B·max(|1 - y·e^{BR}|, |1 - y·e^{-BR}|), β = |weight|·B²·y·e^{BR}, and every row
/// curves by at least y·e^{-BR} along x. As for [`Poisson`](super::Poisson), the theorems need a bounded domain.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gamma;

impl Pointwise for Gamma {
    #[inline]
    fn value(&self, p: f64, y: f64) -> f64 {
        (y * (-p).exp() + p - 1.0 - y.ln()).max(0.0) + not_below(y, f64::MIN_POSITIVE)
    }
    #[inline]
    fn slope(&self, p: f64, y: f64) -> f64 {
        1.0 - y * (-p).exp() + not_below(y, f64::MIN_POSITIVE)
    }
    fn curvature(&self, p: Interval, y: f64) -> (f64, f64) {
        (y * (-p.hi).exp(), y * (-p.lo).exp())
    }
    fn name(&self) -> String {
        "gamma".into()
    }
}
