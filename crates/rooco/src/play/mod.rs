//! Play: which point is shown in round t. The gradients are always taken at the iterate w_t.

use crate::weights::Averaging;

/// The point that is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Play {
    /// The iterate w_t.
    Last,
    /// The running average with weights ∝ t^γ (poly3 for γ = 3).
    Average {
        /// γ > 0.
        gamma: f64,
    },
    /// w_t up to round τ, then the plain mean of w_1..w_τ, unchanged: Algorithm 2.
    Freeze {
        /// τ.
        tau: u64,
    },
    /// The γ-average up to round τ, then the plain mean of the τ points played so far.
    AverageThenFreeze {
        /// γ > 0.
        gamma: f64,
        /// τ.
        tau: u64,
    },
}

impl Play {
    /// The averages that must be kept for this play.
    pub fn averages(&self) -> Vec<Averaging> {
        match *self {
            Play::Last => vec![],
            Play::Average { gamma } => vec![Averaging::Poly(gamma)],
            Play::Freeze { .. } => vec![Averaging::Uniform],
            Play::AverageThenFreeze { gamma, .. } => vec![Averaging::Poly(gamma), Averaging::Uniform],
        }
    }

    /// The level of [`Weights`](crate::Weights) that is played in round t.
    #[inline]
    pub fn level(&self, t: u64) -> usize {
        match *self {
            Play::Last => 0,
            Play::Average { .. } => 1,
            Play::Freeze { tau } => (t > tau) as usize,
            Play::AverageThenFreeze { tau, .. } => 1 + (t > tau) as usize,
        }
    }

    /// τ, after which nothing is learned any more.
    #[inline]
    pub fn frozen_after(&self) -> Option<u64> {
        match *self {
            Play::Freeze { tau } | Play::AverageThenFreeze { tau, .. } => Some(tau),
            _ => None,
        }
    }
}

/// τ = ⌈T/(2κ)⌉ of Algorithm 2: w̄ uses τ-1 < T/2κ rows, which the stability corollary needs, and 1/τ ≤ 2κ/T, which the theorem needs.
pub fn tau(horizon: u64, kappa: f64) -> u64 {
    ((horizon as f64 / (2.0 * kappa)).ceil() as u64).clamp(1, horizon)
}

/// τ = ⌈T/κ⌉ of Algorithm 2'.
pub fn tau_prime(horizon: u64, kappa: f64) -> u64 {
    ((horizon as f64 / kappa).ceil() as u64).clamp(1, horizon)
}
