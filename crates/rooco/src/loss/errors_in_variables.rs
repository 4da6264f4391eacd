//! Least squares when the features were measured with known noise.

use super::{Loss, Pointwise, RowConstants, Squared, g_of_quadratic, times};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::gradient::Gradient;
use crate::linalg::{Symmetric, outer_minus_diagonal_norm};
use crate::point::Point;
use crate::row::{Features, Row};

/// Σ, the covariance of the measurement noise of x.
#[derive(Clone, Debug, PartialEq)]
pub enum Noise {
    /// σ²·I.
    Isotropic(f64),
    /// Variances per feature; features beyond the list are measured exactly.
    Diagonal(Vec<f64>),
    /// A full covariance; features beyond it are measured exactly.
    Full(Symmetric),
}

/// f(w; z) = weight·[½(⟨w, x⟩ - y)² - ½ wᵀΣw], where x = x° + u was seen instead of x°, E u = 0, Cov u = Σ.
///
/// **Unbiased.** E(⟨w, x°+u⟩ - y)² = (⟨w, x°⟩ - y)² + wᵀΣw: the correction takes away what the noise added, and with it the shrinkage of w that noisy
/// features cause.
///
/// ∇f = weight·[(⟨w, x⟩ - y)x - Σw]: O(nnz) for isotropic noise (a scaling of w), O(d) for diagonal, O(d²) for full.
/// ∇²f = weight·(xxᵀ - Σ). With s₁ ≤ ... ≤ s_d the eigenvalues of Σ, those of xxᵀ - Σ lie in [-s_d, ‖x‖² - s₁] (Weyl), so
/// β = |weight|·max(‖x‖² - s₁, s_d), exact for isotropic noise in d ≥ 2; for diagonal noise the norm is computed exactly. For isotropic noise
/// ‖∇f/weight‖² = (p-y)²‖x‖² - 2σ²(p-y)p + σ⁴‖w‖² with p = ⟨w, x⟩, a quadratic in p whose maximum over the range of p is taken, and ‖w‖ is at
/// most its maximum over W: exact on a ball around the origin. In general G is the smaller of
/// |weight|·(max|p-y|·‖x‖ + s_d·max‖w‖) and ‖∇f(c)‖ + β·max‖w - c‖, c the origin or the centre of the domain.
///
/// About λ: the minorant is the Hessian; λ is exactly the smallest eigenvalue of the mean of weight·(xxᵀ - Σ), that is of the
/// covariance of the true features. In d ≥ 2 no row with noise is convex: wᵀ(xxᵀ - Σ)w < 0 for some w orthogonal to x.
#[derive(Clone, Debug)]
pub struct ErrorsInVariables {
    noise: Noise,
    /// The smallest and the largest eigenvalue of Σ.
    least: f64,
    most: f64,
}

impl ErrorsInVariables {
    /// Σ must be a covariance: finite, without negative eigenvalues.
    pub fn new(noise: Noise) -> Result<Self> {
        let finite = match &noise {
            Noise::Isotropic(s) => s.is_finite(),
            Noise::Diagonal(s) => s.iter().all(|s| s.is_finite()),
            Noise::Full(m) => (0..m.dim()).all(|i| m.row(i).iter().all(|v| v.is_finite())),
        };
        if !finite {
            return Err(Error::NonFinite { row: 0, what: "a variance of Σ".into(), value: f64::NAN });
        }
        let (least, most) = match &noise {
            Noise::Isotropic(s) => (*s, *s),
            Noise::Diagonal(s) if s.is_empty() => (0.0, 0.0),
            Noise::Diagonal(s) => (s.iter().copied().fold(f64::INFINITY, f64::min), s.iter().copied().fold(0.0, f64::max)),
            Noise::Full(m) => m.extreme_eigenvalues(),
        };
        if least < -1e-12 * most.abs() || most < 0.0 {
            return Err(Error::Constant {
                name: "the smallest eigenvalue of Σ",
                value: least,
                must: "not negative: Σ is a covariance",
            });
        }
        Ok(ErrorsInVariables { noise, least: least.max(0.0), most })
    }

    /// wᵀΣw.
    fn noise_of(&self, w: &dyn Point) -> f64 {
        match &self.noise {
            Noise::Isotropic(s) => s * w.norm_squared(),
            Noise::Diagonal(s) => s.iter().take(w.dim()).enumerate().map(|(i, s)| s * w.at(i) * w.at(i)).sum(),
            Noise::Full(m) => {
                let w = w.to_vec();
                let n = m.dim().min(w.len());
                (0..n).map(|i| w[i] * Features::Dense(&m.row(i)[..n]).dot(&w)).sum()
            }
        }
    }

    /// G of isotropic noise from the range of p and the largest ‖w‖; see above.
    fn g_isotropic(&self, variance: f64, domain: &dyn Domain, z: Row<'_>) -> f64 {
        let (p, n, y) = (domain.score_range(z.x), z.x.norm_squared(), z.y);
        let reach = times(variance, domain.reach());
        if !(p.lo.is_finite() && p.hi.is_finite() && reach.is_finite()) {
            return if variance == 0.0 && n == 0.0 { 0.0 } else { f64::INFINITY };
        }
        let q = |p: f64| (p - y) * (p - y) * n - 2.0 * variance * (p - y) * p;
        // q' = 0; outside the range, or a minimum, it does no harm to clamp.
        let top = y * (n - variance) / (n - 2.0 * variance);
        let middle = if top.is_finite() { q(top.clamp(p.lo, p.hi)) } else { f64::NEG_INFINITY };
        (q(p.lo).max(q(p.hi)).max(middle) + reach * reach).max(0.0).sqrt()
    }
}

