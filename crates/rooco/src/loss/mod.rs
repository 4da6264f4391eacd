//! f(w; z), one loss a file: the math, value and gradient, then G and β with their derivation.
//!
//! To add a loss that depends on x through ⟨w, x⟩ only, implement [`Pointwise`] (φ and its slope) and wrap it in
//! [`Linear`]. For anything else implement [`Loss`]. [`testing::check_loss`](crate::testing::check_loss) tests either.
//!
//! | loss | file | is a row of positive weight convex? |
//! |---|---|---|
//! | [`Squared`] | `squared.rs` | yes |
//! | [`Logistic`] | `logistic.rs` | yes |
//! | [`Huber`] | `huber.rs` | yes |
//! | [`Quantile`] | `quantile.rs` | yes |
//! | [`Poisson`] | `poisson.rs` | yes |
//! | [`Gamma`] | `gamma.rs` | yes |
//! | [`Tweedie`] | `tweedie.rs` | yes |
//! | [`SquaredHinge`] | `squared_hinge.rs` | yes |
//! | [`SmoothedHinge`] | `smoothed_hinge.rs` | yes |
//! | [`Softmax`], also under randomised response | `softmax.rs` | yes |
//! | [`NoisyLabels`] of logistic or squared | `noisy_labels.rs` | yes |
//! | [`NoisyLabels`] of a hinge or Huber | `noisy_labels.rs` | **no** |
//! | [`PositiveUnlabelled`] of logistic or squared | `positive_unlabelled.rs` | yes (known positives are linear) |
//! | [`PositiveUnlabelled`] of a hinge or Huber | `positive_unlabelled.rs` | **no** |
//! | [`Quadratic`] | `quadratic.rs` | if its matrix is |
//! | [`ErrorsInVariables`] | `errors_in_variables.rs` | **no** |
//! | [`MissingAtRandom`] | `missing_at_random.rs` | **no** |
//! | [`ShiftInvertPca`] | `shift_invert_pca.rs` | **no**, if ‖x‖² exceeds the shift |
//! | [`Ridge`] of any loss | `ridge.rs` | as the loss, λ better |
//!
//! A row of negative weight has the opposite curvature. Every loss takes either sign; only the sum has to be convex.

use std::sync::Arc;

use crate::domain::Domain;
use crate::gradient::Gradient;
use crate::linalg::Symmetric;
use crate::point::{Dense, Point};
use crate::row::{Features, Row};

mod errors_in_variables;
mod gamma;
mod huber;
mod linear;
mod logistic;
mod missing_at_random;
mod named;
mod noisy_labels;
mod poisson;
mod positive_unlabelled;
mod quadratic;
mod quantile;
mod registry;
mod ridge;
mod shift_invert_pca;
mod smoothed_hinge;
mod softmax;
mod squared;
mod squared_hinge;
mod tweedie;
mod two_labels;

pub use crate::interval::Interval;
pub use errors_in_variables::{ErrorsInVariables, Noise};
pub use gamma::Gamma;
pub use huber::Huber;
pub use linear::{Linear, Pointwise};
pub use logistic::Logistic;
pub use missing_at_random::MissingAtRandom;
pub use named::{Correction, LossSpec};
pub use noisy_labels::NoisyLabels;
pub use poisson::Poisson;
pub use positive_unlabelled::PositiveUnlabelled;
pub use quadratic::Quadratic;
pub use quantile::Quantile;
pub(crate) use registry::UsePointwise;
pub use registry::{Base, LOSSES, LossEntry, Prediction};
pub use ridge::Ridge;
pub use shift_invert_pca::ShiftInvertPca;
pub use smoothed_hinge::SmoothedHinge;
pub use softmax::Softmax;
pub use softmax::class_of;
pub use squared::Squared;
pub use squared_hinge::SquaredHinge;
pub use tweedie::Tweedie;

/// The loss f(w; z) of a decision w on a row z. One row's loss may be non-convex; only the sum has to be convex.
pub trait Loss: Send + Sync {
    /// Scores per row: 1, or K for K classes.
    fn outputs(&self) -> usize {
        1
    }

    /// How many features w needs so that this x can be scored. Only losses whose rows are not feature vectors differ.
    fn features(&self, x: Features<'_>) -> usize {
        x.dim()
    }

    /// f(w; z).
    fn value(&self, w: &dyn Point, z: Row<'_>) -> f64;

    /// Adds ∇f(w; z) to a cleared g.
    fn gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient);

