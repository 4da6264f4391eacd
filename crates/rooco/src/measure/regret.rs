//! The regret that a learner really had.

use crate::error::{Error, Result};
use crate::learner::Learner;
use crate::loss::Loss;
use crate::minimise::Minimum;
use crate::problem::Problem;

/// The regret of one pass, against a minimum that is certified to within a gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regret {
    /// Σ f(w_t; z_t), what was paid.
    pub total_loss: f64,
    /// Σ f(w_t; z_t) - T·F(w) for the certified w: the regret is at least this.
    pub regret: f64,
    /// T·gap: the regret is at most [`regret`](Self::regret) plus this.
    pub slack: f64,
}

impl Regret {
    /// The regret Σ f(w_t; z_t) - T·F* is at most this: certificate 9e.
    pub fn at_most(&self) -> f64 {
        self.regret + self.slack
    }
}

/// Runs a new learner over all rows in the given order (0-based row numbers, each exactly once) and compares what it paid with
/// the certified minimum. Only the learner's own losses are summed: a regulariser of the convex case is not part of them.
pub fn regret<L: Loss>(problem: &Problem<L>, learner: &mut dyn Learner, order: &[u32], minimum: &Minimum) -> Result<Regret> {
    check_order(problem.len(), order)?;
    let mut total_loss = 0.0;
    for &t in order {
        total_loss += learner.observe(problem.row(t as usize))?.loss;
    }
    let rows = problem.len() as f64;
    Ok(Regret { total_loss, regret: total_loss - rows * minimum.value, slack: rows * minimum.gap })
}

/// Every row exactly once: otherwise the sum and F are over different rows, and their difference is no regret.
fn check_order(rows: usize, order: &[u32]) -> Result<()> {
    if order.len() != rows {
        return Err(Error::Dimension { what: "the order".into(), expected: rows, found: order.len() });
    }
    let mut seen = vec![false; rows];
    for &t in order {
        match seen.get_mut(t as usize) {
            Some(seen) if !*seen => *seen = true,
            Some(_) => {
                return Err(Error::Data(format!("the order names row {t} twice; every row must come exactly once")));
            }
            None => return Err(Error::Data(format!("the order names row {t}, but the rows are 0..{rows}"))),
        }
    }
    Ok(())
}
