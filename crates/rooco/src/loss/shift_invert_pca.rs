//! Shift-and-invert PCA: the leading eigenvector by a linear system whose single rows are concave.

use std::sync::Arc;

use super::{Loss, RowConstants, g_of_quadratic};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::gradient::Gradient;
use crate::linalg::Symmetric;
use crate::point::Point;
use crate::row::{Features, Row};

/// f(w; z) = weight·[½ wᵀ(aI - xxᵀ)w - bᵀw], for a shift a above the largest eigenvalue e₁ of the mean of xxᵀ; y is not used.
///
/// The mean is minimised by w* = (aI - C)⁻¹b, C the mean of xxᵀ: one step of inverse iteration from b, which turns b towards the leading
/// eigenvector, faster the closer a is to e₁.
///
/// ∇f = weight·(aw - ⟨w, x⟩x - b), O(nnz) because w and b enter as multiples. The Hessian weight·(aI - xxᵀ) has the eigenvalues a (d - 1 times) and
/// a - ‖x‖², so β = |weight|·max(a, ‖x‖² - a); G = min over c of (‖∇f(c)‖ + β·max‖w - c‖), c the origin or the centre of the domain.
///
/// About λ: with weights 1 it is exactly a - e₁. A row with ‖x‖² > a is not convex: with e₁ < a < ‖x‖² (standard for d > 1) no row
/// is. The weight multiplies all of f, so that a and b keep their meaning if the weights have mean 1.
#[derive(Clone, Debug)]
pub struct ShiftInvertPca {
    shift: f64,
    b: Arc<[f64]>,
}

impl ShiftInvertPca {
    /// The shift a > 0 and the vector b.
    pub fn new(shift: f64, b: impl Into<Arc<[f64]>>) -> Result<Self> {
        let b = b.into();
        if let Some((i, &value)) = b.iter().enumerate().find(|(_, v)| !v.is_finite()) {
            return Err(Error::NonFinite { row: 0, what: format!("coordinate {i} of b"), value });
        }
        Ok(ShiftInvertPca { shift: Error::positive("the shift a", shift)?, b })
    }
}

impl Loss for ShiftInvertPca {
    fn features(&self, x: Features<'_>) -> usize {
        x.dim().max(self.b.len())
    }

    #[inline]
    fn value(&self, w: &dyn Point, z: Row<'_>) -> f64 {
        let p = w.dot(z.x);
        z.weight * (0.5 * self.shift * w.norm_squared() - 0.5 * p * p - w.dot_dense(&self.b))
    }

    #[inline]
    fn gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) {
        g.add_w(z.weight * self.shift);
        g.add_x(-z.weight * w.dot(z.x));
        g.add_anchor(-z.weight);
    }

    fn constants(&self, domain: &dyn Domain, z: Row<'_>) -> RowConstants {
        let beta = z.weight.abs() * self.shift.max(z.x.norm_squared() - self.shift);
        RowConstants { g: g_of_quadratic(self, domain, z, beta), beta }
    }

    fn minorant(&self, _: &dyn Domain, z: Row<'_>, scale: f64, c: &mut Symmetric) {
        c.add_identity(scale * z.weight * self.shift);
        c.add_outer(-scale * z.weight, z.x);
    }

    // (aI - xxᵀ)² = a²I + (‖x‖² - 2a)xxᵀ.
    fn squared_curvature(&self, _: &dyn Domain, z: Row<'_>, scale: f64, c: &mut Symmetric) -> bool {
        let scale = scale * z.weight * z.weight;
        c.add_identity(scale * self.shift * self.shift);
        c.add_outer(scale * (z.x.norm_squared() - 2.0 * self.shift), z.x);
        true
    }

    fn is_quadratic(&self) -> bool {
        true
    }

    fn anchor(&self) -> Option<&Arc<[f64]>> {
        Some(&self.b)
    }

    fn needs_norm(&self) -> bool {
        true
    }

    fn name(&self) -> String {
        format!("shift-and-invert PCA, shift {}", self.shift)
    }
}
