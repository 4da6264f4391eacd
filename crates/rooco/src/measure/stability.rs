//! On-average out-of-sample stability, by coupled runs.

use super::{Estimate, Make, check_prefix, feed, trial};
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::problem::Problem;

/// How much the point after m rows changes when one of them is exchanged for a row outside.
#[derive(Clone, Debug)]
pub struct Stability {
    /// m.
    pub m: usize,
    /// The exchanged positions i, 1-based.
    pub positions: Vec<usize>,
    /// E‖A(S; ξ) - A(S^{(i)}; ξ)‖ for each of them.
    pub distance: Vec<Estimate>,
    /// E[f(A(S); z̃) - f(A(S^{(i)}); z̃)] for each of them.
    pub loss: Vec<Estimate>,
    /// Their mean over the positions; over all i ≤ m that is the left side of equation (2), and equal to the generalisation gap.
    pub mean_loss: Estimate,
}

impl Stability {
    /// The largest mean distance: the rate of Definition 1, if all positions were measured.
    pub fn rate(&self) -> Estimate {
        self.distance.iter().copied().fold(Estimate::default(), |a, b| if b.mean > a.mean { b } else { a })
    }
}

/// **Definition 1**, measured. Each trial takes a random order, S = its first m rows and z̃ = the next one, and runs the learner on
/// S and, with the same seed ξ, on S^{(i)}: S with z_i replaced by z̃. The output A(S) is the point played in round m+1.
///
/// `positions` are the i to try, 1-based; a trial costs one run more than there are positions.
///
/// `make(seed)` must give learners of the same settings; only the draws depend on the seed.
pub fn stability<L: Loss>(
    problem: &Problem<L>,
    make: &Make<'_>,
    m: usize,
    positions: &[usize],
    trials: u64,
    seed: u64,
) -> Result<Stability> {
    check_prefix(problem, m)?;
    if let Some(&i) = positions.iter().find(|&&i| i == 0 || i > m) {
        return Err(Error::Constant { name: "i", value: i as f64, must: "a position from 1 to m" });
    }
    if positions.is_empty() || trials == 0 {
        return Err(Error::Option("stability needs at least one position and one trial".into()));
    }
    let mut result = Stability {
        m,
        positions: positions.to_vec(),
        distance: vec![Estimate::default(); positions.len()],
        loss: vec![Estimate::default(); positions.len()],
        mean_loss: Estimate::default(),
    };
    for k in 0..trials {
        let (mut order, xi) = trial(seed, k, problem.len());
        order.truncate(m + 1);
        let outside = order[m];
        let play = |rows: &[u32]| -> Result<Vec<f64>> {
            let mut learner = make(xi)?;
            feed(problem, learner.as_mut(), rows.iter().copied())?;
            Ok(grown(learner.point()?, problem.dim()))
        };
        let w = play(&order[..m])?;
        let loss = problem.loss_at(&w, outside as usize);
        let mut sum = 0.0;
        for (slot, &i) in positions.iter().enumerate() {
            let mut swapped = order[..m].to_vec();
            swapped[i - 1] = outside;
            let w_i = play(&swapped)?;
            let change = loss - problem.loss_at(&w_i, outside as usize);
            result.distance[slot].add(w.iter().zip(&w_i).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt());
            result.loss[slot].add(change);
            sum += change;
        }
        result.mean_loss.add(sum / positions.len() as f64);
    }
    Ok(result)
}

/// Features that a learner has not met yet weigh zero.
pub(super) fn grown(mut w: Vec<f64>, dim: usize) -> Vec<f64> {
    w.resize(dim.max(w.len()), 0.0);
    w
}
