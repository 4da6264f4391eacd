//! Coin betting: no step size at all.

use super::{Round, Update, state};

/// Each coordinate bets: w_i = w_{1,i} + (1 + wealth_i)·θ_i/(M_i(M_i + Σ|g_i|)), θ_i = -Σg_i, wealth_i = -Σg_i(w_i - w_{1,i}),
/// M_i = largest |g_i| (Orabona and Tommasi 2017), then Π.
///
/// *Memory* 5d. *Rows that are not convex*: the wealth argument needs f(w_t) - f(u) ≤ ⟨g_t, w_t - u⟩, row by row.
pub struct CoinBetting {
    w: Vec<f64>,
    w1: Vec<f64>,
    theta: Vec<f64>,
    absolute: Vec<f64>,
    wealth: Vec<f64>,
    largest: Vec<f64>,
}

impl CoinBetting {
    /// Starts at w_1 with an endowment of 1 per coordinate.
    pub fn new(w1: Vec<f64>) -> Self {
        let zero = vec![0.0; w1.len()];
        let (theta, absolute, wealth, largest) = (zero.clone(), zero.clone(), zero.clone(), zero);
        CoinBetting { w: w1.clone(), w1, theta, absolute, wealth, largest }
    }
}

impl Update for CoinBetting {
    fn play(&self) -> &[f64] {
        &self.w
    }
    fn learn(&mut self, r: &Round<'_>) {
        for i in 0..self.w.len() {
            let g = r.g[i];
            self.largest[i] = self.largest[i].max(g.abs());
            self.absolute[i] += g.abs();
            self.theta[i] -= g;
            self.wealth[i] = (self.wealth[i] - g * (self.w[i] - self.w1[i])).max(0.0);
            let m = self.largest[i];
            if m > 0.0 {
                self.w[i] = self.w1[i] + (1.0 + self.wealth[i]) * self.theta[i] / (m * (m + self.absolute[i]));
            }
        }
        r.domain.project(&mut self.w);
    }
    state!(w, theta, absolute, wealth, largest);
}
