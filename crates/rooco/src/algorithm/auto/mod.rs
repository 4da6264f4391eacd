//! The default: one pass, nothing to tune, weights of any sign.
//!
//! One learner in five stages, each with its own state and a folder of its own: [scaler](scaler), [lanes], [second order](second), [jury] and
//! [label]. `round.rs` sends a row through them; `head.rs` turns scores into losses, for one score or K; `simd/` is the arithmetic
//! of the lanes. On a domain `projected.rs` has lanes of its own and the same jury.

mod clock;
mod head;
mod join;
mod jury;
mod label;
mod lanes;
mod loss;
mod model;
mod part;
mod projected;
mod round;
mod rounding;
mod saved;
mod scaler;
mod second;
mod simd;
mod variants;

#[doc(hidden)]
pub use jury::Role;
pub use loss::{AutoLoss, Eight, Quadratic};
pub use model::ClampedModel;
#[doc(hidden)]
pub use part::Part;
pub use scaler::CorrectedFeatures;
pub use variants::{Auto, AutoClasses, AutoClassesProjected, AutoProjected};

/// AdaGrad learners that run side by side, one SIMD lane each.
const LANES: usize = 4;
/// Their iterates, their averages, and the second-order candidate.
const CANDIDATES: usize = 2 * LANES + 1;
