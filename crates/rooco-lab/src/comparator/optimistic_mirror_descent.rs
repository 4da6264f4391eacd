//! Optimistic (Euclidean) mirror descent.

use super::{Round, Update, distance_squared, state};

/// w_t = Π(u_t - η_t·m_t), u_{t+1} = Π(u_t - η_t·g_t), m_t = g_{t-1} (Rakhlin and Sridharan 2013; for random order Chen et al. 2024).
///
/// λ > 0: η_t = 2/(λt). λ = 0: η_t = D/√(4G² + Σ‖g_s - m_s‖²).
/// *Memory* 3d. *Rows that are not convex*: Chen et al. need the mean of the *unseen* rows to be convex in every round.
pub struct OptimisticMirrorDescent {
    lambda: f64,
    diameter: f64,
    w: Vec<f64>,
    u: Vec<f64>,
    hint: Vec<f64>,
    /// 4G² + Σ‖g - m‖².
    total: [f64; 1],
}

impl OptimisticMirrorDescent {
    /// λ = 0 asks for the steps of the convex case.
    pub fn new(w1: Vec<f64>, lambda: f64, diameter: f64, g: f64) -> Self {
        let hint = vec![0.0; w1.len()];
        OptimisticMirrorDescent { lambda, diameter, w: w1.clone(), u: w1, hint, total: [4.0 * g * g] }
    }

    fn eta(&self, t: u64) -> f64 {
        if self.lambda > 0.0 { 2.0 / (self.lambda * t as f64) } else { self.diameter / self.total[0].sqrt() }
    }
}

impl Update for OptimisticMirrorDescent {
    fn play(&self) -> &[f64] {
        &self.w
    }
    fn learn(&mut self, r: &Round<'_>) {
        let eta = self.eta(r.t);
        self.u.iter_mut().zip(r.g).for_each(|(u, g)| *u -= eta * g);
        r.domain.project(&mut self.u);
        self.total[0] += distance_squared(r.g, &self.hint);
        self.hint.copy_from_slice(r.g);
        let eta = self.eta(r.t + 1);
        for i in 0..self.w.len() {
            self.w[i] = self.u[i] - eta * self.hint[i];
        }
        r.domain.project(&mut self.w);
    }
    state!(w, u, hint, total);
}
