//! The optimum of rows that are read again: sums that add, Newton's method on them, and errors of the weights.
#![allow(missing_docs)]

mod apart;
mod coverage;
mod many;
mod solves;
mod sums;
mod support;
