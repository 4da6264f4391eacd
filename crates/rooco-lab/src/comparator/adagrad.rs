//! Diagonal AdaGrad.

use super::{Round, Update, state};

/// S_i += g_i², w_i ← w_i - (D/√(2d))·g_i/√S_i, then Π (Duchi, Hazan and Singer 2011, with the Euclidean projection).
///
/// *Memory* 2d. *Rows that are not convex*: the proof needs f(w_t) - f(w*) ≤ ⟨g_t, w_t - w*⟩ and is void; regret of order √T.
pub struct AdaGrad {
    rate: f64,
    w: Vec<f64>,
    squares: Vec<f64>,
}

impl AdaGrad {
    /// `diameter` is D.
    pub fn new(w1: Vec<f64>, diameter: f64) -> Self {
        let d = w1.len();
        AdaGrad { rate: diameter / (2.0 * d as f64).sqrt(), squares: vec![0.0; d], w: w1 }
    }
}

impl Update for AdaGrad {
    fn play(&self) -> &[f64] {
        &self.w
    }
    fn learn(&mut self, r: &Round<'_>) {
        for ((w, s), g) in self.w.iter_mut().zip(&mut self.squares).zip(r.g) {
            *s += g * g;
            if *s > 0.0 {
                *w -= self.rate * g / s.sqrt();
            }
        }
        r.domain.project(&mut self.w);
    }
    state!(w, squares);
}
