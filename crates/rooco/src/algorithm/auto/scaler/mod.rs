//! The first stage: a row in the learner's own coordinates, so that neither unit nor zero of a feature matters.
//!
//! `centre.rs` takes the mean of dense columns out; `scale.rs` is the unit and the size of a feature's values (kept in its record, beside the weights
//! that are per unit of it); `correction.rs` is for features that are wrong in a known way; `sizes.rs` looks for numbers that nothing can be done with.

mod centre;
mod correction;
mod scale;
mod sizes;

pub use centre::{Centre, Moves};
pub use correction::CorrectedFeatures;
pub use scale::{INVISIBLE, Scale, UNIT_RANGE, exponent_of, power_of_two};
pub use sizes::{Sizes, is_zero};
