//! What holds for this data? The theorems need a random order; [`order`] tests for it.

pub mod order;

pub use order::{OrderOptions, OrderReport, OrderTest};
