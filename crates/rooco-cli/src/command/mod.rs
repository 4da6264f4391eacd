//! One file a command, or a folder where it takes more: its arguments, and what it does.

pub mod audit;
mod bytes;
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
