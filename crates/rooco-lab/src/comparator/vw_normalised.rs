//! The normalised adaptive update in the style of Vowpal Wabbit.

use super::{Round, Update, state};

/// N_i = largest |x_i| so far (w_i shrinks when it grows), S_i += g_i², Q += c·Σ(x_i/N_i)², C += c, and
/// w_i ← w_i - η·√(C/Q)·g_i/(N_i√S_i), c = |weight| (Ross, Mineiro and Langford 2013). The importance-aware step is left out.
///
/// *Memory* 3d. *Rows that are not convex*: Vowpal Wabbit refuses negative weights, because S and C must not fall; here |weight| is
/// counted, which keeps the update defined and has no proof. Rows that are not feature vectors count as x_i = 1.
pub struct VwNormalised {
    eta: f64,
    w: Vec<f64>,
    largest: Vec<f64>,
    squares: Vec<f64>,
    /// C and Q.
    sums: [f64; 2],
}

impl VwNormalised {
    /// η = 0.5 is the default of Vowpal Wabbit.
    pub fn new(w1: Vec<f64>, eta: f64) -> Self {
        let d = w1.len();
        VwNormalised { eta, largest: vec![0.0; d], squares: vec![0.0; d], sums: [0.0; 2], w: w1 }
    }

    fn see(&mut self, i: usize, x: f64, c: f64) {
        let x = x.abs();
        if x > self.largest[i] {
            if self.largest[i] > 0.0 {
                self.w[i] *= self.largest[i] / x;
            }
            self.largest[i] = x;
        }
        if self.largest[i] > 0.0 {
            self.sums[1] += c * (x / self.largest[i]).powi(2);
        }
    }
}

impl Update for VwNormalised {
    fn play(&self) -> &[f64] {
        &self.w
    }
    fn learn(&mut self, r: &Round<'_>) {
        let c = r.z.weight.abs();
        self.sums[0] += c;
        if r.loss.features(r.z.x) == r.z.x.dim() {
            r.z.x.iter().for_each(|(i, x)| self.see(i, x, c));
        } else {
            (0..self.w.len()).for_each(|i| self.see(i, 1.0, c));
        }
        let k = if self.sums[1] > 0.0 { (self.sums[0] / self.sums[1]).sqrt() } else { 0.0 };
        for i in 0..self.w.len() {
            self.squares[i] += r.g[i] * r.g[i];
            let size = self.largest[i] * self.squares[i].sqrt();
            if size > 0.0 {
                self.w[i] -= self.eta * k * r.g[i] / size;
            }
        }
        r.domain.project(&mut self.w);
    }
    state!(w, largest, squares, sums);
}
