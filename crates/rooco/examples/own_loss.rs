//! Algorithm 1 on a loss of your own: `cargo run --example own_loss`.

use rooco::algorithm::{Curvature, Task, reservoir_sgd};
use rooco::domain::Ball;
use rooco::draw::Draws;
use rooco::loss::{Interval, Linear, Pointwise};
use rooco::{Learner, Row};

/// φ(p, y) = log cosh(p - y): quadratic near zero, linear far away. Slope tanh, curvature in (0, 1].
struct LogCosh;

impl Pointwise for LogCosh {
    fn value(&self, p: f64, y: f64) -> f64 {
        (p - y).abs() + (-2.0 * (p - y).abs()).exp().ln_1p() - std::f64::consts::LN_2
    }
    fn slope(&self, p: f64, y: f64) -> f64 {
        (p - y).tanh()
    }
    fn curvature(&self, _: Interval, _: f64) -> (f64, f64) {
        (0.0, 1.0)
    }
    fn name(&self) -> String {
        "log cosh".into()
    }
}

/// Runs it.
pub fn main() -> rooco::Result<()> {
    let data: Vec<([f64; 2], f64)> = (0..10_000).map(|i| (i as f64).sin_cos()).map(|(s, c)| ([s, c], s - 0.5 * c)).collect();
    let task = Task::new(Linear(LogCosh), Ball::new(2.0)?);
    // ‖x‖ = 1, so β = 1; near the optimum the mean curvature is 1/2, on this ball at least 0.05.
    let mut learner = reservoir_sgd(task, Curvature::new(1.0, 0.05)?, data.len() as u64, Draws::seeded(1))?;
    let mut total = 0.0;
    for (x, y) in &data {
        total += learner.observe(Row::dense(x, *y))?.loss;
    }
    println!("w = {:.3?}, progressive loss {:.5}", learner.played(), total / data.len() as f64);
    Ok(())
}
