//! Labels that were flipped with known probabilities: a loss whose mean over the flips is the loss on the clean label.

use super::two_labels::TwoLabels;
use super::{Interval, Pointwise, side};
use crate::error::{Error, Result};

/// The observed label y differs from the true one with probability ρ₊ (if the truth is +1) or ρ₋ (if it is -1):
///
/// φ̃(p, y) = [(1 - ρ_{-y})·φ(p, y) - ρ_y·φ(p, -y)] / (1 - ρ₊ - ρ₋)
///
/// **Unbiased.** Let the truth be +1. Then y = +1 with probability 1 - ρ₊, and -1 with ρ₊, so with Δ = 1 - ρ₊ - ρ₋ the mean of Δ·φ̃ is
/// (1-ρ₊)[(1-ρ₋)φ(p, 1) - ρ₊φ(p, -1)] + ρ₊[(1-ρ₊)φ(p, -1) - ρ₋φ(p, 1)] = [(1-ρ₊)(1-ρ₋) - ρ₊ρ₋]·φ(p, 1) = Δ·φ(p, 1).
///
/// **Curvature.** Write φ̃ = c·φ(p, y) - d·φ(p, -y), d = ρ_y/Δ, c = 1 + d. Where φ'' does not see the label (logistic,
/// squared), φ̃'' = (c - d)φ'' = φ'': the rows stay convex, β and λ are those of φ, and only G grows (to |weight|·B(σ(BR) + d) for
/// logistic). The squared and the smoothed hinge lose convexity: φ̃'' = -d (or -d/γ) where only the other label's loss curves, and c
/// where only this one's does. Then only the mean over many rows curves upwards: its λ is that of the clean loss in expectation, and L2 makes it certain.
///
/// The rates of ε-label-differential privacy are ρ₊ = ρ₋ = 1/(1 + e^ε): see [`private`](Self::private).
#[derive(Clone, Copy, Debug)]
pub struct NoisyLabels<P> {
    inner: P,
    rho_plus: f64,
    rho_minus: f64,
}

impl<P: Pointwise> NoisyLabels<P> {
    /// ρ₊ and ρ₋ in [0, 1) with ρ₊ + ρ₋ < 1; at 1 the label says nothing.
    pub fn new(inner: P, rho_plus: f64, rho_minus: f64) -> Result<Self> {
        for (name, value) in [("ρ₊", rho_plus), ("ρ₋", rho_minus)] {
            if !(0.0..1.0).contains(&value) {
                return Err(Error::Constant { name, value, must: "a probability below 1" });
            }
        }
        if rho_plus + rho_minus >= 1.0 {
            return Err(Error::Constant {
                name: "ρ₊ + ρ₋",
                value: rho_plus + rho_minus,
                must: "below 1: at 1 the observed labels carry no information, above it swap the labels",
            });
        }
        Ok(NoisyLabels { inner, rho_plus, rho_minus })
    }

    /// Labels randomised for ε-label-differential privacy: kept with probability e^ε/(1 + e^ε), else flipped.
    pub fn private(inner: P, epsilon: f64) -> Result<Self> {
        let rho = 1.0 / (1.0 + Error::positive("ε", epsilon)?.exp());
        Self::new(inner, rho, rho)
    }

    /// φ.
    pub(crate) fn inner(&self) -> &P {
        &self.inner
    }

    /// (a, b) with φ̃(p, y) = a·φ(p, +1) + b·φ(p, -1).
    pub(crate) fn parts(&self, y: f64) -> (f64, f64) {
        let pair = self.pair(y);
        (pair.a, pair.b)
    }

    #[inline]
    fn pair(&self, y: f64) -> TwoLabels<'_, P> {
        let delta = 1.0 - self.rho_plus - self.rho_minus;
        let y = side(y);
        let (a, b) = if y > 0.0 { (1.0 - self.rho_minus, -self.rho_plus) } else { (-self.rho_minus, 1.0 - self.rho_plus) };
        // A label that is NaN makes both NaN.
        TwoLabels { inner: &self.inner, a: a * y.abs() / delta, b: b * y.abs() / delta }
    }
}

impl<P: Pointwise> Pointwise for NoisyLabels<P> {
    #[inline]
    fn value(&self, p: f64, y: f64) -> f64 {
        self.pair(y).value(p)
    }
    #[inline]
    fn slope(&self, p: f64, y: f64) -> f64 {
        self.pair(y).slope(p)
    }
    fn curvature(&self, p: Interval, y: f64) -> (f64, f64) {
        self.pair(y).curvature(p)
    }
    fn steepest(&self, p: Interval, y: f64) -> f64 {
        self.pair(y).steepest(p)
    }
    fn kinks(&self, _: f64) -> Vec<f64> {
        [self.inner.kinks(1.0), self.inner.kinks(-1.0)].concat()
    }
    fn curvature_ignores_label(&self) -> bool {
        self.inner.curvature_ignores_label()
    }
    fn is_quadratic(&self) -> bool {
        self.inner.is_quadratic()
    }
    fn name(&self) -> String {
        format!("{} with noisy labels, ρ₊ = {}, ρ₋ = {}", self.inner.name(), self.rho_plus, self.rho_minus)
    }
}
