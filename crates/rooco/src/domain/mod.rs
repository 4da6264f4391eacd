//! W, a closed convex set: one domain a file, its projection in math and then in a few lines.
//!
//! | domain | W | projection | D |
//! |---|---|---|---|
//! | [`WholeSpace`] | ℝᵈ | w | ∞ |
//! | [`Ball`] | ‖w - c‖ ≤ R | O(1) on lazily scaled weights | 2R |
//! | [`Cuboid`] | lo ≤ w ≤ hi | O(d) | ‖hi - lo‖ |
//! | [`Simplex`] | w ≥ 0, Σw = 1 | O(d log d) | √2 |
//! | [`L1Ball`] | Σ|w| ≤ R | O(d log d) | 2R |
//! | [`HalfspaceBall`] | ⟨a, w⟩ ≤ b, ‖w - c‖ ≤ R | O(d) | 2R, or that of the rim |
//!
//! All projections are exact, up to rounding, and all diameters are the true ones. Text such as `ball:2` is read by [`parse`].
//! A domain that fixes the dimension counts the coordinates of w: with K scores per row that is K per feature, and
//! [`Domain::score_range`] then speaks of a loss with one score.
//!
//! To add a domain, implement [`Domain`]; [`testing::check_domain`](crate::testing::check_domain) tests it.

use std::sync::Arc;

use crate::interval::Interval;
use crate::row::Features;
use crate::weights::Weights;

mod ball;
mod cuboid;
mod halfspace_ball;
mod l1_ball;
mod parse;
mod simplex;
mod single;
mod whole_space;

pub use ball::Ball;
pub use cuboid::Cuboid;
pub use halfspace_ball::HalfspaceBall;
pub use l1_ball::L1Ball;
pub use parse::{FORMS, parse};
pub use simplex::Simplex;
pub use single::Single;
pub use whole_space::WholeSpace;

/// The closed convex set W that decisions are taken from.
pub trait Domain: Send + Sync {
    /// Π_W: replaces w by the nearest point of W.
    fn project(&self, w: &mut [f64]);

    /// The same for lazily scaled weights. The default writes w out, O(d); balls and the whole space do it in O(1).
    fn project_weights(&self, w: &mut Weights) {
        w.rewrite(|w| self.project(w));
    }

    /// D = max ‖v - w‖ over W, or infinity.
    fn diameter(&self) -> f64;

    /// max over W of ‖w - c‖: how far the farthest point of W is from c.
    fn radius_from(&self, c: &[f64]) -> f64;

    /// max over W of ⟨g, w⟩, or infinity: the support function, for gap certificates.
    fn support(&self, g: &[f64]) -> f64;

    /// max over v in W of ⟨g, v - w⟩ + (m/2)‖v - w‖² for m ≥ 0: how much a function with slope -g at w and curvature at
    /// least -m can fall on W. The default adds the two maxima, which is valid and not tight; the domains here are exact.
    fn curved_support(&self, g: &[f64], m: f64, w: &[f64]) -> f64 {
        let far = if m == 0.0 { 0.0 } else { 0.5 * m * self.radius_from(w).powi(2) };
        self.support(g) - crate::kernel::dot(g, w) + far
    }

    /// max over W of ‖w‖.
    fn reach(&self) -> f64;

    /// The range of ⟨w, x⟩ over W, or an interval around it.
    fn score_range(&self, x: Features<'_>) -> Interval {
        // Cauchy-Schwarz; 0·∞ = 0 for a row without features.
        let norm = x.norm();
        let r = if norm == 0.0 { 0.0 } else { norm * self.reach() };
        Interval { lo: -r, hi: r }
    }

    /// Distance from w to W (0 inside).
    fn distance(&self, w: &[f64]) -> f64 {
        let mut p = w.to_vec();
        self.project(&mut p);
        p.iter().zip(w).map(|(p, w)| (p - w) * (p - w)).sum::<f64>().sqrt()
    }

    /// True if the projection asks for ‖w‖ every round, so that it should be tracked.
    fn needs_norm(&self) -> bool {
        false
    }

    /// A fixed vector that the projection adds multiples of (the centre of a ball).
    fn anchor(&self) -> Option<&Arc<[f64]>> {
        None
    }

    /// The dimension, if the set fixes one.
    fn dim(&self) -> Option<usize> {
        None
    }

    /// True for ℝᵈ: there is nothing to keep to.
    fn is_whole_space(&self) -> bool {
        false
    }

    /// A short name for reports: `ball of radius 2`.
    fn name(&self) -> String;
}
