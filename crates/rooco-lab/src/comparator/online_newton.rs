//! The online Newton step.

use super::{Round, Update, dot, state};

/// Steps of the inner solver that projects in the norm of A.
const PROJECTION_STEPS: usize = 100;

/// A += gg', w ← Π_A(w - A⁻¹g/γ), γ = ½min(1/(4GD), α), A_0 = I/(γD)² (Hazan, Agarwal and Kale 2007).
///
/// A⁻¹ is kept by rank-one updates. Π_A, the projection in the norm of A, is solved only approximately, by 100 projected gradient
/// steps. *Memory* 2d². *Rows that are not convex*: the proof needs exp-concave rows; a row that curves down is not.
pub struct OnlineNewton {
    gamma: f64,
    w: Vec<f64>,
    a: Vec<f64>,
    inverse: Vec<f64>,
}

impl OnlineNewton {
    /// `exp_concavity` is α of the rows; λ/G² if they were λ-strongly convex.
    pub fn new(w1: Vec<f64>, g: f64, diameter: f64, exp_concavity: f64) -> Self {
        let d = w1.len();
        let gamma = 0.5 * (1.0 / (4.0 * g * diameter)).min(exp_concavity);
        let epsilon = 1.0 / (gamma * diameter).powi(2);
        let identity = |c: f64| (0..d * d).map(|k| if k / d == k % d { c } else { 0.0 }).collect::<Vec<f64>>();
        OnlineNewton { gamma, a: identity(epsilon), inverse: identity(1.0 / epsilon), w: w1 }
    }
}

fn times(m: &[f64], v: &[f64]) -> Vec<f64> {
    m.chunks(v.len()).map(|row| dot(row, v)).collect()
}

impl Update for OnlineNewton {
    fn play(&self) -> &[f64] {
        &self.w
    }
    fn learn(&mut self, r: &Round<'_>) {
        let d = self.w.len();
        let ig = times(&self.inverse, r.g);
        let denominator = 1.0 + dot(&ig, r.g);
        for i in 0..d {
            for j in 0..d {
                self.a[i * d + j] += r.g[i] * r.g[j];
                self.inverse[i * d + j] -= ig[i] * ig[j] / denominator;
            }
        }
        let step = times(&self.inverse, r.g);
        let target: Vec<f64> = self.w.iter().zip(&step).map(|(w, s)| w - s / self.gamma).collect();
        let mut v = target.clone();
        r.domain.project(&mut v);
        if v != target {
            // Gershgorin: no eigenvalue of A exceeds its largest absolute row sum.
            let size = self.a.chunks(d).map(|row| row.iter().map(|a| a.abs()).sum::<f64>()).fold(0.0, f64::max);
            for _ in 0..PROJECTION_STEPS {
                let off: Vec<f64> = v.iter().zip(&target).map(|(v, t)| v - t).collect();
                let g = times(&self.a, &off);
                v.iter_mut().zip(&g).for_each(|(v, g)| *v -= g / size);
                r.domain.project(&mut v);
            }
        }
        self.w = v;
    }
    state!(w, a, inverse);
}
