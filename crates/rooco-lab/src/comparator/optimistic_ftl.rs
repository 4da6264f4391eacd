//! Optimistic follow-the-leader of Sachs, Hadiji, van Erven and Guzmán.

use super::{Round, Update, state};

/// w_t = Π((Σ_{s<t}(λw_s - g_s) - M_t)/(λ(t-1))), M_t = g_{t-1} (Sachs et al. 2022, Theorem 7). It knows λ only.
///
/// *Memory* 3d. *Rows that are not convex*: the surrogate losses ⟨g, w⟩ + (λ/2)‖w - w_s‖² lie below the rows only if every
/// row is λ-strongly convex.
pub struct OptimisticFtl {
    lambda: f64,
    w: Vec<f64>,
    sum: Vec<f64>,
}

impl OptimisticFtl {
    /// λ.
    pub fn new(w1: Vec<f64>, lambda: f64) -> Self {
        OptimisticFtl { lambda, sum: vec![0.0; w1.len()], w: w1 }
    }
}

impl Update for OptimisticFtl {
    fn play(&self) -> &[f64] {
        &self.w
    }
    fn learn(&mut self, r: &Round<'_>) {
        let t = r.t as f64;
        for i in 0..self.w.len() {
            self.sum[i] += self.lambda * self.w[i] - r.g[i];
            self.w[i] = (self.sum[i] - r.g[i]) / (self.lambda * t);
        }
        r.domain.project(&mut self.w);
    }
    state!(w, sum);
}
