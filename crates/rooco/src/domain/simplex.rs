//! W = {w : w_i ≥ 0, Σ w_i = 1}.

use super::Domain;
use crate::error::{Error, Result};
use crate::interval::Interval;
use crate::kernel;
use crate::row::Features;

/// The probability simplex in d dimensions: mixtures, portfolios, weights of experts.
///
/// Π(w)_i = max(w_i - θ, 0), with the one θ that makes the sum 1. If the projection has k positive coordinates, they are the k
/// largest of w, and θ_k = (their sum - 1)/k; k is the largest number for which the k-th largest w_i exceeds θ_k. So one
/// sort finds θ exactly, O(d log d).
///
/// A linear or a convex function is largest at a vertex e_i: max ⟨g, w⟩ = max g_i, the farthest point from c is at distance
/// √(‖c‖² + 1 - 2·min c_i), and D = √2 (0 for d = 1).
#[derive(Clone, Copy, Debug)]
pub struct Simplex {
    dim: usize,
}

impl Simplex {
    /// The simplex in `dim` ≥ 1 dimensions.
    pub fn new(dim: usize) -> Result<Self> {
        if dim == 0 {
            return Err(Error::EmptyDomain("the simplex has no point in dimension 0; say how many coordinates w has".into()));
        }
        Ok(Simplex { dim })
    }
}

/// Replaces w by the nearest non-negative vector with sum `total` > 0.
pub(super) fn project_on_simplex(w: &mut [f64], total: f64) {
    let mut sorted = w.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let Some(&largest) = sorted.first() else { return };
    // Only differences to the largest coordinate matter; taking it off first keeps the digits of the sum.
    let mut sum = 0.0;
    let mut theta = 0.0;
    for (k, &v) in sorted.iter().enumerate() {
        sum += v - largest;
        let candidate = (sum - total) / (k + 1) as f64;
        if v - largest <= candidate {
            break;
        }
        theta = candidate;
    }
    w.iter_mut().for_each(|w| *w = ((*w - largest) - theta).max(0.0));
}

impl Domain for Simplex {
    fn project(&self, w: &mut [f64]) {
        project_on_simplex(w, 1.0);
    }

    fn diameter(&self) -> f64 {
        if self.dim == 1 { 0.0 } else { std::f64::consts::SQRT_2 }
    }

    fn radius_from(&self, c: &[f64]) -> f64 {
        let least = c.iter().copied().fold(f64::INFINITY, f64::min);
        (kernel::dot(c, c) + 1.0 - 2.0 * least).max(0.0).sqrt()
    }

    fn support(&self, g: &[f64]) -> f64 {
        g.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    // At the vertex e_i: ⟨g, e_i - w⟩ + (m/2)(‖w‖² + 1 - 2w_i).
    fn curved_support(&self, g: &[f64], m: f64, w: &[f64]) -> f64 {
        let best = g.iter().zip(w).map(|(g, w)| g - m * w).fold(f64::NEG_INFINITY, f64::max);
        best - kernel::dot(g, w) + 0.5 * m * (kernel::dot(w, w) + 1.0)
    }

    fn reach(&self) -> f64 {
        1.0
    }

    fn score_range(&self, x: Features<'_>) -> Interval {
        // Coordinates that x does not store are zeros, and a vertex may sit there.
        let start = if x.values().len() < self.dim { 0.0 } else { f64::NAN };
        let fold = |pick: fn(f64, f64) -> f64| x.values().iter().copied().fold(start, pick);
        Interval { lo: fold(f64::min), hi: fold(f64::max) }
    }

    fn dim(&self) -> Option<usize> {
        Some(self.dim)
    }

    fn name(&self) -> String {
        format!("simplex in {} dimensions", self.dim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_projections() {
        let project = |mut w: Vec<f64>| {
            Simplex::new(w.len()).unwrap().project(&mut w);
            w
        };
        assert_eq!(project(vec![0.5, 0.5]), [0.5, 0.5]);
        assert_eq!(project(vec![3.0, 0.0]), [1.0, 0.0]);
        assert_eq!(project(vec![-5.0]), [1.0]);
        // Huge equal coordinates do not lose the sum.
        assert_eq!(project(vec![1e20, 1e20]), [0.5, 0.5]);
        assert!(matches!(Simplex::new(0), Err(Error::EmptyDomain(_))));
        let s = Simplex::new(3).unwrap().score_range(Features::Sparse { index: &[1, 2], value: &[2.0, 3.0] });
        assert_eq!((s.lo, s.hi), (0.0, 3.0));
    }
}
