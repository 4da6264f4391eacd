//! The out-of-sample generalisation gap.

use super::stability::grown;
use super::{Estimate, Make, check_prefix, feed, trial};
use crate::error::Result;
use crate::loss::Loss;
use crate::problem::Problem;

/// **Equation (1)**, measured: E[f(A(S); z̃) - F_m(A(S))], where S are the first m rows of a random order, z̃ is a row outside, and
/// F_m is the mean over S. Positive: the learner does worse on rows it has not seen.
///
/// It equals the mean stability of equation (2), for every learner, and E[f(w_{m+1}; z_{m+1}) - F(w_{m+1})] is m/T of it.
/// Given S, the expectation over z̃ is the mean over all rows outside; that is what is summed, so the only noise left is that
/// of the order and the draws.
pub fn generalisation<L: Loss>(problem: &Problem<L>, make: &Make<'_>, m: usize, trials: u64, seed: u64) -> Result<Estimate> {
    check_prefix(problem, m)?;
    let mut estimate = Estimate::default();
    for k in 0..trials {
        let (order, xi) = trial(seed, k, problem.len());
        let mut learner = make(xi)?;
        feed(problem, learner.as_mut(), order[..m].iter().copied())?;
        let w = grown(learner.point()?, problem.dim());
        let mean = |rows: &[u32]| rows.iter().map(|&t| problem.loss_at(&w, t as usize)).sum::<f64>() / rows.len() as f64;
        estimate.add(mean(&order[m..]) - mean(&order[..m]));
    }
    Ok(estimate)
}
