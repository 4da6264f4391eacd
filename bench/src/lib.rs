//! What the benchmarks share.

pub mod adagrad;
pub mod prepared;
