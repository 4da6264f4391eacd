//! What holds for this data? [`constants`] measures what the theorems need and says what they promise, [`order`](crate::order) tests for the random
//! order that they all need, and [`mod@certify`] says after a run how good the model is at least, whatever the order was.

mod adds;
pub mod certify;
pub mod constants;
mod json;
pub mod lanczos;
mod metric;
pub mod optimum;
mod refine;
mod report;

pub use certify::{Aimed, Certified, Certifier, Known, PartPass, SampleCertified, Set, certify, certify_knowing};
pub use constants::{Again, Audit, AuditReport, Counts, Verdict};
pub use optimum::{Optimum, optimum};
