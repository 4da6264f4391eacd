//! Step: η_t. Every schedule of the paper and of the proofs beyond it, as a function of t.

use crate::error::{Error, Result};

/// The step sizes η_1, η_2, ...
pub trait Schedule: Send {
    /// η_t, t = 1, 2, ...
    fn eta(&self, t: u64) -> f64;

    /// The same, or an error if there is no such number: λ may be so small that 1/λ is none.
    fn finite_eta(&self, t: u64) -> Result<f64> {
        let eta = self.eta(t);
        let must = "finite: a λ is too small, or a factor of the steps too large";
        if eta.is_finite() { Ok(eta) } else { Err(Error::Constant { name: "the step η", value: eta, must }) }
    }
}

/// The schedules that the theorems use. Built by the algorithm that needs them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steps {
    /// min{cap, c/t}.
    Capped {
        /// The largest step.
        cap: f64,
        /// c, usually 1/λ or 2/λ.
        c: f64,
    },
    /// 1/(K + λ(t-1)).
    Shifted {
        /// K, at least L̂ = max(L, β).
        k: f64,
        /// λ.
        lambda: f64,
    },
    /// The same step every round.
    Constant(f64),
    /// 1/(λt(1 - κ(t-1)/(2T))): the sum of the curvatures that the unseen rows are sure to have.
    Unseen {
        /// λ.
        lambda: f64,
        /// β/λ.
        kappa: f64,
        /// T.
        horizon: u64,
    },
}

impl Steps {
    /// Theorem 1: min{μ̃/β², 2/(μ̃t)} with μ̃ = λ - β/T.
    pub fn theorem_1(beta: f64, lambda: f64, horizon: u64) -> Self {
        Self::paper(beta, lambda - beta / horizon as f64)
    }

    /// The paper's form min{μ/β², 2/(μt)}. Theorem 2 and its stability corollary use μ = λ/2.
    pub fn paper(beta: f64, mu: f64) -> Self {
        Steps::Capped { cap: mu / (beta * beta), c: 2.0 / mu }
    }

    /// min{cap, c/(λt)}.
    pub fn over_lambda_t(c: f64, lambda: f64, cap: f64) -> Self {
        Steps::Capped { cap, c: c / lambda }
    }
}

impl Schedule for Steps {
    #[inline]
    fn eta(&self, t: u64) -> f64 {
        match *self {
            Steps::Capped { cap, c } => cap.min(c / t as f64),
            Steps::Shifted { k, lambda } => 1.0 / (k + lambda * (t - 1) as f64),
            Steps::Constant(eta) => eta,
            Steps::Unseen { lambda, kappa, horizon } => {
                1.0 / (lambda * t as f64 * (1.0 - kappa * (t - 1) as f64 / (2.0 * horizon as f64)))
            }
        }
    }
}

/// The steps of [`frozen_sgd`](crate::algorithm::frozen_sgd).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FrozenSteps {
    /// η_t = 1/(qλt), q = 1-ε: the smallest bound.
    OverLambdaT {
        /// q in (0, 1).
        q: f64,
    },
    /// η_t = min{1/β, 2/(λt)} (ε = 1/2): those of [`sgd`](crate::algorithm::sgd).
    Capped,
}
