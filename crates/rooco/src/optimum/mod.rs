//! The best model for rows that can be read again, and how sure its numbers are.
//!
//! ```text
//! a pass at w        ──>  Expansion: Σf, Σ∇f, Σ∇²f, Σ∇f∇fᵀ; parts add     expansion.rs, block.rs
//! Expansion          ──>  a step: trust region, on W by projection         step.rs
//! steps until done   ──>  the optimum, or the direction that has none       newton.rs
//! Expansion at it    ──>  standard errors: the sandwich                     sandwich.rs
//! Expansions apart   ──>  parts merged, rows taken back                     apart.rs
//! ```
//!
//! Whoever has the rows implements [`Passes`]. Rows come in blocks, a block's sums are added in the order of the blocks: how many threads
//! work on them changes no bit.

mod apart;
mod block;
mod expansion;
mod newton;
mod sandwich;
mod step;

pub use apart::{Known, Merged, known_with_rows, merge, take_back};
pub use block::{Block, Blocks, LONGEST_BLOCK, NOWHERE, Summer, Wanted};
pub use expansion::Expansion;
pub use newton::{End, NewtonOptions, Passes, Solved, newton_step, solve};
pub use sandwich::standard_errors;
