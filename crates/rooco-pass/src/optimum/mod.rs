//! The best model for rows that can be read again: as many passes as it takes, a certificate, and an error for every weight.
//!
//! ```text
//! one pass  ──>  a model to start from                     `fit`
//! passes    ──>  Newton's method on sums over the rows     passes.rs, `rooco::optimum`
//! the end   ──>  certified gap, standard errors            reach.rs
//! models    ──>  merged; rows taken back                   join.rs
//! ```

mod join;
mod passes;
mod reach;

pub use join::{Joined, Named, forget, merge_models};
pub use passes::{Learned, OnMap, RowPasses};
pub use reach::{OptimumOptions, Reached, optimum_over, to_optimum};
