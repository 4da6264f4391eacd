//! Signed weights: a fifth of the rows counts negatively, as in simulated events, sWeights or unlearning.

use rooco::Rows;
use rooco::loss::{Linear, Logistic, Ridge, Squared};
use rooco::rng::{Purpose, Random};
use rooco::{Result, Row};

use super::{Instance, sphere};

/// Signed least squares: (s/2)(⟨w, x⟩ - y)², s = +1 (four fifths of the rows) or -0.5 (one fifth), ‖x‖ = 1, on the unit ball.
pub fn signed_least_squares(t: u64, d: usize, seed: u64) -> Result<Instance> {
    let (rows, w1) = rows(t, d, seed, |p, noise| p + 0.2 * (2.0 * noise - 1.0));
    Instance::new(&format!("signed-squares d={d}"), rows, Linear(Squared), "ball:1", w1)
}

/// Signed logistic regression: s·ln(1 + e^{-y⟨w, x⟩}) with the same weights, plus L2 of 0.05.
pub fn signed_logistic(t: u64, d: usize, seed: u64) -> Result<Instance> {
    let (rows, w1) = rows(t, d, seed, |p, noise| if noise < 1.0 / (1.0 + (-4.0 * p).exp()) { 1.0 } else { -1.0 });
    let loss = Ridge::new(Linear(Logistic), 0.05)?;
    Instance::new(&format!("signed-logistic d={d}"), rows, loss, "ball:1", w1)
}

/// Unit vectors x, y made of ⟨w°, x⟩ and a uniform number, and w_1 = -1.8·w° for ‖w°‖ = ½.
fn rows(t: u64, d: usize, seed: u64, target: impl Fn(f64, f64) -> f64) -> (Rows, Vec<f64>) {
    let mut random = Random::new(seed, Purpose::Data);
    let w0 = sphere(&mut random, d, 0.5);
    let mut rows = Rows::default();
    for k in 0..t {
        let x = sphere(&mut random, d, 1.0);
        let p = x.iter().zip(&w0).map(|(x, w)| x * w).sum();
        let y = target(p, random.uniform());
        rows.push(Row::dense(&x, y).weighted(if k % 5 == 4 { -0.5 } else { 1.0 }));
    }
    (rows, w0.iter().map(|w| -1.8 * w).collect())
}
