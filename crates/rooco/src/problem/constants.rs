//! G, β, λ, L and the noise of a finite problem, computed from all rows.

use std::fmt;

use super::sums::Sums;
use super::{Minimum, Problem};
use crate::algorithm::Curvature;
use crate::error::{Error, Result};
use crate::guarantee::{Constant, Constants};
use crate::kernel::dot;
use crate::linalg::Symmetric;
use crate::loss::Loss;

/// Beyond this many coordinates d×d matrices and their eigenvalues take too long.
const MAX_DIM: usize = 4000;

/// Where L came from: the mean of ‖∇f(x; z) - ∇f(y; z)‖² is at most L⟨∇F(x) - ∇F(y), x - y⟩ on W.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Quadratics with Hessians A_z and mean M: L = λ_max(M^{-1/2}·mean(A_z²)·M^{-1/2}), the exact value if W has interior.
    Quadratic,
    /// L = β_rms²/λ, always valid.
    Smooth,
    /// Every row is convex: L = β, by co-coercivity.
    Convex,
    /// Rows of both signs: L = β(1 + 2n/λ), n the largest eigenvalue of the mean of the rows' negative parts.
    Signed,
    /// λ = 0 and rows of both signs: no finite L is known.
    Unknown,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rule::Quadratic => "exact, from the Hessians",
            Rule::Smooth => "β_rms²/λ",
            Rule::Convex => "β, because every row is convex",
            Rule::Signed => "β(1 + 2n/λ), n the mean negative curvature",
            Rule::Unknown => "unknown",
        })
    }
}

/// What all rows together say about slopes and curvatures on W.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// G, the largest of the rows' bounds on ‖∇f(w; z)‖.
    pub g: f64,
    /// β, the largest of the rows' smoothness constants.
    pub beta: f64,
    /// β_rms: mean ‖∇f(x; z) - ∇f(y; z)‖² ≤ β_rms²‖x - y‖². The root mean square of the rows' β, or smaller for quadratics.
    pub beta_rms: f64,
    /// The mean of the rows' β: F itself is that smooth.
    pub beta_mean: f64,
    /// λ, the smallest eigenvalue of the mean of the curvatures that are certain, rounded down. Negative: not convex (for
    /// quadratics), or not certainly so.
    pub lambda: f64,
    /// The largest eigenvalue of that mean.
    pub lambda_max: f64,
    /// L; infinite if none is known.
    pub l: f64,
    /// How L was found.
    pub rule: Rule,
    /// The mean of the curvatures that are certain: the Hessian of F for quadratics. 0×0 if there were too many coordinates for a
    /// matrix (never for a [`Problem`]); λ is then what the β of the rows that may be non-convex leaves.
    pub mean: Symmetric,
    /// The diagonal of the mean of the rows' negative parts; empty if it is not known.
    pub negative_diagonal: Vec<f64>,
}

impl<L: Loss> Problem<L> {
    /// β, λ and L for the algorithms, computed from all rows. Errs unless the sum is strongly convex.
    pub fn curvature(&self) -> Result<Curvature> {
        let (lambda, g) = (self.convexity()?, self.geometry()?);
        Curvature::new(g.beta, lambda)?.with_l(g.l)
    }

    /// G, β, λ, L and the mean curvature, computed at the first call: O(T·nnz²) and one d×d eigenvalue problem (two more for L).
    pub fn geometry(&self) -> Result<&Geometry> {
        if let Some(c) = self.geometry.get() {
            return Ok(c);
        }
        let computed = self.compute_geometry()?;
        Ok(self.geometry.get_or_init(|| computed))
    }

    /// λ, or an error that says which L2 would make the sum convex.
    pub fn convexity(&self) -> Result<f64> {
        let lambda = self.geometry()?.lambda;
        match (lambda < 0.0, self.loss.is_quadratic()) {
            (false, _) => Ok(lambda),
            (true, true) => Err(Error::NotConvex { curvature: lambda }),
            (true, false) => Err(Error::ConvexityUnknown { curvature: lambda }),
        }
    }

    /// Everything that the theorems need, for a learner that starts at w_1: each number computed from all rows.
    ///
    /// With a certified minimum w also D₁ ≤ ‖w_1 - w‖ + r and the noise σ_*, σ_v at the minimiser w*, where r ≥ ‖w - w*‖ comes
    /// from the gap: ‖∇f(w*; z) - ∇f(w; z)‖ is at most β_rms·r in the mean square, and that is added. Without strong convexity
    /// there is no r, and the noise at w is an estimate.
    pub fn constants(&self, w1: &[f64], minimum: Option<&Minimum>) -> Result<Constants> {
        let lambda = self.convexity()?;
        if w1.len() != self.dim {
            return Err(Error::Dimension { what: "w1".into(), expected: self.dim, found: w1.len() });
        }
        let (c, computed) = (self.geometry()?, Constant::computed);
        let diameter = self.domain.diameter();
        let mut d1 = self.domain.radius_from(w1).min(diameter);
        let mut constants =
            Constants::new(computed(c.g), computed(c.beta), computed(lambda), computed(diameter), self.len() as u64)
                .with_l(computed(c.l))
                .with_beta_rms(computed(c.beta_rms));
        if let Some(minimum) = minimum {
            let r = minimum.distance();
            d1 = d1.min(w1.iter().zip(&minimum.w).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt() + r);
            let (star, centred) = self.noise(&minimum.w);
            let at = |sigma: f64| if r.is_finite() { computed(sigma + c.beta_rms * r) } else { Constant::estimated(sigma) };
            constants = constants.with_noise(at(star), Some(at(centred)));
        }
        Ok(constants.with_d1(computed(d1)))
    }

    /// √(mean ‖∇f(w; z)‖²) and √(mean ‖∇f(w; z) - ∇F(w)‖²): σ_* and σ_v if w is the minimiser.
    pub fn noise(&self, w: &[f64]) -> (f64, f64) {
        let mut mean = vec![0.0; self.dim];
        self.gradient(w, &mut mean);
        let mut g = vec![0.0; self.dim];
        let (mut square, mut centred) = (0.0, 0.0);
        for t in 0..self.len() {
            self.row_gradient(w, t, &mut g);
            square += dot(&g, &g);
            centred += g.iter().zip(&mean).map(|(g, m)| (g - m) * (g - m)).sum::<f64>();
        }
        let t = self.len() as f64;
        // Centring cannot add noise; at an interior minimum the two are equal, and rounding must not say otherwise.
        ((square / t).sqrt(), (centred.min(square) / t).sqrt())
    }

    fn compute_geometry(&self) -> Result<Geometry> {
        let d = self.dim;
        if d > MAX_DIM {
            return Err(Error::Limit(format!(
                "the curvature of the sum is a {d}×{d} matrix, and at most {MAX_DIM} are computed; give λ yourself (an L2 term is one)"
            )));
        }
        let mut sums = Sums::new(&self.loss, d / self.loss.outputs().max(1), MAX_DIM).with_rows(self.len() as u64);
        for z in self.rows() {
            sums.add(&self.loss, self.domain.as_ref(), z);
        }
        Ok(sums.finish(d, 0.0, self.domain.reach()))
    }
}
