//! FTRL-proximal.

use super::{Round, Update, state};

/// s = (√(n+g²) - √n)/a, z += g - s·w, n += g², w = -z·a/(b + √n), then Π (McMahan et al. 2013, without L1 and L2).
///
/// *Memory* 3d. *Rows that are not convex*: the proof is void; it runs, with regret of order √T. The sum z is not projected, so
/// a minimiser on the boundary is reached from outside.
pub struct FtrlProximal {
    a: f64,
    b: f64,
    w: Vec<f64>,
    z: Vec<f64>,
    n: Vec<f64>,
}

impl FtrlProximal {
    /// a = D/√(2d), as AdaGrad's rate; b = 0.1. The first z is such that the formula gives w_1.
    pub fn new(w1: Vec<f64>, diameter: f64) -> Self {
        let (d, b) = (w1.len(), 0.1);
        let a = diameter / (2.0 * d as f64).sqrt();
        FtrlProximal { a, b, z: w1.iter().map(|w| -w * b / a).collect(), n: vec![0.0; d], w: w1 }
    }
}

impl Update for FtrlProximal {
    fn play(&self) -> &[f64] {
        &self.w
    }
    fn learn(&mut self, r: &Round<'_>) {
        for i in 0..self.w.len() {
            let g = r.g[i];
            let s = ((self.n[i] + g * g).sqrt() - self.n[i].sqrt()) / self.a;
            self.z[i] += g - s * self.w[i];
            self.n[i] += g * g;
            self.w[i] = -self.z[i] * self.a / (self.b + self.n[i].sqrt());
        }
        r.domain.project(&mut self.w);
    }
    state!(w, z, n);
}
