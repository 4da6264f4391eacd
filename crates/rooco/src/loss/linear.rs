//! Losses weight·φ(⟨w, x⟩, y): two functions are a whole loss.

use super::{Interval, Loss, RowConstants, times};
use crate::domain::Domain;
use crate::gradient::Gradient;
use crate::linalg::Symmetric;
use crate::point::Point;
use crate::row::Row;

/// φ(p, y), a function of one prediction and one target.
pub trait Pointwise: Send + Sync {
    /// φ(p, y).
    fn value(&self, p: f64, y: f64) -> f64;

    /// ∂φ/∂p.
    fn slope(&self, p: f64, y: f64) -> f64;

    /// The smallest and the largest ∂²φ/∂p² for p in the interval (of the Lipschitz constant of the slope, if φ has kinks).
    fn curvature(&self, p: Interval, y: f64) -> (f64, f64);

    /// The largest |∂φ/∂p| on the interval. The default is right for a monotone slope, that is for a convex φ.
    fn steepest(&self, p: Interval, y: f64) -> f64 {
        self.slope(p.lo, y).abs().max(self.slope(p.hi, y).abs())
    }

    /// The p at which ∂²φ/∂p² jumps, in any order. Name them if φ is quadratic between them: then the constants of
    /// combinations such as [`NoisyLabels`](super::NoisyLabels) are exact. Without them they are still valid.
    fn kinks(&self, _y: f64) -> Vec<f64> {
        Vec::new()
    }

    /// True if ∂²φ/∂p² is the same for y = +1 and y = -1: then correcting labels keeps φ convex.
    fn curvature_ignores_label(&self) -> bool {
        false
    }

    /// True if φ is quadratic in p.
    fn is_quadratic(&self) -> bool {
        false
    }

    /// A short name.
    fn name(&self) -> String;
}

/// f(w; z) = weight · φ(⟨w, x⟩, y).
///
/// ∇f = weight·φ'·x, so on W  G = |weight|·max|φ'|·‖x‖ and β = |weight|·max|φ''|·‖x‖².
/// ∇²f = weight·φ''·xxᵀ ⪰ (min of weight·φ'')·xxᵀ: that is the minorant, and the λ of the sum is at least the smallest
/// eigenvalue of its mean. A negative weight makes the row's own loss concave; the sum may still be strongly convex.
#[derive(Clone, Copy, Debug)]
pub struct Linear<P>(pub P);

impl<P: Pointwise> Linear<P> {
    /// The smallest and largest second derivative along x, weight included.
    pub fn curvature(&self, domain: &dyn Domain, z: Row<'_>) -> (f64, f64) {
        self.curvature_on(domain.score_range(z.x), z)
    }

    fn curvature_on(&self, range: Interval, z: Row<'_>) -> (f64, f64) {
        let (lo, hi) = self.0.curvature(range, z.y);
        let (a, b) = (z.weight * lo, z.weight * hi);
        (a.min(b), a.max(b))
    }
}

impl<P: Pointwise> Loss for Linear<P> {
    #[inline]
    fn value(&self, w: &dyn Point, z: Row<'_>) -> f64 {
        z.weight * self.0.value(w.dot(z.x), z.y)
    }

    #[inline]
    fn gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) {
        g.add_x(z.weight * self.0.slope(w.dot(z.x), z.y));
    }

    #[inline]
    fn value_and_gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) -> f64 {
        let p = w.dot(z.x);
        g.add_x(z.weight * self.0.slope(p, z.y));
        z.weight * self.0.value(p, z.y)
    }

    fn constants(&self, domain: &dyn Domain, z: Row<'_>) -> RowConstants {
        let range = domain.score_range(z.x);
        let (lo, hi) = self.curvature_on(range, z);
        let xx = z.x.norm_squared();
        let steepest = self.0.steepest(range, z.y);
        RowConstants { g: times(z.weight.abs() * xx.sqrt(), steepest), beta: lo.abs().max(hi.abs()) * xx }
    }

    fn minorant(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, c: &mut Symmetric) {
        c.add_outer(scale * self.curvature(domain, z).0, z.x);
    }

    fn minorant_times(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, v: &[f64], out: &mut [f64]) -> bool {
        z.x.add_to(scale * self.curvature(domain, z).0 * z.x.dot(v), out);
        true
    }

    #[inline]
    fn score_curvature(&self, scores: &[f64], z: Row<'_>, m: &mut [f64]) -> bool {
        m[0] = z.weight * self.0.curvature(Interval { lo: scores[0], hi: scores[0] }, z.y).0;
        true
    }

    // Every Hessian is h·xxᵀ with h at least the smallest curvature.
    fn negative_curvature(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, n: &mut Symmetric) -> bool {
        n.add_outer(scale * (-self.curvature(domain, z).0).max(0.0), z.x);
        true
    }

    // (h·xxᵀ)² = h²‖x‖²·xxᵀ.
    fn squared_curvature(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, c: &mut Symmetric) -> bool {
        let h = self.curvature(domain, z).0;
        c.add_outer(scale * h * h * z.x.norm_squared(), z.x);
        self.0.is_quadratic()
    }

    fn is_quadratic(&self) -> bool {
        self.0.is_quadratic()
    }

    fn name(&self) -> String {
        self.0.name()
    }
}

/// φ behind a pointer is a φ: for losses that are chosen at run time.
macro_rules! forward_pointwise {
    ($($pointer:ty),*) => {$(
        impl<P: Pointwise + ?Sized> Pointwise for $pointer {
            fn value(&self, p: f64, y: f64) -> f64 {
                (**self).value(p, y)
            }
            fn slope(&self, p: f64, y: f64) -> f64 {
                (**self).slope(p, y)
            }
            fn curvature(&self, p: Interval, y: f64) -> (f64, f64) {
                (**self).curvature(p, y)
            }
            fn steepest(&self, p: Interval, y: f64) -> f64 {
                (**self).steepest(p, y)
            }
            fn kinks(&self, y: f64) -> Vec<f64> {
                (**self).kinks(y)
            }
            fn curvature_ignores_label(&self) -> bool {
                (**self).curvature_ignores_label()
            }
            fn is_quadratic(&self) -> bool {
                (**self).is_quadratic()
            }
            fn name(&self) -> String {
                (**self).name()
            }
        }
    )*};
}
forward_pointwise!(Box<P>, &P);
