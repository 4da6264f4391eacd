//! Optimistic FTRL of Sachs, Hadiji, van Erven and Guzmán.

use super::{Round, Update, distance_squared, state};

/// w_t = Π(w_1 - (η_t/2)(Σ_{s<t} g_s + M_t)), M_t = g_{t-1}, η_t = D²/(ν + Σ_{s<t} η_s‖g_s - M_s‖²), ν = LD² + DG (Sachs et al. 2022,
/// Theorem 5, with the regulariser centred at w_1).
///
/// *Memory* 3d. *Rows that are not convex*: their random-order rate is for convex rows. Regret of order σ√T.
pub struct OptimisticFtrl {
    diameter: f64,
    w: Vec<f64>,
    w1: Vec<f64>,
    sum: Vec<f64>,
    hint: Vec<f64>,
    /// ν + Σ η‖g - M‖².
    total: [f64; 1],
}

impl OptimisticFtrl {
    /// D, β in the place of L, and G.
    pub fn new(w1: Vec<f64>, diameter: f64, beta: f64, g: f64) -> Self {
        let zero = vec![0.0; w1.len()];
        let total = [beta * diameter * diameter + diameter * g];
        OptimisticFtrl { diameter, w: w1.clone(), w1, sum: zero.clone(), hint: zero, total }
    }
}

impl Update for OptimisticFtrl {
    fn play(&self) -> &[f64] {
        &self.w
    }
    fn learn(&mut self, r: &Round<'_>) {
        let eta = self.diameter * self.diameter / self.total[0];
        self.total[0] += eta * distance_squared(r.g, &self.hint);
        self.sum.iter_mut().zip(r.g).for_each(|(s, g)| *s += g);
        self.hint.copy_from_slice(r.g);
        let eta = self.diameter * self.diameter / self.total[0];
        for i in 0..self.w.len() {
            self.w[i] = self.w1[i] - 0.5 * eta * (self.sum[i] + self.hint[i]);
        }
        r.domain.project(&mut self.w);
    }
    state!(w, sum, hint, total);
}
