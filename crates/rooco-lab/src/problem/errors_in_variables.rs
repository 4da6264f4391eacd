//! P3 and P3b: least squares with features measured under known noise.

use rooco::Rows;
use rooco::loss::{ErrorsInVariables, Noise};
use rooco::rng::{Purpose, Random};
use rooco::{Error, Result, Row};

use super::Instance;

/// The variance of the noise in each feature.
const VARIANCE: f64 = 0.3;

/// P3: ∇f = (xxᵀ - σ²I)w - xy with x = x° + u, u uniform in {±σ}^d, σ² = 0.3. No row is convex.
///
/// The features x° are uniform with variances log-spaced from about β/κ to 1; y = ⟨w°, x°⟩ + noise, ‖w°‖ = ½; W the unit ball,
/// w_1 = -0.9·w°/‖w°‖. κ is reached up to sampling: the true one is in the constants.
pub fn errors_in_variables(t: u64, d: usize, kappa: f64, seed: u64) -> Result<Instance> {
    if !(kappa > 4.0 && kappa.is_finite()) {
        return Err(Error::Constant { name: "κ", value: kappa, must: "above 4 here" });
    }
    let mut random = Random::new(seed, Purpose::Data);
    let at = |low: f64| (0..d).map(|i| low.powf(1.0 - i as f64 / (d.max(2) - 1) as f64).sqrt()).collect::<Vec<f64>>();
    // β is the largest ‖x‖² - σ², about three quarters of what the ranges allow; it depends on the smallest variance, which is β/κ.
    let mut low = 1.0 / kappa;
    for _ in 0..20 {
        let reach: f64 = at(low).iter().map(|s| (3f64.sqrt() * s + VARIANCE.sqrt()).powi(2)).sum();
        low = (0.75 * reach / kappa).min(1.0);
    }
    let spread = at(low);
    let w0 = super::sphere(&mut random, d, 0.5);
    let mut rows = Rows::default();
    for _ in 0..t {
        // A uniform number on ±√3 has variance 1.
        let clean: Vec<f64> = spread.iter().map(|s| s * 3f64.sqrt() * (2.0 * random.uniform() - 1.0)).collect();
        let y = clean.iter().zip(&w0).map(|(x, w)| x * w).sum::<f64>() + 0.2 * (2.0 * random.uniform() - 1.0);
        let seen: Vec<f64> =
            clean.iter().map(|x| x + VARIANCE.sqrt() * if random.uniform() < 0.5 { -1.0 } else { 1.0 }).collect();
        rows.push(Row::dense(&seen, y));
    }
    let w1 = w0.iter().map(|w| -1.8 * w).collect();
    let loss = ErrorsInVariables::new(Noise::Isotropic(VARIANCE))?;
    Instance::new(&format!("p3 d={d} kappa={kappa}"), rows, loss, "ball:1", w1)
}
