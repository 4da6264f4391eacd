//! Squared loss φ(p, y) = ½(p - y)².

use super::{Interval, Pointwise};

/// φ(p, y) = ½(p - y)²; slope p - y, curvature 1.
///
/// With |⟨w, x⟩| ≤ BR and |y| ≤ Y: G = |weight|·B(BR + Y), β = |weight|·B².
/// λ of the sum is the smallest eigenvalue of the mean of weight·xxᵀ.
#[derive(Clone, Copy, Debug, Default)]
pub struct Squared;

impl Pointwise for Squared {
    #[inline]
    fn value(&self, p: f64, y: f64) -> f64 {
        0.5 * (p - y) * (p - y)
    }
    #[inline]
    fn slope(&self, p: f64, y: f64) -> f64 {
        p - y
    }
    fn curvature(&self, _: Interval, _: f64) -> (f64, f64) {
        (1.0, 1.0)
    }
    fn curvature_ignores_label(&self) -> bool {
        true
    }
    fn is_quadratic(&self) -> bool {
        true
    }
    fn name(&self) -> String {
        "squared".into()
    }
}
