//! A learned model: the prediction rule, what its coordinates mean, and how it came about; and the file that holds it.

mod about;
pub mod file;
pub mod loss_text;
mod promised;

pub use about::{About, InsuranceAbout, Model, OptimumAbout, OrderFound, UsedConstants, WorkersAbout};
pub use promised::{Promised, Sourced, TheoremStated, with_repairs};
