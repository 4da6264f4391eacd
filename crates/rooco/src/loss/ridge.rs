//! L2 regularisation of any loss.

use std::sync::Arc;

use super::{Loss, RowConstants, times};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::gradient::Gradient;
use crate::linalg::Symmetric;
use crate::point::Point;
use crate::row::{Features, Row};

/// f(w; z) + (λ/2)‖w‖². The row weight does not multiply the second term: it is the same for every row.
///
/// The gradient gains λw, a scaling of w, O(1). So G ≤ G_f + λ·max‖w‖ and β ≤ β_f + λ; the minorant gains λI, so the λ of the
/// sum grows by exactly this λ. A row is convex if no curvature of f is below -λ.
#[derive(Clone, Copy, Debug)]
pub struct Ridge<L> {
    inner: L,
    lambda: f64,
}

impl<L: Loss> Ridge<L> {
    /// λ ≥ 0.
    pub fn new(inner: L, lambda: f64) -> Result<Self> {
        if !(lambda >= 0.0 && lambda.is_finite()) {
            return Err(Error::Constant { name: "λ of the L2 term", value: lambda, must: "finite and not negative" });
        }
        Ok(Ridge { inner, lambda })
    }

    /// The loss without the L2 term.
    pub fn inner(&self) -> &L {
        &self.inner
    }

    /// λ.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }
}

impl<L: Loss> Loss for Ridge<L> {
    fn outputs(&self) -> usize {
        self.inner.outputs()
    }

    fn features(&self, x: Features<'_>) -> usize {
        self.inner.features(x)
    }

    #[inline]
    fn value(&self, w: &dyn Point, z: Row<'_>) -> f64 {
        self.inner.value(w, z) + 0.5 * self.lambda * w.norm_squared()
    }

    #[inline]
    fn gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) {
        self.inner.gradient(w, z, g);
        g.add_w(self.lambda);
    }

    #[inline]
    fn value_and_gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) -> f64 {
        let value = self.inner.value_and_gradient(w, z, g);
        g.add_w(self.lambda);
        value + 0.5 * self.lambda * w.norm_squared()
    }

    fn constants(&self, domain: &dyn Domain, z: Row<'_>) -> RowConstants {
        let f = self.inner.constants(domain, z);
        RowConstants { g: f.g + times(self.lambda, domain.reach()), beta: f.beta + self.lambda }
    }

    fn minorant(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, c: &mut Symmetric) {
        self.inner.minorant(domain, z, scale, c);
        c.add_identity(scale * self.lambda);
    }

    fn minorant_times(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, v: &[f64], out: &mut [f64]) -> bool {
        crate::kernel::axpy(scale * self.lambda, v, out);
        self.inner.minorant_times(domain, z, scale, v, out)
    }

    // The eigenvalues of a Hessian grow by λ, so its negative part shrinks.
    fn negative_curvature(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, n: &mut Symmetric) -> bool {
        self.inner.negative_curvature(domain, z, scale, n)
    }

    // (A + λI)² = A² + 2λA + λ²I.
    fn squared_curvature(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, c: &mut Symmetric) -> bool {
        self.inner.minorant(domain, z, 2.0 * self.lambda * scale, c);
        c.add_identity(scale * self.lambda * self.lambda);
        self.inner.squared_curvature(domain, z, scale, c)
    }

    fn is_quadratic(&self) -> bool {
        self.inner.is_quadratic()
    }

    fn anchor(&self) -> Option<&Arc<[f64]>> {
        self.inner.anchor()
    }

    fn needs_norm(&self) -> bool {
        true
    }

    fn name(&self) -> String {
        format!("{} + L2 of {}", self.inner.name(), self.lambda)
    }
}
