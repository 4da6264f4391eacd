//! β, λ and L: what the step sizes are made of, checked once.

use crate::error::{Error, Result};

/// The smoothness of the rows and the curvature of their mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curvature {
    beta: f64,
    lambda: f64,
    l: f64,
}

impl Curvature {
    /// β ≥ the smoothness of every row's loss, 0 < λ ≤ the strong convexity of their mean.
    pub fn new(beta: f64, lambda: f64) -> Result<Self> {
        Error::positive("β", beta)?;
        Error::positive("λ", lambda)?;
        if lambda > beta {
            return Err(Error::LambdaExceedsBeta { lambda, beta });
        }
        Ok(Curvature { beta, lambda, l: beta * beta / lambda })
    }

    /// Sets L, the smallest known number with E‖∇f(v;z) - ∇f(w;z)‖² ≤ L⟨∇F(v) - ∇F(w), v - w⟩. Without it L = β²/λ, which
    /// always holds; L = β if every row is convex.
    pub fn with_l(mut self, l: f64) -> Result<Self> {
        Error::positive("L", l)?;
        if l < self.lambda {
            return Err(Error::Constant { name: "L", value: l, must: "at least λ" });
        }
        self.l = l;
        Ok(self)
    }

    /// β.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// λ.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// L.
    pub fn l(&self) -> f64 {
        self.l
    }

    /// L̂ = max(L, β).
    pub fn l_hat(&self) -> f64 {
        self.l.max(self.beta)
    }

    /// κ = β/λ.
    pub fn kappa(&self) -> f64 {
        self.beta / self.lambda
    }

    /// Errs unless T > β/λ, where the steps of Theorem 1 are positive.
    pub fn check_horizon(&self, horizon: u64) -> Result<()> {
        match horizon {
            0 => Err(Error::Empty),
            t if t as f64 * self.lambda <= self.beta => {
                Err(Error::HorizonTooShort { horizon, kappa: self.kappa(), beta: self.beta })
            }
            _ => Ok(()),
        }
    }
}

/// The largest step of a schedule that decays like 1/(λt).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cap {
    /// λ/β², the paper's. Its burn-in lasts 2κ² rounds.
    Paper,
    /// 1/L, provable as well (theory T2).
    InverseL,
    /// 1/β: stable in all experiments with averaged play, not proved without convex rows.
    InverseBeta,
    /// No cap.
    Free,
}

impl Cap {
    /// The value of the cap.
    pub fn value(&self, c: &Curvature) -> f64 {
        match self {
            Cap::Paper => c.lambda() / (c.beta() * c.beta()),
            Cap::InverseL => 1.0 / c.l(),
            Cap::InverseBeta => 1.0 / c.beta(),
            Cap::Free => f64::INFINITY,
        }
    }
}
