//! How uncertain each weight is: the sandwich, which needs no positive weights.

use super::Expansion;
use crate::kernel::dot;
use crate::linalg::Symmetric;

/// Standard errors of the weights at an optimum of F on the whole space: the roots of the diagonal of
/// H⁻¹ (Σ(g - ḡ)(g - ḡ)ᵀ) H⁻¹ / T² · T/(T - d), with H = ∇²F(w), L2 included, and g the gradients of the rows at w.
///
/// *Why.* The rows are taken as independent draws (x, y, weight) of one distribution. At the optimum the mean gradient vanishes, so to first order
/// ŵ - w° = -H⁻¹·(mean gradient at w°), whose covariance is that of a mean of T independent terms (Huber 1967). Weights of either sign are part of the
/// terms: they enter squared. With L2 the terms are ∇f + l2·w, and what is estimated is the minimum of the regularised expectation. T/(T - d) makes
/// up for the d weights that were fitted.
///
/// *Not for* rows that come in dependent groups (a row and its twin of negative weight, one patient twice): their terms are not independent.
///
/// `None` without the two matrices, where H is not positive definite, or where T ≤ d. A flat direction that belongs to no weight alone, such as the common shift
/// of all classes of a softmax, has no error of its own: then H is inverted with a hair added, and only differences mean something.
pub fn standard_errors(e: &Expansion, l2: f64) -> Option<Vec<f64>> {
    let errors: Vec<f64> = variances(e, l2)?.into_iter().map(|v| v.max(0.0).sqrt()).collect();
    errors.iter().all(|e| e.is_finite()).then_some(errors)
}

/// Their squares.
fn variances(e: &Expansion, l2: f64) -> Option<Vec<f64>> {
    let (t, d) = (e.rows as f64, e.dim());
    let (h, squares) = (e.mean_hessian(l2)?, e.squares.as_ref()?);
    if e.rows <= d as u64 {
        return None;
    }
    // In the units of the features, so that small ones do not drown.
    let units: Vec<f64> = (0..d).map(|i| h.at(i, i)).map(|h| if h > 0.0 { h.sqrt() } else { 1.0 }).collect();
    let mut scaled = Symmetric::zeros(d);
    let mut middle = Symmetric::zeros(d);
    let mean: Vec<f64> = e.gradient.iter().map(|g| g / t).collect();
    for i in 0..d {
        for j in 0..=i {
            let unit = units[i] * units[j];
            scaled.add_at(i, j, h.at(i, j) / unit);
            middle.add_at(i, j, (squares.at(i, j) - t * mean[i] * mean[j]) / unit);
        }
    }
    let seen: Vec<bool> = (0..d).map(|i| h.at(i, i) > l2 || squares.at(i, i) > 0.0).collect();
    // A feature that no row has leaves its weight where it was, exactly.
    (0..d).filter(|&i| !seen[i]).for_each(|i| scaled.add_at(i, i, 1.0));
    let inverse = scaled.inverse().or_else(|| {
        let (lo, hi) = scaled.extreme_eigenvalues();
        // Only rounding may be in the way.
        (lo > -1e-10 * hi).then(|| {
            let mut lifted = scaled.clone();
            lifted.add_identity(1e-9 * hi);
            lifted.inverse()
        })?
    })?;
    let factor = t / (t - d as f64) / (t * t);
    let mut half = vec![0.0; d];
    let variance = |i: usize| {
        middle.times(inverse.row(i), &mut half);
        factor * dot(inverse.row(i), &half) / (units[i] * units[i])
    };
    Some((0..d).map(variance).collect())
}
