//! Everything that is computed in vectors, and nothing else: no other part names a vector type or asks the processor what it can do.
//!
//! * `four.rs`: four f32 numbers at once, one a lane; `pair.rs`: twice four, with AVX2 if there is, else one after the other. Both to the same bits.
//! * `math.rs`: exp and the logistic loss as polynomials, the same on every machine.
//! * `record.rs`: what is kept per feature and output, one cache line, and the step that a row takes on it.
//! * `rows.rs`: the two loops over the entries of a row, reading and learning.
//! * `best.rs`: chooses the version for this processor, once a row; what is in between only hands [`Width`] on.

mod best;
mod four;
mod math;
mod pair;
mod record;
mod rows;

pub use best::{Work, best};
pub use math::{exp_all, exp_of_minus, logistic, logistic_of_one};
pub use pair::Pair as Width;
pub use record::Feature;
pub use rows::{Common, Entries, Reader, Unusual, learn};
