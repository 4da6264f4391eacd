//! W = {w : Σ|w_i| ≤ R}.

use super::Domain;
use super::simplex::project_on_simplex;
use crate::error::{Error, Result};
use crate::interval::Interval;
use crate::kernel;
use crate::row::Features;

/// The L1 ball of radius R around the origin, in any dimension: the set that makes w sparse.
///
/// Outside, the nearest point keeps the signs and has Σ|w_i| = R, so |w| is projected on the simplex of total R and the signs
/// are put back: Π(w)_i = sign(w_i)·max(|w_i| - θ, 0).
///
/// A linear or a convex function is largest at a vertex ±R·e_i: max ⟨g, w⟩ = R·max|g_i|, the farthest point from c is at
/// distance √(‖c‖² + R² + 2R·max|c_i|), and D = 2R.
#[derive(Clone, Copy, Debug)]
pub struct L1Ball {
    radius: f64,
}

impl L1Ball {
    /// The L1 ball of radius R > 0.
    pub fn new(radius: f64) -> Result<Self> {
        Ok(L1Ball { radius: Error::positive("the radius", radius)? })
    }

    /// R.
    pub fn radius(&self) -> f64 {
        self.radius
    }
}

/// max|v_i|.
fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m, v| v.abs().max(m))
}

impl Domain for L1Ball {
    fn project(&self, w: &mut [f64]) {
        if w.iter().map(|w| w.abs()).sum::<f64>() <= self.radius {
            return;
        }
        let mut size: Vec<f64> = w.iter().map(|w| w.abs()).collect();
        project_on_simplex(&mut size, self.radius);
        w.iter_mut().zip(size).for_each(|(w, size)| *w = size.copysign(*w));
    }

    fn diameter(&self) -> f64 {
        2.0 * self.radius
    }

    fn radius_from(&self, c: &[f64]) -> f64 {
        let r = self.radius;
        (kernel::dot(c, c) + r * r + 2.0 * r * largest(c)).sqrt()
    }

    fn support(&self, g: &[f64]) -> f64 {
        self.radius * largest(g)
    }

    // At the vertex ±R·e_i: ⟨g, v - w⟩ + (m/2)(‖w‖² + R² - 2⟨v, w⟩).
    fn curved_support(&self, g: &[f64], m: f64, w: &[f64]) -> f64 {
        let best = g.iter().zip(w).map(|(g, w)| (g - m * w).abs()).fold(0.0, f64::max);
        self.radius * best - kernel::dot(g, w) + 0.5 * m * (kernel::dot(w, w) + self.radius * self.radius)
    }

    fn reach(&self) -> f64 {
        self.radius
    }

    fn score_range(&self, x: Features<'_>) -> Interval {
        let r = self.radius * largest(x.values());
        Interval { lo: -r, hi: r }
    }

    fn name(&self) -> String {
        format!("L1 ball of radius {}", self.radius)
    }
}
