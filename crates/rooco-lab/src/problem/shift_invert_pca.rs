//! P4 and P4b: the linear systems of shift-and-invert PCA.

use rooco::Rows;
use rooco::linalg::Symmetric;
use rooco::loss::ShiftInvertPca;
use rooco::rng::{Purpose, Random};
use rooco::{Error, Features, Result, Row};

use super::{Instance, sphere};

/// P4: f = ½wᵀ(aI - xxᵀ)w - bᵀw, whose minimiser is a step of the power method on (aI - C)⁻¹, C the covariance.
///
/// x has d coordinates with variances log-spaced from 1 to 0.1 and ‖x‖² up to d. The shift a = e₁ + (B² - e₁)/(1 + κ), e₁ the
/// largest eigenvalue of C and B = max‖x‖, makes β/λ = κ (for κ not too small). Almost every row is concave along x.
pub fn shift_invert_pca(t: u64, d: usize, kappa: f64, seed: u64) -> Result<Instance> {
    if !(kappa > 1.0 && kappa.is_finite()) {
        return Err(Error::Constant { name: "κ", value: kappa, must: "above 1" });
    }
    let mut random = Random::new(seed, Purpose::Data);
    let spread: Vec<f64> = (0..d).map(|i| 0.1f64.powf(i as f64 / (d.max(2) - 1) as f64).sqrt()).collect();
    let mut rows = Rows::default();
    let mut c = Symmetric::zeros(d);
    let mut largest = 0.0f64;
    for _ in 0..t {
        let u = sphere(&mut random, d, (d as f64).sqrt());
        let x: Vec<f64> = u.iter().zip(&spread).map(|(u, s)| u * s).collect();
        let x_view = Features::Dense(&x);
        c.add_outer(1.0 / t as f64, x_view);
        largest = largest.max(x_view.norm_squared());
        rows.push(Row::dense(&x, 0.0));
    }
    let top = c.extreme_eigenvalues().1;
    let lambda = (largest - top) / (1.0 + kappa);
    let b = sphere(&mut random, d, 0.5 * lambda);
    let w1: Vec<f64> = b.iter().map(|b| -1.8 * b / lambda).collect();
    Instance::new(&format!("p4 d={d} kappa={kappa}"), rows, ShiftInvertPca::new(top + lambda, b)?, "ball:1", w1)
}