impl Loss for ErrorsInVariables {
    fn features(&self, x: Features<'_>) -> usize {
        x.dim().max(match &self.noise {
            Noise::Isotropic(_) => 0,
            Noise::Diagonal(s) => s.len(),
            Noise::Full(m) => m.dim(),
        })
    }

    #[inline]
    fn value(&self, w: &dyn Point, z: Row<'_>) -> f64 {
        let r = w.dot(z.x) - z.y;
        z.weight * (0.5 * r * r - 0.5 * self.noise_of(w))
    }

    #[inline]
    fn gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) {
        g.add_x(z.weight * (w.dot(z.x) - z.y));
        match &self.noise {
            Noise::Isotropic(s) => g.add_w(-z.weight * s),
            Noise::Diagonal(s) => {
                for (i, (g, s)) in g.dense_mut(w.dim()).iter_mut().zip(s).enumerate() {
                    *g -= z.weight * s * w.at(i);
                }
            }
            Noise::Full(m) => {
                let w = w.to_vec();
                let n = m.dim().min(w.len());
                for (i, g) in g.dense_mut(w.len()).iter_mut().take(n).enumerate() {
                    *g -= z.weight * Features::Dense(&m.row(i)[..n]).dot(&w);
                }
            }
        }
    }

    fn constants(&self, domain: &dyn Domain, z: Row<'_>) -> RowConstants {
        // Features that are measured exactly have variance 0.
        let least = match &self.noise {
            Noise::Isotropic(s) => *s,
            Noise::Full(m) if m.dim() < z.x.dim() => 0.0,
            _ => self.least,
        };
        let norm = match &self.noise {
            Noise::Diagonal(s) => {
                let mut pairs: Vec<(f64, f64)> = s.iter().map(|&s| (0.0, s)).collect();
                pairs.resize(s.len().max(z.x.dim()), (0.0, 0.0));
                z.x.iter().for_each(|(j, x)| pairs[j].0 = x);
                outer_minus_diagonal_norm(&pairs)
            }
            _ => (z.x.norm_squared() - least).max(self.most),
        };
        let beta = z.weight.abs() * norm;
        let mut g = g_of_quadratic(self, domain, z, beta);
        let direct = match self.noise {
            Noise::Isotropic(s) => self.g_isotropic(s, domain, z),
            _ => times(Squared.steepest(domain.score_range(z.x), z.y), z.x.norm()) + times(self.most, domain.reach()),
        };
        g = g.min(times(z.weight.abs(), direct));
        RowConstants { g, beta }
    }

    fn minorant(&self, _: &dyn Domain, z: Row<'_>, scale: f64, c: &mut Symmetric) {
        let scale = scale * z.weight;
        c.add_outer(scale, z.x);
        match &self.noise {
            Noise::Isotropic(s) => c.add_identity(-scale * s),
            Noise::Diagonal(s) => {
                for (i, s) in s.iter().take(c.dim()).enumerate() {
                    c.add_at(i, i, -scale * s);
                }
            }
            Noise::Full(m) => {
                for i in 0..m.dim().min(c.dim()) {
                    for j in 0..=i {
                        c.add_at(i, j, -scale * m.at(i, j));
                    }
                }
            }
        }
    }

    // (xxᵀ - Σ)² = ‖x‖²xxᵀ - xxᵀΣ - Σxxᵀ + Σ².
    fn squared_curvature(&self, _: &dyn Domain, z: Row<'_>, scale: f64, c: &mut Symmetric) -> bool {
        let (scale, n) = (scale * z.weight * z.weight, z.x.norm_squared());
        match &self.noise {
            Noise::Isotropic(s) => {
                c.add_outer(scale * (n - 2.0 * s), z.x);
                c.add_identity(scale * s * s);
                true
            }
            Noise::Diagonal(s) => {
                c.add_outer(scale * n, z.x);
                for (i, x) in z.x.iter().filter(|&(i, _)| i < s.len()) {
                    // Row i of Σxxᵀ; with its mirror image the diagonal counts twice.
                    z.x.iter().for_each(|(j, y)| c.add_at(i, j, if i == j { 2.0 } else { 1.0 } * -scale * s[i] * x * y));
                }
                s.iter().take(c.dim()).enumerate().for_each(|(i, s)| c.add_at(i, i, scale * s * s));
                true
            }
            Noise::Full(_) => false,
        }
    }

    fn is_quadratic(&self) -> bool {
        true
    }

    fn needs_norm(&self) -> bool {
        matches!(self.noise, Noise::Isotropic(_))
    }

    fn name(&self) -> String {
        match &self.noise {
            Noise::Isotropic(s) => format!("errors in variables, σ² = {s}"),
            Noise::Diagonal(_) => "errors in variables, diagonal Σ".into(),
            Noise::Full(_) => "errors in variables, full Σ".into(),
        }
    }
}
