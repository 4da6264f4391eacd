//! What holds for this data? [`constants`] measures what the theorems need and says what they promise, [`order`] tests for the random
//! order that they all need, and [`certify`] says after a run how good the model is at least, whatever the order was.

pub mod certify;
pub mod constants;
mod json;
pub mod lanczos;
mod metric;
pub mod optimum;
pub mod order;
mod report;

pub use certify::{Certified, Certifier, SampleCertified};
pub use constants::{Again, Audit, AuditReport, Counts, Verdict};
pub use optimum::{Optimum, optimum};
pub use order::{OrderOptions, OrderReport, OrderTest};
