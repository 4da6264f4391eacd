//! The metric of a Hessian, each coordinate in the unit of its own feature.

use rooco::certificate::certain;
use rooco::kernel::dot;
use rooco::linalg::Symmetric;
use rooco::{Features, sum::UNIT};

/// A = S(H + ε)S with S the roots of the diagonal of the Hessian and H scaled to a diagonal of ones.
///
/// If the scaled H can be inverted safely, ε = 0, and what is certified holds against every linear model. Else (two features that say the
/// same) ε is as small as rounding allows, and the comparison is with the models v with Σ(s_i·v_i)² ≤ 4·Σ(s_i·w_i)².
#[derive(Clone, Debug)]
pub(super) struct Metric {
    scale: Vec<f64>,
    /// The inverse of H + ε.
    inverse: Symmetric,
    /// ε.
    epsilon: f64,
    /// The smallest eigenvalue of the true H + ε is at least this.
    least: f64,
    /// The true (H + ε)⁻¹ is at most this times the computed one.
    factor: f64,
    /// H + ε.
    lifted: Symmetric,
    /// How wrong it can be, in the spectral norm.
    error: f64,
}

/// Relative errors of the inverse stay below this; else ε > 0.
const SLACK: f64 = 0.2;

impl Metric {
    /// `amplified` ≥ 1: the sums of absolute values are at most so many times the diagonal (1 if no weight is negative). `relative` bounds
    /// the relative error of a row's curvature, beyond that of a few rounded operations. `None` if there is nothing to work with.
    pub fn new(hessian: &Symmetric, amplified: f64, relative: f64) -> Option<Self> {
        let d = hessian.dim();
        let scale: Vec<f64> = (0..d).map(|i| hessian.at(i, i)).map(|h| if h > 0.0 { h.sqrt() } else { 1.0 }).collect();
        if d == 0 || scale.iter().any(|s| !s.is_finite()) || !(amplified.is_finite() && relative.is_finite()) {
            return None;
        }
        let scaled = Self::in_units(hessian, &scale);
        let (lo, hi) = scaled.extreme_eigenvalues();
        // The entries, their sums and the inverse are wrong by a few d·2⁻⁵³ of the largest eigenvalue.
        let error = d as f64 * (128.0 * UNIT + 2.0 * relative) * amplified * hi;
        if !(lo.is_finite() && error.is_finite()) {
            return None;
        }
        let safe = lo > 0.0 && error <= SLACK * lo;
        let epsilon = if safe { 0.0 } else { 20.0 * error + (-lo).max(0.0) };
        let mut h = scaled;
        h.add_identity(epsilon);
        let inverse = h.inverse()?;
        let least = lo + epsilon - error;
        let factor = 1.0 / (1.0 - error / (lo + epsilon));
        (least > 0.0 && factor.is_finite()).then_some(Metric { scale, inverse, epsilon, least, factor, lifted: h, error })
    }

    fn in_units(a: &Symmetric, scale: &[f64]) -> Symmetric {
        let mut h = Symmetric::zeros(a.dim());
        for i in 0..a.dim() {
            for j in 0..=i {
                h.add_at(i, j, a.at(i, j) / (scale[i] * scale[j]));
            }
        }
        h
    }

    /// S.
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// λ_min(H) of the scaled H, if it is certainly positive.
    pub fn positive(&self) -> Option<f64> {
        (self.epsilon == 0.0).then_some(self.least)
    }

    /// -A⁻¹g.
    pub fn step(&self, g: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = g.iter().zip(&self.scale).map(|(g, s)| -g / s).collect();
        let mut out = vec![0.0; g.len()];
        self.inverse.times(&scaled, &mut out);
        out.iter_mut().zip(&self.scale).for_each(|(o, s)| *o /= s);
        out
    }

    /// √(gᵀA⁻¹g) at most, for a gradient that is known up to ±`error` in each coordinate.
    pub fn decrement(&self, g: &[f64], error: &[f64]) -> f64 {
        let scaled: Vec<f64> = g.iter().zip(&self.scale).map(|(g, s)| g / s).collect();
        let known = (self.factor * certain(self.inverse.form(Features::Dense(&scaled)))).sqrt();
        known + self.size_of(error) / self.least.sqrt()
    }

    /// ‖S⁻¹v‖.
    pub fn size_of(&self, v: &[f64]) -> f64 {
        v.iter().zip(&self.scale).map(|(v, s)| (v / s) * (v / s)).sum::<f64>().sqrt()
    }

    /// ½ε·(the farthest that a model of at most twice the size of w is from w)²; 0 if ε = 0.
    pub fn cost(&self, w: &[f64]) -> f64 {
        let size: f64 = w.iter().zip(&self.scale).map(|(w, s)| (w * s) * (w * s)).sum();
        if self.epsilon == 0.0 { 0.0 } else { 0.5 * self.epsilon * 9.0 * size * (1.0 + 1e-9) }
    }

    /// The gap of a quadratic with this Hessian: ½gᵀA⁻¹g.
    pub fn gap_quadratic(&self, w: &[f64], g: &[f64], error: &[f64]) -> f64 {
        // A model of zeros has nothing to be twice as large as.
        if self.epsilon > 0.0 && dot(w, w) == 0.0 {
            return f64::INFINITY;
        }
        let decrement = self.decrement(g, error);
        certain(0.5 * decrement * decrement + self.cost(w))
    }

    /// θ: N ≤ θ(H + ε) in every direction, for the share N of the rows that weigh negatively.
    pub fn largest_relative(&self, negative: &Symmetric) -> f64 {
        // The error of N is at most that of H, and H may be smaller by its own.
        match Self::in_units(negative, &self.scale).relative_to(&self.lifted) {
            Some(theta) => certain(self.factor * (theta.max(0.0) + self.error / self.least)),
            None => f64::INFINITY,
        }
    }

    /// ε.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// The models that are compared with, in words.
    pub fn against(&self) -> &'static str {
        if self.epsilon == 0.0 { WHOLE_SPACE } else { TWICE }
    }
}

/// Every linear model.
pub(super) const WHOLE_SPACE: &str = "the whole space";
/// Those with Σ(s_i·v_i)² ≤ 4·Σ(s_i·w_i)².
pub(super) const TWICE: &str = "the set of those at most twice as large as this one, each weight in the unit of its feature,";
