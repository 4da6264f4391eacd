//! Generated collision events with weights of either sign, as next-to-leading-order generators and sWeights make them, and ways to learn from them.
//!
//! No minimiser is known here and no order matters: what is measured is the loss of the finished model on events of the true distribution, beside the loss
//! of the truth itself.
//!
//! ```text
//! generate.rs   two classes, eight low-level columns and two combinations of them; four ways to get signs
//! ways.rs       what one does with the signs: keep them, drop the rows, take sizes, learn them away
//! ```

mod generate;
mod ways;

pub use generate::{EventFamily, Events, KINDS};
pub use ways::{WAYS, Way};
