//! The bias of the gradient estimate, along the direction that matters.

use super::stability::grown;
use super::{Estimate, trial};
use crate::algorithm::Sgd;
use crate::error::{Error, Result};
use crate::kernel::dot;
use crate::learner::Learner;
use crate::loss::Loss;
use crate::problem::Problem;

/// How ĝ_t is made of the rows that a round used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// The gradient of one row: fresh and reservoir draws.
    OneRow,
    /// (1-p) of the fresh row and p of the past row, p = (t-1)/T: mixture draws.
    Mixture,
}

/// E⟨∇F(w_t) - ĝ_t, w_t - w*⟩ for each of the `rounds` t (1-based), by Monte Carlo.
///
/// That is the error that a biased gradient adds to the convergence bound. It is zero for reservoir and mixture draws, whose
/// gradient is unbiased given the past (the sampling lemma). For fresh draws it is not: a row that was learned from does not
/// come again, so the rest of the rows differ from their mean in the direction that w_t has already gone; Algorithm 2 has to
/// bound it (8G(G + βD)/(λT) up to its freezing round).
///
/// `make(seed)` builds the learner; w_t is its iterate, also where an average is played.
pub fn bias<L: Loss, M: Loss>(
    problem: &Problem<L>,
    make: &dyn Fn(u64) -> Result<Sgd<M>>,
    estimator: Estimator,
    w_star: &[f64],
    rounds: &[u64],
    trials: u64,
    seed: u64,
) -> Result<Vec<Estimate>> {
    let (d, horizon) = (problem.dim(), problem.len() as u64);
    if w_star.len() != d {
        return Err(Error::Dimension { what: "w*".into(), expected: d, found: w_star.len() });
    }
    if let Some(&t) = rounds.iter().find(|&&t| t == 0 || t > horizon) {
        return Err(Error::Constant { name: "t", value: t as f64, must: "a round from 1 to T" });
    }
    let last = rounds.iter().copied().max().unwrap_or(0);
    let mut estimates = vec![Estimate::default(); rounds.len()];
    let (mut mean, mut g, mut past) = (vec![0.0; d], vec![0.0; d], vec![0.0; d]);
    for k in 0..trials {
        let (order, xi) = trial(seed, k, problem.len());
        let mut learner = make(xi)?;
        for t in 1..=last {
            let z = order[t as usize - 1] as usize;
            let wanted = rounds.contains(&t);
            let w = if wanted { grown(learner.iterate(), d) } else { Vec::new() };
            learner.observe(problem.row(z))?;
            if !wanted {
                continue;
            }
            let j = learner.last_round().j;
            if j == 0 {
                return Err(Error::Option(format!("nothing is learned in round {t}, so there is no gradient estimate")));
            }
            let used = order[j as usize - 1] as usize;
            match estimator {
                Estimator::OneRow => problem.row_gradient(&w, used, &mut g),
                Estimator::Mixture => {
                    let p = (t - 1) as f64 / horizon as f64;
                    problem.row_gradient(&w, z, &mut g);
                    problem.row_gradient(&w, used, &mut past);
                    g.iter_mut().zip(&past).for_each(|(g, past)| *g = (1.0 - p) * *g + p * past);
                }
            }
            problem.gradient(&w, &mut mean);
            let error: Vec<f64> = mean.iter().zip(&g).map(|(m, g)| m - g).collect();
            let away: Vec<f64> = w.iter().zip(w_star).map(|(w, s)| w - s).collect();
            let value = dot(&error, &away);
            rounds.iter().zip(&mut estimates).filter(|&(&r, _)| r == t).for_each(|(_, e)| e.add(value));
        }
    }
    Ok(estimates)
}
