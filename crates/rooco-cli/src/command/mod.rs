//! One file a command: its arguments, and what it does.

pub mod audit;
pub mod completions;
mod correction;
mod data;
pub mod demo;
pub mod effects;
pub mod eval;
pub mod fit;
pub mod forget;
pub mod inspect;
pub mod lab;
pub mod man;
pub mod merge;
pub mod optimum;
mod outputs;
pub mod predict;
mod predicted;
pub mod show;
pub mod shuffle;
pub mod trace;
