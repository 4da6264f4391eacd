//! What the theorems speak about, measured on a finite problem by running learners on it.
//!
//! | quantity | in the paper | function |
//! |---|---|---|
//! | regret Σ f(w_t; z_t) - T·F* | the goal | [`regret`] |
//! | stability E‖w_{m+1} - w_{m+1}^{(i)}‖ | Definition 1 and equation (2) | [`stability`] |
//! | out-of-sample generalisation gap | equation (1) | [`generalisation`] |
//! | on-average generalisation and average-replace-one stability, rows drawn independently | what these are modelled on | [`generalisation_iid`], [`replace_one`] |
//! | bias of the gradient estimate E⟨∇F(w_t) - ĝ_t, w_t - w*⟩ | the error term of the convergence bound | [`bias`] |
//!
//! Expectations are over uniformly random orders and the learner's own draws. They are means over independent trials, each
//! with its standard error. Nothing here is a guarantee; [`guarantee`](crate::guarantee) and
//! [`certificate`](crate::certificate) are.

mod bias;
mod generalisation;
mod iid;
mod regret;
mod stability;

use std::fmt;

pub use bias::{Estimator, bias};
pub use generalisation::generalisation;
pub use iid::{generalisation_iid, replace_one};
pub use regret::{Regret, regret};
pub use stability::{Stability, stability};

use crate::error::{Error, Result};
use crate::learner::Learner;
use crate::loss::Loss;
use crate::problem::Problem;
use crate::rng::{Purpose, Random};

/// Builds a learner from the seed of its draws. Two learners of the same seed draw the same numbers.
pub type Make<'a> = dyn Fn(u64) -> Result<Box<dyn Learner>> + 'a;

/// The mean of independent trials and its standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// How many trials.
    pub trials: u64,
    /// Sum of the squared deviations from the mean.
    squares: f64,
}

impl Estimate {
    /// Takes one more trial into account.
    pub fn add(&mut self, value: f64) {
        self.trials += 1;
        let deviation = value - self.mean;
        self.mean += deviation / self.trials as f64;
        self.squares += deviation * (value - self.mean);
    }

    /// The standard error of the mean; infinite for fewer than two trials.
    pub fn standard_error(&self) -> f64 {
        let n = self.trials as f64;
        if self.trials < 2 { f64::INFINITY } else { (self.squares / (n * (n - 1.0))).sqrt() }
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.4e} ± {:.1e}", self.mean, self.standard_error())
    }
}

/// The random order of trial k, and the seed of its learner.
fn trial(seed: u64, k: u64, rows: usize) -> (Vec<u32>, u64) {
    (Random::stream(seed, Purpose::Order, k).order(rows), Random::stream(seed, Purpose::Draws, k).bits())
}

/// Feeds the rows with these numbers, 0-based.
fn feed<L: Loss>(problem: &Problem<L>, learner: &mut dyn Learner, rows: impl IntoIterator<Item = u32>) -> Result<()> {
    rows.into_iter().try_for_each(|t| learner.observe(problem.row(t as usize)).map(drop))
}

/// 1 ≤ m < T: some rows to learn from, and one left to test on.
fn check_prefix<L: Loss>(problem: &Problem<L>, m: usize) -> Result<()> {
    if (1..problem.len()).contains(&m) {
        return Ok(());
    }
    Err(Error::Constant { name: "m", value: m as f64, must: "at least 1 and below T: one row must be left out of the sample" })
}
