//! Features missing completely at random, corrected.

use rooco::Rows;
use rooco::loss::MissingAtRandom;
use rooco::rng::{Purpose, Random};
use rooco::{Result, Row};

use super::{Instance, sphere};

/// Least squares with every feature missing at a known rate; rows are sparse, and rows with two features present are not
/// convex. ‖x‖ = √d before anything is lost, W the unit ball.
pub fn missing_data(t: u64, d: usize, rate: f64, seed: u64) -> Result<Instance> {
    let loss = MissingAtRandom::new(rate)?;
    let mut random = Random::new(seed, Purpose::Data);
    let w0 = sphere(&mut random, d, 0.5);
    let mut rows = Rows::default();
    for _ in 0..t {
        let x = sphere(&mut random, d, (d as f64).sqrt());
        let y = x.iter().zip(&w0).map(|(x, w)| x * w).sum::<f64>() + 0.2 * (2.0 * random.uniform() - 1.0);
        let (mut index, mut value) = (Vec::new(), Vec::new());
        for (i, &x) in x.iter().enumerate() {
            if random.uniform() >= rate {
                index.push(i as u32);
                value.push(x);
            }
        }
        rows.push(Row::sparse(&index, &value, y));
    }
    Instance::new(&format!("missing d={d} rate={rate}"), rows, loss, "ball:1", w0.iter().map(|w| -1.8 * w).collect())
}