    /// Both at once, where that is cheaper.
    fn value_and_gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) -> f64 {
        self.gradient(w, z, g);
        self.value(w, z)
    }

    /// Valid G and β of this row on this domain: ‖∇f(w; z)‖ ≤ G and ∇f(·; z) is β-Lipschitz on W.
    /// G is infinite where the domain is unbounded and the loss is not Lipschitz.
    fn constants(&self, domain: &dyn Domain, z: Row<'_>) -> RowConstants;

    /// Adds a matrix C_z to `c`, times `scale`, such that f(w; z) - ½ wᵀC_z w is convex on W: the curvature that is
    /// certain. The smallest eigenvalue of the mean of C_z is a valid λ. The default, -β·I, is always true.
    fn minorant(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, c: &mut Symmetric) {
        c.add_identity(-scale * self.constants(domain, z).beta);
    }

    /// out += scale·C_z·v for the matrix C_z of [`minorant`](Self::minorant), without writing it down: for dimensions where no matrix
    /// fits. False: it is not offered. Quadratics need not offer it: their gradients say the same.
    fn minorant_times(&self, _domain: &dyn Domain, _z: Row<'_>, _scale: f64, _v: &[f64], _out: &mut [f64]) -> bool {
        false
    }

    /// For losses of the scores alone: ∂²f/∂s² at these scores, weight included, as K×K numbers. The Hessian of f(·; z) is this ⊗ xxᵀ. At a kink either
    /// side will do. False, and nothing written, for losses that are more than that.
    fn score_curvature(&self, _scores: &[f64], _z: Row<'_>, _m: &mut [f64]) -> bool {
        false
    }

    /// Adds a matrix N_z to `n`, times `scale`, that no Hessian of f(·; z) on W falls below by more than its own negative part:
    /// H⁻ ⪯ N_z for H = H⁺ - H⁻. Zero if the row is convex. Then L ≤ β(1 + 2·λ_max(mean N_z)/λ). False: not known, so that
    /// only β²/λ is sure.
    fn negative_curvature(&self, _domain: &dyn Domain, _z: Row<'_>, _scale: f64, _n: &mut Symmetric) -> bool {
        false
    }

    /// For quadratics: adds the square of the Hessian of f(·; z), times `scale`, to `c`, where that is cheaper than
    /// multiplying two d×d matrices. False: it is not offered.
    fn squared_curvature(&self, _domain: &dyn Domain, _z: Row<'_>, _scale: f64, _c: &mut Symmetric) -> bool {
        false
    }

    /// True if f(·; z) is quadratic, so that [`minorant`](Self::minorant) is its Hessian exactly.
    fn is_quadratic(&self) -> bool {
        false
    }

    /// The fixed vector u whose multiples appear in the gradient, if there is one.
    fn anchor(&self) -> Option<&Arc<[f64]>> {
        None
    }

    /// True if the loss asks for ‖w‖² every round, so that it should be tracked.
    fn needs_norm(&self) -> bool {
        false
    }

    /// A short name for reports: `logistic`, `errors in variables`.
    fn name(&self) -> String;
}

/// What the theorems need of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowConstants {
    /// ‖∇f(w; z)‖ ≤ g on W.
    pub g: f64,
    /// ‖∇f(v; z) - ∇f(w; z)‖ ≤ beta·‖v - w‖ on W.
    pub beta: f64,
}

/// The label as ±1: y > 0 is +1, y ≤ 0 is -1, so that 0/1 labels are understood too. NaN stays NaN.
#[inline]
fn side(y: f64) -> f64 {
    if y > 0.0 {
        1.0
    } else if y <= 0.0 {
        -1.0
    } else {
        y
    }
}

/// a·b where 0·∞ = 0: a row that does not count has constants 0, on an unbounded domain too.
#[inline]
fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

/// G of a quadratic f(·; z) from its β: ‖∇f(w)‖ ≤ ‖∇f(c)‖ + β‖w - c‖, with c the origin or the domain's centre, whichever is better.
fn g_of_quadratic(loss: &dyn Loss, domain: &dyn Domain, z: Row<'_>, beta: f64) -> f64 {
    let zero = vec![0.0; loss.features(z.x).max(domain.dim().unwrap_or(0))];
    let from = |c: &[f64]| {
        let (mut g, mut written) = (Gradient::new(1), vec![0.0; c.len()]);
        loss.gradient(&Dense(c), z, &mut g);
        g.add_to(1.0, &Dense(c), z.x, loss.anchor(), &mut written);
        Features::Dense(&written).norm() + times(beta, domain.radius_from(c))
    };
    match domain.anchor() {
        Some(centre) if centre.len() >= loss.features(z.x) => from(&zero).min(from(centre)),
        _ => from(&zero),
    }
}

/// A loss behind a pointer is a loss.
macro_rules! forward_loss {
    ($($pointer:ty),*) => {$(
        impl<L: Loss + ?Sized> Loss for $pointer {
            fn outputs(&self) -> usize {
                (**self).outputs()
            }
            fn features(&self, x: Features<'_>) -> usize {
                (**self).features(x)
            }
            fn value(&self, w: &dyn Point, z: Row<'_>) -> f64 {
                (**self).value(w, z)
            }
            fn gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) {
                (**self).gradient(w, z, g)
            }
            fn value_and_gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) -> f64 {
                (**self).value_and_gradient(w, z, g)
            }
            fn constants(&self, domain: &dyn Domain, z: Row<'_>) -> RowConstants {
                (**self).constants(domain, z)
            }
            fn minorant(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, c: &mut Symmetric) {
                (**self).minorant(domain, z, scale, c)
            }
            fn minorant_times(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, v: &[f64], out: &mut [f64]) -> bool {
                (**self).minorant_times(domain, z, scale, v, out)
            }
            fn score_curvature(&self, scores: &[f64], z: Row<'_>, m: &mut [f64]) -> bool {
                (**self).score_curvature(scores, z, m)
            }
            fn negative_curvature(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, n: &mut Symmetric) -> bool {
                (**self).negative_curvature(domain, z, scale, n)
            }
            fn squared_curvature(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, c: &mut Symmetric) -> bool {
                (**self).squared_curvature(domain, z, scale, c)
            }
            fn is_quadratic(&self) -> bool {
                (**self).is_quadratic()
            }
            fn anchor(&self) -> Option<&Arc<[f64]>> {
                (**self).anchor()
            }
            fn needs_norm(&self) -> bool {
                (**self).needs_norm()
            }
            fn name(&self) -> String {
                (**self).name()
            }
        }
    )*};
}
forward_loss!(Box<L>, &L, Arc<L>);
